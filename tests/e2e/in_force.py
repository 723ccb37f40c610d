#!/usr/bin/env python3
"""Documents in force: conditions and what they wait for, templates as data, files and who owns what came from them, a
directory that is watched. The real binary, in real seconds: what needs minutes is in the simulator.

usage: in_force.py ROTA"""
import json
import os
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Refused, Rig, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])


class Using(Rig):
    def __init__(self, *args):
        super().__init__(ROTA, *args)
        self.ops = os.path.join(self.dir, "ops")
        os.mkdir(self.ops)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def file(self, name, text):
        """As editors do it: a new file in the place of the old one."""
        path = os.path.join(self.ops, name)
        with open(path + "~", "w") as f:
            f.write(text)
        os.rename(path + "~", path)
        return path

    def say(self, *words, ok=True):
        r = self.cli(*words)
        check((r.returncode == 0) == ok, f"rota {' '.join(words)}: exit {r.returncode}", r.stdout + r.stderr)
        return r.stdout + r.stderr

    def schedules(self):
        return {s["id"]: s for s in self.ask("GET", "/schedules?limit=1000")["schedules"]}

    def problems(self):
        return [p["text"] for p in self.ask("GET", "/problems")["problems"]]


def event(id, when="@daily", **more):
    return json.dumps({"id": id, "expression": when, "action": {"type": "event", "name": "x"}, **more})


# --- conditions --------------------------------------------------------------------------------------------------

def one_run(rig, id, until, seconds=60):
    """The schedule's only run, when it is as wanted."""
    last = []

    def look():
        last[:] = rig.runs(id)
        return last and until(last[-1])
    wait_until(seconds, look, 0.05)
    return last[-1] if last else {}


def once(seconds=4):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds + 0.999))


def conditions():
    with Using() as rig:
        rig.start()
        base = {"action": {"type": "command", "command": "true"}}
        when = once()
        rig.add({"id": "waits", "expression": when, "condition": "user.ready", "window": "10m", **base})
        rig.add({"id": "agents", "expression": when, "agent": "desk", "condition": "agent.level > 2", "window": "10m", **base})
        rig.add({"id": "closes", "expression": f"{when}\nIF user.never == true\nWINDOW 2s", **base})
        rig.add({"id": "once", "expression": when, "condition": "1 == 2", **base})
        rig.add({"id": "wrong", "expression": when, "condition": "user.name + 1 == 2", **base})
        rig.add({"id": "holds", "expression": when, "condition": "has(user.name) || schedule.id == 'holds'", **base})
        check(one_run(rig, "holds", lambda r: r["outcome"])["outcome"] == "done", "a condition that holds")
        check(one_run(rig, "once", lambda r: r["reason"])["reason"] == "condition", "without a window it is asked once")
        check(one_run(rig, "closes", lambda r: r["reason"])["reason"] == "condition", "until the window closes")
        check(one_run(rig, "wrong", lambda r: r["reason"])["reason"] == "condition", "an error is false")
        check("no such" in rig.say("why", "wrong", "now") or "name" in rig.say("why", "wrong", "now"),
              "and is told", rig.say("why", "wrong", "now"))
        check("condition" in rig.say("why", "once", "now"), "a false one is told, too")
        check(one_run(rig, "waits", lambda r: r["state"] == "waiting").get("state") == "waiting", "the others wait",
              rig.runs("waits"))
        rig.say("state", "set", "ready", "true", "--user")
        check(one_run(rig, "waits", lambda r: r["outcome"])["outcome"] == "done", "the user's profile has changed")
        check(one_run(rig, "agents", lambda r: True)["state"] == "waiting", "another's does not count")
        rig.say("state", "set", "level", "3", "--agent", "desk")
        check(one_run(rig, "agents", lambda r: r["outcome"])["outcome"] == "done", "the agent's state has changed")


