#!/usr/bin/env python3
"""Notifications, with a real daemon, rota-out, and receivers that hang, fail, recover and redirect. Checks which messages
are sent, signed and recorded, to which targets and how often; that notifications neither delay schedules nor make them fail;
and that no message is lost or sent twice when the daemon is killed. With namespaces, the receivers have public addresses and
the settings are the defaults. Without them, they are at the loopback address, which the configuration allows, and the test
of a redirect to a private address is reported as skipped.

usage: notify.py ROTA ROTA-OUT [--kills N]"""
import base64
import glob
import hashlib
import hmac
import http.server
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Rig, wait_until  # noqa: E402

ROTA, ROTA_OUT = map(os.path.abspath, sys.argv[1:3])
INSIDE = "--inside" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 4
PUBLIC, PRIVATE = "203.0.113.1", "10.9.8.7"
HOST = PUBLIC if INSIDE else "127.0.0.1"
CONFIG = "" if INSIDE else "out: {allow: [127.0.0.1]}\n"
KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Receiver(http.server.BaseHTTPRequestHandler):
    """The path decides the answer: /CODE is a status; /hang/… does not answer; /then/N/… fails N times; /later/… asks to
    retry after an hour; /to?URL redirects."""
    protocol_version = "HTTP/1.1"
    got, over, lock, requests = [], threading.Event(), threading.Lock(), {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {k.lower(): v for k, v in self.headers.items()}
        words = self.path.split("?")[0].split("/")
        with self.lock:
            self.got.append((self.path, headers, body, self.server.server_address[0]))
            count = self.requests[self.path] = self.requests.get(self.path, 0) + 1
        if words[1] == "hang":
            self.over.wait(300)
            self.close_connection = True
            return
        code = int(words[1]) if words[1].isdigit() else 200
        if words[1] == "then":
            code = 500 if count <= int(words[2]) else 200
        if words[1] == "to":
            code = 307
        if words[1] == "later":
            code = 503
        self.send_response(code)
        if words[1] == "later":
            self.send_header("Retry-After", "3600")
        if code == 307:
            self.send_header("Location", self.path.split("?", 1)[1])
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"heard")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        http.server.socketserver.TCPServer.server_bind(self)  # no lookup of the host name
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_):
        pass


