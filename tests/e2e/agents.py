#!/usr/bin/env python3
"""Checks before a run, expectations after it, and the reports that a run writes, with real daemons.

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
    """Applies a schedule that runs only by hand, and expects no warning."""
    document = {"id": name, "expression": FAR, "action": {"type": "command", "command": "true"}} | keys
    path = path_of(name + ".json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f)
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and r.stderr == "", f"{name} is accepted without a warning", r)


def run(name, outcome):
    """Runs it by hand and waits for the end. Returns the record that `show` prints."""
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


def check_checks():
    work = {"type": "command", "command": f"echo ran >> {path_of('ran')}", "cwd": ROOT, "env": {"WORD": "{{ run.attempt }}"}}
    apply("go", check="echo look; pwd; echo $WORD $ROTA_RUN_ID; test -s \"$ROTA_CONTEXT\"", action=work)
    got = run("go", "done")
    check(len(lines("ran")) == 1, "a check with exit code 0 lets the run start once")
    check(got["check"]["exit_code"] == 0 and got["attempts"][0]["check"]["attempt"] == 1, f"show prints the check: {got}")
    with open(got["check"]["log"]["path"], encoding="utf-8") as f:
        check(f.read() == f"look\n{ROOT}\n1 {got['id'][1:]}\n", "the check has the directory and environment of the run")

    apply("nothing", check=["sh", "-c", "echo nothing to do; exit 1"], action=work)
    got = run("nothing", "no_work")
    check(len(lines("ran")) == 1 and got["log"] is None, "a check with exit code 1 prevents the run")
    check(got["check"]["exit_code"] == 1 and got["outcome"] == "no_work" and "reason" not in got or not got["reason"],
          f"the outcome is no_work: {got}")
    r = rota("logs", "nothing")
    check(r.stdout == "nothing to do\n", "logs prints the output of the check", r)
    r = rota("show", got["id"])
    check("check       exit code 1" in r.stdout, "show prints the exit code of the check", r)

    apply("broken", check="exit 7", action=work, retry={"max_attempts": 1, "initial_delay": 1})
    got = run("broken", "failed/check")
    check(len(lines("ran")) == 1 and got["attempt"] == 2, f"a check that fails is retried, and the run does not start: {got}")
    check([a["check"]["exit_code"] for a in got["attempts"]] == [7, 7], "each attempt executes the check")

    apply("missing", check=["/nonexistent/program"], action=work)
    got = run("missing", "failed/check")
    check("cannot execute the program" in rota("logs", "missing").stdout, "a check whose program is missing says so")

    apply("no-value", check=["echo", "{{ variables.x.y }}"], variables={"x": 1}, action=work)
    run("no-value", "failed/template")
    check(len(lines("ran")) == 1, "none of these runs started")


def check_stop_during_check():
    """Stopping a run kills its check."""
    apply("held", check=f"echo $$ >> {path_of('held')}; sleep 1000", action={"type": "command", "command": "true"})
    number = json.loads(rota("run", "held", "--json").stdout)["run"]
    pid = until("the check has started", lambda: lines("held"))[0]
    check(show(number)["check"]["exit_code"] is None, "show prints a check without an exit code")
    r = rota("stop", number)
    check(r.returncode == 0, "a run is stopped during its check", r)
    until("the check ends", lambda: not is_alive(int(pid)))
    check(show(number)["outcome"] == "killed", "the outcome is killed")


def check_kill_during_check():
    """The daemon is killed during a check: the next daemon gets the result of the check, and starts the run once."""
    apply("crash", check=f"echo $$ >> {path_of('asked')}; until test -e {path_of('go')}; do sleep 0.05; done",
          action={"type": "command", "command": f"echo ran >> {path_of('crash-ran')}"})
    number = json.loads(rota("run", "crash", "--json").stdout)["run"]
    until("the check has started", lambda: lines("asked"))
    stop(signal.SIGKILL)
    start()
    touch("go")
    until("the run ends", lambda: show(number).get("outcome") == "done")
    check(len(lines("crash-ran")) == 1, f"the run started once: {lines('crash-ran')}")
    check(len(lines("asked")) == 1, "the check was executed once")


# --- expectations ------------------------------------------------------------------------------------------------


def check_expectations():
    """A run is done only if its expectations hold."""
    os.makedirs(path_of("out"))
    here = {"type": "command", "command": "echo said; touch out/made; echo agent > by", "cwd": ROOT}
    apply("kept", action=here, expectations=[
        {"type": "file_exists", "paths": ["out/made", path_of("by")]},
        {"type": "script", "command": "echo looked; test -s by && test $ROTA_ATTEMPT = 1"},
        {"type": "script", "command": ["grep", "-q", "{{ variables.who }}", "by"]}], variables={"who": "agent"})
    got = run("kept", "done")
    check(got["exit_code"] == 0, f"the exit code is that of the command: {got}")
    r = rota("logs", "kept")
    check(r.stdout == "said\nlooked\n", "the log has the output of scripts", r)

    apply("no-file", action=here, expectations=[{"type": "file_exists", "paths": ["out/made", "out/other"]}])
    got = run("no-file", "failed/expectation")
    note = got["attempts"][0]["note"]
    check(note == f"expected: {path_of('out/other')}: No such file or directory", f"the note names the missing file: {note}")
    r = rota("show", got["id"])
    check("note        expected: " in r.stdout, "show prints the note", r)

    apply("no-script", action=here, retry={"max_attempts": 1, "initial_delay": 1}, expectations=[
        {"type": "script", "command": f"echo x >> {path_of('first')}; test -e nothing"},
        {"type": "script", "command": f"echo x >> {path_of('second')}"}])
    got = run("no-script", "failed/expectation")
    check(got["attempt"] == 2 and len(lines("first")) == 2, f"an expectation that fails is retried: {got}")
    check(lines("second") == [], "no script is executed after one that failed")
    check("script 1 ended with exit code 1" in got["attempts"][1]["note"], f"the note has the exit code: {got}")

    apply("no-program", action=here, expectations=[{"type": "script", "command": ["/nonexistent/program"]}])
    got = run("no-program", "failed/expectation")
    check("cannot be executed" in got["attempts"][0]["note"], f"a script whose program is missing fails: {got}")

    asked = [{"type": "script", "command": f"echo x >> {path_of('not-executed')}; exit 1"}]
    apply("failed", action={"type": "command", "command": "exit 5"}, expectations=asked)
    run("failed", "failed/exit")
    apply("idle", action={"type": "command", "command": "echo NO-WORK"}, expectations=asked)
    run("idle", "no_work")
    check(lines("not-executed") == [], "a run that failed or had no work does not check its expectations")

    apply("slow", action=here, timeout=3, expectations=[{"type": "script", "command": f"echo $$ >> {path_of('slow')}; sleep 1000"}])
    run("slow", "killed/timeout")
    check(not is_alive(int(lines("slow")[0])), "scripts are killed at the timeout of the attempt")


def check_kill_during_expectation():
    """The daemon is killed during a script: the result of the script decides the outcome."""
    apply("late", action={"type": "command", "command": f"echo ran >> {path_of('late-ran')}"}, expectations=[
        {"type": "script", "command": f"echo x >> {path_of('late')}; until test -e {path_of('look')}; do sleep 0.05; done; exit 3"}])
    number = json.loads(rota("run", "late", "--json").stdout)["run"]
    until("the script has started", lambda: lines("late"))
    stop(signal.SIGKILL)
    start()
    touch("look")
    until("the run ends", lambda: show(number).get("outcome"))
    got = show(number)
    check((got["outcome"], got["reason"]) == ("failed", "expectation"), f"failed/expectation: {got}")
    check(len(lines("late-ran")) == 1 and len(lines("late")) == 1, "command and script were executed once")


# --- reports -----------------------------------------------------------------------------------------------------


def check_reports():
    """Reports of a run, by `rota report` or by lines in its outbox."""
    apply("told", action={"type": "command", "command":
                          f'"{ROTA}" step "ran the tests" && "{ROTA}" report note "two are red" && "{ROTA}" report step "fixed them"'})
    got = run("told", "done")
    check([(x["report"], x["text"]) for x in got["reports"]] ==
          [("step", "ran the tests"), ("note", "two are red"), ("step", "fixed them")], f"reports are listed in order: {got['reports']}")
    check(all(x["at"] for x in got["reports"]), "reports have times")
    r = rota("show", got["id"])
    check("step        ran the tests\n" in r.stdout and "note        two are red\n" in r.stdout, "show prints reports", r)

    apply("gave-up", action={"type": "command", "command": f'"{ROTA}" report fail "no access"; exit 0'},
          retry={"max_attempts": 1, "initial_delay": 1})
    got = run("gave-up", "failed/reported")
    check(got["attempt"] == 2, f"a reported failure is retried: {got}")
    r = rota("show", got["id"])
    check("fail        no access\n" in r.stdout, "show prints the reported failure", r)

    apply("by-hand", action={"type": "command", "command": r"""printf 'nonsense\n{"report":"other"}\n[1]\n{"report":"fail","text":"by hand"}' >> "$ROTA_OUTBOX" """})
    got = run("by-hand", "failed/reported")
    check([x["text"] for x in got["reports"]] == ["by hand"], f"lines that are not reports are ignored: {got['reports']}")

    flood = ("import os\nwith open(os.environ['ROTA_OUTBOX'], 'a') as f:\n"
             " f.writelines('{\"report\":\"step\",\"text\":\"%s\"}\\n' % ('x' * 1000) for _ in range(200))\n")
    apply("flood", action={"type": "command", "command": ["python3", "-c", flood + f"import subprocess, sys\n"
                           f"code = subprocess.run(['{ROTA}', 'step', 'more']).returncode\n"
                           f"sys.exit(9 if code == 0 else subprocess.run(['{ROTA}', 'report', 'fail', 'too much']).returncode)"]})
    got = run("flood", "failed/reported")
    check(len(got["reports"]) == 100 and got["reports"][-1]["text"] == "too much", "the number of reports is limited, and a failure is always kept")

    apply("outbox-pipe", action={"type": "command", "command": 'mkfifo "$ROTA_OUTBOX"'})
    check(run("outbox-pipe", "done")["reports"] == [], "an outbox that is a pipe does not block")
    r = rota("report", "fail", "x")
    check(r.returncode == 2 and "within a run" in r.stderr, "report is refused outside of a run", r)
    r = rota("report", "guess", "x")
    check(r.returncode == 2 and "not a kind of report" in r.stderr, "an unknown kind of report is refused", r)


sys.exit(run_parts(check_checks, check_stop_during_check, check_kill_during_check, check_expectations,
                   check_kill_during_expectation, check_reports))
