#!/usr/bin/env python3
"""Agent turns, with a real daemon: seed 004's schedule from its condition to its answer, agents that misbehave,
definitions that are added, changed and removed, and checks that save model calls.

usage: agent_turns.py ROTA"""
import datetime
import glob
import json
import os
import re
import signal
import sqlite3
import sys

from fixture import ENV, FAR, ROOT, rota_json, path_of, run_parts, rota, start, stop, file_text, until, write
from checks import check

OFTEN = "* * * * * *"
ENV["TRACEPARENT"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

SEED = """schedule:
  id: daily_summary
  name: Daily Morning Summary
  expression: "0 8 * * *"
  timezone: America/New_York
  
  condition: |
    agent.user.preferences.morning_summary == true
  
  action:
    type: agent_turn
    message: |
      Generate a daily summary for {{ date }}
      Include: calendar events, tasks due, weather
  
  retry:
    max_attempts: 3
    backoff: exponential
    initial_delay: 60
  
  timeout: 300
  
  notification:
    on_success: false
    on_failure: true
"""


def apply_agent(name, command, **keys):
    """Defines an agent; `command` is a shell command."""
    path = write(f"agent-{name}.json", json.dumps({"agent": {"name": name, "prompt": f"You are {name}.",
                                                             "command": command} | keys}))
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and r.stderr == "", f"agent {name} is defined", r)


def remove_agent(name):
    """Applies its file without the agent."""
    path = write(f"agent-{name}.json", "null")
    r = rota("apply", "-f", path, "--prune")
    check(r.returncode == 0, f"agent {name} is removed", r)


def apply_schedule(name, warns=False, **keys):
    """Applies a schedule of an agent turn that runs only by hand, unless `expression` is given."""
    document = {"id": name, "expression": FAR, "action": {"type": "agent_turn", "message": "hello"}} | keys
    r = rota("apply", "-f", write(f"{name}.json", json.dumps(document)))
    check(r.returncode == 0 and bool(r.stderr) == warns, f"{name} is accepted{' with a warning' if warns else ''}", r)
    return r


def state_of(name):
    return rota_json("show", name).get("state")


def runs_of(name):
    return rota_json("runs", name).get("runs", [])


def skipped_runs(name):
    return [x for x in runs_of(name) if x["state"] == "skipped"]


def last_run(name):
    found = runs_of(name)
    return rota_json("show", found[0]["id"]) if found else {}


def run(name, outcome):
    """Runs it by hand and waits for the end. Returns the record that `show` prints."""
    r = rota("run", name, "--wait")
    check(r.returncode == (0 if outcome in ("done", "no_work") else 1) and outcome in r.stdout, f"{name}: {outcome}", r)
    return last_run(name)


def seconds(iso):
    return datetime.datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()


# --- seed 004 ----------------------------------------------------------------------------------------------------


