#!/usr/bin/env python3
"""Plans and the daemon: `check: agenda`, `:CLAIM: auto`, workflows as actions.

usage: plans.py ROTA"""
import json
import os
import shutil
import signal
import subprocess
import sys

from fixture import ENV, FAR, file_text, path_of, rota, rota_json, run_parts, start, stop, until, write
from checks import check

ENV["GIT_CONFIG_GLOBAL"] = "/dev/null"
AGENT = 'cat > %s; cp "$ROTA_CONTEXT" %s; echo finished'


def outcome(name):
    """Runs a schedule by hand; its outcome/reason."""
    r = rota("run", name, "--wait", "--json")
    run = json.loads(r.stdout) if r.stdout.startswith("{") else {}
    return "/".join(x for x in (run.get("outcome"), run.get("reason")) if x) or r.stderr


def apply(name, document):
    r = rota("apply", "-f", write(f"{name}.json", json.dumps(document)))
    check(r.returncode == 0 and r.stderr == "", f"{name} is accepted", r)


def check_agenda():
    plan = write("agenda/plan.org", "* DONE a\n* TODO b\nSCHEDULED: <2999-01-01 Tue>\n")
    apply("agenda", {"id": "agenda", "expression": FAR, "check": f"agenda {plan}", "action": {"type": "command", "command": "true"}})
    check(outcome("agenda") == "no_work", "nothing is due or ready: no_work", rota("runs", "agenda"))
    write("agenda/plan.org", "* TODO c\n")
    check(outcome("agenda") == "done", "something is ready: the run is done", rota("runs", "agenda"))
    write("agenda/plan.org", "* TODO d\nSCHEDULED: <2020-01-01 Wed>\n:PROPERTIES:\n:DEPENDS: nothing\n:END:\n")
    check(outcome("agenda") == "done", "something is due", rota("runs", "agenda"))
    os.remove(plan)
    check(outcome("agenda") == "failed/check", "a plan that is missing is failed/check", rota("runs", "agenda"))
    write("agenda/plan.org", "* \n" * (1 << 20) + "* TODO too many\n")
    check(outcome("agenda") == "failed/check", "a plan that cannot be read is failed/check", rota("runs", "agenda"))
    os.remove(plan)
    os.mkdir(plan)
    check(outcome("agenda") == "failed/check", "a directory is failed/check", rota("runs", "agenda"))


def make_repository(name, plan):
    """A clone of an origin with a plan."""
    os.makedirs(path_of(name))
    write(f"{name}/work/plan.org", plan)
    git = lambda where, *argv: subprocess.run(["git", "-C", where, *argv], check=True, env=ENV, stdout=subprocess.PIPE,
                                              stderr=subprocess.DEVNULL, text=True).stdout
    work, origin = path_of(name, "work"), path_of(name, "origin.git")
    git(path_of(name), "init", "-q", "-b", "main", work)
    git(work, "add", ".")
    git(work, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
    git(path_of(name), "clone", "-q", "--bare", work, origin)
    git(work, "remote", "add", "origin", origin)
    return work, lambda: git(origin, "show", "main:plan.org"), lambda: git(origin, "log", "--format=%s").split("\n")[:-1]


def define_agent(name, work, more=""):
    command = AGENT % (path_of(f"{name}.input"), path_of(f"{name}.context"))
    path = write(f"{name}.org", f"* {name}\n:PROPERTIES:\n:COMMAND: {command}\n:WORKDIR: {work}\n:PLAN: plan.org\n:CLAIM: auto\n"
                 f"{more}:END:\nYou are {name}.\n")
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and r.stderr == "", f"agent {name} is defined", r)
    apply(f"turn-{name}", {"id": f"turn-{name}", "expression": FAR, "agent": name,
                           "action": {"type": "agent_turn", "message": "Do {{ task.title }}."}})


