"""A daemon with its own directory, and the rota command line to talk to it. The test's first argument is the binary."""
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
FAR = "0 0 1 1 *"  # an expression that is not due while a test runs


def path_of(*name):
    return os.path.join(ROOT, *name)


# The settings of the user who runs the test are removed, except for a launcher that was built for it.
ENV = {k: v for k, v in os.environ.items()
       if (k == "ROTA_LAUNCHER" or not k.startswith("ROTA_")) and k not in ("TZ", "TZDIR")} | {
    "XDG_RUNTIME_DIR": path_of("run"), "HOME": path_of("home"), "XDG_CONFIG_HOME": path_of("config"),
    "XDG_DATA_HOME": path_of("share")}
_daemon = None


def rota(*argv, **env):
    return subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV | env, timeout=60,
                          cwd=ROOT)


def rota_json(*argv, **env):
    """The answer as JSON; {} if the command failed."""
    r = rota(*argv, "--json", **env)
    return json.loads(r.stdout) if r.returncode == 0 else {}


def file_text(*name):
    """The content of a file; "" if there is none."""
    try:
        with open(path_of(*name), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def write(name, content, mode=0o600):
    path = path_of(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(content)
    os.chmod(path, mode)
    return path


def until(what, fn):
    """Waits for fn to return something true, and returns it. The time limit allows for slow machines."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.05)
    check(False, f"did not happen in 60 s: {what}")
    return None


def start(**env):
    global _daemon
    _daemon = subprocess.Popen([ROTA, "serve"], env=ENV | env, cwd=ROOT, stdout=subprocess.DEVNULL)
    until("the daemon answers", lambda: rota("status").returncode == 0)


def stop(how=signal.SIGTERM):
    _daemon.send_signal(how)
    check(_daemon.wait() == (0 if how == signal.SIGTERM else -how), f"the daemon's exit code: {_daemon.returncode}")


def daemon_pid():
    return _daemon.pid


def run_parts(*parts):
    """Runs the parts of a test with one daemon; returns the exit code for sys.exit."""
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