def check_seed():
    r = rota("apply", "-f", write("seed.yaml", SEED))
    check(r.returncode == 0 and "there is no agent" in r.stderr and "accepted, but blocked" in r.stderr and
          "seed.yaml: warning: " in r.stderr and "at line 2" in r.stderr, "a schedule without an agent causes a warning", r)
    check(state_of("daily_summary") == "blocked", "a schedule without an agent is blocked")
    r = rota("show", "daily_summary")
    check("blocked: there is no agent; define one and apply it with `rota apply`" in r.stdout, "show says why, and what to do", r)
    r = rota("why", "daily_summary")
    check("there is no agent" in r.stdout and "skipped/blocked" in r.stdout, "why says why", r)
    r = rota("ls")
    check(re.search("daily_summary +blocked.*there is no agent", r.stdout), "ls says why", r)
    got = run("daily_summary", "failed/definition")
    check("there is no agent" in (got["detail"] or ""), f"a run by hand fails: {got}")

    # This agent reads all of its input. Its first attempt fails, and the second succeeds.
    apply_agent("desk", "cat > input-$ROTA_RUN_ID.$ROTA_ATTEMPT; cp $ROTA_CONTEXT context-$ROTA_RUN_ID.$ROTA_ATTEMPT;"
          " env > env-$ROTA_RUN_ID.$ROTA_ATTEMPT; pwd; echo noise >&2; test $ROTA_ATTEMPT -gt ${FAILS:-1}",
          env={"FAILS": "1"}, model="big-1")
    until("the schedule becomes active by itself", lambda: state_of("daily_summary") == "active")

    day = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)
    span = ("--from", day.strftime("%Y-%m-%dT00:00Z"), "--to", day.strftime("%Y-%m-%dT23:59Z"))
    check(rota("backfill", "daily_summary", *span).returncode == 0, "the day before yesterday is backfilled")
    got = until("the condition was evaluated", lambda: skipped_runs("daily_summary"))
    check(got[0]["reason"] == "condition", f"the condition is false: {got}")
    check("input-" not in " ".join(os.listdir(ROOT)), "the agent was not called")
    r = rota("state", "set", "--user", "preferences.morning_summary", "true")
    check(r.returncode == 0, "the user's profile is set", r)
    rota("state", "set", "--user", "name", '"Ann"')
    check(rota("backfill", "daily_summary", *span).returncode == 0, "the same backfill is accepted again")
    got = until("its first attempt failed", lambda: [x for x in runs_of("daily_summary") if x.get("retry_at")])[0]
    check(got["reason"] == "exit" and 59 <= seconds(got["retry_at"]) - seconds(got["ended_at"]) < 119,
          f"the first retry comes after 60 s: {got}")
    number = got["id"][1:]
    date = day.strftime("%Y-%m-%d")
    check(file_text(f"input-{number}.1") == f"You are desk.\n\nGenerate a daily summary for {date}\n"
          "Include: calendar events, tasks due, weather\n", f"prompt and message: {file_text(f'input-{number}.1')!r}")
    context = json.loads(file_text(f"context-{number}.1") or "{}")
    check(context["schedule"]["id"] == "daily_summary" and context["user"]["preferences"] == {"morning_summary": True} and
          context["agent"]["user"]["name"] == "Ann" and context["memory"] == [] and context["variables"] == {} and
          context["timestamp"].startswith(date + "T08:00:00-0"), f"the context: {context}")
    check(context["run"]["id"] == int(number) and context["run"]["attempt"] == 1 and
          context["run"]["nominal"] == context["timestamp"] and not context["run"]["catch_up"] and
          context["run"]["missed"] == 0 and context["run"]["fence"] == 0, f"the run in the context: {context['run']}")
    check(context["previous"] == {}, f"there is no previous run: {context['previous']}")
    env = dict(line.split("=", 1) for line in file_text(f"env-{number}.1").splitlines() if "=" in line)
    check(env["ROTA_AGENT"] == "desk" and env["ROTA_SCHEDULE_ID"] == "daily_summary" and env["ROTA_ATTEMPT"] == "1" and
          env["ROTA_FENCE"] == "0" and env["ROTA_LIFECYCLE_STATE"] == "" and env["ROTA_MODEL"] == "big-1" and
          env["FAILS"] == "1" and os.path.basename(env["ROTA_SOCKET"]) == "rota.sock" and
          env["ROTA_NOMINAL_TIME"].startswith(date), f"the environment: {env}")
    check(re.fullmatch(r"00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01", env["TRACEPARENT"]) and
          env["TRACEPARENT"] != ENV["TRACEPARENT"], f"the turn has its own span: {env['TRACEPARENT']}")
    rota("stop", got["id"])

    # A target for notifications; seed 004 wants failures only.
    r = rota("notify", "set", "--", "/bin/sh", "-c", f"cat >> {ROOT}/told; echo >> {ROOT}/told")
    check(r.returncode == 0, "a target is set", r)

    # The same schedule with short times: it comes due, uses all of its retries, and exceeds its timeout.
    quick = SEED.replace("daily_summary", "quick").replace("0 8 * * *", OFTEN).replace("initial_delay: 60",
                                                                                      "initial_delay: 1")
    quick = quick.replace("  timezone", "  max_runs: 1\n  timezone")
    rota("apply", "-f", write("quick.yaml", quick))
    got = until("it ended", lambda: [x for x in runs_of("quick") if x["state"] == "finished"])[0]
    got = rota_json("show", got["id"])
    check(got["outcome"] == "done" and got["kind"] == "timer" and got["attempt"] == 2, f"due, failed once, done: {got}")
    check(got["answer"] == ROOT + "\n", f"the answer is standard output alone; the directory is that of the file: {got['answer']!r}")
    with open(got["log"]["path"], encoding="utf-8") as f:
        check("noise" in f.read(), "the log has standard error, too")
    origin = got["origin"]
    check(origin["agent"] == "desk" and re.fullmatch("[0-9a-f]{16}", origin["definition"]) and
          origin["model"] == "big-1" and origin["program"][:2] == ["/bin/sh", "-c"] and
          origin["message"].startswith("Generate a daily summary for 20") and origin["whole"],
          f"agent, definition, model, program and message are recorded: {origin}")
    r = rota("show", got["id"])
    check(re.search(r"agent +desk, definition [0-9a-f]{16}, model big-1", r.stdout) and "Generate a daily" in r.stdout,
          "show prints agent, definition, model, program and message", r)
    one, two = (json.loads(file_text(f"context-{got['id'][1:]}.{n}")) for n in (1, 2))
    check(one["run"]["attempt"] == 1 and two["run"]["attempt"] == 2 and one["timestamp"] == two["timestamp"],
          "a retry keeps the nominal time")

    # These two take a while; check_seed_failures looks at them at the end.
    apply_agent("hopeless", "exit 3")
    apply_agent("sleeper", "sleep 60")
    rota("apply", "-f", write("worse.yaml", quick.replace("quick", "worse") + "  agent: hopeless\n"))
    rota("apply", "-f", write("slow.yaml", quick.replace("quick", "slow").replace("timeout: 300", "timeout: 1").replace(
        "max_attempts: 3", "max_attempts: 1") + "  agent: sleeper\n"))


