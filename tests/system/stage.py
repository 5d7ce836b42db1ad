"""What the tests of real campaigns on the example target begin and end with: which carol, where, the target, and that
nothing is left over.

    from stage import Stage
    stage = Stage("corpus")            # reads the command line: CAROL ROOT
    def main(): stage.build(...); ...
    sys.exit(stage.play(main))
"""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap, engines_of, own_shared_memory


class Stage:
    def __init__(self, name):
        self.path, self.root = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
        self.tote = self.root / "examples" / "tote"
        self.temp = Path(tempfile.mkdtemp(prefix=f"carol-{name}-"))
        own_shared_memory()
        self.carol = Carol(self.path)
        self.tap = Tap()
        self.ok = self.tap.ok
        sys.path.insert(0, str(self.root / "tests" / "oracle"))

    def build(self, *more, name="tote", flags=(), **how):
        """The example target; more: options of carol build."""
        code, text = self.carol.run("build", "-o", self.temp / name, "--target", "tote", *more, self.tote / "tote.c",
                                    self.tote / "tote_fuzzer.c", *flags, **how)
        self.ok(code == 0, f"the target is built ({name})", text)

    def play(self, main):
        """The exit code of the test."""
        if not engines_of(self.path):
            print("1..0 # SKIP the fuzzers are not built: make engines")
            return 0
        try:
            main()
            left = self.carol.survivors()
            self.ok(not left, "nothing is left over", left)
        finally:
            self.carol.kill_all()
            self.tap.tidy(self.temp)
        return self.tap.done()
