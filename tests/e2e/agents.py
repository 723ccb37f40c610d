#!/usr/bin/env python3
"""What surrounds a run, with real daemons: checks before it, expectations after it, and what
it says of itself.

usage: agents.py ROTA"""
import json
import os
import signal
import sys

from fixture import FAR, ROOT, ROTA, path_of, run_parts, rota, start, stop, until  # noqa: E402
from checks import check  # noqa: E402
from rig import is_alive  # noqa: E402


def lines(name):
    try:
        with open(path_of(name), encoding="utf-8") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def touch(name):
    with open(path_of(name), "w", encoding="utf-8"):
        pass


def apply(name, **keys):
    """A schedule that runs by hand only; nothing is said against it."""
    document = {"id": name, "expression": FAR, "action": {"type": "command", "command": "true"}} | keys
    path = path_of(name + ".json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f)
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and r.stderr == "", f"{name} is taken without a warning", r)


def run(name, outcome):
    """By hand, to its end: its record as `show` has it."""
    r = rota("run", name, "--wait")
    check(r.returncode == (0 if outcome in ("done", "no_work") else 1) and outcome in r.stdout, f"{name}: {outcome}", r)
    return last(name)


def last(name):
    r = rota("runs", name, "--json")
    found = json.loads(r.stdout)["runs"] if r.returncode == 0 else []
    return show(found[0]["id"]) if found else {}


def show(number):
    r = rota("show", number, "--json")
    return json.loads(r.stdout) if r.returncode == 0 else {}


# --- checks ------------------------------------------------------------------------------------------------------


def checks():
    work = {"type": "command", "command": f"echo ran >> {path_of('ran')}", "cwd": ROOT, "env": {"WORD": "{{ run.attempt }}"}}
    apply("go", check="echo look; pwd; echo $WORD $ROTA_RUN_ID; test -s \"$ROTA_CONTEXT\"", action=work)
    got = run("go", "done")
    check(len(lines("ran")) == 1, "a check that says yes lets it run, once")
    check(got["check"]["exit_code"] == 0 and got["attempts"][0]["check"]["attempt"] == 1, f"it is shown: {got}")
    with open(got["check"]["log"]["path"], encoding="utf-8") as f:
        check(f.read() == f"look\n{ROOT}\n1 {got['id'][1:]}\n", "it is executed where and as the run is")

    apply("nothing", check=["sh", "-c", "echo nothing to do; exit 1"], action=work)
    got = run("nothing", "no_work")
    check(len(lines("ran")) == 1 and got["log"] is None, "nothing was run")
    check(got["check"]["exit_code"] == 1 and got["outcome"] == "no_work" and "reason" not in got or not got["reason"],
          f"no work, and no failure: {got}")
    r = rota("logs", "nothing")
    check(r.stdout == "nothing to do\n", "what it said can be read", r)
    r = rota("show", got["id"])
    check("check       exit code 1" in r.stdout, "and show says so", r)

    apply("broken", check="exit 7", action=work, retry={"max_attempts": 1, "initial_delay": 1})
    got = run("broken", "failed/check")
    check(len(lines("ran")) == 1 and got["attempt"] == 2, f"a check that fails is tried again, and nothing is run: {got}")
    check([a["check"]["exit_code"] for a in got["attempts"]] == [7, 7], "each attempt has a check of its own")

    apply("missing", check=["/nonexistent/program"], action=work)
    got = run("missing", "failed/check")
    check("program cannot be executed" in rota("logs", "missing").stdout, "a program that is not there says so")

    apply("untold", check=["echo", "{{ variables.x.y }}"], variables={"x": 1}, action=work)
    run("untold", "failed/template")
    check(len(lines("ran")) == 1, "none of them ran")


