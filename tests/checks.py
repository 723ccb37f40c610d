"""Counts the checks of a Python test. A failed check is printed with the values that were found, and the test continues."""
import threading

passed = failed = 0
_lock = threading.Lock()


def _text_of(more):
    """Text for the result of a command, or for anything else."""
    code = getattr(more, "returncode", getattr(more, "code", None))
    if code is None:
        return "" if more is None else str(more)
    out, err = (getattr(more, a, getattr(more, b, "")) for a, b in (("stdout", "out"), ("stderr", "err")))
    return f"\n     exit code {code}\n     stdout {out[:800]!r}\n     stderr {err[:800]!r}"


def check(good, what, more=None):
    global passed, failed
    with _lock:
        if good:
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {what} {_text_of(more)}", flush=True)
    return good


def finish():
    """Prints the counts. Returns the exit code of the test."""
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed > 0
