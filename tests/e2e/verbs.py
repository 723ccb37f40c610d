#!/usr/bin/env python3
"""Every verb that needs a daemon: the real binary, a daemon in a temporary directory, valid and invalid input.

usage: verbs.py ROTA"""
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timedelta, timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checks  # noqa: E402
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
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


def rota(*argv, timeout=60):
    try:
        done = subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, env=ENV, timeout=timeout,
                              cwd=WORK)
    except subprocess.TimeoutExpired:
        return Result("hangs", "", "")
    return Result(done.returncode, done.stdout.decode(errors="surrogateescape"),
                  done.stderr.decode(errors="surrogateescape"))


def good(*argv, has=(), timeout=60):
    """Succeeds, with nothing on stderr and these parts on stdout."""
    r = rota(*argv, timeout=timeout)
    what = "rota " + " ".join(argv)
    check(r.code == 0 and r.err == "", f"{what}: failed, or wrote to stderr", r)
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
    """Runs a verb with --json and returns its answer."""
    r = rota(*argv, "--json")
    check(r.code == 0 and r.json != {}, f"rota {' '.join(argv)} --json: no JSON", r)
    return r.json


def until(what, fn, seconds=60):
    """Waits until fn returns something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.05)
    check(False, f"did not happen in {seconds} s: {what}")
    return None


def write_file(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def iso_time(seconds=0, form="%Y-%m-%dT%H:%M:%SZ"):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime(form)


class Daemon:
    def __init__(self, data="data", options=()):
        self.process = subprocess.Popen([ROTA, "serve", "--data", os.path.join(ROOT, data), *options], env=ENV,
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
    """The first n events that a follower gets after event `last`."""
    to = http.client.HTTPConnection("rota", timeout=60)
    to.sock = socket.socket(socket.AF_UNIX)
    to.sock.settimeout(60)
    to.sock.connect(os.path.join(ENV["XDG_RUNTIME_DIR"], "rota", "rota.sock"))
    to.request("GET", "/api/v1/events?follow=true", headers={"Last-Event-ID": str(last)})
    stream, events = to.getresponse(), []
    while len(events) < n:
        line = stream.readline()
        if line.startswith(b"data: {\"seq\""):  # others are about the stream
            events.append(json.loads(line[5:]))
        elif not line:
            break
    to.close()
    return events


# --- without a daemon ------------------------------------------------------------------------------------------------
def check_no_daemon():
    doc = write_file("one.yaml", "id: one\nexpression: '0 9 * * *'\naction: {type: command, command: 'true'}\n")
    for argv in ((), ("status",), ("add", "0 9 * * *", "--", "true"), ("apply", "-f", doc), ("ls",), ("ls", "runs"),
                 ("ls", "problems"), ("show", "x"), ("show", "r1"), ("show", "1"), ("edit", "x", "--when", "0 9 * * *"),
                 ("rm", "x"), ("run", "x"), ("run", "x", "--wait"), ("stop", "r1"), ("pause", "x"), ("pause", "--all"),
                 ("resume", "x"), ("resume", "--tag", "t"), ("runs",), ("logs", "x"), ("logs", "-f", "x"), ("why", "x"),
                 ("ack", "1"), ("backfill", "x", "--from", "1d", "--to", "now"), ("events",), ("events", "-f"),
                 ("clock",)):
        bad(69, *argv, has=("no daemon at", "rota serve"))
    r = rota("doctor")
    check(r.code == 1 and re.search(r"^fail +daemon .*rota serve", r.out, re.M), "doctor without a daemon", r)
    check(not re.search(r"rota serve.*rota serve", r.out), "doctor names the fix once", r)
    r = rota("doctor", "--json")
    check(r.code == 1 and r.json.get("ok") is False and {"check", "state", "text", "advice"} <= set(r.json["checks"][0]),
          "doctor --json without a daemon", r)
    good("version", has="rota ")
    check("version" in ask("version"), "version --json")
    # Invalid input is refused before the daemon is asked.
    bad(2, "add", "61 * * * *", "--", "true", has=("minute 61", "0-59", "at column 1"))
    bad(2, "apply", "-f", write_file("bad.yaml", "id: x\nexpresion: '0 9 * * *'\n"), has=("bad.yaml", "expression", "line 2"))


def check_completions():
    """bash is run; the scripts for other shells must at least name every verb and option of the help."""
    verbs = re.findall(r"^  (\S+) ", good("--help").out, re.M)
    script = write_file("complete.bash", rota("completion", "bash").out)
    asked = (("", set(verbs) | {"help"}), ("pau", {"pause"}), ("add --ti", {"--timeout"}), ("logs --f", {"--follow", "--from"}))
    for line, want in asked:
        words = ["rota", *line.split(" ")]
        code = (f"source {script}; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _rota;"
                ' printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60)
        check(set(done.stdout.split()) == want, f"bash completes {line!r}: {done.stdout!r}, {done.stderr!r}")
    for shell in ("zsh", "fish"):
        text = rota("completion", shell).out
        for verb in verbs:
            check(re.search(rf"\b{verb}\b", text), f"{shell} knows {verb}")
            for option in re.findall(r"--([a-z-]+)", rota(verb, "--help").out.split("\n")[2]):
                check(f"--{option}" in text or f"-l {option} " in text, f"{shell} knows {verb} --{option}")
    check(ask("completion", "fish")["script"] == rota("completion", "fish").out, "completion --json prints the script")
    bad(2, "completion", has="bash, zsh or fish")
    bad(2, "completion", "tcsh", has=("'tcsh'", "bash, zsh and fish"))


def check_help():
    r = good("--help")
    verbs = re.findall(r"^  (\S+) ", r.out, re.M)
    wanted = ("status add apply ls show edit rm run stop pause resume runs logs why ack agent agenda claim release advance state memory notify backfill events serve doctor clock "
              "backup restore config version completion next explain zones report step note next-check org plan eval render").split()
    check(verbs == wanted, f"help lists {verbs}", r)
    usage = {"add": "EXPR ", "show": "NAME ", "stop": "RUN|SCHEDULE ", "rm": "SCHEDULE ", "why": "SCHEDULE [TIME] ",
             "ls": "[KIND] ", "runs": "[SCHEDULE] ", "apply": "--file FILE|DIR ", "ack": "N ", "pause": "[SCHEDULE] ",
             "backfill": "SCHEDULE --from TIME --to TIME ", "logs": "RUN|SCHEDULE ", "next": "[EXPR] ",
             "explain": "EXPR ", "zones": "[PATTERN] ", "edit": "SCHEDULE ", "status": "[--socket"}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "man", "rota.1")) as f:
        items = re.findall(r"^\.It Nm (?:Op )?Cm (\S+)(.*?)(?=^\.It Nm|^\.Ss|^\.Sh)", f.read(), re.M | re.S)
    manual = {verb: "".join(text for v, text in items if v == verb) for verb, _ in items}
    check(set(manual) == set(wanted), f"rota.1 has {set(manual) ^ set(wanted)} more or less")
    for verb in wanted:
        r = good(verb, "--help", has=("example: rota", "--json"))
        check(f"\nusage: rota {verb} {usage.get(verb, '')}" in r.out, f"usage of {verb}", r)
        check(rota("help", verb).out == r.out, f"rota help {verb}")
        # The manual has each verb with each option, or refers to another verb's.
        for option in re.findall(r"--([a-z-]+)", r.out.split("\n")[2]):
            sections = manual.get(verb, "") + manual.get({"edit": "add", "ls": "runs"}.get(verb), "")
            check(option in ("json", "socket") or re.search(rf"Fl -{option}\b", sections), f"rota.1: {verb} --{option}")
    bad(2, "get-run", "r1", has="not a verb")
    bad(2, "stauts", has="near: status")
    bad(2, "ls", "-x", has="no option -x")
    bad(2, "ls", "--frob", has="no option --frob")


# --- schedules -------------------------------------------------------------------------------------------------------
def check_add():
    r = good("add", "0 9 * * *", "--tz", "Europe/Berlin", "--timeout", "10m", "--retry", "2", "--tag", "x,y", "--",
             "sh", "-c", "true", has=("added", WORK, "Europe/Berlin", "600 s", "1 try + 2 retries", "no notification"))
    check(len(re.findall(r"0[78]:00:00 \(in .*\), in its zone .* 09:00:00\n", r.out)) == 3, "add shows three times, local and in the zone of the schedule", r)
    good("add", "0 9 * * *", "--tz", "Europe/Berlin", "--timeout", "10m", "--retry", "2", "--tag", "x,y", "--", "sh",
         "-c", "true", has="unchanged")
    ids = [s["id"] for s in ask("ls")["schedules"] if not s["id"].startswith("w-")]
    check(ids == ["sh-c-true"], f"add made {ids}")
    doc = ask("show", ids[0])["document"]
    check(doc["action"]["cwd"] == WORK and doc["action"]["env"]["PATH"] == ENV["PATH"], f"directory and PATH: {doc}")
    check(doc["tags"] == ["x", "y"] and doc["timezone"] == "Europe/Berlin", f"the document: {doc}")
    # The same command at another time gets another id; the same id with another schedule is a conflict.
    r = good("add", "0 10 * * *", "--", "sh", "-c", "true", has="added")
    check(f"{ids[0]}-2: added" in r.out, "a derived id that exists gets a number", r)
    good("add", "0 9 * * *", "--id", "mine", "--", "true", has="mine: added")
    bad(1, "add", "0 10 * * *", "--id", "mine", "--", "true", has=("'mine'", "--update"))
    good("add", "0 10 * * *", "--id", "mine", "--update", "--", "true", has="mine: changed")
    good("add", "0 10 * * *", "--id", "line", "--command", "echo a | cat", has="echo a | cat")
    check(ask("show", "line")["document"]["action"]["command"] == "echo a | cat", "a command with spaces becomes a shell command line")
    before = [(s["id"], s["rev"]) for s in ask("ls")["schedules"]]
    for argv, parts in (((), "add needs"), (("0 9 * * *",), "add needs"),
                        (("0 25 * * *", "--", "true"), ("hour 25", "0-23", "at column 3")),
                        (("0 9 * * *", "--missed", "never", "--", "true"), ("'never'", "execute_immediately, skip")),
                        (("0 9 * * *", "--overlap", "never", "--", "true"), ("'never'", "skip, queue_one")),
                        (("0 9 * * *", "--tz", "Europe/Berln", "--", "true"), "Europe/Berlin"),
                        (("0 9 * * *", "--id", "a b", "--", "true"), "id"),
                        (("0 9 * * *", "--timeout", "soon", "--", "true"), "duration"),
                        (("0 9 * * *", "--retry", "101", "--", "true"), "0-100"),
                        (("0 9 * * * TZ=UTC", "--tz", "Asia/Tokyo", "--", "true"), "zone"),
                        (("2020-01-01", "--", "true"), "in the past"),
                        (("0 9 * * *", "--frob", "--", "true"), "no option --frob")):
        bad(2, "add", *argv, has=parts)
    check([(s["id"], s["rev"]) for s in ask("ls")["schedules"]] == before, "a refused add changes nothing")
    r = good("add", "0 9 * * *", "--id", "esc", "--", "echo", "\x1b[31mred", has="\\x1b[31mred")
    check("\x1b" not in r.out and "\x1b" not in good("show", "esc").out, "control sequences are escaped", r)


def check_names():
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
    good("ls", "--after", "zzzz", has="No schedules after 'zzzz'.")
    check(ask("ls", "--after", "zzzz")["schedules"] == [], "ls --after the last id lists nothing")
    rest = ask("ls", "--after", page["after"])
    check(rest["schedules"][0]["id"] > page["after"], "ls --after lists the next page")
    check({"id", "state", "next", "failures", "rev", "changed"} <= set(page["schedules"][0]), "a schedule in JSON")
    good("ls", has=("SCHEDULE", "alpha-one"))
    good("ls", "schedules", has="alpha-one")
    bad(2, "ls", "plans", has=("schedules, agents, runs and problems"))
    bad(2, "ls", "--failed", has="--failed")
    bad(2, "ls", "problems", "--since", "1d", has="--since")
    bad(2, "rm", "alpha-one", "other", has="'other'")
    bad(2, "ack", has="an N")
    bad(1, "stop", "r99999", has="r99999")
    good("rm", "alpha-o", has="alpha-one: removed")
    bad(1, "show", "alpha-one", has="no schedule")


def check_apply():
    d = os.path.join(WORK, "ops")
    one = "schedule:\n  id: one\n  expression: '0 8 * * *'\n  action: {type: command, command: 'true'}\n"
    write_file("ops/a.yaml", "id: follower\nafter: {schedule: leader}\naction: {type: command, command: 'true'}\n")
    write_file("ops/b.yml", one + "---\nid: two\nexpression: '0 9 * * *'\naction: {type: command, command: [echo, hi]}\n")
    write_file("ops/c.json", '{"id":"leader","expression":"0 7 * * *","action":{"type":"command","command":"true"}}')
    write_file("ops/notes.txt", "not a document")
    r = good("apply", "-f", d, "--dry-run", has=("+ one: added", "+ leader: added", "4 added", "nothing was applied"))
    bad(1, "show", "leader", has="no schedule")
    good("apply", "--file", d, has=("4 added, 0 changed, 0 unchanged"))
    check(ask("why", "follower")["answer"] == "follows", "a follower of a leader in a later file")
    good("apply", "-f", d, has=("= one: unchanged", "0 added, 0 changed, 4 unchanged"))
    write_file("ops/b.yml", one.replace("0 8", "30 8") + "  timeout: 5m\n  tags: [night]\n")
    r = good("apply", "-f", d, "--dry-run",
             has=("~ one: changed", 'expression: "0 8 * * *" -> "30 8 * * *"', 'timeout: "5m"', "nothing was applied"))
    check(ask("show", "one")["document"]["expression"] == "0 8 * * *", "--dry-run changes nothing")
    a = ask("apply", "-f", d)
    change = [s for s in a["schedules"] if s["id"] == "one"][0]
    check(change["result"] == "changed" and {"key": "expression", "from": "0 8 * * *", "to": "30 8 * * *"} in
          change["changes"] and a["dry_run"] is False, f"apply --json: {a}")
    check(ask("show", "one")["document"]["expression"] == "30 8 * * *", "apply changes")
    good("show", "two", has="two: active")  # without --prune the schedule stays
    good("apply", "-f", d, "--prune", has=("- two: removed", "1 removed"))
    bad(1, "show", "two")
    # Invalid files among valid ones: each is reported, and nothing is applied.
    write_file("ops/b.yml", one)
    write_file("ops/x.yaml", "id: bad\nexpression: '99 8 * * *'\naction: {type: command, command: 'true'}\n")
    write_file("ops/y.yaml", "id: bad2\nexpression: '0 8 * * *'\naction: {type: comand, command: 'true'}\n")
    r = rota("apply", "-f", d)
    check(r.code == 2 and r.out == "" and re.search(r"x\.yaml: minute 99.*line 2, column 14", r.err) and "y.yaml" in r.err
          and "nothing was applied: 2 of 5" in r.err, "invalid files among valid ones", r)
    check(ask("show", "one")["document"]["expression"] == "30 8 * * *", "the valid ones were not applied")
    os.remove(os.path.join(d, "x.yaml"))
    write_file("ops/y.yaml", "id: one\nexpression: '0 8 * * *'\naction: {type: command, command: 'true'}\n")
    r = rota("apply", "-f", d)
    check(r.code == 2 and "'one' is already defined in" in r.err and "b.yml" in r.err and "y.yaml" in r.err, "one id in two files", r)
    bad(2, "apply", "-f", write_file("lost.yaml", "id: lost\nafter: {schedule: nowhere}\naction: {type: command, command: a}\n"),
        has=("'lost'", "'nowhere'"))
    bad(2, "apply", "-f", write_file("ring.yaml", "schedules:\n- {id: r1x, after: {schedule: r2x}, action: {type: command, command:"
        " a}}\n- {id: r2x, after: {schedule: r1x}, action: {type: command, command: a}}\n"), has="follows itself")
    check_cycles()
    # A long chain of followers, its leader last: the time must grow linearly.
    action = {"type": "command", "command": "true"}
    line = [{"id": f"line{i}", "after": {"schedule": f"line{i + 1}"}, "action": action} for i in range(4000)]
    line.append({"id": "line4000", "expression": "0 0 * * *", "action": action})
    good("apply", "-f", write_file("line.json", json.dumps({"schedules": line})), "--dry-run", has="4001 added")
    # Very many documents: leaders are applied first, and an error in the last prevents the first.
    lots = [{"id": f"lots{i}", "expression": "0 0 1 1 *", "action": action} for i in range(1200)]
    lots[0] = {"id": "lots0", "after": {"schedule": "lots1199"}, "action": action}
    lots[700] = {"id": "lots700", "after": {"schedule": "lots0"}, "action": action}
    lost = lots + [{"id": "lots1200", "after": {"schedule": "nowhere"}, "action": action}]
    bad(2, "apply", "-f", write_file("many.json", json.dumps({"schedules": lost})), has=("'lots1200'", "'nowhere'"))
    bad(1, "show", "lots5")
    write_file("many.json", json.dumps({"schedules": lots}))
    good("apply", "-f", os.path.join(WORK, "many.json"), "--dry-run", has=("1200 added", "nothing was applied"))
    last = ask("events")["last"]
    good("apply", "-f", os.path.join(WORK, "many.json"), has="1200 added, 0 changed, 0 unchanged")
    check(ask("show", "lots700")["document"]["after"]["schedule"] == "lots0", "a follower far from its leader")
    # A follower that comes back gets all of them, in order.
    events = follow_from(last, 1200)
    check([e["seq"] for e in events] == list(range(last + 1, last + 1201)), f"without a gap: {events[:2]}")
    created = [e["data"]["scheduleId"] for e in events if e["type"] == "schedule:created"]
    check(len(set(created)) == len(created) and len(created) > 1000, f"every schedule is an event: {len(created)}")
    a = ask("apply", "-f", os.path.join(WORK, "many.json"))
    check({s["id"] for s in a["schedules"]} == {s["id"] for s in lots} and a["dry_run"] is False and
          all(s["result"] == "unchanged" for s in a["schedules"]), "many applied again")
    lots[1] = {"id": "lots1", "after": {"schedule": "lots2"}, "action": action}
    lots[2] = {"id": "lots2", "after": {"schedule": "lots1"}, "action": action}
    bad(2, "apply", "-f", write_file("many.json", json.dumps({"schedules": lots})), has="follows itself")
    good("apply", "-f", write_file("many.json", '{"schedules": []}'), "--prune", has="1200 removed")
    bad(1, "apply", "-f", os.path.join(WORK, "not-there.yaml"), has="not-there.yaml")
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    bad(1, "apply", "-f", os.path.join(WORK, "empty"), has="no documents")
    bad(2, "apply", has="file or a directory")


def check_cycles():
    """No schedule may follow itself, even if the cycle is partly in the store and partly in a file or a command."""
    def part(name, leader=None):
        when = f"after: {{schedule: {leader}}}" if leader else "expression: '0 8 * * *'"
        return f"- {{id: {name}, {when}, action: {{type: command, command: a}}}}\n"

    def parts(*some):
        return write_file("parts.yaml", "schedules:\n" + "".join(some))

    good("apply", "-f", parts(part("end", "mid"), part("mid", "lead"), part("lead")), has="3 added")
    for leader in "end", "mid", "lead":
        bad(2, "apply", "-f", parts(part("first"), part("lead", leader)), has="itself")
        bad(1, "show", "first")
    # A file that closes a cycle in one place and opens it in another is valid, in any order.
    good("apply", "-f", parts(part("lead", "end"), part("mid")), has="2 changed")
    bad(2, "apply", "-f", parts(part("mid", "lead")), has=("'mid'", "itself", "'lead'"))
    good("apply", "-f", parts(part("lead"), part("mid", "lead")), has="2 changed")
    os.remove(os.path.join(WORK, "parts.yaml"))
    for leader in "end", "mid", "lead":
        bad(2, "edit", "lead", "-f", write_file("lead.yaml", part("lead", leader)[2:]), has="itself")
    good("edit", "end", "-f", write_file("end.yaml", part("end", "lead")[2:]), has="end: changed")
    for name in "end", "mid", "lead":
        good("rm", name)


def check_edit():
    good("add", "0 9 * * *", "--id", "ed", "--tz", "Europe/Berlin", "--tag", "k", "--", "echo", "one")
    good("edit", "ed", "--when", "30 9 * * 1-5", has=("ed: changed", "Europe/Berlin", "echo one"))
    doc = ask("show", "ed")["document"]
    check(doc["expression"] == "30 9 * * 1-5" and doc["tags"] == ["k"] and doc["timezone"] == "Europe/Berlin",
          f"edit keeps the rest: {doc}")
    good("edit", "ed", "--when", "30 9 * * 1-5", has="unchanged")
    good("edit", "ed", "--when", "0 9 * * * TZ=Asia/Tokyo OVERLAP allow", has="Asia/Tokyo")
    good("edit", "ed", "--when", "every day at 7am in Lisbon", has=("Europe/Lisbon", "overlap: allow"))
    good("edit", "ed", "--timeout", "90s", "--retry", "3", has=("90 s", "3 retries"))
    good("edit", "ed", "--retry", "0", has=("ed: changed", "0 retries"))
    check("retry" not in ask("show", "ed")["document"], "edit --retry 0 removes the retries")
    good("edit", "ed", "--", "echo", "two", has="echo two")
    check(ask("show", "ed")["document"]["timeout"] in ("90s", "1m30s"), "edit of the command keeps the timeout")
    before = rota("show", "ed", "--json").out
    bad(2, "edit", "ed", has="--when")
    bad(2, "edit", "ed", "--when", "0 99 * * *", has=("hour 99", "at column 3"))
    bad(2, "edit", "ed", "--missed", "x", has="execute_immediately")
    bad(1, "edit", "nobody", "--when", "0 9 * * *", has="no schedule")
    other = write_file("other.yaml", "id: other\nexpression: '0 9 * * *'\naction: {type: command, command: a}\n")
    bad(2, "edit", "ed", "-f", other, has=("'other'", "'ed'"))
    bad(2, "edit", "ed", "--file", other, "--timeout", "1m", has="--file")
    check(rota("show", "ed", "--json").out == before, "a refused edit changes nothing")
    good("edit", "ed", "--file", write_file("ed.yaml", "id: ed\nexpression: '0 4 * * *'\naction: {type: command, command: a}\n"),
         has="ed: changed")
    check("tags" not in ask("show", "ed")["document"], "--file replaces the whole document")


# --- runs ------------------------------------------------------------------------------------------------------------
def check_runs():
    good("add", "0 0 1 1 *", "--id", "ok", "--", "sh", "-c", "echo hello; printf '\\033[31mred\\n'")
    good("add", "0 0 1 1 *", "--id", "ko", "--", "sh", "-c", "echo oh no; exit 3")
    good("add", "0 0 1 1 *", "--id", "long", "--", "sh", "-c", "echo begun; sleep 60")
    good("add", "0 0 1 1 *", "--id", "slow", "--", "sh", "-c", "echo a; sleep 0.6; echo b")
    bad(1, "logs", "ok", has="not run yet")
    good("run", "ok", "--wait", has=": done")
    r = rota("run", "ko", "--wait")
    check(r.code == 1 and "failed/exit" in r.out and "did not succeed" in r.err, "run --wait of a failing command", r)
    r = rota("run", "ko", "--watch")
    check(r.code == 1 and "oh no\n" in r.out, "run --watch of a failing command", r)
    good("run", "slow", "--watch", has="a\nb\n")
    run = ask("run", "ok", "--wait")
    check({"id", "schedule", "kind", "nominal", "due", "attempt", "state", "outcome", "reason", "started_at", "ended_at",
           "exit_code", "cost_usd", "tokens"} <= set(run) and run["kind"] == "manual" and run["exit_code"] == 0,
          f"a run in JSON: {run}")
    check_show_run(run)
    r = good("logs", "ok", has=("hello", "\\x1b[31mred"))
    check("\x1b[31mred" in good("logs", run["id"], "--raw").out, "--raw passes control sequences", r)
    check(ask("logs", "ok")["text"].startswith("hello\n"), "logs --json")
    good("logs", "ok", "-f", has="hello")
    good("logs", "ok", "--from", "2", has="llo")
    # A log is not split within a character.
    good("add", "0 0 * * *", "--id", "wide", "--", "python3", "-c",
         "import sys; sys.stdout.buffer.write(b'x' + b'\\xc3\\xa9' * 300000)")
    good("run", "wide", "--wait", has="done")
    check(good("logs", "wide").out == "x" + "\u00e9" * 300000, "a long log of wide characters")
    good("rm", "wide")
    bad(2, "logs", "ok", "--from", "x", has="bytes")
    bad(1, "logs", "r99999", has="no run r99999")
    live = ask("run", "long")["run"]
    until("it runs", lambda: ask("show", live)["state"] == "running")
    bad(75, "run", "long", has="running already")
    r = good("status", has=("running", live))
    f = subprocess.Popen([ROTA, "logs", "-f", "long"], stdout=subprocess.PIPE, env=ENV)
    check(f.stdout.readline() == b"begun\n", "logs -f shows new output")
    good("stop", live, has="stopped")
    check(f.wait(5) == 0, "logs -f ends with the run")
    f.stdout.close()
    check(ask("show", live)["outcome"] == "killed", "a stopped run is killed")
    bad(1, "stop", live, has=(f"{live} has ended already", "it was stopped"))
    ended = ask("run", "ok", "--wait")["id"]
    bad(1, "stop", ended, has=(f"{ended} was not stopped", "it has ended already, done"))
    bad(1, "stop", "tomorrow", has="no schedule")
    bad(1, "stop", "ok", has=("'ok' has no run to stop",))
    check_stop_schedule()
    good("runs", has=("RUN", "OUTCOME", "killed/cancelled"))
    all_ = ask("runs", "--limit", "1000")["runs"]
    check([x["id"] for x in all_] == sorted((x["id"] for x in all_), key=lambda i: -int(i[1:])), "newest first")
    check({x["outcome"] for x in ask("runs", "--failed")["runs"]} <= {"failed", "killed"}, "runs --failed")
    check({x["schedule"] for x in ask("runs", "ok")["runs"]} == {"ok"}, "runs of one schedule")
    check(len(ask("ls", "runs", "--since", "1h")["runs"]) > 0 and ask("runs", "--since", "2100-01-01")["runs"] == [],
          "runs --since")
    bad(2, "runs", "--since", "whenever", has=("'whenever'", "2h"))
    page = ask("runs", "--limit", "2")
    check(page["before"] == page["runs"][-1]["id"] and ask("runs", "--before", page["before"])["runs"][0]["id"] !=
          page["before"], "pages of runs")
    # Removal lets the run finish; with --kill it is killed.
    one = ask("run", "slow")["run"]
    good("rm", "slow", has="removed")
    check(until("it finishes", lambda: ask("show", one)["outcome"]) == "done", "a removed schedule's run finishes")
    good("logs", "slow", has="a\nb\n")
    check(one in [x["id"] for x in ask("runs", "slow")["runs"]], "runs of a removed schedule are listed")
    two = ask("run", "long")["run"]
    until("it runs", lambda: ask("show", two)["state"] == "running")
    good("rm", "long", "--kill", has="removed")
    check(until("it is killed", lambda: ask("show", two)["outcome"]) == "killed", "rm --kill")


def check_show_run(run):
    """All facts of a run, as text and as JSON."""
    r = good("show", run["id"], has=(f"{run['id']}: done\n", "schedule    ok, version 1\n", "kind        manual\n",
                                     "nominal     ", "started     ", "ended       ", "took        ", "attempts    1\n",
                                     "exit code   0\n", "log         "))
    v = ask("show", run["id"])
    check(v["rev"] == 1 and v["duration"] >= 0 and v["signal"] is None and v["attempts_not_counted"] == 0 and
          v["removed"] is False and v["reason_text"] is None, f"show of a run in JSON: {v}")
    log = v["log"]
    with open(log["path"], "rb") as f:
        check(len(f.read()) == log["bytes"] and log["kept"] == "whole", f"the log of a run: {log}")
    check(f"{log['path']} ({log['bytes']} bytes)" in r.out, "the log in the text", r)
    one = v["attempts"][0]
    check(len(v["attempts"]) == 1 and (one["attempt"], one["cause"], one["exit_code"]) == (1, "exit", 0) and
          one["started_at"] and one["ended_at"], f"its attempts: {one}")
    # Attempts, an exit code, a signal; the reason in words.
    good("add", "0 0 1 1 *", "--id", "twice", "--", "sh", "-c", "exit 7")
    good("apply", "-f", write_file("twice.yaml", "id: twice\nexpression: '0 0 1 1 *'\nretry: {retries: 1, initial_delay: 1s}\n"
                             "action: {type: command, command: 'exit 7'}\n"))
    rota("run", "twice", "--wait")
    name = ask("runs", "twice")["runs"][0]["id"]
    v = ask("show", name)
    check([(a["attempt"], a["exit_code"]) for a in v["attempts"]] == [(1, 7), (2, 7)] and v["rev"] == 2 and
          v["attempts"][0]["log"]["path"] != v["attempts"][1]["log"]["path"], f"both attempts: {v}")
    good("show", name, has=(f"{name}: failed/exit: its program ended with an error", "attempts    2\n",
                            "exit code   7\n", "ATTEMPT"))
    good("add", "0 0 1 1 *", "--id", "shot", "--", "sh", "-c", "kill -9 $$")
    rota("run", "shot", "--wait")
    name = ask("runs", "shot")["runs"][0]["id"]
    good("show", name, has="signal      9 (SIGKILL)\n")
    check(ask("show", name)["signal"] == 9, "a signal in JSON")
    good("rm", "shot")
    good("show", name, has="shot, version 1 (removed)")
    os.unlink(os.path.join(WORK, "twice.yaml"))
    good("rm", "twice")


def check_stop_schedule():
    good("add", "0 0 1 1 *", "--id", "many", "--overlap", "allow", "--", "sleep", "60")
    runs = [ask("run", "many")["run"] for _ in range(3)]
    until("they run", lambda: all(ask("show", r)["state"] == "running" for r in runs))
    r = good("stop", "man")
    check(sorted(r.out.splitlines()) == sorted(f"stopped: {x}" for x in runs), "stop of a schedule's runs", r)
    check({ask("show", x)["outcome"] for x in runs} == {"killed"}, "all runs of the schedule are killed")
    one = ask("run", "many")["run"]
    good("rm", "many")
    check(ask("stop", "many")["runs"] == [one], "stop of a removed schedule's run")
    good("add", "0 0 1 1 *", "--id", "r1x", "--", "sleep", "60")
    ask("run", "r1x")
    good("stop", "r1x", has="stopped: r")


def check_pause():
    good("add", "0 0 1 1 *", "--id", "p1", "--tag", "batch", "--", "true")
    good("add", "0 0 1 1 *", "--id", "p2", "--tag", "batch,other", "--", "true")
    good("add", "0 0 1 1 *", "--id", "p3", "--", "true")
    good("pause", "p3", "--for", "2h", has="p3: paused until")
    s = ask("show", "p3")
    check(s["state"] == "paused" and s["paused_until"] and s["note"] is None, f"paused for a time: {s}")
    # A second pause replaces the first, for a schedule and for a tag.
    good("pause", "p3", "--for", "5h", has="p3: paused until")
    check(ask("show", "p3")["paused_until"] > s["paused_until"], "a second pause, longer")
    good("pause", "p3", has="p3: paused\n")
    check(ask("show", "p3")["paused_until"] is None, "a second pause, without an end")
    good("resume", "p3", has="p3: resumed\n")
    good("resume", "p3", has="p3: was not paused\n")
    check(ask("resume", "p3")["was_paused"] is False, "resume --json of a schedule that is not paused")
    check(sorted(ask("pause", "--tag", "batch", "--for", "1h")["schedules"]) == ["p1", "p2"], "pause --tag")
    until_ = ask("show", "p1")["paused_until"]
    good("pause", "--tag", "batch", "--for", "3h", has=("p1: paused until", "p2: paused until"))
    check(ask("show", "p1")["paused_until"] > until_, "a second pause of a tag")
    good("pause", "--tag", "batch")
    check_pause_notes()
    check((ask("show", "p1")["state"], ask("show", "p3")["state"]) == ("paused", "active"), "only schedules with the tag")
    for verb in ("pause", "resume"):
        bad(1, verb, "--tag", "nobody", has="no schedule has the tag 'nobody'")
    good("resume", "--tag", "other", has="p2: resumed")
    r = ask("resume", "--tag", "other")
    check((r["schedules"], r["not_paused"]) == ([], ["p2"]), f"resume of a tag that is not paused: {r}")
    good("resume", "--tag", "other", has="p2: was not paused")
    check((ask("show", "p1")["state"], ask("show", "p2")["state"]) == ("paused", "active"), "resume --tag")
    good("edit", "p1", "--timeout", "3m")
    check(ask("show", "p1")["state"] == "paused", "a pause survives an edit")
    good("pause", "--all", "--for", "1h", "--note", "deploy\x1b[31m", has="all schedules: paused until")
    good("status", has=("All schedules are paused until", ": deploy\\x1b[31m;", "resume --all"))
    good("show", "p3", has=("p3: paused until", "all schedules are paused", "note: deploy"))
    check(re.search(r"^p3 +paused +- +\S+ +deploy", good("ls").out, re.M), "ls when all is paused", rota("ls"))
    s = ask("show", "p3")
    check((s["state"], s["paused_all"], s["note"]) == ("paused", True, "deploy\x1b[31m"), f"show when all is paused: {s}")
    check([x["state"] for x in ask("ls")["schedules"] if x["id"] == "p3"] == ["paused"], "ls --json when all is paused")
    good("resume", "p3", has="p3: was not paused, but all schedules are paused")
    good("pause", "--all", "--for", "2h")
    check(ask("status")["note"] == "deploy\x1b[31m", "a longer pause of everything keeps its note")
    check(ask("status")["paused"] is True, "status --json when all is paused")
    w = ask("why", "p3", iso_time(1800))
    check(ask("why", "p3")["answer"] == "will_run", f"after the pause it will run: {w}")
    good("why", "p3", iso_time(1800, "%Y-%m-%dT%H:%M:%SZ"), has="not due at that time")
    good("resume", "--all", has="all schedules: resumed\n")
    check(ask("status")["paused"] is False, "the schedules are resumed")
    check(ask("show", "p3")["state"] == "active" and "note" not in ask("status"), "the note ends with its pause")
    good("resume", "--all", has="all schedules: were not paused\n")
    for argv in (("pause",), ("pause", "p1", "--all"), ("resume", "--all", "--tag", "x")):
        bad(2, *argv, has=("SCHEDULE", "--tag", "--all"))
    bad(2, "pause", "p2", "--for", "a while", has=("'a while'", "2h"))
    bad(2, "resume", "p2", "--for", "2h", has="no option --for")


def check_pause_notes():
    """A note is shown with its pause, survives edits and ends with the pause."""
    good("pause", "p3", "--note", "waits for\nthe disk", has="p3: paused: waits for the disk\n")
    good("show", "p3", has="  note: waits for\n        the disk\n")
    check(re.search(r"^p3 +paused +- +\S+ +waits for the disk$", good("ls").out, re.M), "ls shows the note", rota("ls"))
    good("why", "p3", has=("skipped/paused", "  note: waits for\n        the disk\n"))
    check(ask("why", "p3")["note"] == ask("show", "p3")["note"] == "waits for\nthe disk", "the note in JSON")
    good(has=("PAUSED", "waits for the disk"))
    check(ask("status")["paused_with_note"] == [{"schedule": "p3", "paused_until": None, "note": "waits for\nthe disk"}],
          "status --json has the notes")
    good("pause", "p3", "--for", "1h", has="waits for the disk")
    good("edit", "p3", "--timeout", "3m")
    check(ask("show", "p3")["note"] == "waits for\nthe disk", "the note is kept until it is replaced")
    good("pause", "p3", "--note", "new", has=": new\n")
    check(ask("show", "p3")["note"] == "new" and ask("show", "p3")["paused_until"] is None, "a new note replaces the old one")
    bad(2, "pause", "p3", "--note", "x" * 1025, has=("1025 bytes", "1024"))
    check(ask("show", "p3")["note"] == "new", "a note that is refused changes nothing")
    good("resume", "p3")
    check("note" not in ask("show", "p3") and ask("status")["paused_with_note"] == [], "a note ends with its pause")
    good("pause", "p3")
    check(ask("show", "p3")["note"] is None, "a new pause has no note")
    good("resume", "p3")
    good("pause", "--tag", "batch", "--note", "both", has=("p1: paused: both", "p2: paused: both"))
    check(ask("show", "p1")["note"] == ask("show", "p2")["note"] == "both", "pause --tag stores the note")


# --- why -------------------------------------------------------------------------------------------------------------
def start_why_schedules():
    """Schedules that need a few seconds before check_why."""
    good("add", "@every 1s", "--id", "w-tick", "--", "true")
    good("add", "@every 1s", "--id", "w-busy", "--", "sleep", "60")
    good("add", "@every 1s", "--id", "w-paused", "--", "true")
    good("pause", "w-paused")
    good("apply", "-f", write_file("why.yaml", f"""schedules:
