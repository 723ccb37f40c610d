#!/usr/bin/env python3
"""Every verb that asks a daemon, as a person or a script meets it: the real binary, a daemon of its own on a
temporary directory, right and wrong input.

usage: verbs.py ROTA"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone

ROTA = os.path.abspath(sys.argv[1])
passed = failed = 0
ROOT = tempfile.mkdtemp(prefix="rota-verbs-")
WORK = os.path.join(ROOT, "work")
os.makedirs(WORK)
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROTA_") and k not in ("TZ", "TZDIR")} | {
    "XDG_RUNTIME_DIR": os.path.join(ROOT, "run"), "HOME": os.path.join(ROOT, "home"),
    "XDG_CONFIG_HOME": os.path.join(ROOT, "config"), "XDG_DATA_HOME": os.path.join(ROOT, "share")}
if "ROTA_LAUNCHER" in os.environ:
    ENV["ROTA_LAUNCHER"] = os.environ["ROTA_LAUNCHER"]
os.makedirs(ENV["XDG_RUNTIME_DIR"], 0o700)


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return {}


def rota(*argv, timeout=15):
    try:
        done = subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, env=ENV, timeout=timeout,
                              cwd=WORK)
    except subprocess.TimeoutExpired:
        return Result("hangs", "", "")
    return Result(done.returncode, done.stdout.decode(errors="surrogateescape"),
                  done.stderr.decode(errors="surrogateescape"))


def check(good, what, result=None):
    global passed, failed
    if good:
        passed += 1
        return
    failed += 1
    print(f"FAIL {what}")
    if result is not None:
        print(f"     exit code {result.code}\n     stdout {result.out[:600]!r}\n     stderr {result.err[:600]!r}")


def good(*argv, has=(), timeout=15):
    """Succeeds, says nothing on stderr, and these parts on stdout."""
    r = rota(*argv, timeout=timeout)
    what = "rota " + " ".join(argv)
    check(r.code == 0 and r.err == "", f"{what}: not well", r)
    for part in (has,) if isinstance(has, str) else has:
        check(part in r.out, f"{what}: expected {part!r}", r)
    return r


def bad(code, *argv, has=()):
    """Refused with this exit code and one line with these parts on stderr."""
    r = rota(*argv)
    what = "rota " + " ".join(argv)
    check(r.code == code, f"{what}: expected exit code {code}", r)
    check(r.err.startswith("rota: ") and r.err.count("\n") == 1, f"{what}: not one line of 'rota: …'", r)
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f]", r.err), f"{what}: raw control characters", r)
    for part in (has,) if isinstance(has, str) else has:
        check(part in r.err, f"{what}: expected {part!r}", r)
    return r


def ask(*argv):
    """The same with --json; what it answers."""
    r = rota(*argv, "--json")
    check(r.code == 0 and r.json != {}, f"rota {' '.join(argv)} --json: no JSON", r)
    return r.json


def until(what, fn, seconds=8):
    """Waits until fn is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.05)
    check(False, f"did not come about: {what}")
    return None


