#!/usr/bin/env python3
"""People are told: a real daemon, its post, rota-out, and receivers that hang, fail, change their minds and send elsewhere.
What is sent, signed and recorded, to whom and how often; that a schedule neither waits nor fails for it; that nothing of it
is lost or told twice when the daemon is killed. In namespaces of its own there is a receiver at a public address, and the
settings are the default ones; where those are not permitted it is at the loopback address, which the configuration allows,
and the redirect to a private address is left out, by name.

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

ROTA, ROTA_OUT = map(os.path.abspath, sys.argv[1:3])
INSIDE = "--inside" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 4
PUBLIC, PRIVATE = "203.0.113.1", "10.9.8.7"
HOST = PUBLIC if INSIDE else "127.0.0.1"
CONFIG = "" if INSIDE else "out: {allow: [127.0.0.1]}\n"
KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers by its path: /CODE; /hang/… says nothing until the end; /then/N/… turns away so many; /later/… for an hour; /to?URL sends there."""
    protocol_version = "HTTP/1.1"
    got, over, lock, turned = [], threading.Event(), threading.Lock(), {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {k.lower(): v for k, v in self.headers.items()}
        words = self.path.split("?")[0].split("/")
        with self.lock:
            self.got.append((self.path, headers, body, self.server.server_address[0]))
            before = self.turned[self.path] = self.turned.get(self.path, 0) + 1
        if words[1] == "hang":
            self.over.wait(300)
            self.close_connection = True
            return
        code = int(words[1]) if words[1].isdigit() else 200
        if words[1] == "then":
            code = 500 if before <= int(words[2]) else 200
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
        http.server.socketserver.TCPServer.server_bind(self)  # without looking its own name up
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_):
        pass