def start_receiver(address):
    server = Server((address, 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{address}:{server.server_address[1]}"


def got(path):
    """The requests to a path: (headers, body)."""
    with Receiver.lock:
        return [(h, b) for p, h, b, _ in Receiver.got if p.split("?")[0] == path]


def received(path):
    return [json.loads(b) for _, b in got(path)]


def until(what, fn, seconds=90):
    found = wait_until(seconds, fn, 0.05)
    check(found, f"did not happen in {seconds} s: {what}")
    return found


class NotifyRig(Rig):
    """A daemon with a configuration file, and rota-out."""

    def __init__(self, config, env=None):
        super().__init__(ROTA, env={"ROTA_OUT": ROTA_OUT, **(env or {})})
        self.config = os.path.join(self.dir, "rota.yaml")
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(config)
        self.options = ["--config", self.config]
        check(self.start(), "the daemon starts", self.log_text())

    def json(self, *words):
        done = self.cli(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def apply(self, *schedules):
        path = os.path.join(self.dir, "all.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schedules": [dict({"expression": "@yearly"}, **s) for s in schedules]}, out)
        done = self.cli("apply", "-f", path)
        check(done.returncode == 0 and done.stderr == "", "apply", done)

    def last(self, schedule):
        return (self.json("runs", schedule).get("runs") or [{}])[0]

    def run(self, schedule):
        self.cli("run", schedule, "--wait")
        last = self.last(schedule)
        return f"{last['outcome']}/{last['reason']}" if last.get("reason") else last.get("outcome")

    def messages(self, schedule):
        return self.json("show", self.last(schedule).get("id", "r0")).get("messages", [])

    def wait_settled(self, schedule, n=1):
        """The messages about the last run of a schedule, as soon as there are n and none of them is waiting."""
        def settled():
            all_of = self.messages(schedule)
            return all_of if len(all_of) == n and all(x["state"] != "waiting" for x in all_of) else None
        return until(f"{n} messages of {schedule} are delivered or given up", settled) or []

    def problems(self):
        return self.json("ls", "problems").get("problems", [])

    def stop(self):
        code = super().stop()
        check(code == 0, f"the daemon's exit code: {code}", self.log_text()[-500:])


def schedule(name, command, to=None, **more):
    notification = {k: more.pop(k) for k in list(more) if k.startswith("on_")}
    if to is not None:
        notification["to"] = to
    return dict({"id": name, "action": {"type": "command", "command": command}}, notification=notification, **more)


def hook(url, **more):
    return dict({"type": "webhook", "url": url}, **more)


def signed(headers, body):
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    want = "v1," + base64.b64encode(hmac.new(KEY, text, hashlib.sha256).digest()).decode()
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) < 600
    return hmac.compare_digest(headers["webhook-signature"], want) and fresh


def files_left(rig):
    return [f for _, _, names in os.walk(os.path.join(rig.data, "notify")) for f in names]


def check_contents(rig, base):
    key = os.path.join(rig.dir, "key")
    with open(key, "w", encoding="utf-8") as out:
        out.write(SECRET + "\n")
    retry = {"retries": 1, "backoff": "fixed", "initial_delay": 1}
    rig.apply(schedule("bad", "exit 3", [hook(base + "/200/bad", secret=SECRET)], retry=retry),
                schedule("good", "true", [hook(base + "/200/good")]),
                schedule("both", "true", [hook(base + "/200/both", secret=key), hook(base + "/404/both")], on_success=True))
    check(rig.run("good") == "done" and rig.run("bad") == "failed/exit", "good succeeds, bad fails")
    messages = rig.wait_settled("bad")
    check([(x["state"], x["attempts"]) for x in messages] == [("delivered", 1)], f"delivered at once: {messages}")
    headers, body = (got("/200/bad") + [({}, b"{}")])[0]
    message = json.loads(body)
    check(len(got("/200/bad")) == 1, "a failure is reported once, after the last attempt")
    check(signed(headers, body) and headers["webhook-id"] == message["id"], f"it is signed: {headers}")
    want = {"type": "run.failed", "schedule": "bad", "run": rig.last("bad")["id"], "attempt": 2, "outcome": "failed",
            "reason": "exit", "exit_code": 3}
    check({k: message.get(k) for k in want} == want and "exit code 3" in message["text"], f"the content of the message: {message}")
    check(rig.messages("good") == [] and not got("/200/good"), "success is not reported by default")
    check(rig.run("both") == "done", "the outcome does not depend on messages")
    messages = rig.wait_settled("both", 2)
    check([x["state"] for x in messages] == ["delivered", "given up"] and "404" in messages[1]["said"], f"each target has its own result: {messages}")
    check(signed(*got("/200/both")[0]), "signed with a secret from a file")
    check(received("/200/both")[0]["type"] == "run.done", "the type of a success")
    shown = rig.cli("show", rig.last("both")["id"]).stdout
    check("given up after 1 attempt" in shown and "/both" not in shown, f"show prints addresses without their paths: {shown}")
    events = rig.cli("events", "--json").stdout
    check("message:delivered" in events and "message:given_up" in events, "a delivery and a message that was given up are events")
    listing = rig.cli("show", "bad").stdout + rig.cli("show", "bad", "--json").stdout + rig.cli("notify", "ls").stdout
    check("run.failed" in listing and SECRET not in listing + events, "no listing contains the secret")


def check_other_targets(rig, tools):
    told = os.path.join(rig.dir, "told")
    rig.apply(schedule("argv", "exit 1", [{"type": "command", "command": ["tee", told + "-argv"]}]),
                schedule("shell", "exit 1",
                         [{"type": "command", "command": f"cat > {told}-shell; echo $ROTA_SCHEDULE_ID $ROTA_MESSAGE $ROTA_OUTCOME"}]),
                schedule("absent", "exit 1", [{"type": "command", "command": ["no-such-program"]}]),
                schedule("desktop", "exit 1", [{"type": "desktop"}]),
                schedule("event", "exit 1", [{"type": "event", "name": "alarm"}]),
                schedule("default", "exit 1"))
    for name in ("argv", "shell", "desktop", "event", "default", "absent"):
        rig.run(name)
        messages = rig.wait_settled(name)
        want = "given up" if name == "absent" else "delivered"
        check([x["state"] for x in messages] == [want], f"{name}: {messages}")
        if name == "shell":
            check(messages[0]["said"] == "exit code 0: shell run.failed failed", f"the environment of the command has the message: {messages}")
        if name == "absent":
            check("No such file" in messages[0]["said"], f"the reason: {messages}")
    for name in ("argv", "shell"):
        with open(f"{told}-{name}", encoding="utf-8") as text:
            check(json.load(text)["schedule"] == name, f"{name} got the message")
    with open(os.path.join(tools, "said"), encoding="utf-8") as text:
        check("desktop failed with exit code 1" in text.read(), "notify-send was called")
    named = [e["data"] for e in rig.json("events")["events"] if e["type"] == "message:created" and e["data"]["name"] == "alarm"]
    check(len(named) == 1 and named[0]["schedule"] == "event", f"an event with the configured name: {named}")


def check_recovery(rig, base):
    flag = os.path.join(rig.dir, "recovered")
    rig.apply(schedule("ill", f"test -e {flag}", [hook(base + "/200/ill")], on_failure=False, on_recovered=True,
                         on_success=True, expression="@every 1s"))
    until("it fails", lambda: rig.json("runs", "ill", "--failed").get("runs"))
    check(not got("/200/ill"), "its failure is not reported: on_failure is false")
    with open(flag, "w", encoding="utf-8"):
        pass
    types = until("the recovery is reported", lambda: (lambda x: x if len(x) > 1 else None)([m["type"] for m in received("/200/ill")]))
    check(types[0] == "run.recovered" and set(types[1:]) == {"run.done"}, f"the recovery is reported once: {types}")
    rig.cli("rm", "ill")


def check_missed(rig, base):
    rig.apply(schedule("late", "true", [hook(base + "/200/late")], on_missed=True, expression="@every 1s WINDOW 1s"))
    until("it runs", lambda: rig.json("runs", "late").get("runs"))
    rig.stop()
    time.sleep(2.2)
    rig.start()
    until("the missed run is reported", lambda: [m for m in received("/200/late") if m["type"] == "run.missed"])
    rig.cli("rm", "late")


def check_pings(rig, base):
    flag = os.path.join(rig.dir, "pinged")
    rig.apply(schedule("watched", f"echo it prints; test -e {flag}", on_failure=False, ping=base + "/200/ping"))
    rig.run("watched")
    until("start and fail", lambda: got("/200/ping/fail"))
    with open(flag, "w", encoding="utf-8"):
        pass
    rig.run("watched")
    until("start and end", lambda: got("/200/ping"))
    with Receiver.lock:
        all_of = [(p, b) for p, _, b, _ in Receiver.got if p.startswith("/200/ping")]
    paths = [p.split("?")[0] for p, _ in all_of]
    check(paths == ["/200/ping/start", "/200/ping/fail", "/200/ping/start", "/200/ping"], f"the order of pings: {paths}")
    rids = [p.split("rid=")[1] for p, _ in all_of]
    check(rids[0] == rids[1] != rids[2] == rids[3] and len(rids[0]) == 36, f"a start and its end have the same id: {rids}")
    check(all_of[1][1] == b"it prints\n" and all_of[0][1] == b"", f"the end has the output: {all_of}")


def start_same_host(rig, third):
    """A target that asks for a long pause does not delay other targets on the same host; checked later in main."""
    rig.apply(schedule("shut", "exit 1", [hook(third + "/later/x")]), schedule("open", "exit 1", [hook(third + "/200/open")]))
    rig.run("shut")
    until("it is asked to retry later", lambda: [x for x in rig.messages("shut") if x["attempts"]])
    rig.run("open")


def check_ping_gone(rig, base):
    """A receiver of pings that answers 410 is one problem, however many runs there are, and gets one request."""
    rig.apply(schedule("unwatched", "true", on_failure=False, ping=base + "/410/p"))
    for _ in range(3):
        rig.run("unwatched")
        messages = rig.wait_settled("unwatched", 2)
    check([x["state"] for x in messages] == ["given up", "given up"], f"no more pings: {messages}")
    with Receiver.lock:
        asked = [p for p, _, _, _ in Receiver.got if p.startswith("/410/p")]
    check(len(asked) == 1, f"one request: {asked}")
    found = [p for p in rig.problems() if "410" in (p["text"] or "")]
    check(len(found) == 1, f"one problem: {found}")
    rig.apply(schedule("unwatched", "true", on_failure=False, ping=base + "/200/p"))
    until("it closes", lambda: not [p for p in rig.problems() if "410" in (p["text"] or "")])


def check_retry(rig, base):
    """A failed delivery is retried, even if the daemon is stopped in between."""
    rig.apply(schedule("patient", "exit 1", [hook(base + "/then/1/x", secret=SECRET)]))
    rig.run("patient")
    messages = until("it is tried", lambda: [x for x in rig.messages("patient") if x["attempts"]])
    check(messages[0]["state"] == "waiting" and "500" in messages[0]["said"] and messages[0].get("next"), f"waiting for the retry: {messages}")
    rig.stop()
    rig.start()
    messages = rig.wait_settled("patient")
    check([(x["state"], x["attempts"]) for x in messages] == [("delivered", 2)], f"delivered by the retry: {messages}")
    ids = [h["webhook-id"] for h, _ in got("/then/1/x")]
    check(len(ids) == 2 and ids[0] == ids[1] and all(signed(*x) for x in got("/then/1/x")), f"the same message twice: {ids}")


def check_gone(rig, base):
    to = [hook(base + "/410/x"), hook(base + "/200/still")]
    rig.apply(schedule("left", "exit 1", to))
    rig.run("left")
    messages = rig.wait_settled("left", 2)
    check([x["state"] for x in messages] == ["gone", "delivered"], f"a target that answers 410: {messages}")
    until("there is a problem", lambda: [p for p in rig.problems() if "410" in (p["text"] or "")])
    rig.run("left")
    messages = rig.wait_settled("left", 2)
    check([x["state"] for x in messages] == ["given up", "delivered"] and len(got("/410/x")) == 1, f"it gets no more requests: {messages}")
    rig.apply(schedule("left", "exit 2", to))
    until("a change of the schedule closes the problem", lambda: not [p for p in rig.problems() if "410" in (p["text"] or "")])
    rig.run("left")
    rig.wait_settled("left", 2)
    check(len(got("/410/x")) == 2, "after the change the target gets requests again")


def command_lines():
    """The command lines of all processes, as any user can read them."""
    lines = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                lines.append(f.read().decode("utf-8", "replace"))
        except OSError:
            pass  # it ended meanwhile
    return "\n".join(lines)


def check_hanging(rig, base, other):
    """A receiver that does not answer delays neither schedules nor other receivers, and its requests are not visible."""
    mark = os.path.join(rig.dir, "marks")
    rig.apply(schedule("stuck", "exit 1", [hook(base + "/hang/x", secret=SECRET)], overlap="allow"),
                schedule("free", "exit 1", [hook(other + "/200/free")]),
                schedule("tick", f"date +%s.%N >> {mark}", expression="@every 1s"))
    for _ in range(6):
        rig.run("stuck")
    until("it hangs", lambda: got("/hang/x"))
    check(rig.run("free") == "failed/exit", "other schedules run")
    check([x["state"] for x in rig.wait_settled("free")] == ["delivered"], "messages to other receivers are delivered")
    check(len(got("/hang/x")) <= 2, f"requests to one host are limited: {len(got('/hang/x'))}")
    check([x["state"] for x in rig.messages("stuck")] == ["waiting"], "the message is shown as waiting")
    seen = command_lines()
    check("rota-out" in seen and SECRET not in seen and "/hang/x" not in seen, "no command line shows a secret")
    grep = subprocess.run(["grep", "-r", SECRET, os.path.join(rig.data, "notify")], capture_output=True, check=False)
    check(grep.returncode == 1, "the files of the delivery contain no secret", grep)
    until("the timer schedule runs", lambda: os.path.exists(mark) and open(mark, encoding="utf-8").read().count("\n") >= 4)
    runs = rig.json("runs", "tick")["runs"]
    check(runs and all(r["outcome"] in ("done", None) for r in runs), f"no run of it failed or was lost: {runs}")
    rig.cli("rm", "tick")
    # The next daemon adopts the delivery and does not send the message again.
    before = len(got("/hang/x"))
    rig.kill()
    # Earlier versions called the notifier's directory "post": it is renamed, with the deliveries that are in it.
    post, notify = (os.path.join(rig.data, name) for name in ("post", "notify"))
    left = set(files_left(rig))
    os.rename(notify, post)
    rig.start()
    check(not os.path.exists(post) and left and left <= set(files_left(rig)), f"the directory 'post' is now 'notify': {left}")
    time.sleep(1)
    check(len(got("/hang/x")) == before, "a request in progress when the daemon is killed is not sent twice")


def check_private_addresses(rig, base, inner):
    rig.apply(schedule("misled", "exit 1", [hook(f"{base}/to?{inner}/200/inner")]),
                schedule("direct", "exit 1", [hook(inner + "/200/inner")]))
    for name in ("misled", "direct"):
        check(rig.run(name) == "failed/exit", "the outcome does not change")
        messages = rig.wait_settled(name)
        check([x["state"] for x in messages] == ["given up"] and messages[0]["said"].startswith("refused"), f"{name}: {messages}")
    check(not got("/200/inner") and got("/to"), "the private address gets no request")


def check_configured(rig, base):
    """The default targets: they are set and tested, and get messages about problems and their ends."""
    check(rig.cli("notify", "test").returncode == 1, "a test without targets fails")
    flag = os.path.join(rig.dir, "repaired")
    # As in seed 004: on_success: false, on_failure: true, and no target.
    rig.apply(schedule("daily", f"test -e {flag}", on_success=False, on_failure=True),
                schedule("own", f"test -e {flag}", [hook(base + "/200/own")]))
    done = rig.cli("notify", "set", "--webhook", base + "/200/all", "--secret", os.path.join(rig.dir, "key"))
    check(done.returncode == 0 and "webhook at" in done.stdout and "/200/all" not in done.stdout, "the targets are set", done)
    check(rig.cli("notify", "set", "--webhook", base, "--secret", SECRET).returncode == 2, "a secret on the command line is refused")
    check(rig.cli("notify", "set", "--webhook", "nowhere").returncode == 2, "an invalid address is refused")
    check(rig.cli("state", "get", ".", "--agent", "/notify").returncode == 2, "the stored targets cannot be read as the state of an agent")
    done = rig.cli("notify", "test")
    check(done.returncode == 0 and "delivered, answered: 200" in done.stdout, "the test messages are delivered", done)
    tests = [(h, b) for h, b in got("/200/all") if json.loads(b)["type"] == "test"]
    check(len(tests) == 1 and signed(*tests[0]), "a test message is signed, too")
    done = rig.cli("add", "@yearly", "--id", "told", "--", "true")
    check("notify webhook at" in done.stdout, "add shows the targets", done)
    check("notify set" in rig.cli("config").stdout, "config shows the source")
    rig.run("daily")
    rig.wait_settled("daily")
    rig.run("own")
    rig.wait_settled("own")
    until("a problem is reported", lambda: [m for m in received("/200/all") if (m["type"], m.get("subject")) == ("problem.opened", "own")])
    types = [(m["type"], m.get("schedule") or m.get("subject")) for m in received("/200/all")
             if m["type"] != "test" and m.get("subject") != "notify"]  # the end of an earlier problem may come late
    check(sorted(types) == [("problem.opened", "own"), ("run.failed", "daily")], f"each message is sent once, to the right target: {types}")
    with open(flag, "w", encoding="utf-8"):
        pass
    rig.run("daily")
    rig.run("own")
    until("the ends of problems are reported", lambda: {"daily", "own"} <= {m.get("subject") for m in received("/200/all")
                                                     if m["type"] == "problem.closed"})
    done = rig.cli("notify", "set", "--add", "--events", "failure", "--webhook", base + "/503/x")
    check(done.returncode == 0, "a target is added", done)
    done = rig.cli("notify", "set", "--add", "--", "echo", "it has " + 10 * "a long answer ")
    check(done.returncode == 0 and rig.json("notify")["notify"]["events"] == ["failure"], "a target without --events keeps the events", done)
    check(rig.cli("notify", "set", "--add", "--", "true").returncode == 0, "a target without output is added")
    done = rig.cli("notify", "test")
    check("command true: delivered\n" in done.stdout, "a delivery without output succeeds", done)
    check(done.returncode == 1 and "delivered" in done.stdout and "given up" in done.stdout and "503" in done.stdout,
          "a test shows which target fails, and why", done)
    check(10 * " a long answer" in done.stdout, "the result has the whole output of the target", done)
    rig.stop()
    rig.start()
    check(len(rig.json("notify")["notify"]["to"]) == 4, "the targets survive a restart")
    check(rig.cli("notify", "set", "--none").returncode == 0 and rig.json("notify")["notify"]["to"] == [], "all targets are removed")


def check_config_file(base):
    rig = NotifyRig(CONFIG + f"notify: {{to: [{{type: webhook, url: '{base}/200/file', "
                  f"secret: {SECRET}}}, {{type: desktop}}]}}\n", env={"ROTA_OUT": "", "PATH": "/nowhere"})
    try:
        done = rig.cli("notify", "set", "--desktop")
        check(done.returncode == 1 and "file" in done.stderr, "notify set does not change a file", done)
        done = rig.cli("config", "--config", rig.config)
        check("webhook at" in done.stdout and SECRET not in done.stdout and "rota.yaml" in done.stdout, "config prints the targets of the file", done)
        done = rig.cli("doctor", "--config", rig.config)
        check("rota-out is missing; a target of notifications needs it" in done.stdout, "doctor reports the missing program", done)
    finally:
        rig.stop()
        rig.close()


def check_digests(rig, base):
    """Very many failures at the same time become a few messages, which name all of them."""
    flag = os.path.join(rig.dir, "weather")
    n = 24
    rig.cli("notify", "set", "--webhook", base + "/200/storm", "--events", "failure")
    rig.apply(*[schedule(f"storm-{i}", f"while ! test -e {flag}; do sleep 0.1; done; exit 1") for i in range(n)])
    for i in range(n):
        rig.cli("run", f"storm-{i}")
    until("all of them run", lambda: rig.json("status").get("running") == n)
    # All of them end while the daemon is stopped.
    rig.daemon.send_signal(signal.SIGSTOP)
    with open(flag, "w", encoding="utf-8"):
        pass
    time.sleep(0.5)
    rig.daemon.send_signal(signal.SIGCONT)

    def delivered():
        of = [x for x in rig.json("notify", "ls", "--limit", "200")["messages"] if (x["schedule"] or "").startswith("storm-")]
        return of if len(of) == n and all(x["state"] == "delivered" for x in of) else None
    messages = until("all failures are delivered", delivered) or []
    check(len({x["schedule"] for x in messages}) == n, "there is one message for each schedule")
    digests = [m for m in received("/200/storm") if m["type"] == "digest"]
    check(all(m["count"] > 16 and len(m["messages"]) <= 20 for m in digests), f"digests are bounded: {digests}")
    print(f"{n} failures at once: {len(received('/200/storm'))} messages, {len(digests)} of them digests", flush=True)
    joined = len([x for x in messages if "joined" in x])
    check(len(received("/200/storm")) == n - joined + len(digests), f"{joined} of {n} messages are joined in {len(digests)} digests")
    rig.cli("notify", "set", "--none")


def check_kills(base):
    """The daemon is killed at random moments while runs fail: each failure is reported exactly once."""
    random.seed(7)
    rig = NotifyRig(CONFIG)
    rig.apply(*[schedule(f"k{i}", "exit 1", [hook(f"{base}/200/k{i}", secret=SECRET)], expression="@every 1s",
                           overlap="allow") for i in range(4)])
    for _ in range(KILLS):
        time.sleep(random.uniform(0.2, 1.4))
        rig.kill()
        rig.start()
    for i in range(4):
        rig.cli("pause", f"k{i}")
    told = 0

    def failed(i):
        return {r["id"] for r in rig.json("runs", f"k{i}", "--failed", "--limit", "1000").get("runs", [])}
    for i in range(4):
        until(f"all failures of k{i} are reported", lambda i=i: failed(i) and failed(i) <= {m.get("run") for m in received(f"/200/k{i}")}
              | {x.get("run") for m in received(f"/200/k{i}") for x in m.get("messages", [])})
        runs = [m["run"] for m in received(f"/200/k{i}") if m["type"] == "run.failed"]
        check(len(runs) == len(set(runs)), f"none is reported twice: {runs}")
        told += len(runs)
        waiting = [n for r in failed(i) for n in rig.json("show", r)["messages"] if n["state"] != "delivered"]
        check(not waiting, f"all are recorded as delivered: {waiting}")
    print(f"{told} failures reported over {KILLS} kills", flush=True)
    until("no files of deliveries are left", lambda: not files_left(rig))
    rig.stop()
    rig.close()


def main():
    if INSIDE:
        ip = shutil.which("ip") or "/usr/sbin/ip"
        # Packets to the public addresses come from another one, so they are not this machine's own for rota-out.
        for command in ("link set lo up", f"addr add {PRIVATE}/24 dev lo", f"route add local {PUBLIC} dev lo src {PRIVATE}",
                        f"route add local 203.0.113.2 dev lo src {PRIVATE}"):
            subprocess.run([ip, *command.split()], check=True)
    root = tempfile.mkdtemp(prefix="rota-notify-")
    tools = os.path.join(root, "tools")
    os.makedirs(tools)
    with open(os.path.join(tools, "notify-send"), "w", encoding="utf-8") as out:
        out.write(f'#!/bin/sh\necho "$@" >> {tools}/said\n')
    os.chmod(os.path.join(tools, "notify-send"), stat.S_IRWXU)
    base, other = start_receiver(HOST), start_receiver("203.0.113.2" if INSIDE else "127.0.0.1")
    rig = None
    try:
        rig = NotifyRig(CONFIG + "slots: 40\n", env={"PATH": tools + ":" + os.environ["PATH"]})
        start_same_host(rig, start_receiver(HOST))
        check_contents(rig, base)
        check_other_targets(rig, tools)
        check_recovery(rig, base)
        check([x["state"] for x in rig.wait_settled("open")] == ["delivered"], "another target on the same host is not delayed")
        check_missed(rig, base)
        check_pings(rig, base)
        check_retry(rig, base)
        check_ping_gone(rig, base)
        check_gone(rig, base)
        check_configured(rig, base)
        check_digests(rig, base)
        if INSIDE:
            check_private_addresses(rig, base, start_receiver(PRIVATE))
        else:
            print("SKIPPED: namespaces are not permitted here: private addresses behind public ones", flush=True)
        check_hanging(rig, base, other)
        check_config_file(base)
        check_kills(base)
    finally:
        Receiver.over.set()
        if rig:
            until("no files of deliveries are left", lambda: not files_left(rig))
            rig.stop()
            rig.close()
        shutil.rmtree(root)
    sys.exit(finish())


def namespaces():
    for flags in ("-mn", "-Urmn"):
        command = ["unshare", flags]
        try:
            if subprocess.run([*command, "sh", "-c", "PATH=$PATH:/usr/sbin ip link set lo up"], capture_output=True,
                              timeout=30, check=False).returncode == 0:
                return command
        except OSError:
            pass
    return None


if not INSIDE and namespaces():
    print(f"in its own namespaces ({' '.join(namespaces())})", flush=True)
    os.execvp("unshare", [*namespaces(), sys.executable, *sys.argv, "--inside"])
main()
