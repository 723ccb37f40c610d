"""A daemon with a directory of its own, and the binary that speaks to it. The test's first argument is the binary."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
ROOT = tempfile.mkdtemp(prefix=f"rota-{os.path.basename(sys.argv[0]).removesuffix('.py')}-")
FAR = "0 0 1 1 *"  # not while a test is running


def place(*name):
    return os.path.join(ROOT, *name)


# Nothing of whoever runs the test: but where it has its own launcher, that one.
ENV = {k: v for k, v in os.environ.items()
       if (k == "ROTA_LAUNCHER" or not k.startswith("ROTA_")) and k not in ("TZ", "TZDIR")} | {
    "XDG_RUNTIME_DIR": place("run"), "HOME": place("home"), "XDG_CONFIG_HOME": place("config"), "XDG_DATA_HOME": place("share")}
_daemon = None


def rota(*argv, **env):
    return subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV | env, timeout=60,
                          cwd=ROOT)


def answer(*argv, **env):
    """As JSON; of what was refused, nothing."""
    r = rota(*argv, "--json", **env)
    return json.loads(r.stdout) if r.returncode == 0 else {}


def text(*name):
    """Of a file; of none, nothing."""
    try:
        with open(place(*name), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def write(name, content, mode=0o600):
    path = place(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(content)
    os.chmod(path, mode)
    return path


def until(what, fn):
    """What it gives when it gives something; a machine that is slow has time."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.05)
    check(False, f"did not come about: {what}")
    return None


def start(**env):
    global _daemon
    _daemon = subprocess.Popen([ROTA, "serve"], env=ENV | env, cwd=ROOT, stdout=subprocess.DEVNULL)
    until("the daemon answers", lambda: rota("status").returncode == 0)


def stop(how=signal.SIGTERM):
    _daemon.send_signal(how)
    check(_daemon.wait() == (0 if how == signal.SIGTERM else -how), f"the daemon ends well: {_daemon.returncode}")


def daemon_pid():
    return _daemon.pid


def play(*parts):
    """All of them with one daemon, from its start to its end; the code for sys.exit."""
    os.makedirs(ENV["XDG_RUNTIME_DIR"], 0o700)
    os.makedirs(ENV["HOME"])
    try:
        start()
        for part in parts:
            part()
        stop()
    finally:
        if _daemon.poll() is None:
            _daemon.kill()
            _daemon.wait()
        shutil.rmtree(ROOT, ignore_errors=True)
    return finish()
