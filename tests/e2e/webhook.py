#!/usr/bin/env python3
"""Webhook actions, with a real daemon, a real launcher, rota-out, and a receiver on this machine, which the configuration
allows. Checks the requests that are sent, the outcomes that follow from answers, and that a private address is refused
unless it is allowed.

usage: webhook.py ROTA ROTA-OUT"""
import http.server
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Rig, wait_until  # noqa: E402

ROTA, ROTA_OUT = map(os.path.abspath, sys.argv[1:3])
TOKEN = "hunter2-of-the-receiver"


class Receiver(http.server.BaseHTTPRequestHandler):
    """The path gives the status of the answer; /hang does not answer until the end of the test. Requests are in `got`."""
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


class WebhookRig(Rig):
    """A daemon with a configuration file, and rota-out."""

    def __init__(self, config):
        super().__init__(ROTA, env={"ROTA_OUT": ROTA_OUT})
        path = os.path.join(self.dir, "rota.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(config)
        self.options = ["--config", path]
        check(self.start(), "the daemon starts", self.log_text())

    def apply(self, *schedules):
        path = os.path.join(self.dir, "all.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schedules": [dict({"expression": "@yearly"}, **s) for s in schedules]}, out)
        done = self.cli("apply", "-f", path)
        check(done.returncode == 0 and done.stderr == "", f"apply: {done}")

    def run(self, schedule):
        """Runs the schedule, and returns the outcome and the log of the run."""
        done = self.cli("run", schedule, "--wait")
        last = json.loads(self.cli("runs", schedule, "--json").stdout)["runs"][0]
        log = self.cli("logs", last["id"])
        check((done.returncode == 0) == (last["outcome"] == "done"), f"the exit code of run --wait for {schedule}: {done}")
        return f"{last['outcome']}/{last['reason']}" if last["reason"] else last["outcome"], log.stdout


def action(url, **more):
    return dict({"type": "webhook", "url": url}, **more)


def check_requests(rig, base):
    rig.apply(
        {"id": "map", "variables": {"who": "you"},
         "action": action(base + "/200", body={"text": "for {{ variables.who }}", "list": ["{{ schedule.id }}", 1, None]},
                          headers={"Authorization": "Bearer " + TOKEN, "X-Of": "{{ schedule.id }}-{{ run.attempt }}"})},
        {"id": "text", "action": action(base + "/204/{{date}}", method="PUT", body="it is {{ schedule.id }}")},
        {"id": "typed", "action": action(base + "/200", body="<a/>", headers={"content-type": "text/xml"})},
        {"id": "bare", "action": action(base + "/299", method="GET")})
    got = {}
    for name in ("map", "text", "typed", "bare"):
        del Receiver.got[:]
        outcome, log = rig.run(name)
        check(outcome == "done" and len(Receiver.got) == 1, f"{name} is sent once and succeeds: {outcome}, {log}")
        got[name] = (*Receiver.got[0], log)
    method, _, headers, body, log = got["map"]
    check(method == "POST" and json.loads(body) == {"text": "for you", "list": ["map", 1, None]}, f"a map is sent as JSON: {body}")
    check(headers["Content-Type"] == "application/json" and headers["X-Of"] == "map-1", f"its headers: {headers}")
    check(headers["Authorization"] == "Bearer " + TOKEN, f"the secret is sent: {headers}")
    check("you said" in log and "rota-out: answered" in log, f"the answer is in the log: {log}")
    check(TOKEN not in log, f"the secret is not in the log: {log}")
    method, path, headers, body, _ = got["text"]
    check(method == "PUT" and body == b"it is text" and headers["Content-Type"].startswith("text/plain"), f"text: {headers}")
    check(path == "/204/{{date}}", f"an address is not a template: {path}")
    check(got["typed"][2]["content-type"] == "text/xml", f"a Content-Type of the document is kept: {got['typed'][2]}")
    check(got["bare"][0] == "GET" and got["bare"][3] == b"", f"no body: {got['bare']}")


def check_secrecy(rig, base):
    """The secret of a request is neither in the files of runs nor in the arguments and environments of processes."""
    for top, _, files in os.walk(os.path.join(rig.data, "runs")):
        for name in files:
            with open(os.path.join(top, name), "rb") as run:
                check(TOKEN.encode() not in run.read(), f"{name} has no secret in it")
    rig.apply({"id": "seen", "action": action(f"{base}/hang", headers={"Authorization": TOKEN}), "timeout": 60})
    del Receiver.got[:]
    rig.cli("run", "seen")
    wait_until(60, lambda: Receiver.got)
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as env:
                words, names = line.read(), env.read()
        except OSError:
            continue
        if ROTA_OUT.encode() in words and rig.socket.encode() in names:
            found += 1
            check(TOKEN.encode() not in words + names and words.strip(b"\0") == ROTA_OUT.encode(), f"visible: {words}")
    check(found == 1, f"one process of rota-out is found: {found}")
    rig.cli("stop", "seen")


def check_outcomes(rig, base):
    rig.apply(*({"id": f"s{s}", "action": action(f"{base}/{s}")} for s in (404, 410, 500)),
                {"id": "again", "action": action(base + "/503"), "retry": {"retries": 1, "backoff": "fixed", "initial_delay": 1}},
                {"id": "absent", "action": action("http://127.0.0.1:9/")},
                {"id": "header", "action": action(base + "/200", headers={"X-Two": "{{ 'a\\nb' }}"})},
                {"id": "unknown", "action": action(base + "/200", body="{{ variables.not_there }}")},
                {"id": "slow", "action": action(base + "/hang"), "timeout": 1})
    for status in (404, 410, 500):
        outcome, log = rig.run(f"s{status}")
        check(outcome == "failed/exit" and f"rota-out: answered: " in log and str(status) in log, f"{status}: {outcome}, {log}")
    del Receiver.got[:]
    outcome, log = rig.run("again")
    check(outcome == "failed/exit" and len(Receiver.got) == 2, f"retried like other actions: {outcome}, {Receiver.got}")
    outcome, log = rig.run("absent")
    check(outcome == "failed/exit" and "rota-out: connect: " in log, f"no receiver: {outcome}, {log}")
    outcome, log = rig.run("header")
    check(outcome == "failed/exit" and "rota-out: input: " in log and "X-Two" in log, f"an invalid header: {outcome}, {log}")
    outcome, log = rig.run("unknown")
    check(outcome == "failed/template", f"a template without a value: {outcome}, {log}")
    outcome, log = rig.run("slow")
    check(outcome == "killed/timeout", f"the timeout of the run applies: {outcome}, {log}")


def check_private_address(rig, base):
    rig.apply({"id": "private", "action": action(base + "/200")})
    del Receiver.got[:]
    outcome, log = rig.run("private")
    check(outcome == "failed/exit" and "rota-out: refused: " in log and "loopback" in log, f"refused: {outcome}, {log}")
    check(not Receiver.got, f"nothing was sent: {Receiver.got}")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    rigs = []
    try:
        rigs.append(WebhookRig("out: {allow: [127.0.0.1]}\n"))
        check_requests(rigs[0], base)
        check_outcomes(rigs[0], base)
        check_secrecy(rigs[0], base)
        rigs.append(WebhookRig("slots: 4\n"))
        check_private_address(rigs[1], base)
    finally:
        Receiver.over.set()
        for rig in rigs:
            check((code := rig.stop()) == 0, f"the daemon's exit code: {code}", rig.log_text()[-500:])
            rig.close()
        server.shutdown()
    sys.exit(finish())


main()