- {{id: w-max, expression: '@every 1s', max_runs: 1, action: {{type: command, command: 'true'}}}}
- {{id: w-off, expression: '0 9 * * *', enabled: false, action: {{type: command, command: 'true'}}}}
- {{id: w-except, expression: '0 9 * * *', timezone: UTC, except: ['2099-01-02'], action: {{type: command, command: 'true'}}}}
- {{id: w-dates, expression: '0 9 * * *', timezone: UTC, start_date: '2098-01-01', end_date: '2099-01-01', action: {{type: command, command: 'true'}}}}
- {{id: w-after, after: {{schedule: w-tick}}, action: {{type: command, command: 'true'}}}}
- {{id: w-tokyo, expression: '0 9 * * *', timezone: Asia/Tokyo, action: {{type: command, command: 'true'}}}}
- {{id: w-fill, expression: '@every 1s', action: {{type: command, command: 'true'}}}}
"""))
    good("pause", "w-fill")


def check_why():
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
    good("why", "w-busy", first[0]["nominal"], has=("has not ended", first[0]["id"], "running"))
    past = until("w-busy overlapped", lambda: [x for x in ask("runs", "w-busy")["runs"] if x["reason"] == "overlap"])
    if past:
        reason(("refused", "overlap"), "w-busy", past[0]["nominal"])
    reason(("refused", "paused"), "w-paused", iso_time(-2))
    reason(("will_not_run", "paused"), "w-paused", iso_time(3600))
    good("why", "w-paused", iso_time(3600), has=("it is or was paused", "skipped/paused"))
    reason(("will_not_run", "max_runs"), "w-max", iso_time(3600))
    reason(("refused", "max_runs"), "w-max", iso_time(-1))
    reason(("will_not_run", "disabled"), "w-off", iso_time(86400, "%Y-%m-%d"))
    reason(("will_not_run", "excluded"), "w-except", "2099-01-02T09:00:00Z")
    reason(("will_not_run", "excluded"), "w-except", "2099-01-02")
    reason(("will_run", None), "w-except", "2099-01-03")
    reason(("will_not_run", "not_started"), "w-dates", "2097-06-01T09:00Z")
    reason(("will_run", None), "w-dates", "2098-06-01T09:00Z")
    reason(("will_not_run", "expired"), "w-dates", "2099-06-01T09:00Z")
    reason(("follows", None), "w-after")
    # A removed schedule, by its full id.
    good("add", "@every 1s", "--id", "w-removed", "--", "true")
    gone = until("it ran", lambda: [x for x in ask("runs", "w-removed")["runs"] if x["outcome"] == "done"])[0]
    good("rm", "w-removed")
    a, r, w = why("w-removed", gone["nominal"])
    check(a == "run" and w["run"]["id"] == gone["id"] and w["removed"], f"why of a run of a removed schedule: {w}")
    reason(("removed", None), "w-removed", iso_time(3600))
    good("why", "w-removed", has=("the schedule was removed", "removed: "))
    bad(1, "why", "w-remove", has="no schedule")
    a, r, w = why("w-except", "2099-01-03T09:01:00Z")
    check(a == "no_time" and (w["before"], w["after"]) == ("2099-01-03T09:00:00Z", "2099-01-04T09:00:00Z"),
          f"not a nominal time; the nearest ones: {w}")
    good("why", "w-except", "2099-01-03T09:01:00Z", has=("not due at that time", "nearest: 2099-01-0"))
    # A time without an offset is read in the zone of the machine, or else in that of the schedule.
    check(why("w-tokyo", "2099-01-03T09:00")[0] == "will_run", "the schedule's own zone")
    check(why("w-tokyo", datetime(2099, 1, 3, tzinfo=timezone.utc).astimezone().strftime("%Y-%m-%dT%H:%M"))[0] ==
          "will_run", "the machine's zone")
    check(why("w-tokyo")[0] == "will_run", "why of the next time")
    bad(2, "why", "w-tick", "someday", has=("'someday'", "2026-11-16T08:30", "now"))
    good("pause", "--all")
    reason(("will_not_run", "paused"), "w-tokyo", "2099-01-03T09:00")
    good("resume", "--all")
    good("rm", "w-busy", "--kill")


def check_backfill():
    end = iso_time(-1)
    good("resume", "w-fill")
    os.unlink(os.path.join(WORK, "why.yaml"))
    good("edit", "w-fill", "--when", "@every 1s", "--tag", "filled")
    r = good("backfill", "w-fill", "--from", "4s", "--to", end)
    made = re.fullmatch(r"w-fill: (\d) runs? added; `rota runs w-fill` shows (them|it)\n", r.out)
    check(made and int(made[1]) > 0, "backfill says how many it made", r)
    good("backfill", "w-fill", "--from", "4s", "--to", end, has="nothing to run")
    good("backfill", "p2", "--from", "2h", "--to", "1h", has="p2: nothing was due in the period\n")
    check(ask("backfill", "p2", "--from", "2h", "--to", "1h")["runs"] == 0, "backfill --json of nothing")
    filled = until("a backfilled run", lambda: [x for x in ask("runs", "w-fill")["runs"] if x["kind"] == "backfill"])
    check(filled and all(x["nominal"] <= end for x in filled), "backfill runs times that did not run")
    check(made and len(filled) == int(made[1]), f"as many runs as it reported: {len(filled)}")
    good("apply", "-f", write_file("few.yaml", "id: few\nexpression: '* * * * *'\ncatch_up_limit: 2\noverlap: allow\n"
                             "action: {type: command, command: 'true'}\n"))
    for _ in range(2):  # the period has twice as many due times as are allowed at a time
        good("backfill", "few", "--from", "10m", "--to", "now", has=("few: 2 runs added", "repeat the command for the rest"))
    check(ask("backfill", "few", "--from", "10m", "--to", "now")["more"] is True, "backfill --json: more is true")
    os.unlink(os.path.join(WORK, "few.yaml"))
    good("rm", "few")
    bad(2, "backfill", "w-fill", "--from", "1d", has="--to")
    bad(2, "backfill", "w-fill", "--from", "now", "--to", "1d", has="--from is after --to")
    bad(2, "backfill", "w-fill", "--from", "x", "--to", "now", has="'x'")


# --- problems and events ---------------------------------------------------------------------------------------------
def open_problems():
    return ask("ls", "problems")["problems"]


def problems_of(subject):
    return [p for p in open_problems() if p["subject"] == subject]


def check_problems():
    flag = os.path.join(WORK, "flag")
    f = Follower()
    good("add", "0 0 1 1 *", "--id", "frail", "--", "test", "-e", flag)
    until("the follower gets events", lambda: f.saw("schedule:created", "frail") or f.saw("schedule:updated", "frail") or
          not good("edit", "frail", "--timeout", f"{int(time.monotonic() * 10) % 3000 + 1}s"))
    rota("run", "frail", "--wait")
    p = until("a problem is opened", lambda: problems_of("frail"))[0]
    check({"number", "count", "key", "subject", "text", "opened", "said", "acknowledged", "by", "note", "closed"} <= set(p)
          and "exit code 1" in p["text"] and p["count"] == 1, f"the problem: {p}")
    number = str(p["number"])
    r = good("status", has=("PROBLEMS", "frail failed with exit code 1", "rota ack"))
    check(r.out.startswith("PROBLEMS"), "problems come first", r)
    good("doctor", has=("problems",))
    rota("run", "frail", "--wait")
    until("the problem is counted again", lambda: problems_of("frail")[0]["count"] == 2)
    check(len(problems_of("frail")) == 1, "one problem per cause")
    good("show", number, has=("problem " + number, "reported 2 times"))
    good("ack", number, "--note", "on it", has="acknowledged")
    p = ask("show", number)
    me = subprocess.run(["id", "-un"], capture_output=True).stdout.decode().strip() or f"uid {os.geteuid()}"
    check(p["acknowledged"] and p["note"] == "on it" and p["by"] == me, f"acknowledged: {p}")
    bad(1, "ack", number, has="already acknowledged")
    bad(1, "ack", "99999", has="no problem 99999")
    bad(2, "ack", "frail", has="number")
    open(flag, "w").close()
    good("run", "frail", "--wait")
    until("success closes the problem", lambda: not problems_of("frail"))
    check(ask("show", number)["closed"], "the time of closing is shown")
    check(int(number) in [p["number"] for p in ask("ls", "problems", "--all")["problems"]], "ls problems --all")
    bad(1, "ack", number, has="already")
    # A run stopped by a person is not a problem.
    good("add", "0 0 1 1 *", "--id", "ended", "--", "sleep", "60")
    live = ask("run", "ended")["run"]
    until("it runs", lambda: ask("show", live)["state"] == "running")
    good("stop", live)
    # Too many failures pause the schedule. The failure and the pause are two problems: resuming closes one, success the other.
    good("apply", "-f", write_file("max.yaml", "id: maxed\nexpression: '@every 1s'\nmax_failures: 1\n"
                                         "action: {type: command, command: 'false'}\n"))
    two = until("two problems", lambda: len(problems_of("maxed")) == 2 and problems_of("maxed"))
    check(any("paused" in p["text"] and "rota resume maxed" in p["text"] for p in two or []), f"max_failures: {two}")
    check(ask("show", "maxed")["state"] == "paused", "paused because of failures")
    os.unlink(os.path.join(WORK, "max.yaml"))
    good("edit", "maxed", "--command", "true")
    check(len(problems_of("maxed")) == 2, "an edit alone closes nothing")
    good("resume", "maxed")
    until("resuming and success close both problems", lambda: not problems_of("maxed"))
    rota("run", "ko", "--wait")
    until("the problem is open", lambda: problems_of("ko"))
    good("rm", "ko")
    until("a removed schedule has no problems", lambda: not problems_of("ko"))
    check(not problems_of("ended"), "a stopped run opens no problem")
    kinds = {"schedule:created", "schedule:updated", "schedule:triggered", "run:claimed", "run:started", "run:finished",
             "schedule:completed", "problem:opened", "problem:acknowledged", "problem:closed", "schedule:deleted"}
    until("events of all kinds", lambda: all(any(kind.encode() in line for line in complete_lines(f.lines)) for kind in kinds))
    f.process.terminate()
    f.process.wait()
    lines = [json.loads(line) for line in complete_lines(f.lines)]
    check(all({"seq", "ts", "type", "data"} == set(e) for e in lines), "an event in JSON")
    numbers = [e["seq"] for e in lines]
    check(numbers == list(range(numbers[0], numbers[0] + len(numbers))), "events in order, without a gap")
    opened = next(e["data"] for e in lines if e["type"] == "problem:opened" and e["data"]["subject"] == "frail")
    check("exit code 1" in opened["text"] and opened["problem"] == int(number), f"a problem as an event: {opened}")
    good("events", has="run:finished")
    check(ask("events")["events"][-1]["type"], "events --json")


def check_wrong_calls():
    """Each error says what is wrong, where it is, and what is allowed."""
    plan = write_file("wrong.org", "* TODO a\n")
    good("add", "0 0 1 1 *", "--id", "wrong", "--", "true")
    # The error names the option whose value is wrong.
    for verb in (("add", "0 9 * * *"), ("edit", "wrong")):
        for option in ("--timeout", "--window"):
            bad(2, *verb, option, "banana", "--", "true", has=(f"rota: {option}: 'banana'", "90s"))
    bad(2, "agenda", plan, "--stale", "x", has=("rota: --stale: 'x'", "90s"))
    bad(2, "agenda", plan, "--tz", "Mars", has="rota: --tz: zone 'Mars' is not known; `rota zones` lists the known ones\n")
    bad(2, "plan", "run", plan, "--timeout", "x", has=("rota: --timeout: 'x'", "90s"))
    bad(2, "pause", "wrong", "--for", "0s", has=("--for '0s'", "90s"))
    # Names that do not exist: the error says how to list those that do.
    bad(1, "rm", "nosuch", has=("'nosuch'", "`rota ls`"))
    bad(1, "show", "nosuch", has=("no schedule or agent", "'nosuch'", "`rota ls agents`"))
    bad(1, "run", "nosuch.org", has="there is no file 'nosuch.org', and no schedule of that name")
    # The verb, option or argument that was probably meant.
    bad(2, "hlep", has="(near: help)")
    bad(2, "statsu", has="(near: status)")
    bad(2, "add", "0 9 * * *", "--tiemout", "5m", "--", "true", has="no option --tiemout (near: --timeout); `rota add --help`")
    bad(2, "add", "0 9 * * *", "--x", "--", "true", has="no option --x; `rota add --help`")
    bad(2, "apply", "ops/", has=("no argument 'ops/'", "`rota apply --help`"))
    # Missing arguments: an example shows them.
    for verb, example in (("org", "rota org parse"), ("plan", "rota plan run"), ("edit", "rota edit"), ("add", "rota add")):
        bad(2, verb, has=f"for example: {example}")
    bad(2, "org", "foo", has=("'foo'", "timestamp and parse"))
    bad(2, "plan", "foo", plan, has=("'foo'", "show, check, diff and run"))
    bad(2, "backfill", "wrong", has=("--from TIME", "for example: rota backfill"))
    bad(2, "backfill", "wrong", "--from", "2h", has=("--to TIME", "for example: rota backfill"))
    bad(2, "claim", "--first", has="for example: rota claim --first")
    bad(2, "memory", "search", has="for example: rota memory search")
    bad(2, "next", "--batch", "-", "0 9 * * *", has="cannot be combined with EXPR")
    bad(2, "next", "--batch", "-", "--tz", "UTC", has="cannot be combined with --tz")
    # Contradictions.
    bad(2, "state", "get", has="--agent NAME or --user\n")
    bad(2, "state", "get", "--user", "--agent", "x", has="--agent NAME or --user, not both")
    bad(2, "notify", "set", "--none", "--desktop", has="--none")
    # A name that no agent can have.
    for argv in (("memory", "add", "x", "--agent", " "), ("memory", "ls", "--agent", "a\tb"), ("state", "set", "x", "1", "--agent", " ")):
        bad(2, *argv, has=("the name of an agent", "1 to 128 characters"))
    good("rm", "wrong")


def check_edit_while_busy(daemon):
    """An edit is not refused while the schedule is late or being claimed."""
    good("add", "@every 1s", "--id", "w-edit", "--overlap", "allow", "--", "true")
    for n in range(3):
        daemon.process.send_signal(signal.SIGSTOP)
        edits = [subprocess.Popen([ROTA, "edit", "w-edit", "--when", f"@every {s}s"], env=ENV, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) for s in (2, 1)]
        time.sleep(1.1)
        daemon.process.send_signal(signal.SIGCONT)
        for e in edits:
            err = e.communicate(timeout=60)[1].decode()
            check(e.returncode == 0, f"an edit while the schedule is busy: {e.returncode} {err!r}")
    good("rm", "w-edit")


class Follower:
    """`rota events -f --json` in the background, and its lines."""
    def __init__(self, *options):
        self.lines, self.err = [], []
        self.process = subprocess.Popen([ROTA, "events", "-f", "--json", *options], env=ENV, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        for to, pipe in ((self.lines, self.process.stdout), (self.err, self.process.stderr)):
            threading.Thread(target=lambda to=to, pipe=pipe: to.extend(iter(pipe.readline, b"")) or pipe.close(),
                             daemon=True).start()

    def saw(self, kind, schedule):
        return any(e["type"] == kind and schedule in (e["data"].get("schedule"), e["data"].get("scheduleId"))
                   for e in map(json.loads, complete_lines(self.lines)))


def complete_lines(lines):
    return [line for line in list(lines) if line.endswith(b"\n")]


def start_abandoned_follower():
    """A follower whose daemon does not come back; check_abandoned_follower looks at it later."""
    path = os.path.join(ROOT, "away.sock")
    daemon = Daemon("away", ("--socket", path))
    f = Follower("--socket", path)
    good("add", "0 9 * * *", "--id", "away", "--socket", path, "--", "true")
    until("the follower gets events", lambda: f.saw("schedule:created", "away") or f.saw("schedule:updated", "away") or
          not good("edit", "away", "--timeout", f"{int(time.monotonic() * 10) % 3000 + 1}s", "--socket", path))
    daemon.stop()
    return f


def check_abandoned_follower(f):
    try:
        code = f.process.wait(90)  # it waits for 30 seconds
    except subprocess.TimeoutExpired:
        f.process.kill()
        code = "hangs"
    until("the follower gives up", lambda: len(f.err) == 2)
    check(code == 69 and b"lost the connection" in f.err[0] and f.err[1].startswith(b"rota: ") and b"for 30 seconds" in f.err[1],
          f"a daemon that does not come back: {code} {f.err}")


def check_followed(f, before):
    """The same process follows the next daemon, and misses no event."""
    check(b"".join(complete_lines(f.err)) == b"rota: lost the connection to the daemon; waiting for it\nrota: the daemon is back\n",
          f"the messages about a restart: {f.err}")
    good("edit", "w-tick", "--timeout", "77s")
    until("the next daemon is followed", lambda: f.saw("schedule:updated", "w-tick"))
    f.process.terminate()
    f.process.wait()
    numbers = [json.loads(line)["seq"] for line in complete_lines(f.lines)]
    check(numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > before,
          "events in order, none twice, none missing, across a restart")


def check_restart(daemon):
    """Problems survive a restart and are closed after it; times missed meanwhile are recorded."""
    f = Follower()
    until("the follower gets events", lambda: f.lines)
    good("add", "@every 1s WINDOW 1s", "--id", "w-window", "--", "true")
    flag = os.path.join(WORK, "flag")
    os.remove(flag)
    rota("run", "frail", "--wait")
    before = until("the problem is open", lambda: problems_of("frail"))
    daemon.stop()
    bad(69, "ls", has="no daemon")
    down = iso_time(1)
    time.sleep(3)
    seen = len(f.lines)
    daemon = Daemon()
    until("the follower is back", lambda: len(f.err) == 2)
    check_followed(f, seen)
    w = until("the missed time is recorded", lambda: [x for x in [ask("why", "w-window", down)] if x["answer"] == "refused"])
    check(w and w[0]["reason"] in ("window_closed", "down") and w[0]["disposition"] == "missed", f"why of a missed time: {w}")
    check([p["number"] for p in problems_of("frail")] == [p["number"] for p in before], "a problem outlives the daemon")
    open(flag, "w").close()
    good("run", "frail", "--wait")
    until("it is closed after a restart", lambda: not problems_of("frail"))
    return daemon


def check_operator_verbs():
    r = good("doctor", has=("data", "zones", "launcher", "cgroup", "store", "clock", "rules", "disk", "daemon"))
    check(all(re.match(r"(ok|warn|fail) ", line) for line in r.out.splitlines()), "doctor's lines", r)
    check(ask("doctor")["ok"] is True, "doctor --json")
    good("clock", has="the clock is accepted")
    s = ask("status")
    check({"problems", "schedules", "running", "queued", "waiting", "retrying", "clock_held", "outdated", "trouble", "paused",
           "open", "next"} <= set(s) and s["trouble"] is None, f"status in JSON: {s}")
    check(s["next"] and s["next"] == sorted(s["next"], key=lambda n: n["due"]), "the next times are in order")
    check(rota().out.splitlines()[-len(s["next"]) - 1].startswith("NEXT"), "plain `rota` is status")
    check(rota("--json").json.get("schedules") == s["schedules"], "rota --json")


def send_request(method, target, body=None, headers=()):
    """Sends a request and returns the connection."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(os.path.join(ENV["XDG_RUNTIME_DIR"], "rota", "rota.sock"))
    text = json.dumps(body).encode() if body is not None else b""
    head = [f"{method} /api/v1/{target} HTTP/1.1", "Host: x", "Connection: close", f"Content-Length: {len(text)}", *headers]
    s.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + text)
    return s