def serve(address):
    server = Server((address, 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{address}:{server.server_address[1]}"


def got(path):
    """What came to a path: (headers, message)."""
    with Receiver.lock:
        return [(h, b) for p, h, b, _ in Receiver.got if p.split("?")[0] == path]


def messages(path):
    return [json.loads(b) for _, b in got(path)]


def until(what, fn, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = fn()
        if found:
            return found
        time.sleep(0.05)
    check(False, f"did not come about: {what}")
    return fn()


class Place:
    def __init__(self, root, config, env=None):
        os.makedirs(root, 0o700)
        self.root, self.data, self.socket = root, os.path.join(root, "data"), os.path.join(root, "s")
        self.config, self.env = os.path.join(root, "rota.yaml"), {**os.environ, "ROTA_OUT": ROTA_OUT, **(env or {})}
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(config)
        self.start()

    def start(self):
        self.daemon = subprocess.Popen([ROTA, "serve", "--data", self.data, "--socket", self.socket, "--config", self.config],
                                       stdout=subprocess.DEVNULL, env=self.env)
        until("the daemon answers", lambda: self.rota("status").returncode == 0)

    def rota(self, *words):
        return subprocess.run([ROTA, words[0], "--socket", self.socket, *words[1:]], capture_output=True, check=False, text=True, env=self.env)

    def json(self, *words):
        done = self.rota(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def apply(self, *schedules):
        path = os.path.join(self.root, "all.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schedules": [dict({"expression": "@yearly"}, **s) for s in schedules]}, out)
        done = self.rota("apply", "-f", path)
        check(done.returncode == 0 and done.stderr == "", "apply", done)

    def last(self, schedule):
        return (self.json("runs", schedule).get("runs") or [{}])[0]

    def run(self, schedule):
        self.rota("run", schedule, "--wait")
        last = self.last(schedule)
        return f"{last['outcome']}/{last['reason']}" if last.get("reason") else last.get("outcome")

    def notices(self, schedule):
        return self.json("show", self.last(schedule).get("id", "r0")).get("notices", [])

    def over(self, schedule, n=1):
        """The notices of its last run, when none of them waits."""
        def look():
            all_of = self.notices(schedule)
            return all_of if len(all_of) == n and all(x["state"] != "waiting" for x in all_of) else None
        return until(f"{n} of {schedule} are over", look) or []

    def problems(self):
        return self.json("ls", "problems").get("problems", [])

    def stop(self, how=signal.SIGTERM):
        self.daemon.send_signal(how)
        code = self.daemon.wait(60)
        check(code == 0 or how == signal.SIGKILL, f"the daemon ends well: {code}")


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


def files_left(place):
    return [f for _, _, names in os.walk(os.path.join(place.data, "post")) for f in names]


def sent(place, base):
    key = os.path.join(place.root, "key")
    with open(key, "w", encoding="utf-8") as out:
        out.write(SECRET + "\n")
    retry = {"retries": 1, "backoff": "fixed", "initial_delay": 1}
    place.apply(schedule("bad", "exit 3", [hook(base + "/200/bad", secret=SECRET)], retry=retry),
                schedule("good", "true", [hook(base + "/200/good")]),
                schedule("both", "true", [hook(base + "/200/both", secret=key), hook(base + "/404/both")], on_success=True))
    check(place.run("good") == "done" and place.run("bad") == "failed/exit", "one is done, the other fails")
    notices = place.over("bad")
    check([(x["state"], x["attempts"]) for x in notices] == [("delivered", 1)], f"delivered at once: {notices}")
    headers, body = (got("/200/bad") + [({}, b"{}")])[0]
    message = json.loads(body)
    check(len(got("/200/bad")) == 1, "a failure is told once, when attempts are used up")
    check(signed(headers, body) and headers["webhook-id"] == message["id"], f"it is signed: {headers}")
    want = {"type": "run.failed", "schedule": "bad", "run": place.last("bad")["id"], "attempt": 2, "outcome": "failed",
            "reason": "exit", "exit_code": 3}
    check({k: message.get(k) for k in want} == want and "exit code 3" in message["text"], f"what it says: {message}")
    check(place.notices("good") == [] and not got("/200/good"), "nobody asked to be told of that one")
    check(place.run("both") == "done", "what becomes of notices is no part of the outcome")
    notices = place.over("both", 2)
    check([x["state"] for x in notices] == ["delivered", "given up"] and "404" in notices[1]["said"], f"each for itself: {notices}")
    check(signed(*got("/200/both")[0]), "a secret out of a file")
    check(messages("/200/both")[0]["type"] == "run.done", "a success is told as one")
    shown = place.rota("show", place.last("both")["id"]).stdout
    check("given up after 1 attempt" in shown and "/both" not in shown, f"for people, without paths: {shown}")
    events = place.rota("events", "--json").stdout
    check("notice.delivered" in events and "notice.given_up" in events, "both ends are events")
    listing = place.rota("show", "bad").stdout + place.rota("show", "bad", "--json").stdout + place.rota("notify", "ls").stdout
    check("run.failed" in listing and SECRET not in listing + events, "no listing has the secret")


def others(place, tools):
    told = os.path.join(place.root, "told")
    place.apply(schedule("argv", "exit 1", [{"type": "command", "command": ["tee", told + "-argv"]}]),
                schedule("shell", "exit 1",
                         [{"type": "command", "command": f"cat > {told}-shell; echo $ROTA_SCHEDULE_ID $ROTA_NOTICE $ROTA_OUTCOME"}]),
                schedule("absent", "exit 1", [{"type": "command", "command": ["no-such-program"]}]),
                schedule("desktop", "exit 1", [{"type": "desktop"}]),
                schedule("event", "exit 1", [{"type": "event", "name": "alarm"}]),
                schedule("nobody", "exit 1"))
    for name in ("argv", "shell", "desktop", "event", "nobody", "absent"):
        place.run(name)
        notices = place.over(name)
        want = "given up" if name == "absent" else "delivered"
        check([x["state"] for x in notices] == [want], f"{name}: {notices}")
        if name == "shell":
            check(notices[0]["said"] == "exit code 0: shell run.failed failed", f"its environment: {notices}")
        if name == "absent":
            check("No such file" in notices[0]["said"], f"why: {notices}")
    for name in ("argv", "shell"):
        with open(f"{told}-{name}", encoding="utf-8") as text:
            check(json.load(text)["schedule"] == name, f"{name} got the message")
    with open(os.path.join(tools, "said"), encoding="utf-8") as text:
        check("desktop failed with exit code 1" in text.read(), "notify-send was asked")
    named = [e for e in place.json("events")["events"] if e["type"] == "notice" and e.get("name") == "alarm"]
    check(len(named) == 1 and named[0]["schedule"] == "event", f"an event of its own name: {named}")


def recovered(place, base):
    flag = os.path.join(place.root, "well")
    place.apply(schedule("ill", f"test -e {flag}", [hook(base + "/200/ill")], on_failure=False, on_recovered=True,
                         on_success=True, expression="@every 1s"))
    until("it fails", lambda: place.json("runs", "ill", "--failed").get("runs"))
    check(not got("/200/ill"), "its failure is nobody's business")
    with open(flag, "w", encoding="utf-8"):
        pass
    types = until("it is well", lambda: (lambda x: x if len(x) > 1 else None)([m["type"] for m in messages("/200/ill")]))
    check(types[0] == "run.recovered" and set(types[1:]) == {"run.done"}, f"once: {types}")
    place.rota("rm", "ill")


def missed(place, base):
    place.apply(schedule("late", "true", [hook(base + "/200/late")], on_missed=True, expression="@every 1s WINDOW 1s"))
    until("it runs", lambda: place.json("runs", "late").get("runs"))
    place.stop()
    time.sleep(2.2)
    place.start()
    until("what was missed is told", lambda: [m for m in messages("/200/late") if m["type"] == "run.missed"])
    place.rota("rm", "late")


def pings(place, base):
    flag = os.path.join(place.root, "pinged")
    place.apply(schedule("watched", f"echo it prints; test -e {flag}", on_failure=False, ping=base + "/200/ping"))
    place.run("watched")
    until("start and fail", lambda: got("/200/ping/fail"))
    with open(flag, "w", encoding="utf-8"):
        pass
    place.run("watched")
    until("start and end", lambda: got("/200/ping"))
    with Receiver.lock:
        all_of = [(p, b) for p, _, b, _ in Receiver.got if p.startswith("/200/ping")]
    paths = [p.split("?")[0] for p, _ in all_of]
    check(paths == ["/200/ping/start", "/200/ping/fail", "/200/ping/start", "/200/ping"], f"in their order: {paths}")
    rids = [p.split("rid=")[1] for p, _ in all_of]
    check(rids[0] == rids[1] != rids[2] == rids[3] and len(rids[0]) == 36, f"which belong together: {rids}")
    check(all_of[1][1] == b"it prints\n" and all_of[0][1] == b"", f"with what was printed: {all_of}")


def neighbours(place, third):
    """One address that wants to be left in peace for long does not keep others of its host from being told."""
    place.apply(schedule("shut", "exit 1", [hook(third + "/later/x")]), schedule("open", "exit 1", [hook(third + "/200/open")]))
    place.run("shut")
    until("it is asked to wait", lambda: [x for x in place.notices("shut") if x["attempts"]])
    place.run("open")


def gone_ping(place, base):
    """A receiver of pings that is gone is one problem, however many runs there are, and is asked once."""
    place.apply(schedule("unwatched", "true", on_failure=False, ping=base + "/410/p"))
    for _ in range(3):
        place.run("unwatched")
        notices = place.over("unwatched", 2)
    check([x["state"] for x in notices] == ["given up", "given up"], f"no more pings: {notices}")
    with Receiver.lock:
        asked = [p for p, _, _, _ in Receiver.got if p.startswith("/410/p")]
    check(len(asked) == 1, f"asked once: {asked}")
    found = [p for p in place.problems() if "410" in (p["text"] or "")]
    check(len(found) == 1, f"one problem: {found}")
    place.apply(schedule("unwatched", "true", on_failure=False, ping=base + "/200/p"))
    until("it closes", lambda: not [p for p in place.problems() if "410" in (p["text"] or "")])


def later(place, base):
    """Turned away, tried again, and not forgotten by a daemon that is stopped in between."""
    place.apply(schedule("patient", "exit 1", [hook(base + "/then/1/x", secret=SECRET)]))
    place.run("patient")
    notices = until("it is tried", lambda: [x for x in place.notices("patient") if x["attempts"]])
    check(notices[0]["state"] == "waiting" and "500" in notices[0]["said"] and notices[0].get("next"), f"it waits: {notices}")
    place.stop()
    place.start()
    notices = place.over("patient")
    check([(x["state"], x["attempts"]) for x in notices] == [("delivered", 2)], f"delivered in the end: {notices}")
    ids = [h["webhook-id"] for h, _ in got("/then/1/x")]
    check(len(ids) == 2 and ids[0] == ids[1] and all(signed(*x) for x in got("/then/1/x")), f"one message, twice: {ids}")


def gone(place, base):
    to = [hook(base + "/410/x"), hook(base + "/200/still")]
    place.apply(schedule("left", "exit 1", to))
    place.run("left")
    notices = place.over("left", 2)
    check([x["state"] for x in notices] == ["gone", "delivered"], f"it wants no more: {notices}")
    until("a problem says so", lambda: [p for p in place.problems() if "410" in (p["text"] or "")])
    place.run("left")
    notices = place.over("left", 2)
    check([x["state"] for x in notices] == ["given up", "delivered"] and len(got("/410/x")) == 1, f"and gets no more: {notices}")
    place.apply(schedule("left", "exit 2", to))
    until("what named it has changed", lambda: not [p for p in place.problems() if "410" in (p["text"] or "")])
    place.run("left")
    place.over("left", 2)
    check(len(got("/410/x")) == 2, "and it is asked again")


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


def hanging(place, base, other):
    """A receiver that says nothing keeps neither schedules nor other receivers waiting; what it is sent shows nowhere."""
    mark = os.path.join(place.root, "marks")
    place.apply(schedule("stuck", "exit 1", [hook(base + "/hang/x", secret=SECRET)], overlap="allow"),
                schedule("free", "exit 1", [hook(other + "/200/free")]),
                schedule("tick", f"date +%s.%N >> {mark}", expression="@every 1s"))
    for _ in range(6):
        place.run("stuck")
    until("it hangs", lambda: got("/hang/x"))
    check(place.run("free") == "failed/exit", "others run")
    check([x["state"] for x in place.over("free")] == ["delivered"], "and are told of")
    check(len(got("/hang/x")) <= 2, f"not all are sent at once: {len(got('/hang/x'))}")
    check([x["state"] for x in place.notices("stuck")] == ["waiting"], "it waits, and says so")
    seen = command_lines()
    check("rota-out" in seen and SECRET not in seen and "/hang/x" not in seen, "no command line shows a secret")
    grep = subprocess.run(["grep", "-r", SECRET, os.path.join(place.data, "post")], capture_output=True, check=False)
    check(grep.returncode == 1, "its files have no secret", grep)
    until("the clock goes on", lambda: os.path.exists(mark) and open(mark, encoding="utf-8").read().count("\n") >= 4)
    runs = place.json("runs", "tick")["runs"]
    check(runs and all(r["outcome"] in ("done", None) for r in runs), f"and no run of it is late or lost: {runs}")
    place.rota("rm", "tick")
    # Adopted by the next daemon, not sent again.
    before = len(got("/hang/x"))
    place.stop(signal.SIGKILL)
    place.start()
    time.sleep(1)
    check(len(got("/hang/x")) == before, "what is under way when the daemon dies is not sent twice")


def private(place, base, inner):
    place.apply(schedule("misled", "exit 1", [hook(f"{base}/to?{inner}/200/inner")]),
                schedule("direct", "exit 1", [hook(inner + "/200/inner")]))
    for name in ("misled", "direct"):
        check(place.run(name) == "failed/exit", "the run is what it was")
        notices = place.over(name)
        check([x["state"] for x in notices] == ["given up"] and notices[0]["said"].startswith("refused"), f"{name}: {notices}")
    check(not got("/200/inner") and got("/to"), "nothing came to the private address")


def configured(place, base):
    """Who is told by the configuration: set, tested, and told of problems and their ends."""
    check(place.rota("notify", "test").returncode == 1, "a test without anybody fails")
    flag = os.path.join(place.root, "repaired")
    # Seed 004's: on_success: false, on_failure: true, and nobody is named.
    place.apply(schedule("daily", f"test -e {flag}", on_success=False, on_failure=True),
                schedule("own", f"test -e {flag}", [hook(base + "/200/own")]))
    done = place.rota("notify", "set", "--webhook", base + "/200/all", "--secret", os.path.join(place.root, "key"))
    check(done.returncode == 0 and "webhook at" in done.stdout and "/200/all" not in done.stdout, "set", done)
    check(place.rota("notify", "set", "--webhook", base, "--secret", SECRET).returncode == 2, "no secret on the command line")
    check(place.rota("notify", "set", "--webhook", "nowhere").returncode == 2, "an address that is none")
    check(place.rota("state", "get", ".", "--agent", "/notify").returncode == 2, "it is no agent's state")
    done = place.rota("notify", "test")
    check(done.returncode == 0 and "delivered, answered: 200" in done.stdout, "test", done)
    tests = [(h, b) for h, b in got("/200/all") if json.loads(b)["type"] == "test"]
    check(len(tests) == 1 and signed(*tests[0]), "a test is signed as all others")
    done = place.rota("add", "@yearly", "--id", "told", "--", "true")
    check("told: webhook at" in done.stdout, "add says who is told", done)
    check("notify set" in place.rota("config").stdout, "config says where it comes from")
    place.run("daily")
    place.over("daily")
    place.run("own")
    place.over("own")
    until("a problem is told", lambda: [m for m in messages("/200/all") if (m["type"], m.get("subject")) == ("problem.opened", "own")])
    types = [(m["type"], m.get("schedule") or m.get("subject")) for m in messages("/200/all")
             if m["type"] != "test" and m.get("subject") != "notify"]  # what was gone before may be news still
    check(sorted(types) == [("problem.opened", "own"), ("run.failed", "daily")], f"each once, to whom it concerns: {types}")
    with open(flag, "w", encoding="utf-8"):
        pass
    place.run("daily")
    place.run("own")
    until("their ends are told", lambda: {"daily", "own"} <= {m.get("subject") for m in messages("/200/all")
                                                     if m["type"] == "problem.closed"})
    done = place.rota("notify", "set", "--add", "--events", "failure", "--webhook", base + "/503/x")
    check(done.returncode == 0, "add one", done)
    done = place.rota("notify", "set", "--add", "--", "echo", "it has " + 10 * "a long answer ")
    check(done.returncode == 0 and place.json("notify")["notify"]["events"] == ["failure"], "another hears of the same", done)
    check(place.rota("notify", "set", "--add", "--", "true").returncode == 0, "and one that says nothing")
    done = place.rota("notify", "test")
    check("command true: delivered\n" in done.stdout, "which is told as it is", done)
    check(done.returncode == 1 and "delivered" in done.stdout and "given up" in done.stdout and "503" in done.stdout,
          "a test says which of them fails, and how", done)
    check(10 * " a long answer" in done.stdout, "and all of it", done)
    place.stop()
    place.start()
    check(len(place.json("notify")["notify"]["to"]) == 4, "it is durable")
    check(place.rota("notify", "set", "--none").returncode == 0 and place.json("notify")["notify"]["to"] == [], "none")


def from_file(root, base):
    place = Place(os.path.join(root, "file"), CONFIG + f"notify: {{to: [{{type: webhook, url: '{base}/200/file', "
                  f"secret: {SECRET}}}, {{type: desktop}}]}}\n", env={"ROTA_OUT": "", "PATH": "/nowhere"})
    try:
        done = place.rota("notify", "set", "--desktop")
        check(done.returncode == 1 and "file" in done.stderr, "the file belongs to people", done)
        done = place.rota("config", "--config", place.config)
        check("webhook at" in done.stdout and SECRET not in done.stdout and "rota.yaml" in done.stdout, "config", done)
        done = place.rota("doctor", "--config", place.config)
        check("rota-out, by which people are told, is not there" in done.stdout, "doctor says what is missing", done)
    finally:
        place.stop()


def storm(place, base):
    """Very many at once are few messages, and each is told."""
    flag = os.path.join(place.root, "weather")
    n = 24
    place.rota("notify", "set", "--webhook", base + "/200/storm", "--events", "failure")
    place.apply(*[schedule(f"storm-{i}", f"while ! test -e {flag}; do sleep 0.1; done; exit 1") for i in range(n)])
    for i in range(n):
        place.rota("run", f"storm-{i}")
    until("all of them run", lambda: place.json("status").get("running") == n)
    # All of them end while nobody looks.
    place.daemon.send_signal(signal.SIGSTOP)
    with open(flag, "w", encoding="utf-8"):
        pass
    time.sleep(0.5)
    place.daemon.send_signal(signal.SIGCONT)

    def delivered():
        of = [x for x in place.json("notify", "ls", "--limit", "200")["notices"] if (x["schedule"] or "").startswith("storm-")]
        return of if len(of) == n and all(x["state"] == "delivered" for x in of) else None
    notices = until("all of the storm is told", delivered) or []
    check(len({x["schedule"] for x in notices}) == n, "each of them")
    digests = [m for m in messages("/200/storm") if m["type"] == "digest"]
    check(all(m["count"] > 16 and len(m["messages"]) <= 20 for m in digests), f"digests are bounded: {digests}")
    print(f"a storm of {n}: {len(messages('/200/storm'))} messages, {len(digests)} of them digests", flush=True)
    joined = len([x for x in notices if "joined" in x])
    check(len(messages("/200/storm")) == n - joined + len(digests), f"{joined} of {n} in {len(digests)} digests")
    place.rota("notify", "set", "--none")


def killed(root, base):
    """The daemon is killed at any moment while runs fail: each failure is told exactly once."""
    random.seed(7)
    place = Place(os.path.join(root, "killed"), CONFIG)
    place.apply(*[schedule(f"k{i}", "exit 1", [hook(f"{base}/200/k{i}", secret=SECRET)], expression="@every 1s",
                           overlap="allow") for i in range(4)])
    for _ in range(KILLS):
        time.sleep(random.uniform(0.2, 1.4))
        place.stop(signal.SIGKILL)
        place.start()
    for i in range(4):
        place.rota("pause", f"k{i}")
    told = 0

    def failed(i):
        return {r["id"] for r in place.json("runs", f"k{i}", "--failed", "--limit", "1000").get("runs", [])}
    for i in range(4):
        until(f"all of k{i} are told", lambda i=i: failed(i) and failed(i) <= {m.get("run") for m in messages(f"/200/k{i}")}
              | {x.get("run") for m in messages(f"/200/k{i}") for x in m.get("messages", [])})
        runs = [m["run"] for m in messages(f"/200/k{i}") if m["type"] == "run.failed"]
        check(len(runs) == len(set(runs)), f"none is told twice: {runs}")
        told += len(runs)
        waiting = [n for r in failed(i) for n in place.json("show", r)["notices"] if n["state"] != "delivered"]
        check(not waiting, f"and the record says so: {waiting}")
    print(f"{told} failures told over {KILLS} kills", flush=True)
    until("nothing is left of them", lambda: not files_left(place))
    place.stop()


def main():
    if INSIDE:
        ip = shutil.which("ip") or "/usr/sbin/ip"
        for command in ("link set lo up", f"addr add {PUBLIC}/24 dev lo", "addr add 203.0.113.2/24 dev lo", f"addr add {PRIVATE}/24 dev lo"):
            subprocess.run([ip, *command.split()], check=True)
    root = tempfile.mkdtemp(prefix="rota-notify-")
    tools = os.path.join(root, "tools")
    os.makedirs(tools)
    with open(os.path.join(tools, "notify-send"), "w", encoding="utf-8") as out:
        out.write(f'#!/bin/sh\necho "$@" >> {tools}/said\n')
    os.chmod(os.path.join(tools, "notify-send"), stat.S_IRWXU)
    base, other = serve(HOST), serve("203.0.113.2" if INSIDE else "127.0.0.1")
    place = None
    try:
        place = Place(os.path.join(root, "one"), CONFIG + "slots: 40\n", env={"PATH": tools + ":" + os.environ["PATH"]})
        neighbours(place, serve(HOST))
        sent(place, base)
        others(place, tools)
        recovered(place, base)
        check([x["state"] for x in place.over("open")] == ["delivered"], "the neighbour was told")
        missed(place, base)
        pings(place, base)
        later(place, base)
        gone_ping(place, base)
        gone(place, base)
        configured(place, base)
        storm(place, base)
        if INSIDE:
            private(place, base, serve(PRIVATE))
        else:
            print("SKIPPED: namespaces are not permitted here: private addresses behind public ones", flush=True)
        hanging(place, base, other)
        from_file(root, base)
        killed(root, base)
    finally:
        Receiver.over.set()
        if place:
            until("nothing is left of what was sent", lambda: not files_left(place))
            place.stop()
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
    print(f"in namespaces of its own ({' '.join(namespaces())})", flush=True)
    os.execvp("unshare", [*namespaces(), sys.executable, *sys.argv, "--inside"])
main()