def check_stopped():
    """A person's stop ends the check as well."""
    apply("held", check=f"echo $$ >> {path_of('held')}; sleep 1000", action={"type": "command", "command": "true"})
    number = json.loads(rota("run", "held", "--json").stdout)["run"]
    pid = until("the check is under way", lambda: lines("held"))[0]
    check(show(number)["check"]["exit_code"] is None, "show tells that it is under way")
    r = rota("stop", number)
    check(r.returncode == 0, "stopped while it is checked", r)
    until("the check ends", lambda: not is_alive(int(pid)))
    check(show(number)["outcome"] == "killed", "the run is recorded as killed")


def check_survives():
    """The daemon is killed while a check is asked: the next one hears its answer, and the run is started once."""
    apply("crash", check=f"echo $$ >> {path_of('asked')}; until test -e {path_of('go')}; do sleep 0.05; done",
          action={"type": "command", "command": f"echo ran >> {path_of('crash-ran')}"})
    number = json.loads(rota("run", "crash", "--json").stdout)["run"]
    until("the check is under way", lambda: lines("asked"))
    stop(signal.SIGKILL)
    start()
    touch("go")
    until("the run ends", lambda: show(number).get("outcome") == "done")
    check(len(lines("crash-ran")) == 1, f"it ran once: {lines('crash-ran')}")
    check(len(lines("asked")) == 1, "the check was found again")


# --- expectations ------------------------------------------------------------------------------------------------


def expectations():
    """Done only if they hold."""
    os.makedirs(path_of("out"))
    here = {"type": "command", "command": "echo said; touch out/made; echo agent > by", "cwd": ROOT}
    apply("kept", action=here, expectations=[
        {"type": "file_exists", "paths": ["out/made", path_of("by")]},
        {"type": "script", "command": "echo looked; test -s by && test $ROTA_ATTEMPT = 1"},
        {"type": "script", "command": ["grep", "-q", "{{ variables.who }}", "by"]}], variables={"who": "agent"})
    got = run("kept", "done")
    check(got["exit_code"] == 0, f"its exit code is its own: {got}")
    r = rota("logs", "kept")
    check(r.stdout == "said\nlooked\n", "what a script says is in the log", r)

    apply("no-file", action=here, expectations=[{"type": "file_exists", "paths": ["out/made", "out/other"]}])
    got = run("no-file", "failed/expectation")
    note = got["attempts"][0]["note"]
    check(note == f"expected: {path_of('out/other')}: No such file or directory", f"it says which: {note}")
    r = rota("show", got["id"])
    check("note        expected: " in r.stdout, "show says so", r)

    apply("no-script", action=here, retry={"max_attempts": 1, "initial_delay": 1}, expectations=[
        {"type": "script", "command": f"echo x >> {path_of('first')}; test -e nothing"},
        {"type": "script", "command": f"echo x >> {path_of('second')}"}])
    got = run("no-script", "failed/expectation")
    check(got["attempt"] == 2 and len(lines("first")) == 2, f"it is tried again like any failure: {got}")
    check(lines("second") == [], "after the first that does not hold none is asked")
    check("script 1 ended with exit code 1" in got["attempts"][1]["note"], f"it says how: {got}")

    apply("no-program", action=here, expectations=[{"type": "script", "command": ["/nonexistent/program"]}])
    got = run("no-program", "failed/expectation")
    check("cannot be executed" in got["attempts"][0]["note"], f"nor one that is not there: {got}")

    asked = [{"type": "script", "command": f"echo x >> {path_of('asked-for-nothing')}; exit 1"}]
    apply("failed", action={"type": "command", "command": "exit 5"}, expectations=asked)
    run("failed", "failed/exit")
    apply("idle", action={"type": "command", "command": "echo NO-WORK"}, expectations=asked)
    run("idle", "no_work")
    check(lines("asked-for-nothing") == [], "nothing is expected of what failed, or did nothing")

    apply("slow", action=here, timeout=3, expectations=[{"type": "script", "command": f"echo $$ >> {path_of('slow')}; sleep 1000"}])
    run("slow", "killed/timeout")
    check(not is_alive(int(lines("slow")[0])), "the attempt's time is its expectations', too")


