"""The checks of all tests in Python: a failed check is printed with what was seen, and the test goes on."""
import threading

passed = failed = 0
_counting = threading.Lock()


def _seen(more):
    """The result of a program, or anything else, as text."""
    code = getattr(more, "returncode", getattr(more, "code", None))
    if code is None:
        return "" if more is None else str(more)
    out, err = (getattr(more, a, getattr(more, b, "")) for a, b in (("stdout", "out"), ("stderr", "err")))
    return f"\n     exit code {code}\n     stdout {out[:800]!r}\n     stderr {err[:800]!r}"


def check(good, what, more=None):
    global passed, failed
    with _counting:
        if good:
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {what} {_seen(more)}", flush=True)
    return good


def finish():
    """Prints the counts; returns whether a check failed, for sys.exit."""
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed > 0
