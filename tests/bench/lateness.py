"""Lateness of the real daemon, from due to durable claim, beside a bare loop on the same machine in the same run.

Schedules fire once a minute each, spread evenly over it (JITTER), action `event`. The daemon tells the lateness of each
occurrence in its stream of events; its CPU time is /proc's."""
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("rota", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def add_all(path, n):
    to = Unix(path)
    for i in range(n):
        document = {"id": f"s{i}", "expression": "* * * * * JITTER 60s", "action": {"type": "event", "name": "bench"}}
        to.request("POST", "/api/v1/schedules", json.dumps({"document": document}))
        answer = to.getresponse()
        body = answer.read()
        if answer.status >= 300:
            raise OSError(f"the daemon answers {answer.status}: {body[:200]!r}")
    to.close()


def follow(path, seconds):
    """Lateness in ms of what is claimed within so many seconds."""
    to = Unix(path)
    to.request("GET", "/api/v1/events?follow=true")
    stream = to.getresponse()
    late, rest, end = [], b"", time.monotonic() + seconds
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
            at = line.find(b'"lateness_ms":')
            if at > 0:
                late.append(float(line[at + 14:].split(b",")[0].rstrip(b"}")))
            elif b"events.left_out" in line:
                raise OSError("the stream of events left some out")
    to.close()
    return sorted(late)


def ours(rota, n, seconds):
    with tempfile.TemporaryDirectory(prefix="rota-bench-") as tmp:
        path = os.path.join(tmp, "run", "rota.sock")
        daemon = subprocess.Popen([rota, "serve", "--data", os.path.join(tmp, "data"), "--socket", path],
                                  stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(path):
                time.sleep(0.05)
            add_all(path, n)
            time.sleep(61)  # the first minute is uneven: some were added after their time in it
            before = cpu_seconds(daemon.pid)
            late = follow(path, seconds)
            cpu = cpu_seconds(daemon.pid) - before
        finally:
            daemon.terminate()
            daemon.wait()
    return {"triggers": len(late), "p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1],
            "cpu": cpu}


def bare(program, n, seconds):
    with tempfile.TemporaryDirectory(prefix="rota-bench-") as tmp:
        done = subprocess.run([program, str(n), str(seconds), os.path.join(tmp, "bare.db")], check=True,
                              stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)