def expectation_survives():
    """The daemon is killed while a script looks: its verdict is the run's."""
    apply("late", action={"type": "command", "command": f"echo ran >> {path_of('late-ran')}"}, expectations=[
        {"type": "script", "command": f"echo x >> {path_of('late')}; until test -e {path_of('look')}; do sleep 0.05; done; exit 3"}])
    number = json.loads(rota("run", "late", "--json").stdout)["run"]
    until("the script is under way", lambda: lines("late"))
    stop(signal.SIGKILL)
    start()
    touch("look")
    until("the run ends", lambda: show(number).get("outcome"))
    got = show(number)
    check((got["outcome"], got["reason"]) == ("failed", "expectation"), f"failed/expectation: {got}")
    check(len(lines("late-ran")) == 1 and len(lines("late")) == 1, "all of it was executed once")


# --- reports -----------------------------------------------------------------------------------------------------


def reports():
    """What a run says of itself: by the verb, or by lines of its own."""
    apply("told", action={"type": "command", "command":
                          f'"{ROTA}" step "ran the tests" && "{ROTA}" report note "two are red" && "{ROTA}" report step "fixed them"'})
    got = run("told", "done")
    check([(x["report"], x["text"]) for x in got["reports"]] ==
          [("step", "ran the tests"), ("note", "two are red"), ("step", "fixed them")], f"in their order: {got['reports']}")
    check(all(x["at"] for x in got["reports"]), "with their times")
    r = rota("show", got["id"])
    check("step        ran the tests\n" in r.stdout and "note        two are red\n" in r.stdout, "show has them", r)

    apply("gave-up", action={"type": "command", "command": f'"{ROTA}" report fail "no access"; exit 0'},
          retry={"max_attempts": 1, "initial_delay": 1})
    got = run("gave-up", "failed/reported")
    check(got["attempt"] == 2, f"it is tried again like any failure: {got}")
    r = rota("show", got["id"])
    check("fail        no access\n" in r.stdout, "in its own words", r)

    apply("by-hand", action={"type": "command", "command": r"""printf 'nonsense\n{"report":"other"}\n[1]\n{"report":"fail","text":"by hand"}' >> "$ROTA_OUTBOX" """})
    got = run("by-hand", "failed/reported")
    check([x["text"] for x in got["reports"]] == ["by hand"], f"what is no report is passed over: {got['reports']}")

    flood = ("import os\nwith open(os.environ['ROTA_OUTBOX'], 'a') as f:\n"
             " f.writelines('{\"report\":\"step\",\"text\":\"%s\"}\\n' % ('x' * 1000) for _ in range(200))\n")
    apply("flood", action={"type": "command", "command": ["python3", "-c", flood + f"import subprocess, sys\n"
                           f"code = subprocess.run(['{ROTA}', 'step', 'more']).returncode\n"
                           f"sys.exit(9 if code == 0 else subprocess.run(['{ROTA}', 'report', 'fail', 'too much']).returncode)"]})
    got = run("flood", "failed/reported")
    check(len(got["reports"]) == 100 and got["reports"][-1]["text"] == "too much", "a flood is bounded, and does not hide failure")

    apply("nasty", action={"type": "command", "command": 'mkfifo "$ROTA_OUTBOX"'})
    check(run("nasty", "done")["reports"] == [], "what is no file keeps nobody waiting")
    r = rota("report", "fail", "x")
    check(r.returncode == 2 and "within a run" in r.stderr, "outside there is nobody to report of", r)
    r = rota("report", "guess", "x")
    check(r.returncode == 2 and "neither fail, step nor note" in r.stderr, "three kinds", r)


sys.exit(run_parts(checks, check_stopped, check_survives, expectations, expectation_survives, reports))
