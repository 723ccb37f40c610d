"""A real daemon in its own directory: started, stopped, killed, and sent requests. Nothing here shares code with rota:
requests are plain HTTP on the socket."""
import datetime
import http.client
import json
import mmap
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import threading
import time
import traceback
import urllib.parse
import uuid

from checks import check, finish


class Refused(Exception):
    """The daemon answered with an error."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


class NoAnswer(Exception):
    """The daemon did not answer; it may or may not have carried out the request."""


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def wait_until(seconds, condition, pause=0.02):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found or time.monotonic() > end:
            return found
        time.sleep(pause)


def seconds_of(text):
    """A time in an answer, in seconds since 1970."""
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def is_alive(pid):
    """Zombies count as dead."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
        return True
    except ProcessLookupError:
        return False


def run_parts(parts, wanted, workers):
    """Runs the parts of a test, or those named in `wanted`, on several threads, because parts mostly wait. Each part has its
    own daemon. A part that raises has failed. Returns the exit code of the test."""
    left = iter([p for p in parts if not wanted or p.__name__ in wanted])

    def work():
        while part := next(left, None):
            start = time.monotonic()
            try:
                part()
            except Exception:  # noqa: BLE001
                check(False, part.__name__, traceback.format_exc())
            print(f"{part.__name__}: {time.monotonic() - start:.1f} s", flush=True)
    threads = [threading.Thread(target=work) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return finish()


class Clock:
    """The clock of a daemon that is started afterwards: the preload `machine` of tests/hostile/machine.c sets it ahead."""

    def __init__(self, rig, machine):
        path = os.path.join(rig.dir, "machine")
        with open(path, "wb") as f:
            f.write(bytes(4096))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)
        rig.env.update(LD_PRELOAD=os.path.abspath(machine), HOSTILE=path, HOSTILE_DIR=rig.data)

    def set_ahead(self, seconds):
        struct.pack_into("=q", self.map, 0, int(seconds * 1000000))


class Rig:
    """As a context manager it stops its daemon at the end, checks the exit code, and leaves nothing behind."""

    def __init__(self, rota, *options, env=None):
        self.rota, self.options = os.path.abspath(rota), list(options)
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="rota-"))
        self.data = os.path.join(self.dir, "data")
        self.socket = os.path.join(self.dir, "run", "rota.sock")
        self.log = os.path.join(self.dir, "daemon.log")
        # In the environment of every process started here, so that they can be found: runs get XDG_* from the daemon.
        self.token = uuid.uuid4().hex
        self.env = dict(os.environ, XDG_TEST_TOKEN=self.token, XDG_RUNTIME_DIR=self.dir, **(env or {}))
        self.env.pop("NOTIFY_SOCKET", None)
        self.daemon = None

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        if self.daemon and exception is None:
            code = self.stop()
            check(code == 0, f"the daemon's exit code: {code}", self.log_text()[-500:])
        self.close()

    # --- the daemon ---

    def start(self, wait=True, options=()):
        assert self.daemon is None
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen(
                [self.rota, "serve", "--data", self.data, "--socket", self.socket, *self.options, *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, cwd=self.dir)
        return self.wait_ready() if wait else True

    def wait_ready(self, seconds=30):
        def ready():
            if self.daemon.poll() is not None:
                return "dead"
            try:
                return self.ask("GET", "/status") is not None
            except Refused:
                return True  # it answers
            except NoAnswer:
                return False
        return wait_until(seconds, ready) is True

    def launcher(self):
        for pid in children(self.daemon.pid):
            if name_of(pid).startswith("rota-launcher"):
                return pid
        return None

    def kill(self):
        """Kills the daemon by SIGKILL. The exit code tells whether it had ended before."""
        self.daemon.kill()
        return self.reap()

    def reap(self, seconds=60):
        code = self.daemon.wait(seconds)
        self.daemon = None
        return code

    def stop(self, seconds=60):
        self.daemon.terminate()
        return self.reap(seconds)

    def serve_once(self, data=None, at=None):
        """Starts a daemon that is expected to refuse to start."""
        return subprocess.run([self.rota, "serve", "--data", data or self.data, "--socket", at or self.socket],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=self.env,
                              cwd=self.dir)

    def cli(self, *argv):
        return subprocess.run([self.rota, *argv, "--socket", self.socket] if "--" not in argv else
                              [self.rota, *argv[:1], "--socket", self.socket, *argv[1:]],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=self.env,
                              cwd=self.dir)

    def log_text(self):
        with open(self.log) as f:
            return f.read()

    # --- requests ---

    def ask(self, method, path, body=None, timeout=30):
        c = Connection(self.socket, timeout)
        try:
            c.request(method, "/api/v1" + path, json.dumps(body) if body is not None else None)
            r = c.getresponse()
            text = r.read()
        except (OSError, http.client.HTTPException) as e:
            raise NoAnswer(str(e)) from e
        finally:
            c.close()
        answer = json.loads(text) if text else None
        if r.status >= 300:
            raise Refused(r.status, answer)
        return answer

    def add(self, document, update=False):
        return self.ask("POST", "/schedules", {"document": document, "update": update})

    def records(self, schedule=None):
        """All runs, newest first, and all ranges of skipped and missed times, read page by page."""
        runs, ranges, before = [], [], ""
        while True:
            page = self.ask("GET", "/runs?limit=1000" + (f"&schedule={schedule}" if schedule else "") + before)
            runs += page["runs"]
            ranges += page["ranges"]
            if "before" not in page:
                return runs, ranges
            before = "&before=" + page["before"]

    def runs(self, schedule=None):
        return self.records(schedule)[0]

    def schedules(self):
        """The ids of all schedules, read page by page."""
        found, after = [], ""
        while True:
            page = self.ask("GET", "/schedules?limit=1000" + after)
            found += [s["id"] for s in page["schedules"]]
            if "after" not in page:
                return found
            after = "&after=" + urllib.parse.quote(page["after"], safe="")

    # --- the store's file, for tests about the file itself ---

    def rows(self, sql, *args):
        with sqlite3.connect(f"file:{self.data}/rota.db?mode=ro", uri=True, timeout=30) as db:
            db.row_factory = sqlite3.Row
            return db.execute(sql, args).fetchall()

    # --- processes ---

    def processes(self):
        """All live processes with this rig's token in their environment."""
        found, needle = {}, f"XDG_TEST_TOKEN={self.token}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    if needle in f.read().split(b"\0") and is_alive(int(pid)):
                        found[int(pid)] = name_of(pid)
            except OSError:
                pass
        return found

    def close(self, keep=False):
        """Kills the processes that are left, and returns them."""
        if self.daemon:
            self.kill()
        left = {}
        for _ in range(200):
            found = self.processes()
            if not found:
                break
            left.update(found)
            for pid in found:
                kill(pid)
            time.sleep(0.05)
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)
        return left
