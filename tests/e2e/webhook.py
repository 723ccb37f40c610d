#!/usr/bin/env python3
"""Webhooks as runs: a real daemon, real launchers, rota-out, and a receiver on this machine, which the configuration allows.
What is sent, how answers become outcomes, and that a private address is refused where nothing allows it.

usage: webhook.py ROTA ROTA-OUT"""
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA, ROTA_OUT = map(os.path.abspath, sys.argv[1:3])
TOKEN = "hunter2-of-the-receiver"


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers by the path: the status; "hang" says nothing until the end. What it was sent is in `got`."""
    protocol_version = "HTTP/1.1"
    got, over = [], threading.Event()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.got.append((self.command, self.path, dict(self.headers), body))
        if self.path == "/hang":
            self.over.wait(120)
            return
        said = f"you said {self.headers.get('authorization', 'nothing')}\n".encode()
        self.send_response(int(self.path[1:4]))
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_POST = do_PUT = do_GET = answer

    def log_message(self, *_):
        pass


class Place:
    def __init__(self, root, config):
        os.makedirs(root)
        self.root, self.config = root, os.path.join(root, "rota.yaml")
        self.socket = os.path.join(root, "run", "rota.sock")
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(config)
        self.daemon = subprocess.Popen([ROTA, "serve", "--data", os.path.join(root, "data"), "--socket", self.socket,
                                        "--config", self.config], stdout=subprocess.DEVNULL,
                                       env=dict(os.environ, ROTA_OUT=ROTA_OUT))
        end = time.monotonic() + 60
        while self.rota("status").returncode and time.monotonic() < end:
            time.sleep(0.1)

    def rota(self, *words):
        return subprocess.run([ROTA, *words, "--socket", self.socket], capture_output=True, check=False)

    def apply(self, *schedules):
        path = os.path.join(self.root, "all.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schedules": [dict({"expression": "@yearly"}, **s) for s in schedules]}, out)
        done = self.rota("apply", "-f", path)
        check(done.returncode == 0 and done.stderr == b"", f"apply: {done}")

    def run(self, schedule):
        """Its outcome, and what its log says."""
        done = self.rota("run", schedule, "--wait")
        last = json.loads(self.rota("runs", schedule, "--json").stdout)["runs"][0]
        log = self.rota("logs", last["id"])
        check((done.returncode == 0) == (last["outcome"] == "done"), f"run --wait of {schedule} tells: {done}")
        return f"{last['outcome']}/{last['reason']}" if last["reason"] else last["outcome"], log.stdout.decode()

    def stop(self):
        self.daemon.terminate()
        check(self.daemon.wait(60) == 0, "the daemon ends well")


def action(url, **more):
    return dict({"type": "webhook", "url": url}, **more)


def sent(place, base):
    place.apply(
        {"id": "map", "variables": {"who": "you"},
         "action": action(base + "/200", body={"text": "for {{ variables.who }}", "list": ["{{ schedule.id }}", 1, None]},
                          headers={"Authorization": "Bearer " + TOKEN, "X-Of": "{{ schedule.id }}-{{ run.attempt }}"})},
        {"id": "text", "action": action(base + "/204/{{date}}", method="PUT", body="it is {{ schedule.id }}")},
        {"id": "typed", "action": action(base + "/200", body="<a/>", headers={"content-type": "text/xml"})},
        {"id": "bare", "action": action(base + "/299", method="GET")})
    got = {}
    for name in ("map", "text", "typed", "bare"):
        del Receiver.got[:]
        outcome, log = place.run(name)
        check(outcome == "done" and len(Receiver.got) == 1, f"{name} is sent once and done: {outcome}, {log}")
        got[name] = (*Receiver.got[0], log)
    method, _, headers, body, log = got["map"]
    check(method == "POST" and json.loads(body) == {"text": "for you", "list": ["map", 1, None]}, f"a map as JSON: {body}")
    check(headers["Content-Type"] == "application/json" and headers["X-Of"] == "map-1", f"its headers: {headers}")
    check(headers["Authorization"] == "Bearer " + TOKEN, f"what it knows is sent: {headers}")
    check("you said" in log and "rota-out: answered" in log, f"the answer is in the log: {log}")
    check(TOKEN not in log, f"but what it knows is not: {log}")
    method, path, headers, body, _ = got["text"]
    check(method == "PUT" and body == b"it is text" and headers["Content-Type"].startswith("text/plain"), f"text: {headers}")
    check(path == "/204/{{date}}", f"an address is no template: {path}")
    check(got["typed"][2]["content-type"] == "text/xml", f"a type that is said stays: {got['typed'][2]}")
    check(got["bare"][0] == "GET" and got["bare"][3] == b"", f"without a body: {got['bare']}")


def nothing_left(place):
    """What the request knows is in the document and nowhere else: not in files of runs, not where processes can be seen."""
    for top, _, files in os.walk(os.path.join(place.root, "data", "runs")):
        for name in files:
            with open(os.path.join(top, name), "rb") as run:
                check(TOKEN.encode() not in run.read(), f"{name} has no secret in it")
    place.apply({"id": "seen", "action": action(f"{place.base}/hang", headers={"Authorization": TOKEN}), "timeout": 60})
    del Receiver.got[:]
    place.rota("run", "seen")
    end = time.monotonic() + 60
    while not Receiver.got and time.monotonic() < end:
        time.sleep(0.05)
    looked = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as env:
                words, names = line.read(), env.read()
        except OSError:
            continue
        if ROTA_OUT.encode() in words and place.socket.encode() in names:
            looked += 1
            check(TOKEN.encode() not in words + names and words.strip(b"\0") == ROTA_OUT.encode(), f"to be seen: {words}")
    check(looked == 1, f"rota-out is there to be looked at: {looked}")
    place.rota("stop", "seen")


def answered(place, base):
    place.apply(*({"id": f"s{s}", "action": action(f"{base}/{s}")} for s in (404, 410, 500)),
                {"id": "again", "action": action(base + "/503"), "retry": {"retries": 1, "backoff": "fixed", "initial_delay": 1}},
                {"id": "nobody", "action": action("http://127.0.0.1:9/")},
                {"id": "header", "action": action(base + "/200", headers={"X-Two": "{{ 'a\\nb' }}"})},
                {"id": "unknown", "action": action(base + "/200", body="{{ variables.not_there }}")},
                {"id": "slow", "action": action(base + "/hang"), "timeout": 1})
    for status in (404, 410, 500):
        outcome, log = place.run(f"s{status}")
        check(outcome == "failed/exit" and f"rota-out: answered: " in log and str(status) in log, f"{status}: {outcome}, {log}")
    del Receiver.got[:]
    outcome, log = place.run("again")
    check(outcome == "failed/exit" and len(Receiver.got) == 2, f"retried as others are: {outcome}, {Receiver.got}")
    outcome, log = place.run("nobody")
    check(outcome == "failed/exit" and "rota-out: connect: " in log, f"nobody there: {outcome}, {log}")
    outcome, log = place.run("header")
    check(outcome == "failed/exit" and "rota-out: input: " in log and "X-Two" in log, f"no header: {outcome}, {log}")
    outcome, log = place.run("unknown")
    check(outcome == "failed/template", f"a template without a value: {outcome}, {log}")
    outcome, log = place.run("slow")
    check(outcome == "killed/timeout", f"the timeout is that of runs: {outcome}, {log}")


def refused(place, base):
    place.apply({"id": "private", "action": action(base + "/200")})
    del Receiver.got[:]
    outcome, log = place.run("private")
    check(outcome == "failed/exit" and "rota-out: refused: " in log and "loopback" in log, f"refused: {outcome}, {log}")
    check(not Receiver.got, f"and nothing came: {Receiver.got}")


def main():
    root = tempfile.mkdtemp(prefix="rota-webhook-")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    places = []
    try:
        places.append(Place(os.path.join(root, "open"), "out: {allow: [127.0.0.1]}\n"))
        places[0].base = base
        sent(places[0], base)
        answered(places[0], base)
        nothing_left(places[0])
        places.append(Place(os.path.join(root, "closed"), "slots: 4\n"))
        refused(places[1], base)
    finally:
        Receiver.over.set()
        for place in places:
            place.stop()
        server.shutdown()
        shutil.rmtree(root)
    sys.exit(finish())


main()
