#!/usr/bin/env python3
"""Applies engines/changes.txt to a directory of vendored sources.

A change puts one text in the place of another, or adds a file of ours.  Every change is checked before
the first file is written: a text that is missing or occurs twice stops everything, because a fuzzer
that was not changed would look as if it had been.

    apply-changes.py CHANGES SOURCES      prints one line per change
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Refused(Exception):
    pass


def parse(text):
    """The changes of a file as a list of dicts: name, why, file, and find and put, or from."""
    changes, part, lines = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        if part:
            if line == ("put" if part == "find" else "end"):
                changes[-1][part] = "\n".join(lines) + "\n"
                part, lines = ("put" if part == "find" else None), []
            else:
                lines.append(line)
        elif line.startswith("change "):
            name, _, why = line[len("change "):].partition(": ")
            changes.append({"name": name, "why": why})
        elif line.startswith("file ") and changes:
            changes[-1]["file"] = line[len("file "):]
        elif line.startswith("from ") and changes and "file" in changes[-1]:
            changes[-1]["from"] = line[len("from "):]
        elif line == "find" and changes and "file" in changes[-1]:
            part = "find"
        elif line and not line.startswith("#"):
            raise Refused(f"line {number} is not understood: {line}")
    for change in changes:
        if "put" not in change and "from" not in change:
            raise Refused(f"change {change['name']} is not complete")
    if not changes:
        raise Refused("there are no changes in it")
    return changes


def apply(changes, sources):
    """All or nothing; several changes of one file are made one after another."""
    texts = {}
    for change in changes:
        path = pathlib.Path(sources, change["file"])
        if "from" in change:
            if path.exists() or path in texts:
                raise Refused(f"change {change['name']}: {change['file']} is there already")
            texts[path] = (ROOT / change["from"]).read_text(encoding="utf-8")
            continue
        if path not in texts:
            try:
                texts[path] = path.read_text(encoding="utf-8")
            except OSError as error:
                raise Refused(f"change {change['name']}: {error}") from error
        found = texts[path].count(change["find"])
        if found != 1:
            raise Refused(f"change {change['name']}: its text occurs {found} times, not once, in "
                          f"{change['file']}; are these the sources of engines/Cargo.lock?")
        texts[path] = texts[path].replace(change["find"], change["put"])
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def main(argv):
    if len(argv) != 3:
        sys.exit("usage: apply-changes.py CHANGES SOURCES")
    try:
        changes = parse(pathlib.Path(argv[1]).read_text(encoding="utf-8"))
        apply(changes, argv[2])
    except (Refused, OSError) as error:
        sys.exit(f"apply-changes: {error}")
    for change in changes:
        print(f"{change['name']}: {change['why']}")


if __name__ == "__main__":
    main(sys.argv)
