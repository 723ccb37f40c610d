"""Lateness of the real daemon, from due to durable claim, beside a bare loop on the same machine in the same run.

Each schedule is due once in a period, spread evenly over it (JITTER), with action `event`. The lateness of each occurrence
is in the daemon's stream of events; its CPU time comes from /proc."""
import datetime
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time

MINUTELY = "* * * * * JITTER 60s"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("rota", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class Daemon:
    """A daemon with a temporary directory. It may be stopped and started again."""

    def __init__(self, build):
        self.build = build
        self.tmp = tempfile.TemporaryDirectory(prefix="rota-bench-")
        self.data = os.path.join(self.tmp.name, "data")
        self.socket = os.path.join(self.tmp.name, "run", "rota.sock")
        self.database = os.path.join(self.data, "rota.db")
        self.process = None
        os.mkdir(self.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.tmp.cleanup()

    def fill(self, n, expression, lead=0):
        """Fills the database before the daemon starts. No schedule is due within `lead` seconds; if filling takes longer, it
        is repeated with a longer lead."""
        while True:
            start = time.monotonic()
            subprocess.run([os.path.join(self.build, "tests", "bench_fill"), self.database, str(n), expression, str(lead)],
                           check=True)
            self.first = start + lead
            if not lead or time.monotonic() < self.first - 5:
                return
            for end in ("", "-wal", "-shm"):
                if os.path.exists(self.database + end):
                    os.remove(self.database + end)
            lead *= 2

    def start(self):
        self.process = subprocess.Popen([os.path.join(self.build, "rota"), "serve", "--data", self.data, "--socket",
                                         self.socket], stdout=subprocess.DEVNULL)

    def ready(self):
        while True:
            try:
                UnixConnection(self.socket).connect()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise OSError("the daemon has ended") from None
                time.sleep(0.005)

    def settle(self):
        """Waits until schedules that were due before the start have been handled, and some seconds more."""
        time.sleep(max(0, self.first - time.monotonic()) + 5)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        self.process = None

    def ask(self, method, target, body=None, to=None):
        to = to or UnixConnection(self.socket)
        to.request(method, target, json.dumps(body) if body is not None else None)
        answer = to.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise OSError(f"the daemon answers {answer.status}: {text[:200]!r}")
        return json.loads(text)

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self, which):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1000 for line in status if line.startswith(which + ":"))

    def follow(self, seconds):
        """The lateness in ms of each occurrence that is claimed within so many seconds."""
        to = UnixConnection(self.socket)
        to.request("GET", "/api/v1/events?follow=true&type=run:claimed")
        stream = to.getresponse()
        late, marks, rest, end = [], [], b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            to.sock.settimeout(left)
            try:
                piece = stream.read1(1 << 16)
            except TimeoutError:
                break
            if not piece:
                raise OSError("the daemon closed the stream of events")
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.startswith(b":durable "):  # the events up to this number are durable since then
                    number, us = map(int, line.split()[1:])
                    marks.append((number, us))
                elif b'"type":"run:claimed"' in line:
                    event = json.loads(line[5:])
                    while marks and marks[0][0] < event["seq"]:
                        marks.pop(0)
                    if marks:
                        late.append((marks[0][1] - microseconds(event["data"]["due"])) / 1000)
        to.close()
        return late


def microseconds(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e6)


def spread(late):
    late = sorted(late)
    return {"triggers": len(late), "p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1]}


def measure(daemon, seconds):
    before = daemon.cpu_seconds()
    late = daemon.follow(seconds)
    return spread(late) | {"cpu": daemon.cpu_seconds() - before}


def ours(build, n, seconds):
    with Daemon(build) as daemon:
        daemon.fill(n, MINUTELY)
        daemon.start()
        daemon.ready()
        daemon.settle()
        return measure(daemon, seconds)


def bare(build, n, seconds, period=60):
    with tempfile.TemporaryDirectory(prefix="rota-bench-") as tmp:
        done = subprocess.run([os.path.join(build, "tests", "bench_late"), str(n), str(seconds),
                               os.path.join(tmp, "bare.db"), str(period)], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)