def check_seed_failures():
    got = until("its retries are used up", lambda: [x for x in runs_of("worse") if x["state"] == "finished"])[0]
    got = rota_json("show", got["id"])
    times = [(seconds(a["started_at"]), seconds(a["ended_at"])) for a in got["attempts"]]
    waits = [b[0] - a[1] for a, b in zip(times, times[1:])]
    check(got["outcome"] == "failed" and got["exit_code"] == 3 and got["attempt"] == 4 and len(waits) == 3 and
          all(wait >= 2 ** n - 1 for n, wait in enumerate(waits)), f"1 attempt + 3 retries, with growing delays: {waits}")
    got = until("it timed out twice", lambda: [x for x in runs_of("slow") if x["state"] == "finished"])[0]
    check(got["outcome"] == "killed" and got["reason"] == "timeout" and got["attempt"] == 2, f"killed by its timeout in both attempts: {got}")

    # Each failure is reported once, after the last attempt. A run that succeeds in the end is not reported.
    def about(name):
        told = [json.loads(line) for line in file_text("told").splitlines() if line]
        return [x for x in told if x.get("schedule") == name and x["type"].startswith("run.")]
    for name, said in (("worse", "failed"), ("slow", "killed")):
        got = until(f"the failure of {name} is reported", lambda name=name: about(name))
        check(len(got) == 1 and got[0]["type"] == "run.failed" and got[0]["outcome"] == said and name in got[0]["text"],
              f"{name} is reported once: {got}")
        got = until("the delivery is recorded", lambda name=name: [
            n for n in last_run(name).get("messages", []) if n["state"] == "delivered"])
        check(len(got) == 1, f"the delivery is recorded with the run: {got}")
    check(not about("quick"), f"a failed attempt is not reported: {about('quick')}")


# --- agents that misbehave ------------------------------------------------------------------------------------