def read_answer(s):
    got = b""
    while piece := s.recv(1 << 16):
        got += piece
    s.close()
    return got


def check_http_refusals():
    """Requests that match no operation: the answer names the allowed methods, or the path."""
    for method, target, status, text in (
            ("POST", "status", b"400", b"method POST is not allowed here; allowed: GET"),
            ("PUT", "schedules", b"400", b"method PUT is not allowed here; allowed: POST, GET"),
            ("GET", "no/such", b"404", b"there is no operation at /api/v1/no/such")):
        got = read_answer(send_request(method, target))
        check(status in got.split(b"\r\n")[0] and text in got, f"{method} {target}: {status} {text}", got)


def check_many():
    """A file of very many documents: other requests are answered meanwhile; what was not applied is listed; a follower
    gets all events that are kept."""
    action = {"type": "command", "command": "true"}
    docs = [{"id": f"big-{i:0120}", "expression": "0 0 1 1 *", "action": action} for i in range(20000)]
    applying = send_request("POST", "apply", {"dry_run": True, "documents": docs})
    meanwhile = 0
    while not select.select([applying], [], [], 0)[0]:
        check(b"200 OK" in read_answer(send_request("GET", "status"))[:100], "status while many documents are checked")
        meanwhile += 1
    check(meanwhile > 2, f"answers while many documents are checked: {meanwhile}")
    check(read_answer(applying).count(b'"result":"added"') == 20000, "a dry run of very many documents")
    good("apply", "-f", write_file("big.json", json.dumps({"schedules": docs[:1200]})), has="1200 added", timeout=60)
    # A follower that comes back gets all events that are kept.
    late = send_request("GET", "events?follow=true", headers=("Last-Event-ID: 1",))
    got, last = b"", ask("events")["last"]
    while got.count(b"\ndata: {\"seq\"") < last - 1 and (piece := late.recv(1 << 16)):
        got += piece
    late.close()
    got = re.sub(rb"\r\n[0-9A-Fa-f]+\r\n", b"", got)  # the borders of chunks may be anywhere
    numbers = [int(n) for n in re.findall(rb'\ndata: {"seq":([0-9]+),', got)]
    check(numbers[:last - 1] == list(range(2, last + 1)), f"the events after the first: {len(numbers)} of {last}")
    # More sets of excluded days than allowed: the first are applied, the others are listed.
    days = [f"{2030 + n // 300}-{n % 300 // 25 + 1:02}-{n % 25 + 1:02}" for n in range(4200)]
    docs = [{"id": f"days-{n:04}", "expression": "0 9 * * *", "except": [day], "action": action} for n, day in enumerate(days)]
    path = write_file("days.json", json.dumps({"schedules": docs}))
    r = rota("apply", "-f", path, timeout=60)
    left = re.findall(r"^! (\S+): not applied$", r.out, re.M)
    check(r.code == 2 and left and left[-1] == "days-4199" and re.search(r"^\d+ added, .*, \d+ not applied$", r.out, re.M) and
          "not everything was applied: 'days-4" in r.err and "4096 sets of excluded days" in r.err, "too many sets of days", r)
    there = len(re.findall(r"^\+ days-\S+: added$", r.out, re.M))
    check(there + len(left) == 4200 and rota("show", left[0]).code == 1 and rota("show", "days-0000").code == 0,
          "the schedules that were reported as added exist", r)
    r = rota("apply", "-f", path, "--json", timeout=60)
    check(r.code == 2 and r.json["complete"] is False and [s["id"] for s in r.json["schedules"] if s["result"] == "not_applied"]
          == left and r.json["error"]["code"], "apply --json that fails midway")


