"""A file of functions, each a test: what cover.py and setup.py share.

    from cases import check, run, run_all, test

    @test
    def a_name_that_says_what_is_true(tmp): ...

    sys.exit(run_all("carol-thing-"))      # TAP
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

TESTS = []


class Skipped(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def run(*command, env=None, timeout=120, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, check=False,
                          **more)


def run_all(prefix, own=False):
    """One temporary directory for all of them, or each its own."""
    print(f"1..{len(TESTS)}", flush=True)
    top, bad = pathlib.Path(tempfile.mkdtemp(prefix=prefix)), 0
    for number, function in enumerate(TESTS, 1):
        began, good, more = time.monotonic(), True, ""
        tmp = top / function.__name__ if own else top
        tmp.mkdir(exist_ok=True)
        try:
            function(tmp)
        except Skipped as reason:
            more = f" # SKIP {reason}"
        except Exception as error:  # any way to fail is a failure
            good, bad = False, 1
            more = f"\n{type(error).__name__}: {error}"[:2000].replace("\n", "\n# ")
        name = function.__name__.replace("_", " ")
        print(f"{'ok' if good else 'not ok'} {number} - {name} ({time.monotonic() - began:.1f} s){more}", flush=True)
    shutil.rmtree(top, ignore_errors=True)
    return bad