def check_odd_agents():
    apply_agent("desk", "true")
    apply_schedule("nothing", agent="desk")
    got = run("nothing", "done")
    check(got["answer"] in ("", None), "an empty answer of a command is a success")
    apply_agent("deaf", "sleep 0.2", prompt="Long. " * 100000)
    apply_schedule("deaf", agent="deaf")
    run("deaf", "done")
    apply_agent("eager", "wc -c", prompt="Long. " * 100000)
    apply_schedule("eager", agent="eager")
    check(run("eager", "done")["answer"].strip() == str(599999 + 2 + 5), "the whole prompt is written, and standard input is closed")
    apply_agent("silent", "echo once; sleep 60", stall="1s")
    apply_schedule("silent", agent="silent")
    got = run("silent", "killed/stalled")
    check(got["answer"] == "once\n", f"the output before the stall is kept: {got}")
    apply_agent("idle", "echo NO-WORK: all is well; echo NO >&2")
    apply_schedule("idle", agent="idle")
    run("idle", "no_work")
    apply_agent("loud", "echo NO-WORK >&2; echo done")
    apply_schedule("loud", agent="loud")
    run("loud", "done")

    # The next run gets the answer of the previous one.
    apply_agent("echo", "cat \"$ROTA_CONTEXT\"")
    apply_schedule("echo", agent="echo", action={"type": "agent_turn", "message": "{{ has(previous.result) }}"})
    first = run("echo", "done")
    # Results are in the store: the file is needed only for runs of earlier versions.
    files = glob.glob(path_of("share", "rota", "runs", "*", f"{first['id'][1:]}.*.out"))
    check(len(files) == 1, f"the run has a file of its output: {files}")
    for name in files:
        os.unlink(name)
    check(last_run("echo")["answer"] == first["answer"], "the answer is in the store")
    got = run("echo", "done")
    before = json.loads(got["answer"])["previous"]
    check(before["outcome"] == "done" and json.loads(before["result"])["schedule"]["id"] == "echo" and
          got["origin"]["message"] == "true", f"the previous run: {before}")

    apply_schedule("typo", agent="loud", retry={"max_attempts": 2, "initial_delay": 1},
             action={"type": "agent_turn", "message": "Dear {{ user.nobody }}"})
    got = run("typo", "failed/template")
    check(got["attempt"] == 1 and "nobody" in got["detail"], f"a template error is not retried: {got}")
    path = write("later.json", json.dumps({"agent": {"name": "later", "prompt": "p", "runner": "claude"}}))
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and "warning" in r.stderr, "a runner of a later version is accepted with a warning", r)
    r = apply_schedule("later", warns=True, agent="later")
    check("only agents with runner 'command' and a command are supported so far" in r.stderr, "its schedule is blocked", r)
    check(state_of("later") == "blocked", "the state is blocked")
    got = run("later", "failed/definition")
    check("only agents with runner 'command'" in got["detail"], f"a run by hand fails: {got}")


# --- definitions are added, changed and removed -----------------------------------------------------------------------------


def check_definition_changes():
    apply_schedule("lonely", warns=True, agent="ghost", expression=OFTEN)
    got = until("a time is skipped", lambda: skipped_runs("lonely"))
    check(all(x["reason"] == "blocked" for x in got), f"an unknown agent: {got}")
    r = rota("why", "lonely")
    check("agent 'ghost' does not exist" in r.stdout, "why names the agent", r)
    apply_agent("ghost", "echo boo")
    until("it runs once the agent is defined", lambda: any(x["outcome"] == "done" for x in runs_of("lonely")))
    remove_agent("ghost")
    until("it is blocked once the agent is removed", lambda: state_of("lonely") == "blocked")
    n = len(skipped_runs("lonely"))
    got = until("another time is skipped", lambda: len(skipped_runs("lonely")) > n and skipped_runs("lonely"))
    check(got[0]["reason"] == "blocked", f"skipped as blocked: {got[0]}")
    rota("rm", "lonely")
    rota("apply", "-f", write("lonely.json", "null"), "--prune")

    # Changes between attempts of one run: each attempt uses the definition at its start.
    apply_agent("mover", "echo first; exit 1")
    # The check delays the second attempt until the file `gate` exists.
    apply_schedule("mover", agent="mover", retry={"max_attempts": 1, "backoff": "fixed", "initial_delay": 1},
             check=f"test $ROTA_ATTEMPT = 1 || while ! test -e {path_of('gate')}; do sleep 0.05; done")
    number = json.loads(rota("run", "mover", "--json").stdout)["run"]
    until("it waits for the retry", lambda: rota_json("show", number).get("state") == "waiting")
    first = rota_json("show", number)["origin"]["definition"]
    apply_agent("mover", "echo second")
    write("gate", "")
    got = until("it is done", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "done" and got["attempt"] == 2 and got["answer"] == "second\n" and
          got["origin"]["definition"] != first, f"the second attempt uses the new definition: {got}")
    apply_agent("mover", "exit 1")
    os.unlink(path_of("gate"))
    number = json.loads(rota("run", "mover", "--json").stdout)["run"]
    until("it waits again", lambda: rota_json("show", number).get("state") == "waiting")
    remove_agent("mover")
    write("gate", "")
    got = until("it has ended", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "failed" and got["reason"] == "definition" and "agent 'mover' does not exist" in got["detail"],
          f"without a definition it fails, with the reason: {got}")

    # Many changes in a row: the last one counts, and no schedule is left with outdated rules.
    for n in range(20):
        apply_agent("hasty", f"echo {n}", concurrency=n % 3 + 1)
        if n == 10:
            apply_schedule("hasty", agent="hasty", expression=OFTEN)
    until("the last is in force", lambda: any(x["state"] == "finished" and rota_json("show", x["id"])["answer"] == "19\n"
                                              for x in runs_of("hasty")[:1]))
    until("no rules are outdated", lambda: rota_json("status")["outdated"] == 0)
    rota("apply", "-f", write("hasty.json", "null"), "--prune")


