#!/usr/bin/env python3
"""Documents in use, with the real binary: conditions and the state they use, templates as data, schedules of files, and a
watched directory. Tests that take minutes of real time are in the simulator instead.

usage: in_force.py ROTA MACHINE; MACHINE is the preload of tests/hostile/machine.c, which sets the daemon's clock"""
import json
import os
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402
from rig import Clock, Refused, Rig, wait_until  # noqa: E402

ROTA, MACHINE = map(os.path.abspath, sys.argv[1:3])


class DocumentRig(Rig):
    def __init__(self, *args):
        super().__init__(ROTA, *args)
        self.ops = os.path.join(self.dir, "ops")
        os.mkdir(self.ops)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def file(self, name, text):
        """Replaces the file by a new one, as editors do."""
        path = os.path.join(self.ops, name)
        with open(path + "~", "w") as f:
            f.write(text)
        os.rename(path + "~", path)
        return path

    def run_cli(self, *words, ok=True):
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
    """The only run of a schedule, after a wait until `until` holds for it."""
    last = []

    def holds():
        last[:] = rig.runs(id)
        return last and until(last[-1])
    wait_until(seconds, holds, 0.05)
    return last[-1] if last else {}


def in_seconds(seconds=4):
    """An expression for one time in a few seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds + 0.999))


def check_conditions():
    with DocumentRig() as rig:
        rig.start()
        base = {"action": {"type": "command", "command": "true"}}
        when = in_seconds()
        rig.add({"id": "waits", "expression": when, "condition": "user.ready", "window": "10m", **base})
        rig.add({"id": "agents", "expression": when, "agent": "desk", "condition": "agent.level > 2", "window": "10m", **base})
        rig.add({"id": "closes", "expression": f"{when}\nIF user.never == true\nWINDOW 2s", **base})
        rig.add({"id": "once", "expression": when, "condition": "1 == 2", **base})
        rig.add({"id": "wrong", "expression": when, "condition": "user.name + 1 == 2", **base})
        rig.add({"id": "holds", "expression": when, "condition": "has(user.name) || schedule.id == 'holds'", **base})
        check(one_run(rig, "holds", lambda r: r["outcome"])["outcome"] == "done", "a true condition lets the run start")
        check(one_run(rig, "once", lambda r: r["reason"])["reason"] == "condition", "without a window a false condition skips the run")
        check(one_run(rig, "closes", lambda r: r["reason"])["reason"] == "condition", "a false condition skips the run when the window closes")
        check(one_run(rig, "wrong", lambda r: r["reason"])["reason"] == "condition", "an error counts as false")
        check("no such" in rig.run_cli("why", "wrong", "now") or "name" in rig.run_cli("why", "wrong", "now"),
              "why prints the error", rig.run_cli("why", "wrong", "now"))
        check("condition" in rig.run_cli("why", "once", "now"), "why prints a false condition")
        check(one_run(rig, "waits", lambda r: r["state"] == "waiting").get("state") == "waiting", "with a window the run waits",
              rig.runs("waits"))
        rig.run_cli("state", "set", "ready", "true", "--user")
        check(one_run(rig, "waits", lambda r: r["outcome"])["outcome"] == "done", "the run starts when the user's profile changes")
        check(one_run(rig, "agents", lambda r: True)["state"] == "waiting", "a change of the profile does not affect the agent's condition")
        rig.run_cli("state", "set", "level", "3", "--agent", "desk")
        check(one_run(rig, "agents", lambda r: r["outcome"])["outcome"] == "done", "the run starts when the agent's state changes")


def check_state():
    with DocumentRig() as rig:
        rig.start()
        rig.run_cli("state", "get", ok=False)
        check("needs get or set" in rig.run_cli("state", ok=False), "the error names the missing argument")
        rig.run_cli("state", "frob", ok=False)
        rig.run_cli("state", "get", ".", "--user", "--agent", "a", ok=False)
        rig.run_cli("state", "set", "a..b", "1", "--user", ok=False)
        rig.run_cli("state", "set", ".", "5", "--user", ok=False)
        rig.run_cli("state", "get", "nothing.there", "--user", ok=False)
        check(rig.run_cli("state", "set", "a.b", "[1,2]", "--user").strip() == '{"a":{"b":[1,2]}}', "a value can be JSON")
        check(json.loads(rig.run_cli("state", "set", "a.c", "plain text", "--user", "--json"))["rev"] == 2, "state set returns the rev")
        rig.run_cli("state", "set", "a.b", "null", "--user", "--rev", "1", ok=False)
        check(rig.run_cli("state", "set", "a.b", "null", "--user", "--rev", "2").strip() == '{"a":{"c":"plain text"}}', "set with the current rev succeeds")
        check(rig.run_cli("state", "get", "a.c", "--user").strip() == '"plain text"', "state get prints one value")
        # Concurrent changes without a rev are all kept.
        threads = [threading.Thread(target=rig.ask, args=("PATCH", "/state", {"agent": "x", "patch": {f"k{n}": n}}))
                   for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check(len(rig.ask("GET", "/state?agent=x")["value"]) == 12, "concurrent changes are all kept", rig.ask("GET", "/state?agent=x"))
        try:
            rig.ask("PATCH", "/state", {"user": True, "patch": {"big": "x" * 300_000}})
            check(False, "a value that is too large is refused")
        except Refused:
            check(True, "a value that is too large is refused")


def check_state_limits():
    """State that could not be read again is refused when it is written; otherwise no run could start any more."""
    with DocumentRig() as rig:
        rig.start()
        for part in "ab":
            try:
                rig.ask("PATCH", "/state", {"user": True, "patch": {f"{part}{n}": n for n in range(3000)}})
                check(part == "a", "a map with too many keys is refused")
            except Refused as refused:
                check(part == "b" and "4096" in str(refused), "the error names the limit", refused)
        check(len(rig.ask("GET", "/state?user=true")["value"]) == 3000, "the refused change is not stored")
        rig.add({"id": "runs", "expression": "@yearly", "action": {"type": "command", "command": "true"}})
        rig.run_cli("run", "runs", "--wait")


def check_condition_errors():
    """The detail of a run has the error of its condition only until the condition is evaluated without an error."""
    with DocumentRig() as rig:
        rig.start()
        rig.add({"id": "late", "expression": in_seconds(), "condition": "user.x == 1", "window": "10m",
                 "action": {"type": "command", "command": "exit 3"}})
        one_run(rig, "late", lambda r: r["state"] == "waiting")
        number = rig.runs("late")[0]["id"]
        check(wait_until(20, lambda: rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "an error is the detail", rig.run_cli("show", number))
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": 2}})
        check(wait_until(20, lambda: not rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "a false condition removes the error",
              rig.run_cli("show", number))
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": None}})
        check(wait_until(20, lambda: rig.ask("GET", f"/runs/{number}")["detail"], 0.1), "a new error is the detail")
        rig.ask("PATCH", "/state", {"user": True, "patch": {"x": 1}})
        run = one_run(rig, "late", lambda r: r["outcome"])
        check(run.get("outcome") == "failed" and not rig.ask("GET", f"/runs/{number}")["detail"], "a run that failed for another reason has no detail",
              rig.run_cli("show", number))


# --- templates ---------------------------------------------------------------------------------------------------

EVIL = "a'b\"c\n$(touch PWNED) `touch PWNED` ; touch PWNED {{ date }} %s \\"


def check_templates():
    with DocumentRig() as rig:
        rig.start()
        out = os.path.join(rig.dir, "out")
        rig.ask("PATCH", "/state", {"user": True, "patch": {"evil": EVIL, "name": "N"}})
        script = rig.file("print.py", f"import sys,os,json; json.dump([sys.argv[1:], os.environ['EVIL'], sys.stdin.read(),"
                  f" json.load(open(os.environ['ROTA_CONTEXT']))], open('{out}', 'w'))")
        rig.add({"id": "data", "expression": "@yearly", "timezone": "Asia/Tokyo", "variables": {"v": "<{{ user.name }}>", "n": [1]},
                 "action": {"type": "command", "cwd": rig.dir, "stdin": "{{ user.evil }}", "env": {"EVIL": "{{ user.evil }}"},
                            "command": [sys.executable, script, "{{ user.evil }}", "{{ variables.v }}", "{{ user }}",
                                        "{{ schedule.id }}: {{ run.attempt }}", "{{ variables.n }}", '{{ "{{" }}']}})
        rig.run_cli("run", "data", "--wait")
        with open(out) as f:
            argv, env, stdin, context = json.load(f)
        check(argv == [EVIL, "<N>", "N", "data: 1", "[1]", "{{"], "values in arguments are not changed", argv)
        check(env == EVIL and stdin == EVIL, "values in env and stdin are not changed", (env, stdin))
        check(context["user"]["evil"] == EVIL and context["variables"] == {"v": "<N>", "n": [1]}, "the context has user and variables", context)
        check(context["timestamp"].endswith("+09:00") and context["timestamp"].startswith(context["date"]), "times are in the schedule's zone", context)
        line = f"printf '%s' '{{{{ user.evil }}}}' > {out}; cat >> {out}"
        output = rig.ask("POST", "/schedules", {"document": {"id": "line", "expression": "@yearly", "action": {
            "type": "command", "cwd": rig.dir, "command": line}}})
        check("{{ user.evil }}" in json.dumps(output.get("warnings", "")), "a template in a command line causes a warning", output)
        rig.run_cli("run", "line", "--wait")
        with open(out) as f:
            check(f.read() == "{{ user.evil }}", "a template in a command line is not expanded")
        check(not os.path.exists(os.path.join(rig.dir, "PWNED")), "no value was executed")
        rig.add({"id": "lacks", "expression": "@yearly", "action": {"type": "command", "command": ["echo", "{{ user.nothing }}"]}})
        check("failed/template" in rig.run_cli("run", "lacks", "--wait", ok=False), "a missing field fails the run")
        run = rig.runs("lacks")[0]["id"]
        check("nothing" in rig.run_cli("show", run), "show names the missing field", rig.run_cli("show", run))


# --- files -------------------------------------------------------------------------------------------------------

def check_files():
    with DocumentRig() as rig:
        rig.start()
        a = rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        b = rig.file("b.yaml", event("b1"))
        check("3 added" in rig.run_cli("apply", "-f", rig.ops), "schedules of a directory are added")
        check("0 added, 0 changed, 3 unchanged" in rig.run_cli("apply", "-f", rig.ops), "apply again changes nothing")
        check(f"{a}, line 3" in rig.run_cli("show", "a2"), "show prints file and line", rig.run_cli("show", "a2"))
        rev = rig.schedules()["a2"]["rev"]
        rig.file("a.yaml", f"# more\nschedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.run_cli("apply", "-f", a)
        check(f"{a}, line 4" in rig.run_cli("show", "a2"), "the line is updated")
        check(rig.schedules()["a2"]["rev"] == rev, "a new line number is not a new rev")
        for words in (("edit", "a2", "--when", "@hourly"), ("rm", "a2"), ("add", "@hourly", "--id", "a2", "--update", "--", "true")):
            check(a in rig.run_cli(*words, ok=False), f"{words[0]} is refused and names the file")
        other = os.path.join(rig.dir, "other.yaml")
        with open(other, "w") as f:
            f.write(event("a1"))
        output = rig.run_cli("apply", "-f", other, ok=False)
        check(a in output and other in output, "the same id in two files: both are named", output)
        rig.file("c.yaml", event("b1"))
        output = rig.run_cli("apply", "-f", rig.ops, ok=False)
        check("b.yaml" in output and "c.yaml" in output, "the same id twice in a directory: both files are named", output)
        os.unlink(b)
        check("0 added, 0 changed, 3 unchanged" in rig.run_cli("apply", "-f", rig.ops), "a schedule that moves to another file is unchanged")
        check("c.yaml, line 1" in rig.run_cli("show", "b1"), "show prints the new file")
        rig.add(json.loads(event("mine")))
        rig.file("a.yaml", event("a1"))
        check("1 removed; nothing was applied" in rig.run_cli("apply", "-f", rig.ops, "--prune", "--dry-run"), "dry run prints what would be removed")
        check(set(rig.schedules()) == {"a1", "a2", "b1", "mine"}, "a dry run removes nothing")
        check("- a2: removed" in rig.run_cli("apply", "-f", rig.ops, "--prune"), "--prune removes the schedule")
        check(set(rig.schedules()) == {"a1", "b1", "mine"}, "--prune removes nothing else", set(rig.schedules()))
        os.unlink(a)
        rig.run_cli("rm", "a1")
        empty = os.path.join(rig.dir, "empty")
        os.mkdir(empty)
        with open(os.path.join(empty, "only.yaml"), "w") as f:
            f.write(event("only"))
        rig.run_cli("apply", "-f", empty)
        os.unlink(os.path.join(empty, "only.yaml"))
        check("no documents" in rig.run_cli("apply", "-f", empty, ok=False), "an empty directory is an error")
        check("- only: removed" in rig.run_cli("apply", "-f", empty, "--prune"), "an empty directory with --prune removes its schedules")
        os.unlink(os.path.join(rig.ops, "c.yaml"))
        rig.run_cli("edit", "b1", "--when", "@hourly")
        check("from:" not in rig.run_cli("show", "b1"), "a schedule whose file is removed can be edited by hand")


def check_subdirectories():
    """Pruning a directory does not affect its subdirectories, because apply does not read them."""
    with DocumentRig() as rig:
        rig.start()
        inner = os.path.join(rig.ops, "inner")
        os.mkdir(inner)
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.file("inner/b.yaml", event("b1"))
        rig.run_cli("apply", "-f", rig.ops)
        rig.run_cli("apply", "-f", inner)
        rig.file("a.yaml", event("a1"))
        rig.run_cli("apply", "-f", rig.ops, "--prune")
        check(set(rig.schedules()) == {"a1", "b1"}, "--prune removes only schedules of its own files", set(rig.schedules()))
        os.symlink("nowhere", os.path.join(rig.ops, "b.yaml"))
        output = rig.run_cli("apply", "-f", rig.ops, ok=False)
        check("b.yaml" in output and "a.yaml" not in output, "only the file that cannot be read is named", output)
        for wrong in ({"dry_run": "yes"}, {"places": 1}, {"prune": "/"}):
            try:
                rig.ask("POST", "/apply", {"documents": [json.loads(event("wrong"))], **wrong})
                check(False, f"{wrong} is refused")
            except Refused as refused:
                check(refused.status == 400 and next(iter(wrong)) in str(refused), f"{wrong} is refused", refused)
        check(set(rig.schedules()) == {"a1", "b1"}, "a refused request changes nothing", set(rig.schedules()))


def check_followers():
    """If a leader is removed and added again, its follower follows the new one."""
    with DocumentRig() as rig:
        rig.start()
        rig.file("lead.yaml", event("lead"))
        rig.file("tail.yaml", json.dumps({"id": "tail", "after": {"schedule": "lead", "outcome": "done"},
                                          "action": {"type": "event", "name": "y"}}))
        rig.run_cli("apply", "-f", rig.ops)
        os.unlink(os.path.join(rig.ops, "lead.yaml"))
        rig.run_cli("rm", "lead")
        rig.file("lead.yaml", event("lead"))
        output = rig.run_cli("apply", "-f", rig.ops)
        check("1 added, 1 changed" in output, "the follower is reported as changed", output)
        check("2 unchanged" in rig.run_cli("apply", "-f", rig.ops), "the follower is changed only once")
        rig.run_cli("run", "lead", "--wait")
        check(one_run(rig, "tail", lambda r: r["outcome"] == "done").get("outcome") == "done", "the follower runs after the new schedule")


# --- a directory -------------------------------------------------------------------------------------------------

def check_directory():
    with DocumentRig() as rig:
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n  - {event('a2')}\n")
        rig.file("notes.txt", "not a document")
        rig.start(options=(rig.ops,))

        def has_schedules(what, *ids):
            check(wait_until(60, lambda: set(rig.schedules()) == set(ids), 0.05), what, set(rig.schedules()))

        def has_problems(n, *words):
            check(wait_until(60, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has_schedules("at the start", "a1", "a2")
        rig.file("b.json", event("b1"))
        has_schedules("a new file", "a1", "a2", "b1")
        rig.file("b.json", event("b1", "@dily"))
        has_problems(1, "b.json", "'@dily'", "column 29")
        has_schedules("the last good version stays", "a1", "a2", "b1")
        rig.file("a.yaml", f"schedules:\n  - {event('a1')}\n")
        has_schedules("an error in one file does not affect another", "a1", "b1")
        rig.file("b.json", event("b1", "@hourly"))
        has_problems(0)
        check(":00:00" in rig.schedules()["b1"]["next"], "the corrected file is in force")
        rev = rig.schedules()["a1"]["rev"]
        os.rename(os.path.join(rig.ops, "a.yaml"), os.path.join(rig.ops, "z.yaml"))
        check(wait_until(60, lambda: "z.yaml" in rig.run_cli("show", "a1"), 0.05), "a renamed file is the new source")
        check(rig.schedules()["a1"]["rev"] == rev, "a renamed file is not a new rev")
        with open(os.path.join(rig.ops, "z.yaml"), "w") as f:
            f.write("schedules:\n")
            f.flush()
            time.sleep(1)
            has_schedules("an unfinished file changes nothing", "a1", "b1")
            f.write(f"  - {event('a1')}\n  - {event('a3')}\n")
        has_schedules("a finished file is applied", "a1", "a3", "b1")
        rig.file("twice.yaml", event("b1"))
        has_problems(1, "b.json", "twice.yaml")
        os.unlink(os.path.join(rig.ops, "b.json"))
        has_problems(0)
        check(wait_until(60, lambda: "twice.yaml" in rig.run_cli("show", "b1"), 0.05), "the second file is applied when the first is removed")
        os.rename(rig.ops, rig.ops + "-away")
        has_problems(1, "directory")
        has_schedules("a directory that is gone removes nothing", "a1", "a3", "b1")
        os.rename(rig.ops + "-away", rig.ops)
        has_problems(0)
        os.unlink(os.path.join(rig.ops, "z.yaml"))
        has_schedules("a removed file", "b1")
        rig.file("z.yaml", event("a1"))
        has_schedules("a restored file", "a1", "b1")
        rig.kill()
        os.unlink(os.path.join(rig.ops, "twice.yaml"))
        rig.start(options=(rig.ops,))
        has_schedules("a file that was removed while the daemon was down", "a1")


def check_unusual_files():
    """Files that are written slowly, replaced by a directory, or links."""
    with DocumentRig() as rig:
        rig.file("a.yaml", event("a1"))
        rig.start(options=(rig.ops,))
        path = os.path.join(rig.ops, "a.yaml")

        def has_schedules(what, *ids):
            check(wait_until(20, lambda: set(rig.schedules()) == set(ids), 0.05), what, set(rig.schedules()))

        def has_problems(n, *words):
            check(wait_until(20, lambda: len(rig.problems()) == n and all(w in " ".join(rig.problems()) for w in words), 0.05),
                  f"problems: {words}", rig.problems())
        has_schedules("at the start", "a1")
        with open(os.path.join(rig.ops, "new.yaml"), "w") as f:
            f.write(f"schedules:\n  - {event('n1')}\n")
            f.flush()
            time.sleep(1.5)
            has_schedules("an unfinished new file adds nothing", "a1")
            f.write(f"  - {event('n2')}\n")
        has_schedules("a finished new file is applied", "a1", "n1", "n2")
        os.unlink(path)
        os.mkdir(path)
        has_schedules("a directory that replaces a file", "n1", "n2")
        os.rmdir(path)
        away = os.path.join(rig.dir, "away.yaml")
        with open(away, "w") as f:
            f.write(event("l1"))
        os.symlink(away, path)
        has_schedules("a symbolic link", "l1", "n1", "n2")
        with open(away, "w") as f:
            f.write(f"schedules:\n  - {event('l1')}\n  - {event('l2')}\n")
        has_schedules("a change of the link's target", "l1", "l2", "n1", "n2")
        os.rename(away, away + "~")
        has_problems(1, "a.yaml")
        has_schedules("a link without a target removes nothing", "l1", "l2", "n1", "n2")
        os.rename(away + "~", away)
        has_problems(0)
        os.unlink(path)
        has_schedules("the link was removed", "n1", "n2")
        # The problem of a file is closed if the file was removed while the daemon was down.
        rig.file("bad.yaml", "id: ?")
        has_problems(1, "bad.yaml")
        rig.kill()
        os.unlink(os.path.join(rig.ops, "bad.yaml"))
        rig.start(options=(rig.ops,))
        has_problems(0)
        has_schedules("the other schedules stay", "n1", "n2")


def check_missed_after_edit():
    """At the start the directory is applied before missed runs are decided. The time is half an hour ahead when the daemon is
    killed, and just over when it is started again, because its clock is set ahead: it does not matter how fast the machine
    is."""
    lead = 1800
    with DocumentRig() as rig:
        clock, due = Clock(rig, MACHINE), time.time() + lead

        def document(id, when, word):
            return json.dumps({"id": id, "expression": when,
                               "action": {"type": "command", "command": f"echo {word} >>{rig.dir}/marks"}})
        when = in_seconds(lead)
        rig.file("a.yaml", f"schedules:\n  - {document('when', when, 'old-when')}\n  - {document('action', when, 'old-action')}\n"
                           f"  - {document('stays', when, 'stays')}\n  - {document('goes', when, 'goes')}\n")
        rig.start(options=(rig.ops,))
        check(wait_until(60, lambda: len(rig.schedules()) == 4, 0.05), "the schedules exist")
        rig.kill()
        check(time.time() < due, "the daemon is killed before the time")
        clock.set_ahead(due + 3 - time.time())
        rig.file("a.yaml", f"schedules:\n  - {document('when', '@yearly', 'new-when')}\n"
                           f"  - {document('action', when, 'new-action')}\n  - {document('stays', when, 'stays')}\n")
        rig.start(options=(rig.ops,))
        wait_until(60, lambda: len([r for r in rig.runs() if r["outcome"] or r["reason"]]) >= 2, 0.05)
        time.sleep(1)
        with open(os.path.join(rig.dir, "marks")) as f:
            done = sorted(f.read().split())
        check(done == ["new-action", "stays"], "missed runs execute the new documents", done)
        why = rig.run_cli("why", "when", when)
        check("edited" in why, "a time of the old expression is missed/edited", why)


PARTS = (check_conditions, check_state, check_state_limits, check_condition_errors, check_templates, check_files,
         check_subdirectories, check_followers, check_directory, check_unusual_files, check_missed_after_edit)


def main():
    def run_part(part):
        try:
            part()
        except Exception:  # any exception is a failure of this part
            check(False, part.__name__, traceback.format_exc())
    wanted = [p for p in PARTS if not sys.argv[3:] or p.__name__ in sys.argv[3:]]
    threads = [threading.Thread(target=run_part, args=(p,)) for p in wanted]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.exit(finish())


main()
