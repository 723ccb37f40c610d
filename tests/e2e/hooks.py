#!/usr/bin/env python3
"""Hooks with real programs: they cancel by exit code, by JSON, by crash, by hang and by a missing program; what they print
is bounded and shown; they delay no other schedule; a cancelled run waits for its next occurrence; changes of schedules that runs make.

usage: hooks.py ROTA [PART...]"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

WAIT = 60


class Hooks(Rig):
    """A daemon with a configuration file, and schedules by document."""

    def __init__(self, config=None):
        super().__init__(sys.argv[1], env={"XDG_CONFIG_HOME": "/nonexistent"})
        if config:
            self.options += ["--config", self.file("rota.yaml", json.dumps(config))]

    def file(self, name, text, mode=0o600):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def text(self, name):
        try:
            with open(os.path.join(self.dir, name), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def apply(self, **document):
        path = self.file(document["id"] + ".json", json.dumps(document))
        r = self.cli("apply", "-f", path)
        check(r.returncode == 0, f"{document['id']} is accepted", r.stderr)
        os.unlink(path)  # the schedule can be removed by `rota rm` then

    def hooked(self, name, hook, expression="@every 1s", **more):
        """A schedule whose runs append a line to the file `name`.ran."""
        self.apply(id=name, expression=expression, hooks={"before:schedule:trigger": hook},
                   action={"type": "command", "command": f"echo x >> {self.dir}/{name}.ran"}, **more)

    def runs(self, name):
        r = self.cli("runs", name, "--json", "--limit", "200")
        return json.loads(r.stdout)["runs"] if r.returncode == 0 else []

    def skipped(self, name):
        return [r for r in self.runs(name) if r["state"] == "skipped" and r["reason"] != "overlap"]

    def detail(self, run):
        return json.loads(self.cli("show", run["id"], "--json").stdout)["detail"]

    def problems(self):
        return json.loads(self.cli("ls", "problems", "--json").stdout)["problems"]


def expect_cancelled(rig, name, words, problem):
    """Its first occurrence is skipped/hook with these words; there is a problem about the hook exactly if `problem`."""
    run = wait_until(WAIT, lambda: rig.skipped(name))
    if not check(bool(run), f"{name} is skipped", str(rig.runs(name))):
        return
    run = run[-1]
    check(run["reason"] == "hook", f"{name}: the reason is hook", str(run))
    check(words in (rig.detail(run) or ""), f"{name}: the record has the hook's words", str(rig.detail(run)))
    why = rig.cli("why", name, run["nominal"])
    check("a hook refused it" in why.stdout and words in why.stdout, f"{name}: why shows the hook's words", why.stdout + why.stderr)
    found = wait_until(WAIT if problem else 0, lambda: [p for p in rig.problems() if p["subject"] == name])
    check(bool(found) == problem, f"{name}: a problem: {problem}", str(found))
    if problem:
        check(words in found[0]["text"], f"{name}: the problem has the words", str(found))
    check(not rig.text(name + ".ran"), f"{name} has not run")


def cancels():
    """Every way in which a hook cancels, and the two ways in which a run goes on in spite of its hook."""
    with Hooks() as rig:
        rig.start()
        rig.hooked("by_code", {"command": "echo maintenance until 6 >&2; exit 3"})
        rig.hooked("by_json", {"command": ["printf", "%s", json.dumps({"cancel": True, "reason": "frozen for release"})]})
        rig.hooked("by_crash", {"command": "kill -SEGV $$"})
        rig.hooked("by_hang", {"command": "sleep 1000", "timeout": 1})
        rig.hooked("missing", {"command": ["/nonexistent/program"]})
        rig.hooked("not_found", {"command": "nonexistent-program --now"})
        rig.hooked("loud", {"command": "head -c 100000000 /dev/zero | tr '\\0' y; echo too loud >&2; exit 1", "timeout": 60})
        rig.hooked("proceeds", {"command": "sleep 1000", "timeout": 1, "on_error": "proceed"})
        rig.hooked("agrees", {"command": "head -c 5000000 /dev/zero | tr '\\0' y"})
        expect_cancelled(rig, "by_code", "maintenance until 6", False)
        expect_cancelled(rig, "by_json", "frozen for release", False)
        expect_cancelled(rig, "by_crash", "signal 11 killed it", True)
        expect_cancelled(rig, "by_hang", "took longer than its timeout", True)
        expect_cancelled(rig, "missing", "its program cannot be executed", True)
        expect_cancelled(rig, "not_found", "its program was not found", True)
        expect_cancelled(rig, "loud", "too loud", False)
        run = rig.skipped("loud")[-1]
        log = json.loads(rig.cli("show", run["id"], "--json").stdout)["hooks"][0]["log"]
        check(log["bytes"] < 1_000_000 and log["left_out"] > 90_000_000, "the log of a loud hook is bounded", str(log))
        check("too loud" in rig.cli("logs", run["id"]).stdout, "`rota logs` shows the output of the hook")
        check(bool(wait_until(WAIT, lambda: rig.text("proceeds.ran"))), "on_error: proceed lets the run go on")
        check(bool(wait_until(WAIT, lambda: [p for p in rig.problems() if p["subject"] == "proceeds"])),
              "the failure of its hook is a problem all the same")
        check(bool(wait_until(WAIT, lambda: rig.text("agrees.ran"))), "a hook that ends with 0 lets the run go on")
        for name in ("by_code", "by_hang"):
            found = json.loads(rig.cli("show", name, "--json").stdout)
            check(found["state"] == "active", f"{name} stays active", str(found))
        # The hook works again: the problem closes by itself.
        rig.cli("apply", "-f", rig.file("not_found.json", json.dumps({
            "id": "not_found", "expression": "@every 1s", "hooks": {"before:schedule:trigger": {"command": "true"}},
            "action": {"type": "command", "command": "true"}})))
        check(wait_until(WAIT, lambda: not [p for p in rig.problems() if p["subject"] == "not_found"]),
              "the problem of a hook closes when the hook answers", str(rig.problems()))


def once():
    """A cancelled run is not tried again before its next occurrence: neither by retries nor within its window. `rota run` asks
    no hook."""
    with Hooks() as rig:
        rig.start()
        rig.hooked("late", {"command": f"echo x >> {rig.dir}/asked; echo closed >&2; exit 1"}, expression="@every 4s",
                   window="3s", retry={"retries": 5, "initial_delay": 1})
        check(bool(wait_until(WAIT, lambda: len(rig.skipped("late")) >= 2)), "two occurrences are skipped", str(rig.runs("late")))
        runs, asked = rig.skipped("late"), len(rig.text("asked").splitlines())
        check(len({r["nominal"] for r in runs}) == len(runs), "each occurrence has one record", str(runs))
        check(len(runs) <= asked <= len(rig.runs("late")) + 1, "the hook is asked once per occurrence", f"{asked} of {len(runs)}")
        check(all(r["attempt"] == 0 for r in runs), "no attempt was made", str(runs))
        r = rig.cli("run", "late", "--wait")
        check(r.returncode == 0 and rig.text("late.ran"), "a person's run ignores the hook", r.stdout + r.stderr)


def told():
    """What a hook is told, in which order hooks are asked, and that their requests are refused."""
    script = ("#!/bin/sh\ncat > told-$1.json; env > env-$1\nfor what in 'run other' \"show r$ROTA_RUN_ID\"; do\n"
              "$ROTA $what >> request-$1 2>&1; echo $? >> request-$1\ndone\n")
    with Hooks() as rig:
        rig.env["ROTA"] = rig.rota
        rig.options += ["--config", rig.file("rota.yaml", json.dumps({
            "pass_env": ["ROTA", "XDG_*"],
            "hooks": {"before:schedule:trigger": {"command": f"ROTA={rig.rota} ROTA_SOCKET={rig.socket} sh check.sh config"}}}))]
        rig.file("check.sh", script, 0o700)
        rig.start()
        rig.apply(id="other", expression="0 0 1 1 *", action={"type": "command", "command": f"touch {rig.dir}/wrong"})
        rig.apply(id="told", name="The told", tags=["a"], expression="@every 1s", max_runs=1, timezone="Asia/Tokyo",
                  hooks={"before:schedule:trigger": {"command": [
                      "sh", "-c", f"cd {rig.dir} && ROTA={rig.rota} exec sh check.sh schedule"]}},
                  action={"type": "command", "command": "true"})
        run = wait_until(WAIT, lambda: [r for r in rig.runs("told") if r["outcome"] == "done"])
        check(bool(run), "the run goes on", str(rig.runs("told")))
        for of in ("config", "schedule"):
            said = json.loads(rig.text(f"told-{of}.json") or "{}")
            check(said.get("hook") == "before:schedule:trigger" and said.get("mission", 1) is None, f"{of}: the hook", str(said))
            check(said.get("schedule", {}).get("id") == "told" and said["schedule"]["tags"] == ["a"], f"{of}: the schedule", str(said))
            check(said.get("nominal", "").endswith("+09:00") and said.get("run", {}).get("id", 0) > 0, f"{of}: the time", str(said))
            check("ROTA_TOKEN" not in rig.text(f"env-{of}") and "ROTA_RUN_ID=" in rig.text(f"env-{of}"), f"{of}: no token")
            said = rig.text(f"request-{of}")
            check(said.splitlines()[1::2] == ["77", "77"] and "not permitted within a run" in said and
                  "a hook may not send requests" in said, f"{of}: a hook is neither a person nor a run", said)
        check(not os.path.exists(os.path.join(rig.dir, "wrong")), "a hook has started no run")
        shown = json.loads(rig.cli("show", run[-1]["id"], "--json").stdout)
        check([h["of"] for h in shown["hooks"]] == ["config", "schedule"], "show has the hooks in their order", str(shown["hooks"]))
        check("hook" in rig.cli("show", run[-1]["id"]).stdout, "people see them, too")


def order():
    """The hook of the configuration is asked first; if it cancels, the hook of the schedule is not asked."""
    with Hooks({"hooks": {"before:schedule:trigger": {"command": "grep -q '\"id\":\"b' && echo not b >&2 && exit 1; exit 0"}}}) as rig:
        rig.start()
        rig.hooked("a", {"command": "echo not a >&2; exit 1"})
        rig.hooked("b", {"command": f"touch {rig.dir}/asked; exit 1"})
        rig.apply(id="c", expression="@every 1s", action={"type": "event", "name": "tick"})
        for name, words in (("a", "the hook of the schedule: not a"), ("b", "the hook of the configuration: not b")):
            run = wait_until(WAIT, lambda n=name: rig.skipped(n))
            check(bool(run) and rig.detail(run[-1]) == words, f"{name}: the words say whose hook it was",
                  str(run and rig.detail(run[-1])))
        check(not os.path.exists(os.path.join(rig.dir, "asked")), "the first cancel decides")
        check(bool(wait_until(WAIT, lambda: [r for r in rig.runs("c") if r["outcome"] == "done"])), "others run")


def hang():
    """Hooks that hang delay neither checks nor runs nor other hooks."""
    with Hooks() as rig:
        rig.start()
        for i in range(20):
            rig.hooked(f"hung{i}", {"command": f"echo x >> {rig.dir}/hanging; sleep 1000", "timeout": "1h"})
        rig.hooked("overlapping", {"command": f"echo x >> {rig.dir}/overlapping; sleep 1000", "timeout": "1h"}, overlap="allow")
        check(wait_until(WAIT, lambda: len(rig.text("hanging").splitlines()) == 20), "twenty hooks hang")
        check(wait_until(WAIT, lambda: len(rig.runs("overlapping")) >= 3), "several runs of a schedule wait for its hook")
        check(len(rig.text("overlapping").splitlines()) == 1, "only one of its hooks runs")
        rig.apply(id="checked", expression="@every 1s", check="exit 0", action={"type": "command", "command": "true"})
        rig.hooked("quick", {"command": "true"})
        rig.apply(id="plain", expression="@every 1s", action={"type": "command", "command": "true"})
        for name in ("checked", "quick", "plain"):
            check(bool(wait_until(WAIT, lambda n=name: [r for r in rig.runs(n) if r["outcome"] == "done"])), f"{name} runs",
                  str(rig.runs(name)))
        # A daemon that is killed adopts them, and asks no second time.
        rig.kill()
        rig.start()
        time.sleep(1)
        check(len(rig.text("hanging").splitlines()) == 20, "hooks that hang are adopted")
        run = [r["id"] for r in rig.runs("hung0") if r["state"] == "waiting"][0]
        r = rig.cli("rm", "hung0", "--kill")
        check(r.returncode == 0, "a schedule whose hook hangs can be removed", r.stderr)
        check(wait_until(WAIT, lambda: rig.ask("GET", f"/runs/{run}")["state"] == "finished"), "its run ends",
              str(rig.ask("GET", f"/runs/{run}")))
        for i in range(1, 20):
            rig.cli("rm", f"hung{i}", "--kill")
        rig.cli("rm", "overlapping", "--kill")


def create():
    """before:schedule:create is asked when a run adds or changes a schedule, and not when a person does."""
    hook = ("#!/bin/sh\ncat > said.json\ngrep -q '\"change\":\"update\"' said.json && exit 0\n"
            "grep -q '\"id\":\"good' said.json && exit 0\necho not on fridays >&2\nexit 1\n")
    with Hooks({"hooks": {"before:schedule:create": {"command": ["sh", "create.sh"], "timeout": 10}}}) as rig:
        rig.file("create.sh", hook, 0o700)
        rig.start()
        r = rig.cli("add", "0 0 1 1 *", "--id", "mine", "--", "true")
        check(r.returncode == 0 and not rig.text("said.json"), "a person's change asks no hook", r.stderr)
        add = f"{rig.rota} add '0 0 1 1 *' --id %s -- true >{rig.dir}/%s.said 2>&1; echo $? >>{rig.dir}/%s.said"
        for name in ("good1", "bad1"):
            rig.apply(id="maker_" + name, expression="0 0 1 1 *", grants={"schedules": 5},
                      action={"type": "command", "command": add % (name, name, name)})
            rig.cli("run", "maker_" + name, "--wait")
        check(rig.text("good1.said").split()[-1:] == ["0"], "an allowed change is made", rig.text("good1.said"))
        said = json.loads(rig.text("said.json") or "{}")
        check(said.get("hook") == "before:schedule:create" and said.get("change") == "create" and said["schedule"]["id"] == "bad1"
              and said["by"]["schedule"] == "maker_bad1", "what the hook is told", str(said))
        check(rig.text("bad1.said").split()[-1:] == ["77"] and "not on fridays" in rig.text("bad1.said"),
              "a cancelled change is exit 77 with its reason", rig.text("bad1.said"))
        check(rig.cli("show", "good1").returncode == 0 and rig.cli("show", "bad1").returncode == 1, "only the allowed one exists")
        rig.apply(id="maker_good1", expression="0 0 1 1 *", grants={"schedules": 5}, action={
            "type": "command", "command": f"{rig.rota} edit good1 --when '0 0 2 1 *' >{rig.dir}/edit.said 2>&1"})
        rig.cli("run", "maker_good1", "--wait")
        said = json.loads(rig.text("said.json") or "{}")
        check(said.get("change") == "update" and "0 0 2 1 *" in rig.cli("show", "good1").stdout, "a changed schedule is asked about, too",
              rig.text("edit.said") + str(said))


def create_fails():
    """A create hook that hangs or is missing cancels, and is a problem."""
    with Hooks({"hooks": {"before:schedule:create": {"command": "sleep 1000", "timeout": 1}}}) as rig:
        rig.start()
        rig.apply(id="maker", expression="0 0 1 1 *", grants={"schedules": 5}, action={
            "type": "command", "command": f"{rig.rota} add '0 0 1 1 *' --id made -- true >{rig.dir}/said 2>&1; echo $? >>{rig.dir}/said"})
        r = rig.cli("run", "maker", "--wait")
        check(rig.text("said").split()[-1:] == ["77"] and "took longer than its timeout" in rig.text("said"), "it cancels",
              rig.text("said") + r.stderr)
        found = wait_until(WAIT, lambda: [p for p in rig.problems() if "hooks of the configuration" in p["subject"]])
        check(bool(found), "it is a problem", str(rig.problems()))


PARTS = [cancels, once, told, order, hang, create, create_fails]
if __name__ == "__main__":
    sys.exit(run_parts(PARTS, sys.argv[2:], 2))