def check_denied():
    """Another user may not use the socket; only root can test that."""
    if os.geteuid() != 0:
        return
    path = os.path.join(ENV["XDG_RUNTIME_DIR"], "rota", "rota.sock")
    try:
        done = subprocess.run([ROTA, "ls", "--socket", path], cwd="/", user=65534, group=65534, extra_groups=[],
                              env={"HOME": "/nonexistent"}, capture_output=True, timeout=60)
    except PermissionError:
        return  # the other user may not start the program
    r = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
    check(r.code == 77 and r.err.startswith("rota: "), "another user's daemon", r)


def main():
    daemon = None
    try:
        check_no_daemon()
        alone = start_abandoned_follower()
        daemon = Daemon()
        start_why_schedules()
        for part in (check_help, check_completions, check_add, check_names, check_wrong_calls, check_apply, check_edit, check_runs, check_pause,
                     check_why, check_backfill, check_problems, check_operator_verbs, check_denied):
            before = checks.failed
            part()
            if checks.failed > before:
                print(f"({part.__name__}: {checks.failed - before} failed)")
        check_edit_while_busy(daemon)
        daemon = check_restart(daemon)
        check_http_refusals()
        check_many()
        check_abandoned_follower(alone)
    finally:
        if daemon:
            daemon.stop()
        shutil.rmtree(ROOT, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