def file(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def at(seconds=0, form="%Y-%m-%dT%H:%M:%SZ"):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime(form)


class Daemon:
    def __init__(self, data="data"):
        self.process = subprocess.Popen([ROTA, "serve", "--data", os.path.join(ROOT, data)], env=ENV,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=WORK)
        line = self.process.stdout.readline().decode()
        check("serving" in line, f"the daemon is not ready: {line!r}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "hangs"
        check(code == 0, f"the daemon ended with {code}: {self.process.stdout.read().decode()[:400]}")


def follow_from(last, n):
    """The first so many events that somebody is sent who saw `last`."""
    to = http.client.HTTPConnection("rota", timeout=15)
    to.sock = socket.socket(socket.AF_UNIX)
    to.sock.settimeout(15)
    to.sock.connect(os.path.join(ENV["XDG_RUNTIME_DIR"], "rota", "rota.sock"))
    to.request("GET", "/api/v1/events?follow=true", headers={"Last-Event-ID": str(last)})
    stream, events = to.getresponse(), []
    while len(events) < n:
        line = stream.readline()
        if line.startswith(b"data:"):
            events.append(json.loads(line[5:]))
        elif not line:
            break
    to.close()
    return events


# --- without a daemon ------------------------------------------------------------------------------------------------
def no_daemon():
    doc = file("one.yaml", "id: one\nexpression: '0 9 * * *'\naction: {type: command, command: 'true'}\n")
    for argv in ((), ("status",), ("add", "0 9 * * *", "--", "true"), ("apply", "-f", doc), ("ls",), ("ls", "runs"),
                 ("ls", "problems"), ("show", "x"), ("show", "r1"), ("show", "1"), ("edit", "x", "--when", "0 9 * * *"),
                 ("rm", "x"), ("run", "x"), ("run", "x", "--wait"), ("stop", "r1"), ("pause", "x"), ("pause", "--all"),
                 ("resume", "x"), ("resume", "--tag", "t"), ("runs",), ("logs", "x"), ("logs", "-f", "x"), ("why", "x"),
                 ("ack", "1"), ("backfill", "x", "--from", "1d", "--to", "now"), ("events",), ("events", "-f"),
                 ("clock",)):
        bad(69, *argv, has=("no daemon at", "rota serve"))
    r = rota("doctor")
    check(r.code == 1 and re.search(r"^fail +daemon .*rota serve", r.out, re.M), "doctor without a daemon", r)
    check(not re.search(r"rota serve.*rota serve", r.out), "doctor says it once", r)
    r = rota("doctor", "--json")
    check(r.code == 1 and r.json.get("ok") is False and {"check", "state", "text", "advice"} <= set(r.json["checks"][0]),
          "doctor --json without a daemon", r)
    good("version", has="rota ")
    check("version" in ask("version"), "version --json")
    # What is wrong is told before anybody is asked.
    bad(2, "add", "61 * * * *", "--", "true", has=("minute 61", "0-59", "at column 1"))
    bad(2, "apply", "-f", file("bad.yaml", "id: x\nexpresion: '0 9 * * *'\n"), has=("bad.yaml", "expression", "line 2"))


def help_of_all():
    r = good("--help")
    verbs = re.findall(r"^  (\S+) ", r.out, re.M)
    wanted = ("status add apply ls show edit rm run stop pause resume runs logs why ack backfill events serve doctor clock "
              "config version next explain zones").split()
    check(verbs == wanted, f"help lists {verbs}", r)
    for verb in wanted:
        r = good(verb, "--help", has=("example: rota", "--json"))
    bad(2, "get-run", "r1", has="not a verb")
    bad(2, "stauts", has="near: status")
    bad(2, "ls", "-x", has="no option -x")
    bad(2, "ls", "--frob", has="no option --frob")


# --- schedules -------------------------------------------------------------------------------------------------------
def add():
    r = good("add", "0 9 * * *", "--tz", "Europe/Berlin", "--timeout", "10m", "--retry", "2", "--tag", "x,y", "--",
             "sh", "-c", "true", has=("added", WORK, "Europe/Berlin", "600 s", "1 try + 2 retries", "nobody is told"))
    check(len(re.findall(r"0[78]:00:00 \(in .*\), there .* 09:00:00\n", r.out)) == 3, "add shows three runs, here and there", r)
    good("add", "0 9 * * *", "--tz", "Europe/Berlin", "--timeout", "10m", "--retry", "2", "--tag", "x,y", "--", "sh",
         "-c", "true", has="unchanged")
    ids = [s["id"] for s in ask("ls")["schedules"] if not s["id"].startswith("w-")]
    check(ids == ["sh-c-true"], f"add made {ids}")
    doc = ask("show", ids[0])["document"]
    check(doc["action"]["cwd"] == WORK and doc["action"]["env"]["PATH"] == ENV["PATH"], f"directory and PATH: {doc}")
    check(doc["tags"] == ["x", "y"] and doc["timezone"] == "Europe/Berlin", f"the document: {doc}")
    # The same words, another schedule: another id. The same id, another schedule: a conflict.
    r = good("add", "0 10 * * *", "--", "sh", "-c", "true", has="added")
    check(f"{ids[0]}-2: added" in r.out, "a derived id that is taken gets a number", r)
    good("add", "0 9 * * *", "--id", "mine", "--", "true", has="mine: added")
    bad(1, "add", "0 10 * * *", "--id", "mine", "--", "true", has=("'mine'", "--update"))
    good("add", "0 10 * * *", "--id", "mine", "--update", "--", "true", has="mine: changed")
    good("add", "0 10 * * *", "--id", "line", "--command", "echo a | cat", has="echo a | cat")
    check(ask("show", "line")["document"]["action"]["command"] == "echo a | cat", "a line for the shell")
    before = [(s["id"], s["rev"]) for s in ask("ls")["schedules"]]
    for argv, parts in (((), "add needs"), (("0 9 * * *",), "add needs"),
                        (("0 25 * * *", "--", "true"), ("hour 25", "0-23", "at column 3")),
                        (("0 9 * * *", "--missed", "never", "--", "true"), ("'never'", "execute_immediately, skip")),
                        (("0 9 * * *", "--overlap", "never", "--", "true"), ("'never'", "skip, queue_one")),
                        (("0 9 * * *", "--tz", "Europe/Berln", "--", "true"), "Europe/Berlin"),
                        (("0 9 * * *", "--id", "a b", "--", "true"), "id"),
                        (("0 9 * * *", "--timeout", "soon", "--", "true"), "duration"),
                        (("0 9 * * *", "--retry", "0", "--", "true"), "1-100"),
                        (("0 9 * * * TZ=UTC", "--tz", "Asia/Tokyo", "--", "true"), "zone"),
                        (("2020-01-01", "--", "true"), "passed"),
                        (("0 9 * * *", "--frob", "--", "true"), "no option --frob")):
        bad(2, "add", *argv, has=parts)
    check([(s["id"], s["rev"]) for s in ask("ls")["schedules"]] == before, "what was refused left something behind")
    r = good("add", "0 9 * * *", "--id", "esc", "--", "echo", "\x1b[31mred", has="\\x1b[31mred")
    check("\x1b" not in r.out and "\x1b" not in good("show", "esc").out, "control sequences are harmless", r)


def names():
    for name in ("alpha-one", "alpha-two", "alph"):
        good("add", "0 9 * * *", "--id", name, "--", "true")
    bad(1, "show", "alpha", has=("alpha-one", "alpha-two"))
    bad(1, "rm", "alpha-", has=("alpha-one", "alpha-two"))
    good("show", "alpha-o", has="alpha-one: active")
    good("show", "alph", has="alph: active")
    for verb in ("show", "rm", "run", "pause", "resume", "why", "logs", "runs"):
        bad(1, verb, "nobody", has=("no schedule", "'nobody'"))
    for verb in ("rm", "run", "why", "show", "stop", "logs", "ack", "edit", "pause", "resume", "backfill"):
        bad(2, verb, has="need")
    bad(1, "show", "r99999", has="no run r99999")
    bad(1, "show", "99999", has="no problem 99999")
    bad(1, "show", "\x1b[31m", has="\\x1b")
    page = ask("ls", "--limit", "2")
    check(len(page["schedules"]) == 2 and page["after"] == page["schedules"][1]["id"], f"a page: {page}")
    rest = ask("ls", "--after", page["after"])
    check(rest["schedules"][0]["id"] > page["after"], "the next page")
    check({"id", "state", "next", "failures", "rev", "changed"} <= set(page["schedules"][0]), "a schedule in JSON")
    good("ls", has=("SCHEDULE", "alpha-one"))
    good("ls", "schedules", has="alpha-one")
    bad(2, "ls", "agents", has=("schedules, runs and problems"))
    bad(2, "ls", "--failed", has="--failed")
    bad(2, "ls", "problems", "--since", "1d", has="--since")
    bad(2, "rm", "alpha-one", "other", has="'other'")
    bad(2, "ack", has="an N")
    bad(1, "stop", "r99999", has="r99999")
    good("rm", "alpha-o", has="alpha-one: removed")
    bad(1, "show", "alpha-one", has="no schedule")


def apply():
    d = os.path.join(WORK, "ops")
    one = "schedule:\n  id: one\n  expression: '0 8 * * *'\n  action: {type: command, command: 'true'}\n"
    file("ops/a.yaml", "id: follower\nafter: {schedule: leader}\naction: {type: command, command: 'true'}\n")
    file("ops/b.yml", one + "---\nid: two\nexpression: '0 9 * * *'\naction: {type: command, command: [echo, hi]}\n")
    file("ops/c.json", '{"id":"leader","expression":"0 7 * * *","action":{"type":"command","command":"true"}}')
    file("ops/notes.txt", "not a document")
    r = good("apply", "-f", d, "--dry-run", has=("+ one: added", "+ leader: added", "4 added", "nothing was applied"))
    bad(1, "show", "leader", has="no schedule")
    good("apply", "--file", d, has=("4 added, 0 changed, 0 unchanged"))
    check(ask("why", "follower")["answer"] == "follows", "a follower of a leader in a later file")
    good("apply", "-f", d, has=("= one: unchanged", "0 added, 0 changed, 4 unchanged"))
    file("ops/b.yml", one.replace("0 8", "30 8") + "  timeout: 5m\n  tags: [night]\n")
    r = good("apply", "-f", d, "--dry-run",
             has=("~ one: changed", 'expression: "0 8 * * *" -> "30 8 * * *"', 'timeout: "5m"', "nothing was applied"))
    check(ask("show", "one")["document"]["expression"] == "0 8 * * *", "--dry-run changes nothing")
    a = ask("apply", "-f", d)
    change = [s for s in a["schedules"] if s["id"] == "one"][0]
    check(change["result"] == "changed" and {"key": "expression", "from": "0 8 * * *", "to": "30 8 * * *"} in
          change["changes"] and a["dry_run"] is False, f"apply --json: {a}")
    check(ask("show", "one")["document"]["expression"] == "30 8 * * *", "apply changes")
    good("show", "two", has="two: active")  # not pruned
    bad(2, "apply", "-f", d, "--prune", has=("--prune", "rota rm"))
    # A broken file among good ones: each is told of, nothing is applied.
    file("ops/b.yml", one)
    file("ops/x.yaml", "id: bad\nexpression: '99 8 * * *'\naction: {type: command, command: 'true'}\n")
    file("ops/y.yaml", "id: bad2\nexpression: '0 8 * * *'\naction: {type: comand, command: 'true'}\n")
    r = rota("apply", "-f", d)
    check(r.code == 2 and r.out == "" and re.search(r"x\.yaml: minute 99.*line 2, column 14", r.err) and "y.yaml" in r.err
          and "nothing was applied: 2 of 5" in r.err, "broken files among good ones", r)
    check(ask("show", "one")["document"]["expression"] == "30 8 * * *", "nothing of the good ones was applied")
    os.remove(os.path.join(d, "x.yaml"))
    file("ops/y.yaml", "id: one\nexpression: '0 8 * * *'\naction: {type: command, command: 'true'}\n")
    r = rota("apply", "-f", d)
    check(r.code == 2 and "'one' is in" in r.err and "b.yml" in r.err and "y.yaml" in r.err, "one id in two files", r)
    bad(2, "apply", "-f", file("lost.yaml", "id: lost\nafter: {schedule: nowhere}\naction: {type: command, command: a}\n"),
        has=("'lost'", "'nowhere'"))
    bad(2, "apply", "-f", file("ring.yaml", "schedules:\n- {id: r1x, after: {schedule: r2x}, action: {type: command, command:"
        " a}}\n- {id: r2x, after: {schedule: r1x}, action: {type: command, command: a}}\n"), has="follows itself")
    # A long line of followers, the last leader last: what it takes grows no faster than the line.
    action = {"type": "command", "command": "true"}
    line = [{"id": f"line{i}", "after": {"schedule": f"line{i + 1}"}, "action": action} for i in range(4000)]
    line.append({"id": "line4000", "expression": "0 0 * * *", "action": action})
    good("apply", "-f", file("line.json", json.dumps({"schedules": line})), "--dry-run", has="4001 added")
    # More than go to the daemon together: leaders first all the same, and what is refused in the last is refused before
    # the first.
    many = [{"id": f"many{i}", "expression": "0 0 1 1 *", "action": action} for i in range(1200)]
    many[0] = {"id": "many0", "after": {"schedule": "many1199"}, "action": action}
    many[700] = {"id": "many700", "after": {"schedule": "many0"}, "action": action}
    lost = many + [{"id": "many1200", "after": {"schedule": "nowhere"}, "action": action}]
    bad(2, "apply", "-f", file("many.json", json.dumps({"schedules": lost})), has=("'many1200'", "'nowhere'"))
    bad(1, "show", "many5")
    file("many.json", json.dumps({"schedules": many}))
    good("apply", "-f", os.path.join(WORK, "many.json"), "--dry-run", has=("1200 added", "nothing was applied"))
    good("apply", "-f", os.path.join(WORK, "many.json"), has="1200 added, 0 changed, 0 unchanged")
    check(ask("show", "many700")["document"]["after"]["schedule"] == "many0", "a follower in another piece")
    # They were more events than are kept: who comes back is told how many were left out, and the rest in order.
    events = follow_from(1, 500)
    check(events[0]["type"] == "events.left_out" and events[0]["count"] >= 500 and
          [e["id"] for e in events] == list(range(events[0]["id"], events[0]["id"] + 500)), f"left out: {events[:2]}")
    check(events[-1]["schedule"].startswith("many") and events[-1]["type"] == "schedule.changed", f"{events[-1]}")
    a = ask("apply", "-f", os.path.join(WORK, "many.json"))
    check({s["id"] for s in a["schedules"]} == {s["id"] for s in many} and a["dry_run"] is False and
          all(s["result"] == "unchanged" for s in a["schedules"]), "many applied again")
    many[1] = {"id": "many1", "after": {"schedule": "many2"}, "action": action}
    many[2] = {"id": "many2", "after": {"schedule": "many1"}, "action": action}
    bad(2, "apply", "-f", file("many.json", json.dumps({"schedules": many})), has="follows itself")
    bad(1, "apply", "-f", os.path.join(WORK, "not-there.yaml"), has="not-there.yaml")
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    bad(1, "apply", "-f", os.path.join(WORK, "empty"), has="no documents")
    bad(2, "apply", has="file or a directory")


def edit():
    good("add", "0 9 * * *", "--id", "ed", "--tz", "Europe/Berlin", "--tag", "k", "--", "echo", "one")
    good("edit", "ed", "--when", "30 9 * * 1-5", has=("ed: changed", "Europe/Berlin", "echo one"))
    doc = ask("show", "ed")["document"]
    check(doc["expression"] == "30 9 * * 1-5" and doc["tags"] == ["k"] and doc["timezone"] == "Europe/Berlin",
          f"edit keeps the rest: {doc}")
    good("edit", "ed", "--when", "30 9 * * 1-5", has="unchanged")
    good("edit", "ed", "--when", "0 9 * * * TZ=Asia/Tokyo OVERLAP allow", has="Asia/Tokyo")
    good("edit", "ed", "--when", "every day at 7am in Lisbon", has=("Europe/Lisbon", "overlap: allow"))
    good("edit", "ed", "--timeout", "90s", "--retry", "3", has=("90 s", "3 retries"))
    good("edit", "ed", "--", "echo", "two", has="echo two")
    check(ask("show", "ed")["document"]["timeout"] in ("90s", "1m30s"), "edit of the command keeps the timeout")
    before = rota("show", "ed", "--json").out
    bad(2, "edit", "ed", has="--when")
    bad(2, "edit", "ed", "--when", "0 99 * * *", has=("hour 99", "at column 3"))
    bad(2, "edit", "ed", "--missed", "x", has="execute_immediately")
    bad(1, "edit", "nobody", "--when", "0 9 * * *", has="no schedule")
    other = file("other.yaml", "id: other\nexpression: '0 9 * * *'\naction: {type: command, command: a}\n")
    bad(2, "edit", "ed", "-f", other, has=("'other'", "'ed'"))
    bad(2, "edit", "ed", "--file", other, "--timeout", "1m", has="--file")
    check(rota("show", "ed", "--json").out == before, "what was refused changed something")
    good("edit", "ed", "--file", file("ed.yaml", "id: ed\nexpression: '0 4 * * *'\naction: {type: command, command: a}\n"),
         has="ed: changed")
    check("tags" not in ask("show", "ed")["document"], "--file replaces the whole")


# --- runs ------------------------------------------------------------------------------------------------------------
def runs():
    good("add", "0 0 1 1 *", "--id", "ok", "--", "sh", "-c", "echo hello; printf '\\033[31mred\\n'")
    good("add", "0 0 1 1 *", "--id", "ko", "--", "sh", "-c", "echo oh no; exit 3")
    good("add", "0 0 1 1 *", "--id", "long", "--", "sh", "-c", "echo begun; sleep 60")
    good("add", "0 0 1 1 *", "--id", "slow", "--", "sh", "-c", "echo a; sleep 0.6; echo b")
    bad(1, "logs", "ok", has="not run yet")
    good("run", "ok", "--wait", has=": done")
    r = rota("run", "ko", "--wait")
    check(r.code == 1 and "failed/exit" in r.out and "did not succeed" in r.err, "run --wait of what fails", r)
    r = rota("run", "ko", "--watch")
    check(r.code == 1 and "oh no\n" in r.out, "run --watch of what fails", r)
    good("run", "slow", "--watch", has="a\nb\n")
    run = ask("run", "ok", "--wait")
    check({"id", "schedule", "kind", "nominal", "due", "attempt", "state", "outcome", "reason", "started_at", "ended_at",
           "exit_code", "cost_usd", "tokens"} <= set(run) and run["kind"] == "manual" and run["exit_code"] == 0,
          f"a run in JSON: {run}")
    good("show", run["id"], has=(run["id"], "done"))
    r = good("logs", "ok", has=("hello", "\\x1b[31mred"))
    check("\x1b[31mred" in good("logs", run["id"], "--raw").out, "--raw passes control sequences", r)
    check(ask("logs", "ok")["text"].startswith("hello\n"), "logs --json")
    good("logs", "ok", "-f", has="hello")
    good("logs", "ok", "--from", "2", has="llo")
    # Pieces of a log end where characters end.
    good("add", "0 0 * * *", "--id", "wide", "--", "python3", "-c",
         "import sys; sys.stdout.buffer.write(b'x' + b'\\xc3\\xa9' * 300000)")
    good("run", "wide", "--wait", has="done")
    check(good("logs", "wide").out == "x" + "\u00e9" * 300000, "a long log of wide characters")
    good("rm", "wide")
    bad(2, "logs", "ok", "--from", "x", has="bytes")
    bad(1, "logs", "r99999", has="no run r99999")
    live = ask("run", "long")["run"]
    until("it runs", lambda: ask("show", live)["state"] == "running")
    bad(75, "run", "long", has="alive")
    r = good("status", has=("running", live))
    f = subprocess.Popen([ROTA, "logs", "-f", "long"], stdout=subprocess.PIPE, env=ENV)
    check(f.stdout.readline() == b"begun\n", "logs -f shows what comes")
    good("stop", live, has="stopped")
    check(f.wait(5) == 0, "logs -f ends with the run")
    f.stdout.close()
    check(ask("show", live)["outcome"] == "killed", "a stopped run is killed")
    bad(1, "stop", live, has="not alive")
    bad(2, "stop", "tomorrow", has="r1")
    good("runs", has=("RUN", "OUTCOME", "killed/cancelled"))
    all_ = ask("runs", "--limit", "1000")["runs"]
    check([x["id"] for x in all_] == sorted((x["id"] for x in all_), key=lambda i: -int(i[1:])), "the newest first")
    check({x["outcome"] for x in ask("runs", "--failed")["runs"]} <= {"failed", "killed"}, "runs --failed")
    check({x["schedule"] for x in ask("runs", "ok")["runs"]} == {"ok"}, "runs of one")
    check(len(ask("ls", "runs", "--since", "1h")["runs"]) > 0 and ask("runs", "--since", "2100-01-01")["runs"] == [],
          "runs --since")
    bad(2, "runs", "--since", "whenever", has=("'whenever'", "2h"))
    page = ask("runs", "--limit", "2")
    check(page["before"] == page["runs"][-1]["id"] and ask("runs", "--before", page["before"])["runs"][0]["id"] !=
          page["before"], "pages of runs")
    # Removal lets the run finish, or ends it.
    one = ask("run", "slow")["run"]
    good("rm", "slow", has="removed")
    check(until("it finishes", lambda: ask("show", one)["outcome"]) == "done", "a removed schedule's run finishes")
    good("logs", "slow", has="a\nb\n")
    check(one in [x["id"] for x in ask("runs", "slow")["runs"]], "a removed schedule's runs are still told of")
    two = ask("run", "long")["run"]
    until("it runs", lambda: ask("show", two)["state"] == "running")
    good("rm", "long", "--kill", has="removed")
    check(until("it is killed", lambda: ask("show", two)["outcome"]) == "killed", "rm --kill")


def pause():
    good("add", "0 0 1 1 *", "--id", "p1", "--tag", "batch", "--", "true")
    good("add", "0 0 1 1 *", "--id", "p2", "--tag", "batch,other", "--", "true")
    good("add", "0 0 1 1 *", "--id", "p3", "--", "true")
    good("pause", "p3", "--for", "2h", has="paused")
    s = ask("show", "p3")
    check(s["state"] == "paused" and s["paused_until"], f"paused for a time: {s}")
    bad(1, "pause", "p3", has="already")
    good("resume", "p3", has="resumed")
    check(sorted(ask("pause", "--tag", "batch")["schedules"]) == ["p1", "p2"], "pause --tag")
    check((ask("show", "p1")["state"], ask("show", "p3")["state"]) == ("paused", "active"), "only those of the tag")
    good("pause", "--tag", "nobody", has="No schedule")
    good("resume", "--tag", "other", has="p2")
    check((ask("show", "p1")["state"], ask("show", "p2")["state"]) == ("paused", "active"), "resume --tag")
    good("edit", "p1", "--timeout", "3m")
    check(ask("show", "p1")["state"] == "paused", "a pause survives an edit")
    good("pause", "--all", "--for", "1h", has="paused")
    good("status", has=("Everything is paused until", "resume --all"))
    check(ask("status")["paused"] is True, "status --json when all is paused")
    w = ask("why", "p3", at(1800))
    check(ask("why", "p3")["answer"] == "will_run", f"after the pause it will run: {w}")
    good("resume", "--all", has="resumed")
    check(ask("status")["paused"] is False, "resumed")
    for argv in (("pause",), ("pause", "p1", "--all"), ("resume", "--all", "--tag", "x")):
        bad(2, *argv, has=("SCHEDULE", "--tag", "--all"))
    bad(2, "pause", "p2", "--for", "a while", has=("'a while'", "2h"))
    bad(2, "resume", "p2", "--for", "2h", has="no option --for")


# --- why -------------------------------------------------------------------------------------------------------------
def why_begin():
    """What needs a few seconds to pass."""
    good("add", "@every 1s", "--id", "w-tick", "--", "true")
    good("add", "@every 1s", "--id", "w-busy", "--", "sleep", "60")
    good("add", "@every 1s", "--id", "w-paused", "--", "true")
    good("pause", "w-paused")
    good("apply", "-f", file("why.yaml", f"""schedules:
- {{id: w-max, expression: '@every 1s', max_runs: 1, action: {{type: command, command: 'true'}}}}
- {{id: w-off, expression: '0 9 * * *', enabled: false, action: {{type: command, command: 'true'}}}}
- {{id: w-except, expression: '0 9 * * *', timezone: UTC, except: ['2099-01-02'], action: {{type: command, command: 'true'}}}}
- {{id: w-dates, expression: '0 9 * * *', timezone: UTC, start_date: '2098-01-01', end_date: '2099-01-01', action: {{type: command, command: 'true'}}}}
- {{id: w-after, after: {{schedule: w-tick}}, action: {{type: command, command: 'true'}}}}
- {{id: w-tokyo, expression: '0 9 * * *', timezone: Asia/Tokyo, action: {{type: command, command: 'true'}}}}
- {{id: w-fill, expression: '@every 1s', action: {{type: command, command: 'true'}}}}
"""))
    good("pause", "w-fill")


def whys():
    def why(*argv):
        w = ask("why", *argv)
        return w.get("answer"), w.get("reason"), w

    def reason(expected, *argv):
        a, r, w = why(*argv)
        check((a, r) == expected, f"why {' '.join(argv)}: {(a, r)} instead of {expected}: {w}")
        text = rota("why", *argv)
        check(text.code == 0 and (r is None or r in text.out or a == "will_not_run"), f"why {argv} in words", text)

    ran = until("a tick ran", lambda: ask("runs", "w-tick", "--limit", "3")["runs"][1:])
    a, r, w = why("w-tick", ran[-1]["nominal"])
    check(a == "run" and w["run"]["id"] == ran[-1]["id"], f"why of a run: {w}")
    local = datetime.fromisoformat(ran[-1]["nominal"].replace("Z", "+00:00")).astimezone()
    check(why("w-tick", local.strftime("%Y-%m-%dT%H:%M:%S"))[0] == "run", "why with a local time")
    check(why("w-tick", local.strftime("%H:%M:%S"))[0] in ("run", "no_time", "will_run"), "why with a time of today")
    now = why("w-tick", "now")
    check(now[0] in ("run", "about_to_run") or now[1] in ("overlap", "paused"), f"why now: {now}")
    reason(("before", None), "w-tick", "2020-01-01T00:00:00Z")
    first = [x for x in ask("runs", "w-busy", "--limit", "1000")["runs"] if x["state"] == "running"]
    good("why", "w-busy", first[0]["nominal"], has=("taken up", first[0]["id"], "running"))
    past = until("w-busy overlapped", lambda: [x for x in ask("runs", "w-busy")["runs"] if x["reason"] == "overlap"])
    if past:
        reason(("refused", "overlap"), "w-busy", past[0]["nominal"])
    reason(("refused", "paused"), "w-paused", at(-2))
    reason(("will_not_run", "paused"), "w-paused", at(3600))
    good("why", "w-paused", at(3600), has=("it is or was paused", "skipped/paused"))
    reason(("will_not_run", "max_runs"), "w-max", at(3600))
    reason(("refused", "max_runs"), "w-max", at(-1))
    reason(("will_not_run", "disabled"), "w-off", at(86400, "%Y-%m-%d"))
    reason(("will_not_run", "excluded"), "w-except", "2099-01-02T09:00:00Z")
    reason(("will_not_run", "excluded"), "w-except", "2099-01-02")
    reason(("will_run", None), "w-except", "2099-01-03")
    reason(("will_not_run", "not_started"), "w-dates", "2097-06-01T09:00Z")
    reason(("will_run", None), "w-dates", "2098-06-01T09:00Z")
    reason(("will_not_run", "expired"), "w-dates", "2099-06-01T09:00Z")
    reason(("follows", None), "w-after")
    a, r, w = why("w-except", "2099-01-03T09:01:00Z")
    check(a == "no_time" and (w["before"], w["after"]) == ("2099-01-03T09:00:00Z", "2099-01-04T09:00:00Z"),
          f"no occurrence, the nearest: {w}")
    good("why", "w-except", "2099-01-03T09:01:00Z", has=("no such time", "nearest: 2099-01-0"))
    # A time without offset is read as the screen shows it, or else in the schedule's zone.
    check(why("w-tokyo", "2099-01-03T09:00")[0] == "will_run", "the schedule's own zone")
    check(why("w-tokyo", datetime(2099, 1, 3, tzinfo=timezone.utc).astimezone().strftime("%Y-%m-%dT%H:%M"))[0] ==
          "will_run", "the machine's zone")
    check(why("w-tokyo")[0] == "will_run", "why of the next")
    bad(2, "why", "w-tick", "someday", has=("'someday'", "2026-11-16T08:30", "now"))
    good("pause", "--all")
    reason(("will_not_run", "paused"), "w-tokyo", "2099-01-03T09:00")
    good("resume", "--all")
    good("rm", "w-busy", "--kill")


def backfill():
    end = at(-1)
    good("resume", "w-fill")
    good("edit", "w-fill", "--when", "@every 1s", "--tag", "filled")
    good("backfill", "w-fill", "--from", "4s", "--to", end, has="recorded")
    filled = until("a backfilled run", lambda: [x for x in ask("runs", "w-fill")["runs"] if x["kind"] == "backfill"])
    check(filled and all(x["nominal"] <= end for x in filled), "backfill runs what did not run")
    bad(2, "backfill", "w-fill", "--from", "1d", has="--to")
    bad(2, "backfill", "w-fill", "--from", "now", "--to", "1d", has="--from lies after --to")
    bad(2, "backfill", "w-fill", "--from", "x", "--to", "now", has="'x'")


# --- problems and events ---------------------------------------------------------------------------------------------
def open_problems():
    return ask("ls", "problems")["problems"]


def about(subject):
    return [p for p in open_problems() if p["subject"] == subject]


def problems():
    flag = os.path.join(WORK, "flag")
    events = subprocess.Popen([ROTA, "events", "-f", "--json"], stdout=subprocess.PIPE, env=ENV)
    time.sleep(0.2)
    good("add", "0 0 1 1 *", "--id", "frail", "--", "test", "-e", flag)
    rota("run", "frail", "--wait")
    p = until("a problem is opened", lambda: about("frail"))[0]
    check({"number", "count", "key", "subject", "text", "opened", "said", "acknowledged", "by", "note", "closed"} <= set(p)
          and "exit code 1" in p["text"] and p["count"] == 1, f"the problem: {p}")
    number = str(p["number"])
    r = good("status", has=("PROBLEMS", "frail failed with exit code 1", "rota ack"))
    check(r.out.startswith("PROBLEMS"), "problems come first", r)
    good("doctor", has=("problems",))
    rota("run", "frail", "--wait")
    until("it is said again", lambda: about("frail")[0]["count"] == 2)
    check(len(about("frail")) == 1, "one problem per cause")
    good("show", number, has=("problem " + number, "said 2 times"))
    good("ack", number, "--note", "on it", has="yours")
    p = ask("show", number)
    check(p["acknowledged"] and p["note"] == "on it" and p["by"], f"acknowledged: {p}")
    bad(1, "ack", number, has="acknowledged already")
    bad(1, "ack", "99999", has="no problem 99999")
    bad(2, "ack", "frail", has="number")
    open(flag, "w").close()
    good("run", "frail", "--wait")
    until("it closes by itself", lambda: not about("frail"))
    check(ask("show", number)["closed"], "closed has its time")
    check(int(number) in [p["number"] for p in ask("ls", "problems", "--all")["problems"]], "ls problems --all")
    bad(1, "ack", number, has="already")
    # What a person ended is nobody's problem.
    good("add", "0 0 1 1 *", "--id", "ended", "--", "sleep", "60")
    live = ask("run", "ended")["run"]
    until("it runs", lambda: ask("show", live)["state"] == "running")
    good("stop", live)
    # Too many failures pause it: two causes, two problems; to go on closes the one, to succeed the other.
    good("apply", "-f", file("max.yaml", "id: maxed\nexpression: '@every 1s'\nmax_failures: 1\n"
                                         "action: {type: command, command: 'false'}\n"))
    two = until("two problems", lambda: len(about("maxed")) == 2 and about("maxed"))
    check(any("paused" in p["text"] and "rota resume maxed" in p["text"] for p in two or []), f"max_failures: {two}")
    check(ask("show", "maxed")["state"] == "paused", "paused by its failures")
    good("edit", "maxed", "--command", "true")
    check(len(about("maxed")) == 2, "an edit alone closes nothing")
    good("resume", "maxed")
    until("to go on closes the one, to succeed the other", lambda: not about("maxed"))
    rota("run", "ko", "--wait")
    until("it is open", lambda: about("ko"))
    good("rm", "ko")
    until("a removed schedule has no problems", lambda: not about("ko"))
    check(not about("ended"), "a stopped run opened a problem")
    events.terminate()
    lines = [json.loads(line) for line in events.communicate(timeout=5)[0].decode().splitlines()]
    types = {e["type"] for e in lines}
    check({"schedule.changed", "run.claimed", "run.started", "run.finished", "problem.opened", "problem.acknowledged",
           "problem.closed", "schedule.removed"} <= types, f"events: {types}")
    check(all({"id", "type", "time"} <= set(e) for e in lines), "an event in JSON")
    check([e["id"] for e in lines] == sorted(e["id"] for e in lines), "events in order")
    good("events", has="run.finished")
    check(ask("events")["events"][-1]["type"], "events --json")


def busy(daemon):
    """An edit in the middle of what is late, or of what is being claimed, is not refused."""
    good("add", "@every 1s", "--id", "w-edit", "--overlap", "allow", "--", "true")
    for n in range(3):
        daemon.process.send_signal(signal.SIGSTOP)
        edits = [subprocess.Popen([ROTA, "edit", "w-edit", "--when", f"@every {s}s"], env=ENV, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) for s in (2, 1)]
        time.sleep(1.1)
        daemon.process.send_signal(signal.SIGCONT)
        for e in edits:
            err = e.communicate(timeout=10)[1].decode()
            check(e.returncode == 0, f"an edit while the schedule is busy: {e.returncode} {err!r}")
    good("rm", "w-edit")


def restarted(daemon):
    """What is open stays open, and is closed by the daemon after; what its window closed on is told."""
    good("add", "@every 1s WINDOW 1s", "--id", "w-window", "--", "true")
    flag = os.path.join(WORK, "flag")
    os.remove(flag)
    rota("run", "frail", "--wait")
    before = until("it is open", lambda: about("frail"))
    daemon.stop()
    bad(69, "ls", has="no daemon")
    down = at(1)
    time.sleep(3)
    daemon = Daemon()
    w = until("what was missed is settled", lambda: [x for x in [ask("why", "w-window", down)] if x["answer"] == "refused"])
    check(w and w[0]["reason"] in ("window_closed", "down") and w[0]["disposition"] == "missed", f"why of a missed one: {w}")
    check([p["number"] for p in about("frail")] == [p["number"] for p in before], "a problem outlives the daemon")
    open(flag, "w").close()
    good("run", "frail", "--wait")
    until("it is closed after a restart", lambda: not about("frail"))
    return daemon


def operator():
    r = good("doctor", has=("data", "zones", "launcher", "cgroup", "store", "clock", "rules", "disk", "daemon"))
    check(all(re.match(r"(ok|warn|fail) ", line) for line in r.out.splitlines()), "doctor's lines", r)
    check(ask("doctor")["ok"] is True, "doctor --json")
    good("clock", has="believed")
    s = ask("status")
    check({"problems", "schedules", "running", "queued", "waiting", "retrying", "clock_held", "outdated", "trouble", "paused",
           "open", "next"} <= set(s) and s["trouble"] is None, f"status in JSON: {s}")
    check(s["next"] and s["next"] == sorted(s["next"], key=lambda n: n["due"]), "what comes next, in order")
    check(rota().out.splitlines()[-len(s["next"]) - 1].startswith("NEXT"), "plain `rota` is status")
    check(rota("--json").json.get("schedules") == s["schedules"], "rota --json")


def denied():
    """Another user is told so; only root can try."""
    if os.geteuid() != 0:
        return
    path = os.path.join(ENV["XDG_RUNTIME_DIR"], "rota", "rota.sock")
    try:
        done = subprocess.run([ROTA, "ls", "--socket", path], cwd="/", user=65534, group=65534, extra_groups=[],
                              env={"HOME": "/nonexistent"}, capture_output=True, timeout=10)
    except PermissionError:
        return  # nor may it start the program
    r = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
    check(r.code == 77 and r.err.startswith("rota: "), "another user's daemon", r)


def main():
    started = time.monotonic()
    daemon = None
    try:
        no_daemon()
        daemon = Daemon()
        why_begin()
        for part in (help_of_all, add, names, apply, edit, runs, pause, whys, backfill, problems, operator, denied):
            before = failed
            part()
            if failed > before:
                print(f"({part.__name__}: {failed - before} failed)")
        busy(daemon)
        daemon = restarted(daemon)
    finally:
        if daemon:
            daemon.stop()
        shutil.rmtree(ROOT, ignore_errors=True)
    took = time.monotonic() - started
    check(took < 40, f"it took {took:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
