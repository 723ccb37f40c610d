#!/usr/bin/env python3
"""Attacks by connections: a run that opens very many, followers that do not read, bodies that are too large or not
permitted.

usage: connections.py ROTA
"""
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Refused, Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
FOLLOWERS = 600  # EVENT_FOLLOWERS_MAX
# Bytes: 24 MiB with 64 followers, and the connection of each further one. A copy of what waits for each would take 300 MiB.
GROWTH = (24 << 20) + (FOLLOWERS - 64) * (20 << 10)
with open(ROTA, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()  # freed memory is kept for a while

# Within a run: opens connections, sends half of a request on each, and keeps them until a file exists.
FLOOD = """
import socket, os, sys, time
path, result, end, text = sys.argv[1:5]
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    try:
        s.connect(path)
        s.sendall(text.replace("|", "\\r\\n").encode())
    except OSError:
        pass
    return s
all = [connect() for _ in range(int(sys.argv[5]))]
time.sleep(1)
kept = 0
for s in all:
    s.setblocking(False)
    try:
        s.recv(1)
    except BlockingIOError:
        kept += 1
    except OSError:
        pass
with open(result + ".part", "w") as f:
    f.write(str(kept))
os.rename(result + ".part", result)
while not os.path.exists(end):
    time.sleep(0.1)
"""


def flood(rig, name, text, n):
    """A run that opens n connections; returns how many of them are open."""
    result, script = os.path.join(rig.dir, name + ".kept"), os.path.join(rig.dir, "flood.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(FLOOD)
    rig.add({"id": name, "expression": "0 0 1 1 *", "action": {"type": "command", "command": [
        sys.executable, script, rig.socket, result, os.path.join(rig.dir, "end"), text, str(n)]}})
    rig.ask("POST", f"/schedules/{name}/run", {})
    check(wait_until(60, lambda: os.path.exists(result)), f"{name}: it ran")
    with open(result, encoding="utf-8") as f:
        return int(f.read())


def runs_do_not_lock_people_out():
    with Rig(ROTA) as rig:
        rig.start()
        for name, text, n in (("half", "GET /api/v1/st", 700), ("nothing", "", 700), ("body", "POST /api/v1/schedules HTTP/1.1|Host: x|"
                              "Content-Length: 1000||{", 700)):
            kept = flood(rig, name, text, n)
            check(0 < kept <= 32, f"{name}: a run has {kept} connections")
            r = rig.cli("status")
            check(r.returncode == 0, f"{name}: a person is served", r)
        open(os.path.join(rig.dir, "end"), "w").close()
        check(wait_until(30, lambda: all(r["state"] == "finished" for r in rig.runs())), "the runs end")
        check(rig.cli("status").returncode == 0, "and a person is served")


def memory_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:")) * 1024


def followers():
    """Followers that do not read: their number is bounded, and they take little memory."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add({"id": "a", "expression": "0 0 1 1 *", "action": {"type": "command", "command": ["true"]}})
        before, open_now, refused = memory_of(rig.daemon.pid), [], 0
        for _ in range(FOLLOWERS + 100):
            s = socket.socket(socket.AF_UNIX)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.settimeout(30)
            s.connect(rig.socket)
            s.sendall(b"GET /api/v1/events?follow=true HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = s.recv(20)
            refused += answer.startswith(b"HTTP/1.1 503")
            open_now.append(s)
        check(refused >= 100, f"refused followers: {refused} of {FOLLOWERS + 100}")
        for i in range(2500):
            rig.ask("POST", "/schedules/a/pause", {"note": "x" * 400 + str(i)})
        grown = memory_of(rig.daemon.pid) - before
        check(grown < GROWTH or SANITIZED, f"the daemon has grown by {grown >> 10} KiB")
        check(rig.cli("status").returncode == 0, "a person is served")
        for s in open_now:
            s.close()

        def served():
            time.sleep(0.1)
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(30)
            s.connect(rig.socket)
            s.sendall(b"GET /api/v1/events?follow=true HTTP/1.1\r\nHost: x\r\n\r\n")
            good = s.recv(20).startswith(b"HTTP/1.1 200")
            s.close()
            return good
        check(wait_until(30, served), "there is room again when they have left")


def bodies():
    """Only apply may have a large body; other large bodies are refused before they are sent."""
    with Rig(ROTA) as rig:
        rig.start()

        def status(path, length):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(5)
            s.connect(rig.socket)
            s.sendall(f"POST /api/v1{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode())
            try:
                return s.recv(12)[9:12].decode()
            except TimeoutError:
                return "waits"
            finally:
                s.close()
        check(status("/schedules", 32 << 20) == "413", "a document of 32 MB is refused at its headers")
        check(status("/apply", 32 << 20) == "waits", "apply reads as much")
        check(status("/apply", 65 << 20) == "413", "and not more than 64 MB")


# Announces a body of 16 MB, sends none of it, and writes what comes back: the status, and whether the connection is closed.
ANNOUNCE = """
import os, socket, sys
path, result = sys.argv[1:3]
lines = []
for wanted in sys.argv[3:]:
    method, target, token, length, seconds = wanted.split()
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(int(seconds))
    s.connect(path)
    head = f"{method} /api/v1{target} HTTP/1.1|Host: x|"
    head += "Transfer-Encoding: chunked|" if length == "chunked" else f"Content-Length: {length}|"
    if token != "none":
        head += "Authorization: Bearer " + (os.environ["ROTA_TOKEN"] if token == "own" else token) + "|"
    s.sendall((head + "|").replace("|", "\\r\\n").encode())
    text = b""
    try:
        while True:
            got = s.recv(4096)
            text += got
            if not got:
                lines.append(text[9:12].decode() + " closed")
                break
    except TimeoutError:
        lines.append(text[9:12].decode() + " waits" if text else "waits")
    s.close()
with open(result + ".part", "w") as f:
    f.write("\\n".join(lines))
os.rename(result + ".part", result)
"""


def rights():
    """What a run may not request is refused at the headers, and nothing of its body is read."""
    refused = "403 closed"

    def timed(wanted):
        return [f"{case} {1 if answer == 'waits' else 20}" for case, answer in wanted.items()]
    cases = {f"POST /apply none {16 << 20}": (refused, "waits"), f"POST /apply own {16 << 20}": (refused, None),
             "POST /apply none chunked": (refused, "waits"), f"POST /schedules/a/pause none {16 << 20}": (refused, "waits"),
             f"POST /apply r1.1.00 {16 << 20}": (refused, refused), f"PATCH /state none {16 << 20}": ("413 closed", "waits"),
             f"PATCH /state none {1 << 20}": ("waits", "waits"), f"PATCH /state own {16 << 20}": ("413 closed", None)}
    run = {case: wanted for case, (wanted, _) in cases.items()}
    person = {case: wanted for case, (_, wanted) in cases.items() if wanted}

    def judge(who, wanted, result):
        with open(result, encoding="utf-8") as f:
            for (case, answer), line in zip(wanted.items(), f.read().split("\n"), strict=True):
                check(line == answer, f"{who}: {case}: {line}, not {answer}")
    with Rig(ROTA) as rig:
        rig.start()
        result, script = os.path.join(rig.dir, "announced"), os.path.join(rig.dir, "announce.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write(ANNOUNCE)
        rig.add({"id": "a", "expression": "0 0 1 1 *", "action": {"type": "command", "command": [
            sys.executable, script, rig.socket, result, *timed(run)]}})
        rig.ask("POST", "/schedules/a/run", {})
        check(wait_until(150, lambda: os.path.exists(result)), "the run has sent its requests")
        judge("a run", run, result)
        subprocess.run([sys.executable, script, rig.socket, result, *timed(person)], check=True, timeout=120)
        judge("a person", person, result)


# Within a run: sends as much of large bodies as the daemon takes, and does not finish them.
HOLD = """
import os, socket, sys, time
path, result, end, length, most = sys.argv[1:6]
all = []
for _ in range(int(most)):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    try:
        s.connect(path)
        s.sendall(f"PATCH /api/v1/state HTTP/1.1|Host: x|Content-Length: {length}||".replace("|", "\\r\\n").encode())
        s.sendall(b"x" * (int(length) - 1))
    except OSError:
        pass
    all.append(s)
open(result, "w").close()
while not os.path.exists(end):
    time.sleep(0.1)
"""


def bodies_of_runs():
    """Bodies of runs that do not end take the room of each other, not that of people."""
    with Rig(ROTA) as rig:
        rig.start()
        script, end = os.path.join(rig.dir, "hold.py"), os.path.join(rig.dir, "end")
        with open(script, "w", encoding="utf-8") as f:
            f.write(HOLD)
        for i, length in enumerate((16 << 20, 2 << 20, 2 << 20, 2 << 20)):
            rig.add({"id": f"a{i}", "expression": "0 0 1 1 *", "action": {"type": "command", "command": [
                sys.executable, script, rig.socket, os.path.join(rig.dir, f"sent{i}"), end, str(length), "24"]}})
            rig.ask("POST", f"/schedules/a{i}/run", {})
        check(wait_until(60, lambda: all(os.path.exists(os.path.join(rig.dir, f"sent{i}")) for i in range(4))), "the runs have sent")
        try:
            rig.ask("PATCH", "/state", {"agent": "x", "patch": {"text": "y" * 200000}})
            rig.add({"id": "b", "expression": "0 0 1 1 *", "description": "z" * (8 << 20), "action": {"type": "command", "command": ["true"]}})
        except Refused as e:
            check(False, "a person's body is accepted", e)
        open(end, "w").close()
        check(wait_until(30, lambda: all(r["state"] == "finished" for r in rig.runs())), "the runs end")


sys.exit(run_parts([runs_do_not_lock_people_out, followers, bodies, bodies_of_runs, rights], sys.argv[2:], 3))