def check_claims():
    work, shared, log = make_repository("claims", "* DONE zero\n* TODO one :x:\n* TODO two\n:PROPERTIES:\n:ID: t2\n:END:\n")
    define_agent("ann", work)
    define_agent("ben", work)
    check(outcome("turn-ann") == "done", "a turn with a claimed task", rota("show", "turn-ann"))
    context = json.loads(file_text("ann.context") or "{}")
    task = context.get("task") or {}
    check(task.get("title") == "one" and task.get("state") == "DOING" and task.get("props", {}).get("AGENT") == "ann",
          "the first ready task is in the context", task)
    check(file_text("ann.input").endswith("Do one."), "templates can use the task", file_text("ann.input"))
    check(":AGENT:    ann" in shared() and "* DOING one" in shared(), "the claim is at the origin", shared())
    check(outcome("turn-ann") == "done", "the next turn", None)
    check((json.loads(file_text("ann.context")).get("task") or {}).get("title") == "one", "its own task comes first again")
    check(len(log()) == 2 and log()[0] == "plan: claim one for ann", "it was claimed once", log())
    check(outcome("turn-ben") == "done", "another agent", None)
    task = json.loads(file_text("ben.context") or "{}").get("task") or {}
    check(task.get("id") == "t2" and task.get("props", {}).get("AGENT") == "ben", "gets the next task", task)
    for name, title in (("ann", "one"), ("ben", "t2")):
        check(rota("advance", os.path.join(work, "plan.org"), title, "DONE").returncode == 0, f"{title} is done")
    os.remove(path_of("ann.context"))
    subprocess.run(["git", "-C", work, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qam", "y"], check=True, env=ENV)
    subprocess.run(["git", "-C", work, "push", "-q", "origin", "HEAD:main"], check=True, env=ENV)
    check(outcome("turn-ann") == "no_work" and not file_text("ann.context"), "nothing is ready: no_work, and no model call",
          rota("runs", "turn-ann"))
    # A check of the agent itself comes first.
    define_agent("cai", work, ":CHECK: exit 1\n")
    check(outcome("turn-cai") == "no_work", "the check says that there is no work", rota("runs", "turn-cai"))
    define_agent("dov", work, ":CHECK: exit 3\n")
    check(outcome("turn-dov") == "failed/check", "the check fails", rota("runs", "turn-dov"))
    os.rename(path_of("claims", "origin.git"), path_of("claims", "gone.git"))
    check(outcome("turn-ben") == "failed/check", "an origin that cannot be reached is failed/check", rota("runs", "turn-ben"))


# git that writes the process that called it into a file, and waits, before and after it pushes.
GATED_GIT = """#!/bin/sh
wait_at() {
	echo $PPID > "$GATES/$1.reached.new" && mv "$GATES/$1.reached.new" "$GATES/$1.reached"
	while [ -e "$GATES/$1.closed" ]; do sleep 0.05; done
}
for word; do [ "$word" = push ] && pushes=1; done
[ "$pushes" ] && wait_at before
%s "$@"
code=$?
[ "$pushes" ] && wait_at after
exit $code
"""


def last_run(schedule):
    """The newest run if it has ended."""
    run = (rota_json("runs", schedule).get("runs") or [{}])[0]
    return run if run.get("outcome") else None


def reach(gate):
    """Closes a gate, starts a turn of eve, and returns the process of the claim that waits at the gate."""
    for name in os.listdir(path_of("gates")):
        os.remove(path_of("gates", name))
    write(f"gates/{gate}.closed", "")
    check(rota("run", "turn-eve").returncode == 0, f"a turn, up to the gate {gate}")
    return int(until(f"the claim reaches the gate {gate}", lambda: file_text("gates", f"{gate}.reached")) or 0)


def check_killed_claims():
    """The daemon is killed while a claim is made, and the claim itself: no task is lost or claimed twice."""
    work, shared, log = make_repository("killed", "* TODO one\n* TODO two\n")
    define_agent("eve", work)
    for gate in ("before", "after"):
        reach(gate)
        stop(signal.SIGKILL)
        os.remove(path_of("gates", f"{gate}.closed"))
        start()
        run = until("the turn ends", lambda: last_run("turn-eve")) or {}
        task = json.loads(file_text("eve.context") or "{}").get("task") or {}
        check(run.get("outcome") == "done" and task.get("title") == "one", f"killed {gate} publishing: the turn has its task", (run, task))
        check(log() == ["plan: claim one for eve", "x"], f"killed {gate} publishing: one claim", log())
        check(rota("release", os.path.join(work, "plan.org"), "one", "--agent", "eve").returncode == 0, "released")
        os.remove(path_of("eve.context"))
        subprocess.run(["git", "-C", work, "push", "-qf", "origin", "HEAD~2:main"], check=True, env=ENV)
        subprocess.run(["git", "-C", work, "reset", "-q", "--hard", "HEAD~2"], check=True, env=ENV)
    for gate, published in (("before", False), ("after", True)):
        pid = reach(gate)
        os.kill(pid, signal.SIGKILL)
        os.remove(path_of("gates", f"{gate}.closed"))
        run = until("the turn ends", lambda: last_run("turn-eve")) or {}
        check((run.get("outcome"), run.get("reason")) == ("failed", "check") and not file_text("eve.context"),
              f"the claim is killed {gate} publishing: failed/check", run)
        check(("* DOING one" in shared()) == published, f"the claim is killed {gate} publishing", shared())
    subprocess.run(["git", "-C", work, "pull", "-q", "--ff-only", "origin", "main"], env=ENV, check=True)
    claimed = rota_json("agenda", os.path.join(work, "plan.org")).get("claimed") or [{}]
    check(claimed[0].get("title") == "one" and claimed[0].get("props", {}).get("AGENT") == "eve", "the agenda shows whose task it is", claimed)
    check(outcome("turn-eve") == "done" and json.loads(file_text("eve.context"))["task"]["title"] == "one",
          "the next turn of the agent takes it up", rota("runs", "turn-eve"))
    check(log() == ["plan: claim one for eve", "x"], "there is one claim", log())


WORKFLOW = """* Numbers :workflow:
** collect :component:
#+begin_src sh :out numbers
echo 1 2 3; echo started >> "$MARKS"; while [ ! -e "$GATE" ]; do sleep 0.1; done
#+end_src
** sum :component:
#+begin_src sh :in numbers :out total
read a b c < "$ROTA_INPUT"; echo $((a + b + c)); cat "$ROTA_INPUT_GIVEN"
#+end_src
* Broken :workflow:
** fail :component:
#+begin_src sh
exit 3
#+end_src
"""


def check_workflows():
    plan = write("flow/plan.org", WORKFLOW.replace(":in numbers :out total", ":in numbers, given :out total"))
    gate, marks = path_of("gate"), path_of("marks")
    apply("flow", {"id": "flow", "expression": FAR, "variables": {"n": "{{ date }}"},
                   "action": {"type": "workflow", "file": plan, "name": "Numbers", "input": {"given": "on {{ date }}\n"}}})
    apply("broken-flow", {"id": "broken-flow", "expression": FAR, "action": {"type": "workflow", "file": plan, "name": "Broken",
                                                                            "input": {"given": 1}}})
    apply("no-flow", {"id": "no-flow", "expression": FAR, "action": {"type": "workflow", "file": plan + ".gone"}})
    check(outcome("broken-flow") == "failed/exit", "a failed component fails the run", rota("runs", "broken-flow"))
    check(outcome("no-flow") == "failed/exit", "a missing plan fails the run", rota("runs", "no-flow"))
    r = rota("run", "flow", "--json")
    check(r.returncode == 0, "the workflow is started", r)
    until("the first component runs", lambda: file_text("marks"))
    stop(signal.SIGKILL)
    write("gate", "")
    start(MARKS=marks, GATE=gate)
    run = until("the workflow ended without the daemon",
                lambda: next((x for x in rota_json("runs", "flow").get("runs", []) if x.get("outcome")), None)) or {}
    check(run.get("outcome") == "done", "it is done", run)
    shown = rota("logs", "flow").stdout
    check('"outcome":"done"' in shown and "6\\non 20" in shown, "its result is its output", shown)
    check(file_text("marks") == "started\n", "no component ran twice", file_text("marks"))


def main():
    git = write("bin/git", GATED_GIT % shutil.which("git"), 0o755)
    os.mkdir(path_of("gates"))
    ENV.update(MARKS=path_of("marks"), GATE=path_of("gate"), GATES=path_of("gates"),
               PATH=f"{os.path.dirname(git)}:{os.environ['PATH']}")
    config = "pass_env: [MARKS, GATE, GATES, GIT_CONFIG_GLOBAL]\n"
    os.makedirs(os.path.join(ENV["XDG_CONFIG_HOME"], "rota"))
    with open(os.path.join(ENV["XDG_CONFIG_HOME"], "rota", "rota.yaml"), "w", encoding="utf-8") as f:
        f.write(config)
    sys.exit(run_parts(check_agenda, check_claims, check_killed_claims, check_workflows))


main()