def check_concurrency():
    """An agent takes one turn at a time, unless its definition allows more."""
    work = "echo begin >> {0}; sleep 0.5; echo end >> {0}"
    apply_agent("one", work.format(path_of("one.marks")))
    for name in ("one-a", "one-b"):
        apply_schedule(name, agent="one")
        check(rota("run", name).returncode == 0, f"{name} begins")
    until("both ended", lambda: file_text("one.marks").count("end") == 2)
    check(file_text("one.marks").split() == ["begin", "end"] * 2, f"one turn after the other: {file_text('one.marks')!r}")
    # Each waits for the other: they succeed only if both run at the same time.
    marks = path_of("two.marks")
    apply_agent("two", f"echo begin >> {marks}; for i in $(seq 600); do test $(wc -l < {marks}) -ge 2 && exit 0; sleep 0.1;"
          " done; exit 1", concurrency=2)
    for name in ("two-a", "two-b"):
        apply_schedule(name, agent="two")
        rota("run", name)
    for name in ("two-a", "two-b"):
        until(f"{name} ended", lambda name=name: last_run(name).get("state") == "finished")
        check(last_run(name)["outcome"] == "done", f"{name} ran at the same time as the other")


# --- model calls that checks avoid --------------------------------------------------------------------------------------------


def calls_avoided():
    return rota_json("status").get("model_calls_avoided", {})


def check_idle():
    """Checks that find no work: each is counted and shown, and the agent is not called."""
    before = calls_avoided()
    apply_agent("costly", f"echo called >> {path_of('calls')}", check=f"echo looked >> {path_of('looks')}; exit 1")
    ways = {"watcher": {"agent": "costly"}, "own": {"agent": "costly", "check": f"echo own >> {path_of('own')}; exit 1"},
            "plain": {"check": "exit 1", "action": {"type": "command", "command": "true"}}}
    for name, keys in ways.items():
        apply_schedule(name, expression=OFTEN, max_runs=3, **keys)
    for name in ways:
        until(f"{name} was checked three times", lambda name=name: len([x for x in runs_of(name) if x["state"] == "finished"]) == 3)
    looks, own = file_text("looks").count("\n"), file_text("own").count("\n")
    idle_runs = [x for x in runs_of("watcher") + runs_of("own") if x["outcome"] == "no_work"]
    check(file_text("calls") == "", "the agent was not called")
    check(looks == own == 3 and len(idle_runs) == 6, f"every check is recorded: {len(idle_runs)} of {looks} + {own}")
    now = calls_avoided()
    check(now["ever"] - before["ever"] == looks + own and now["today"] <= now["ever"],
          f"the count is that of the agent's checks, without commands: {before} {now}")
    check(rota_json("show", "watcher")["model_calls_avoided"] == looks and rota_json("show", "own")["model_calls_avoided"] == own,
          "each schedule has its own count")
    r = rota("status")
    check(f"model calls avoided: {now['today']} today, {now['ever']} in all" in r.stdout, "status shows the count", r)
    r = rota("show", "watcher")
    check(f"model calls avoided: {looks}" in r.stdout, "show shows the count", r)
    apply_agent("costly", f"echo called >> {path_of('calls')}", check="true")
    run("watcher", "done")
    check(file_text("calls") == "called\n", "if a check finds work, the agent is called")
    check(calls_avoided()["ever"] == now["ever"], "a call of the agent is not counted as avoided")


