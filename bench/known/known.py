#!/usr/bin/env python3
"""Known, fixed bugs of real libraries, replayed from their public descriptions: does triage name the right function and line?

    known.py CAROL [LIBRARY...]        needs npm and its registry

The sources are old copies inside npm packages; where the copy has the fix, that is taken out.  Each input is made here from what the advisory says; a short campaign makes the
record that it is put into, as if a fuzzer had found it."""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "tests" / "system"))
from campaign_kit import add_crash

CAROL = str(Path(sys.argv[1]).resolve())
TEMP = Path(tempfile.mkdtemp(prefix="carol-known-"))
EXPAT = ["-DHAVE_MEMMOVE", "-DHAVE_EXPAT_CONFIG_H=0", "-DXML_DTD", "-DXML_NS", "-DXML_CONTEXT_BYTES=1024", "-DBYTEORDER=1234",
         "-DXML_POOR_ENTROPY", "-DXML_DEV_URANDOM"]
LIBRARIES = {
    "libyaml": {"package": "libyaml@0.2.5", "root": "package/deps/yaml/src", "harness": "yaml_fuzzer.c", "include": "include",
                "revert": ("src/scanner.c", "            if (!STRING_EXTEND(parser, string))\n                goto error;\n\n"
                           "            if (!yaml_parser_scan_uri_escapes", "            if (!yaml_parser_scan_uri_escapes"),
                "sources": ["src/api.c", "src/loader.c", "src/parser.c", "src/reader.c", "src/scanner.c"], "seed": b"a: b\n",
                "flags": ['-DYAML_VERSION_STRING="0.1.4"', "-DYAML_VERSION_MAJOR=0", "-DYAML_VERSION_MINOR=1", "-DYAML_VERSION_PATCH=4"]},
    "expat": {"package": "node-expat@2.4.1", "root": "package/deps/libexpat", "harness": "expat_fuzzer.c", "include": "lib",
              "sources": ["lib/xmlparse.c", "lib/xmltok.c", "lib/xmlrole.c"], "seed": b"<a><b/></a>", "flags": EXPAT},
}
BUGS = [  # advisory, library, input, function that must be named
    ("CVE-2014-2525", "libyaml", b"!<tag:" + b"%41" * 4000 + b"> a\n", "yaml_parser_scan_uri_escapes"),
    ("CVE-2014-9130", "libyaml", b' a: "\n"b\n', "yaml_parser_save_simple_key"),
    ("CVE-2022-25313", "expat", b"<!DOCTYPE a [<!ELEMENT a " + b"(" * 400000 + b"b" + b")" * 400000 + b">]><a/>", "build_node"),
]


def run(*words, **kw):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kw)


def prepare(name, lib):
    where = TEMP / name
    where.mkdir()
    file = run("npm", "pack", "--silent", lib["package"], cwd=where).stdout.split()[-1]
    subprocess.run(["tar", "xzf", file], cwd=where, check=True)
    root = where / lib["root"]
    if "revert" in lib:
        file, fixed, broken = root / lib["revert"][0], *lib["revert"][1:]
        text = file.read_text()
        if fixed not in text:
            sys.exit(f"{file} has not the fix that is to be taken out")
        file.write_text(text.replace(fixed, broken))
    (where / "seeds").mkdir()
    (where / "seeds" / "seed").write_bytes(lib["seed"])
    made = run(CAROL, "build", "-o", where / "build", "--families", "afl,neutral,asan,plain", HERE / lib["harness"],
               *[root / s for s in lib["sources"]], "--", f"-I{root / lib['include']}", f"-I{root / 'lib'}", "-w", *lib["flags"])
    ran = run(CAROL, "fuzz", "--no-triage", "-q", "-b", where / "build", "-i", where / "seeds", "-o", where / "out", "-f", "aflpp", "-j", 1, "-d",
              "2s", "--turn", "1s")
    if made.returncode or ran.returncode:
        sys.exit(made.stdout + ran.stdout)
    return where / "out"


def main():
    wrong = 0
    for name, lib in LIBRARIES.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        out = prepare(name, lib)
        for bug in (b for b in BUGS if b[1] == name):
            add_crash(out, bug[2], name=bug[0])
        said = run(CAROL, "triage", "-q", "--minimise-time", "5s", out)
        found = json.loads((out / "triage/defects.json").read_text())
        print(said.stdout)
        for advisory, _, _, function in (b for b in BUGS if b[1] == name):
            hit = [d for d in found["defects"] + found["unconfirmed"] if d["function"] == function]
            wrong += not hit
            print(advisory, [(d["function"], d["file"].rsplit("/", 1)[-1], d["line"], d["fault"], d["cwe"], d["class"], d["confirmed"]) for d in hit])
    shutil.rmtree(TEMP)
    return 1 if wrong else 0


sys.exit(main())