def states():
    with Using() as rig:
        rig.start()
        rig.say("state", "get", ok=False)
        check("needs get or set" in rig.say("state", ok=False), "what is missing is named")
        rig.say("state", "frob", ok=False)
        rig.say("state", "get", ".", "--user", "--agent", "a", ok=False)
        rig.say("state", "set", "a..b", "1", "--user", ok=False)
        rig.say("state", "set", ".", "5", "--user", ok=False)
        rig.say("state", "get", "nothing.there", "--user", ok=False)
        check(rig.say("state", "set", "a.b", "[1,2]", "--user").strip() == '{"a":{"b":[1,2]}}', "JSON")
        check(json.loads(rig.say("state", "set", "a.c", "plain text", "--user", "--json"))["rev"] == 2, "a rev")
        rig.say("state", "set", "a.b", "null", "--user", "--rev", "1", ok=False)
        check(rig.say("state", "set", "a.b", "null", "--user", "--rev", "2").strip() == '{"a":{"c":"plain text"}}', "swap")
        check(rig.say("state", "get", "a.c", "--user").strip() == '"plain text"', "get")
        # Whoever says no revision loses nothing of what others write meanwhile.
        threads = [threading.Thread(target=rig.ask, args=("PATCH", "/state", {"agent": "x", "patch": {f"k{n}": n}}))
                   for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check(len(rig.ask("GET", "/state?agent=x")["value"]) == 12, "all of them count", rig.ask("GET", "/state?agent=x"))
        try:
            rig.ask("PATCH", "/state", {"user": True, "patch": {"big": "x" * 300_000}})
            check(False, "it has a size")
        except Refused:
            check(True, "it has a size")


def state_limits():
    """What would be too much for a reader is refused before it is written: else nothing could be read or started any more."""
    with Using() as rig:
        rig.start()
        for part in "ab":
            try:
                rig.ask("PATCH", "/state", {"user": True, "patch": {f"{part}{n}": n for n in range(3000)}})
                check(part == "a", "a map of too many keys")
            except Refused as refused:
                check(part == "b" and "4096" in str(refused), "says how many", refused)
        check(len(rig.ask("GET", "/state?user=true")["value"]) == 3000, "it is as it was")
        rig.add({"id": "runs", "expression": "@yearly", "action": {"type": "command", "command": "true"}})
        rig.say("run", "runs", "--wait")


def no_longer_why():
    """The error of a condition is told as long as it is the last word."""
    with Using() as rig:
        rig.start()
        rig.add({"id": "late", "expression": once(), "condition": "user.x == 1", "window": "10m",
                 "action": {"type": "command", "command": "exit 3"}})
        one_run(rig, "late", lambda r: r["state"] == "waiting")
        number = rig.runs("late")[0]["id"]
        check(wait_until(20, lambda: rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "an error", rig.say("show", number))
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": 2}})
        check(wait_until(20, lambda: not rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "it is simply false",
              rig.say("show", number))
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": None}})
        check(wait_until(20, lambda: rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "an error again")
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": 1}})
        run = one_run(rig, "late", lambda r: r["outcome"])
        check(run.get("outcome") == "failed" and not rig.ask("GET", f"/runs/{number}")["detail"], "it failed for another reason",
              rig.say("show", number))


# --- templates ---------------------------------------------------------------------------------------------------

EVIL = "a'b\"c\n$(touch PWNED) `touch PWNED` ; touch PWNED {{ date }} %s \\"


def templates():
    with Using() as rig:
        rig.start()
        out = os.path.join(rig.dir, "out")
        rig.ask("PATCH", "/state", {"user": True, "patch": {"evil": EVIL, "name": "N"}})
        script = (f"import sys,os,json; json.dump([sys.argv[1:], os.environ['EVIL'], sys.stdin.read(),"
                  f" json.load(open(os.environ['ROTA_CONTEXT']))], open('{out}', 'w'))")
        rig.add({"id": "data", "expression": "@yearly", "timezone": "Asia/Tokyo", "variables": {"v": "<{{ user.name }}>", "n": [1]},
                 "action": {"type": "command", "cwd": rig.dir, "stdin": "{{ user.evil }}", "env": {"EVIL": "{{ user.evil }}"},
                            "command": [sys.executable, "-c", script, "{{ user.evil }}", "{{ variables.v }}", "{{ user }}",
                                        "{{ schedule.id }}: {{ run.attempt }}", "{{ variables.n }}", '{{ "{{" }}']}})
        rig.say("run", "data", "--wait")
        with open(out) as f:
            argv, env, stdin, context = json.load(f)
        check(argv == [EVIL, "<N>", "N", "data: 1", "[1]", "{{"], "arguments", argv)
        check(env == EVIL and stdin == EVIL, "environment and input", (env, stdin))
        check(context["user"]["evil"] == EVIL and context["variables"] == {"v": "<N>", "n": [1]}, "context", context)
        check(context["timestamp"].endswith("+09:00") and context["timestamp"].startswith(context["date"]), "its own zone", context)
        line = f"printf '%s' '{{{{ user.evil }}}}' > {out}; cat >> {out}"
        told = rig.ask("POST", "/schedules", {"document": {"id": "line", "expression": "@yearly", "action": {
            "type": "command", "cwd": rig.dir, "command": line}}})
        check("{{ user.evil }}" in json.dumps(told.get("warnings", "")), "a line that looks like a template is warned of", told)
        rig.say("run", "line", "--wait")
        with open(out) as f:
            check(f.read() == "{{ user.evil }}", "and stays as it is")
        for command in (["sh", "-c", "echo {{ user.evil }}"], ["env", "X=1", "/bin/bash", "-ec", "echo '{{ user.evil }}'"]):
            told = rig.add({"id": "script", "expression": "@yearly", "action": {"type": "command", "cwd": rig.dir, "command": command}},
                           update=True)
            check("is not expanded" in json.dumps(told.get("warnings", "")), f"{command[0]}: the same", told)
            rig.say("run", "script", "--wait")
            check("{{ user.evil }}" in rig.say("logs", "script"), "a script of a shell is a line, too", rig.say("logs", "script"))
        check(not os.path.exists(os.path.join(rig.dir, "PWNED")), "nothing was executed")
        rig.add({"id": "lacks", "expression": "@yearly", "action": {"type": "command", "command": ["echo", "{{ user.nothing }}"]}})
        check("failed/template" in rig.say("run", "lacks", "--wait", ok=False), "a missing field")
        run = rig.runs("lacks")[0]["id"]
        check("nothing" in rig.say("show", run), "says which", rig.say("show", run))


# --- files -------------------------------------------------------------------------------------------------------

def files():
    with Using() as rig:
        rig.start()
        a = rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        b = rig.file("b.yaml", event("b1"))
        check("3 added" in rig.say("apply", "-f", rig.ops), "added")
        check("0 added, 0 changed, 3 unchanged" in rig.say("apply", "-f", rig.ops), "the same again")
        check(f"{a}, line 3" in rig.say("show", "a2"), "its place", rig.say("show", "a2"))
        rev = rig.schedules()["a2"]["rev"]
        rig.file("a.yaml", f"# more\nschedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.say("apply", "-f", a)
        check(f"{a}, line 4" in rig.say("show", "a2"), "a line further down")
        check(rig.schedules()["a2"]["rev"] == rev, "is no other version")
        for words in (("edit", "a2", "--when", "@hourly"), ("rm", "a2"), ("add", "@hourly", "--id", "a2", "--update", "--", "true")):
            check(a in rig.say(*words, ok=False), f"{words[0]} names the file")
        other = os.path.join(rig.dir, "other.yaml")
        with open(other, "w") as f:
            f.write(event("a1"))
        told = rig.say("apply", "-f", other, ok=False)
        check(a in told and other in told, "one id in two files", told)
        rig.file("c.yaml", event("b1"))
        told = rig.say("apply", "-f", rig.ops, ok=False)
        check("b.yaml" in told and "c.yaml" in told, "of one directory", told)
        os.unlink(b)
        check("0 added, 0 changed, 3 unchanged" in rig.say("apply", "-f", rig.ops), "it has moved")
        check("c.yaml, line 1" in rig.say("show", "b1"), "its new place")
        rig.add(json.loads(event("mine")))
        rig.file("a.yaml", event("a1"))
        check("1 removed; nothing was applied" in rig.say("apply", "-f", rig.ops, "--prune", "--dry-run"), "what would go")
        check(set(rig.schedules()) == {"a1", "a2", "b1", "mine"}, "and does not")
        check("- a2: removed" in rig.say("apply", "-f", rig.ops, "--prune"), "goes")
        check(set(rig.schedules()) == {"a1", "b1", "mine"}, "nothing else does", set(rig.schedules()))
        os.unlink(a)
        rig.say("rm", "a1")
        empty = os.path.join(rig.dir, "empty")
        os.mkdir(empty)
        with open(os.path.join(empty, "only.yaml"), "w") as f:
            f.write(event("only"))
        rig.say("apply", "-f", empty)
        os.unlink(os.path.join(empty, "only.yaml"))
        check("no documents" in rig.say("apply", "-f", empty, ok=False), "an empty directory is a mistake")
        check("- only: removed" in rig.say("apply", "-f", empty, "--prune"), "unless what came from it is to go")
        os.unlink(os.path.join(rig.ops, "c.yaml"))
        rig.say("edit", "b1", "--when", "@hourly")
        check("from:" not in rig.say("show", "b1"), "what a file has no more is a person's")


def below():
    """Pruning a directory is about its own files: those of directories in it were not read."""
    with Using() as rig:
        rig.start()
        inner = os.path.join(rig.ops, "inner")
        os.mkdir(inner)
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.file("inner/b.yaml", event("b1"))
        rig.say("apply", "-f", rig.ops)
        rig.say("apply", "-f", inner)
        rig.file("a.yaml", event("a1"))
        rig.say("apply", "-f", rig.ops, "--prune")
        check(set(rig.schedules()) == {"a1", "b1"}, "only what was in its files goes", set(rig.schedules()))
        os.symlink("nowhere", os.path.join(rig.ops, "b.yaml"))
        told = rig.say("apply", "-f", rig.ops, ok=False)
        check("b.yaml" in told and "a.yaml" not in told, "the file that cannot be read is named, and no other", told)
        for wrong in ({"dry_run": "yes"}, {"places": 1}, {"prune": "/"}):
            try:
                rig.ask("POST", "/apply", {"documents": [json.loads(event("wrong"))], **wrong})
                check(False, f"{wrong} is refused")
            except Refused as refused:
                check(refused.status == 400 and next(iter(wrong)) in str(refused), f"{wrong} is refused", refused)
        check(set(rig.schedules()) == {"a1", "b1"}, "and nothing of it is done", set(rig.schedules()))


def led():
    """A leader that was removed and is there again is followed again."""
    with Using() as rig:
        rig.start()
        rig.file("lead.yaml", event("lead"))
        rig.file("tail.yaml", json.dumps({"id": "tail", "after": {"schedule": "lead", "outcome": "done"},
                                          "action": {"type": "event", "name": "y"}}))
        rig.say("apply", "-f", rig.ops)
        os.unlink(os.path.join(rig.ops, "lead.yaml"))
        rig.say("rm", "lead")
        rig.file("lead.yaml", event("lead"))
        told = rig.say("apply", "-f", rig.ops)
        check("1 added, 1 changed" in told, "it follows another now", told)
        check("2 unchanged" in rig.say("apply", "-f", rig.ops), "once")
        rig.say("run", "lead", "--wait")
        check(one_run(rig, "tail", lambda r: r["outcome"] == "done").get("outcome") == "done", "and is due after it")


# --- a directory -------------------------------------------------------------------------------------------------

def directory():
    with Using() as rig:
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.file("notes.txt", "not a document")
        rig.start(options=(rig.ops,))

        def has(what, *ids):
            check(wait_until(60, lambda: set(rig.schedules()) == set(ids), 0.05), what, set(rig.schedules()))

        def trouble(n, *words):
            check(wait_until(60, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has("at the start", "a1", "a2")
        rig.file("b.json", event("b1"))
        has("a new file", "a1", "a2", "b1")
        rig.file("b.json", event("b1", "@dily"))
        trouble(1, "b.json", "'@dily'", "column 29")
        has("its last good version", "a1", "a2", "b1")
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n")
        has("another's fault is nobody else's", "a1", "b1")
        rig.file("b.json", event("b1", "@hourly"))
        trouble(0)
        check(":00:00" in rig.schedules()["b1"]["next"], "mended")
        rev = rig.schedules()["a1"]["rev"]
        os.rename(os.path.join(rig.ops, "a.yaml"), os.path.join(rig.ops, "z.yaml"))
        check(wait_until(60, lambda: "z.yaml" in rig.say("show", "a1"), 0.05), "renamed")
        check(rig.schedules()["a1"]["rev"] == rev, "and the same")
        with open(os.path.join(rig.ops, "z.yaml"), "w") as f:
            f.write("schedules:\n")
            f.flush()
            time.sleep(1)
            has("a file that is being written", "a1", "b1")
            f.write(f"  - {event('a1')}\n  - {event('a3')}\n")
        has("has been written", "a1", "a3", "b1")
        rig.file("twice.yaml", event("b1"))
        trouble(1, "b.json", "twice.yaml")
        os.unlink(os.path.join(rig.ops, "b.json"))
        trouble(0)
        check(wait_until(60, lambda: "twice.yaml" in rig.say("show", "b1"), 0.05), "then it is the other's")
        os.rename(rig.ops, rig.ops + "-away")
        trouble(1, "directory")
        has("nothing is concluded from that", "a1", "a3", "b1")
        os.rename(rig.ops + "-away", rig.ops)
        trouble(0)
        os.unlink(os.path.join(rig.ops, "z.yaml"))
        has("removed", "b1")
        rig.file("z.yaml", event("a1"))
        has("restored", "a1", "b1")
        rig.kill()
        os.unlink(os.path.join(rig.ops, "twice.yaml"))
        rig.start(options=(rig.ops,))
        has("removed while nobody looked", "a1")


def rough():
    """What else becomes of files: written slowly, replaced by something else, unreadable for a while, links."""
    with Using() as rig:
        rig.file("a.yaml", event("a1"))
        rig.start(options=(rig.ops,))
        path = os.path.join(rig.ops, "a.yaml")

        def has(what, *ids):
            check(wait_until(20, lambda: set(rig.schedules()) == set(ids), 0.05), what, set(rig.schedules()))

        def trouble(n, *words):
            check(wait_until(20, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has("at the start", "a1")
        with open(os.path.join(rig.ops, "new.yaml"), "w") as f:
            f.write(f"schedules:\n  - {event('n1')}\n")
            f.flush()
            time.sleep(1.5)
            has("a new file that is being written", "a1")
            f.write(f"  - {event('n2')}\n")
        has("has been written", "a1", "n1", "n2")
        os.unlink(path)
        os.mkdir(path)
        has("a directory in the place of a file", "n1", "n2")
        os.rmdir(path)
        away = os.path.join(rig.dir, "away.yaml")
        with open(away, "w") as f:
            f.write(event("l1"))
        os.symlink(away, path)
        has("a link", "l1", "n1", "n2")
        with open(away, "w") as f:
            f.write(f"schedules:\n  - {event('l1')}\n  - {event('l2')}\n")
        has("what it leads to was changed", "l1", "l2", "n1", "n2")
        os.rename(away, away + "~")
        trouble(1, "a.yaml")
        has("a link that leads nowhere is no removal", "l1", "l2", "n1", "n2")
        os.rename(away + "~", away)
        trouble(0)
        os.unlink(path)
        has("the link was removed", "n1", "n2")
        # What was wrong is not for ever: nobody would look after it.
        rig.file("bad.yaml", "id: ?")
        trouble(1, "bad.yaml")
        rig.kill()
        os.unlink(os.path.join(rig.ops, "bad.yaml"))
        rig.start(options=(rig.ops,))
        trouble(0)
        has("the rest stays", "n1", "n2")


def before_the_missed():
    """At a start the directory counts before what was missed is settled."""
    with Using() as rig:
        marks = os.path.join(rig.dir, "marks")

        def document(id, when, word):
            return json.dumps({"id": id, "expression": when, "action": {"type": "command", "command": f"echo {word} >>{marks}"}})
        due = time.time() + 9
        when = once(8)
        rig.file("a.yaml", f"schedules:\n  - {document('when', when, 'old-when')}\n  - {document('action', when, 'old-action')}\n"
                           f"  - {document('stays', when, 'stays')}\n  - {document('goes', when, 'goes')}\n")
        rig.start(options=(rig.ops,))
        check(wait_until(60, lambda: len(rig.schedules()) == 4, 0.05), "there")
        rig.kill()
        time.sleep(max(0, due - time.time()) + 1)
        rig.file("a.yaml", f"schedules:\n  - {document('when', '@yearly', 'new-when')}\n"
                           f"  - {document('action', when, 'new-action')}\n  - {document('stays', when, 'stays')}\n")
        rig.start(options=(rig.ops,))
        wait_until(60, lambda: len([r for r in rig.runs() if r["outcome"] or r["reason"]]) >= 2, 0.05)
        time.sleep(1)
        with open(marks) as f:
            done = sorted(f.read().split())
        check(done == ["new-action", "stays"], "what runs is what the files say now", done)
        check("edited" in rig.say("why", "when", when), "and what was due by the old when is missed/edited", rig.say("why", "when", when))


PARTS = (conditions, states, state_limits, no_longer_why, templates, files, below, led, directory, rough, before_the_missed)


def main():
    def one(part):
        try:
            part()
        except Exception:  # what broke the part is what failed
            check(False, part.__name__, traceback.format_exc())
    wanted = [p for p in PARTS if not sys.argv[2:] or p.__name__ in sys.argv[2:]]
    threads = [threading.Thread(target=one, args=(p,)) for p in wanted]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.exit(finish())


main()