# --- rota add -----------------------------------------------------------------------------------------


def check_add():
    r = rota("add", "every day at 8:00", "--agent", "one", "Greet {{ user.name }}\nin one line", "--tz", "Asia/Tokyo")
    said = r.stdout
    check(r.returncode == 0 and r.stderr == "" and said.startswith("Greet-user.name-in: added\n") or "added" in said,
          "an agent turn is added", r)
    for part in (r"agent +one\n", r"message +Greet \{\{ user.name \}\} in one line\n", r"zone +Asia/Tokyo", r"timeout +900 s",
                 "missed: execute_immediately", r"budget +none", r"directory +" + re.escape(ROOT), "on failure", r"next +20"):
        check(re.search(part, said), f"add echoes {part}", r)
    name = said.split(":")[0]
    got = run(name, "done")
    check(got["origin"]["message"] == "Greet Ann\nin one line", f"the message: {got['origin']}")
    r = rota("edit", name, "--message", "Good night", "--agent", "echo")
    check(r.returncode == 0 and re.search(r"agent +echo", r.stdout), "the agent of the schedule is changed by edit", r)
    check(run(name, "done")["origin"]["agent"] == "echo", "the other agent takes the turn")
    r = rota("add", "@daily", "--agent", "nobody", "hello")
    check(r.returncode == 0 and "agent 'nobody' does not exist" in r.stderr and "blocked" in r.stderr, "an unknown agent causes a warning", r)
    for argv, says in ((["@daily", "hello"], "--agent is missing"), (["@daily", "--agent", "one"], "a message"),
                       (["@daily", "--agent", "one", "hello", "--", "true"], "not both")):
        r = rota("add", *argv)
        check(r.returncode == 2 and says in r.stderr, f"add {argv}", r)


# --- the daemon is killed and started again -----------------------------------------------------------------------------


def check_daemon_killed():
    apply_agent("long", f"echo begin >> {path_of('long.marks')}; while ! test -e {path_of('go')}; do sleep 0.05; done;"
          f" echo end >> {path_of('long.marks')}; echo finished")
    apply_schedule("long", agent="long")
    number = json.loads(rota("run", "long", "--json").stdout)["run"]
    until("the turn has begun", lambda: file_text("long.marks") == "begin\n")
    apply_schedule("unnamed", warns=True)
    check("there are several agents" in rota("show", "unnamed").stdout, "with several agents there is no default")
    stop(signal.SIGKILL)
    with sqlite3.connect(path_of("share/rota/rota.db")) as db:   # as if another version had written it
        db.execute("UPDATE agent SET text = '{\"name\":\"idle\"}' WHERE name = 'idle'")
    write("go", "")
    start(ROTA_DEFAULT_AGENT="loud")
    got = until("it has ended", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "done" and got["attempt"] == 1 and got["answer"] == "finished\n" and
          file_text("long.marks") == "begin\nend\n", f"the turn went on without the daemon, and ran once: {got}")
    until("a setting gives the default agent", lambda: state_of("unnamed") == "active")
    check(run("unnamed", "done")["origin"]["agent"] == "loud", "the default agent takes turns without an agent")
    until("the change in the database is noticed", lambda: state_of("idle") == "blocked")
    got = run("idle", "failed/definition")
    check("the definition of agent 'idle' cannot be read: agent 'idle' needs a prompt" in got["detail"], f"with the reason: {got}")
    remove_agent("loud")
    until("the default agent is removed", lambda: state_of("unnamed") == "blocked")
    check("the default agent 'loud' does not exist" in rota("show", "unnamed").stdout, "the message names the default agent")


sys.exit(run_parts(
    check_seed, check_odd_agents, check_definition_changes, check_concurrency, check_idle, check_add,
    check_daemon_killed, check_seed_failures))
