#!/usr/bin/env python3
"""Agents' turns with real daemons: seed 004's schedule from its condition to its answer, agents that behave badly,
definitions that come, change and go, and checks that save model calls.

usage: agent_turns.py ROTA"""
import datetime
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


def agent(name, command, **keys):
    """Defines it; `command` is a line for the shell."""
    path = write(f"agent-{name}.json", json.dumps({"agent": {"name": name, "prompt": f"You are {name}.",
                                                             "command": command} | keys}))
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and r.stderr == "", f"agent {name} is defined", r)


def forget(name):
    """Its file has nothing any more."""
    path = write(f"agent-{name}.json", "null")
    r = rota("apply", "-f", path, "--prune")
    check(r.returncode == 0, f"agent {name} is forgotten", r)


def schedule(name, warns=False, **keys):
    """A turn that is taken by hand only, unless it is said otherwise."""
    document = {"id": name, "expression": FAR, "action": {"type": "agent_turn", "message": "hello"}} | keys
    r = rota("apply", "-f", write(f"{name}.json", json.dumps(document)))
    check(r.returncode == 0 and bool(r.stderr) == warns, f"{name} is taken{' with a warning' if warns else ''}", r)
    return r


def state(name):
    return rota_json("show", name).get("state")


def runs(name):
    return rota_json("runs", name).get("runs", [])


def skipped(name):
    return [x for x in runs(name) if x["state"] == "skipped"]


def last(name):
    found = runs(name)
    return rota_json("show", found[0]["id"]) if found else {}


def run(name, outcome):
    """By hand, to its end: its record as `show` has it."""
    r = rota("run", name, "--wait")
    check(r.returncode == (0 if outcome in ("done", "no_work") else 1) and outcome in r.stdout, f"{name}: {outcome}", r)
    return last(name)


def seconds(iso):
    return datetime.datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()


# --- seed 004 ----------------------------------------------------------------------------------------------------


def seed():
    r = rota("apply", "-f", write("seed.yaml", SEED))
    check(r.returncode == 0 and "no agent is known" in r.stderr and "accepted, and blocked" in r.stderr and
          "seed.yaml: warning: " in r.stderr and "at line 2" in r.stderr, "without an agent: a warning", r)
    check(state("daily_summary") == "blocked", "it is blocked")
    r = rota("show", "daily_summary")
    check("blocked: no agent is known; `rota apply` a definition" in r.stdout, "and says why, and what to do", r)
    r = rota("why", "daily_summary")
    check("no agent is known" in r.stdout and "skipped/blocked" in r.stdout, "so does why", r)
    r = rota("ls")
    check(re.search("daily_summary +blocked.*no agent is known", r.stdout), "and ls", r)
    got = run("daily_summary", "failed/definition")
    check("no agent is known" in (got["detail"] or ""), f"by hand, too: {got}")

    # Reads all of its input; fails once, and answers then.
    agent("desk", "cat > input-$ROTA_RUN_ID.$ROTA_ATTEMPT; cp $ROTA_CONTEXT context-$ROTA_RUN_ID.$ROTA_ATTEMPT;"
          " env > env-$ROTA_RUN_ID.$ROTA_ATTEMPT; pwd; echo noise >&2; test $ROTA_ATTEMPT -gt ${FAILS:-1}",
          env={"FAILS": "1"}, model="big-1")
    until("it goes on by itself", lambda: state("daily_summary") == "active")

    day = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)
    span = ("--from", day.strftime("%Y-%m-%dT00:00Z"), "--to", day.strftime("%Y-%m-%dT23:59Z"))
    check(rota("backfill", "daily_summary", *span).returncode == 0, "its time of the day before yesterday")
    got = until("the condition was asked", lambda: skipped("daily_summary"))
    check(got[0]["reason"] == "condition", f"it is not true: {got}")
    check("input-" not in " ".join(os.listdir(ROOT)), "nobody was called for it")
    r = rota("state", "set", "--user", "preferences.morning_summary", "true")
    check(r.returncode == 0, "the profile", r)
    rota("state", "set", "--user", "name", '"Ann"')
    check(rota("backfill", "daily_summary", *span).returncode == 0, "once more")
    got = until("its first attempt failed", lambda: [x for x in runs("daily_summary") if x.get("retry_at")])[0]
    check(got["reason"] == "exit" and 59 <= seconds(got["retry_at"]) - seconds(got["ended_at"]) < 119,
          f"and is tried again after 60 s, not twice as many: {got}")
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
          context["run"]["missed"] == 0 and context["run"]["fence"] == 0, f"of this run: {context['run']}")
    check(context["previous"] == {}, f"nothing was before it: {context['previous']}")
    env = dict(line.split("=", 1) for line in file_text(f"env-{number}.1").splitlines() if "=" in line)
    check(env["ROTA_AGENT"] == "desk" and env["ROTA_SCHEDULE_ID"] == "daily_summary" and env["ROTA_ATTEMPT"] == "1" and
          env["ROTA_FENCE"] == "0" and env["ROTA_LIFECYCLE_STATE"] == "" and env["ROTA_MODEL"] == "big-1" and
          env["FAILS"] == "1" and os.path.basename(env["ROTA_SOCKET"]) == "rota.sock" and
          env["ROTA_NOMINAL_TIME"].startswith(date), f"the environment: {env}")
    check(re.fullmatch(r"00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01", env["TRACEPARENT"]) and
          env["TRACEPARENT"] != ENV["TRACEPARENT"], f"a span of its own: {env['TRACEPARENT']}")
    rota("stop", got["id"])

    # Who is told; seed 004 wants to hear of failures only.
    r = rota("notify", "set", "--", "/bin/sh", "-c", f"cat >> {ROOT}/told; echo >> {ROOT}/told")
    check(r.returncode == 0, "somebody is told", r)

    # The same with times for tests: by the clock, to the end of its retries, and beyond its timeout.
    quick = SEED.replace("daily_summary", "quick").replace("0 8 * * *", OFTEN).replace("initial_delay: 60",
                                                                                      "initial_delay: 1")
    quick = quick.replace("  timezone", "  max_runs: 1\n  timezone")
    rota("apply", "-f", write("quick.yaml", quick))
    got = until("it ended", lambda: [x for x in runs("quick") if x["state"] == "finished"])[0]
    got = rota_json("show", got["id"])
    check(got["outcome"] == "done" and got["kind"] == "timer" and got["attempt"] == 2, f"due, failed, done: {got}")
    check(got["answer"] == ROOT + "\n", f"its answer is standard output alone, in its file's directory: {got['answer']!r}")
    with open(got["log"]["path"], encoding="utf-8") as f:
        check("noise" in f.read(), "the log has standard error, too")
    origin = got["origin"]
    check(origin["agent"] == "desk" and re.fullmatch("[0-9a-f]{16}", origin["definition"]) and
          origin["model"] == "big-1" and origin["program"][:2] == ["/bin/sh", "-c"] and
          origin["message"].startswith("Generate a daily summary for 20") and origin["whole"],
          f"what it was made of is on record: {origin}")
    r = rota("show", got["id"])
    check(re.search(r"agent +desk, definition [0-9a-f]{16}, model big-1", r.stdout) and "Generate a daily" in r.stdout,
          "and shown", r)
    one, two = (json.loads(file_text(f"context-{got['id'][1:]}.{n}")) for n in (1, 2))
    check(one["run"]["attempt"] == 1 and two["run"]["attempt"] == 2 and one["timestamp"] == two["timestamp"],
          "a retry keeps the nominal time")

    # Two that take their time, while others are looked at.
    agent("hopeless", "exit 3")
    agent("sleeper", "sleep 60")
    rota("apply", "-f", write("worse.yaml", quick.replace("quick", "worse") + "  agent: hopeless\n"))
    rota("apply", "-f", write("slow.yaml", quick.replace("quick", "slow").replace("timeout: 300", "timeout: 1").replace(
        "max_attempts: 3", "max_attempts: 1") + "  agent: sleeper\n"))


def seed_ends():
    got = until("it was given up", lambda: [x for x in runs("worse") if x["state"] == "finished"])[0]
    got = rota_json("show", got["id"])
    times = [(seconds(a["started_at"]), seconds(a["ended_at"])) for a in got["attempts"]]
    waits = [b[0] - a[1] for a, b in zip(times, times[1:])]
    check(got["outcome"] == "failed" and got["exit_code"] == 3 and got["attempt"] == 4 and len(waits) == 3 and
          all(wait >= 2 ** n - 1 for n, wait in enumerate(waits)), f"1 try + 3 retries, each later: {waits}")
    got = until("its time was up", lambda: [x for x in runs("slow") if x["state"] == "finished"])[0]
    check(got["outcome"] == "killed" and got["reason"] == "timeout" and got["attempt"] == 2, f"twice: {got}")

    # Each is told once, when its attempts are used up; what was done in the end is not.
    def about(name):
        told = [json.loads(line) for line in file_text("told").splitlines() if line]
        return [x for x in told if x.get("schedule") == name and x["type"].startswith("run.")]
    for name, said in (("worse", "failed"), ("slow", "killed")):
        got = until(f"somebody is told of {name}", lambda name=name: about(name))
        check(len(got) == 1 and got[0]["type"] == "run.failed" and got[0]["outcome"] == said and name in got[0]["text"],
              f"of {name}, once: {got}")
        got = until("that is on record", lambda name=name: [
            n for n in last(name).get("notices", []) if n["state"] == "delivered"])
        check(len(got) == 1, f"with its run: {got}")
    check(not about("quick"), f"nobody was told of a retry: {about('quick')}")


# --- agents that behave badly ------------------------------------------------------------------------------------


def traps():
    agent("desk", "true")
    schedule("nothing", agent="desk")
    got = run("nothing", "done")
    check(got["answer"] in ("", None), "nothing said is done, for a command")
    agent("deaf", "sleep 0.2", prompt="Long. " * 100000)
    schedule("deaf", agent="deaf")
    run("deaf", "done")
    agent("eager", "wc -c", prompt="Long. " * 100000)
    schedule("eager", agent="eager")
    check(run("eager", "done")["answer"].strip() == str(599999 + 2 + 5), "all of it goes in, and ends")
    agent("silent", "echo once; sleep 60", stall="1s")
    schedule("silent", agent="silent")
    got = run("silent", "killed/stalled")
    check(got["answer"] == "once\n", f"what it said before is kept: {got}")
    agent("idle", "echo NO-WORK: all is well; echo NO >&2")
    schedule("idle", agent="idle")
    run("idle", "no_work")
    agent("loud", "echo NO-WORK >&2; echo done")
    schedule("loud", agent="loud")
    run("loud", "done")

    # What one answered, the next is told.
    agent("echo", "cat \"$ROTA_CONTEXT\"")
    schedule("echo", agent="echo", action={"type": "agent_turn", "message": "{{ has(previous.result) }}"})
    run("echo", "done")
    got = run("echo", "done")
    before = json.loads(got["answer"])["previous"]
    check(before["outcome"] == "done" and json.loads(before["result"])["schedule"]["id"] == "echo" and
          got["origin"]["message"] == "true", f"the answer before: {before}")

    schedule("typo", agent="loud", retry={"max_attempts": 2, "initial_delay": 1},
             action={"type": "agent_turn", "message": "Dear {{ user.nobody }}"})
    got = run("typo", "failed/template")
    check(got["attempt"] == 1 and "nobody" in got["detail"], f"a template without a value, once: {got}")
    path = write("later.json", json.dumps({"agent": {"name": "later", "prompt": "p", "runner": "claude"}}))
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and "warning" in r.stderr, "a runner of a later version is accepted with a warning", r)
    r = schedule("later", warns=True, agent="later")
    check("only agents with a command can be run yet" in r.stderr, "and its schedule blocked", r)
    check(state("later") == "blocked", "as ls says")
    got = run("later", "failed/definition")
    check("only agents with a command" in got["detail"], f"also by hand: {got}")


# --- definitions come, change and go -----------------------------------------------------------------------------


def definitions():
    schedule("lonely", warns=True, agent="ghost", expression=OFTEN)
    got = until("a time came", lambda: skipped("lonely"))
    check(all(x["reason"] == "blocked" for x in got), f"an agent that is not known: {got}")
    r = rota("why", "lonely")
    check("agent 'ghost' is not known" in r.stdout, "why names it", r)
    agent("ghost", "echo boo")
    until("it goes on when the agent is known", lambda: any(x["outcome"] == "done" for x in runs("lonely")))
    forget("ghost")
    until("it is blocked when the agent goes", lambda: state("lonely") == "blocked")
    n = len(skipped("lonely"))
    got = until("another time came", lambda: len(skipped("lonely")) > n and skipped("lonely"))
    check(got[0]["reason"] == "blocked", f"and skipped: {got[0]}")
    rota("rm", "lonely")
    rota("apply", "-f", write("lonely.json", "null"), "--prune")

    # Between the attempts of one run: each is made of the definition that stands when it begins.
    agent("mover", "echo first; exit 1")
    # Its second attempt is not begun before we are ready for it.
    schedule("mover", agent="mover", retry={"max_attempts": 1, "backoff": "fixed", "initial_delay": 1},
             check=f"test $ROTA_ATTEMPT = 1 || while ! test -e {path_of('gate')}; do sleep 0.05; done")
    number = json.loads(rota("run", "mover", "--json").stdout)["run"]
    until("it waits for its retry", lambda: rota_json("show", number).get("state") == "waiting")
    first = rota_json("show", number)["origin"]["definition"]
    agent("mover", "echo second")
    write("gate", "")
    got = until("it is done", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "done" and got["attempt"] == 2 and got["answer"] == "second\n" and
          got["origin"]["definition"] != first, f"by the new definition: {got}")
    agent("mover", "exit 1")
    os.unlink(path_of("gate"))
    number = json.loads(rota("run", "mover", "--json").stdout)["run"]
    until("it waits again", lambda: rota_json("show", number).get("state") == "waiting")
    forget("mover")
    write("gate", "")
    got = until("it is over", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "failed" and got["reason"] == "definition" and "agent 'mover' is not known" in got["detail"],
          f"without a definition it fails, and says so: {got}")


    # Many changes in a row: the last one counts, and nobody waits for rules any more.
    for n in range(20):
        agent("hasty", f"echo {n}", concurrency=n % 3 + 1)
        if n == 10:
            schedule("hasty", agent="hasty", expression=OFTEN)
    until("the last is in force", lambda: any(x["state"] == "finished" and rota_json("show", x["id"])["answer"] == "19\n"
                                              for x in runs("hasty")[:1]))
    until("no rules are outdated", lambda: rota_json("status")["outdated"] == 0)
    rota("apply", "-f", write("hasty.json", "null"), "--prune")


def slots():
    """One at a time, unless it says otherwise."""
    work = "echo begin >> {0}; sleep 0.5; echo end >> {0}"
    agent("one", work.format(path_of("one.marks")))
    for name in ("one-a", "one-b"):
        schedule(name, agent="one")
        check(rota("run", name).returncode == 0, f"{name} begins")
    until("both ended", lambda: file_text("one.marks").count("end") == 2)
    check(file_text("one.marks").split() == ["begin", "end"] * 2, f"one after the other: {file_text('one.marks')!r}")
    # Each waits for the other: it ends well only if both run at the same time.
    marks = path_of("two.marks")
    agent("two", f"echo begin >> {marks}; for i in $(seq 600); do test $(wc -l < {marks}) -ge 2 && exit 0; sleep 0.1;"
          " done; exit 1", concurrency=2)
    for name in ("two-a", "two-b"):
        schedule(name, agent="two")
        rota("run", name)
    for name in ("two-a", "two-b"):
        until(f"{name} ended", lambda name=name: last(name).get("state") == "finished")
        check(last(name)["outcome"] == "done", f"{name} ran beside the other")


# --- what checks save --------------------------------------------------------------------------------------------


def avoided():
    return rota_json("status").get("model_calls_avoided", {})


def idle():
    """Checks that find nothing: as many as leave their mark are counted and shown, and nobody is called."""
    before = avoided()
    agent("costly", f"echo called >> {path_of('calls')}", check=f"echo looked >> {path_of('looks')}; exit 1")
    ways = {"watcher": {"agent": "costly"}, "own": {"agent": "costly", "check": f"echo own >> {path_of('own')}; exit 1"},
            "plain": {"check": "exit 1", "action": {"type": "command", "command": "true"}}}
    for name, keys in ways.items():
        schedule(name, expression=OFTEN, max_runs=3, **keys)
    for name in ways:
        until(f"{name} looked three times", lambda name=name: len([x for x in runs(name) if x["state"] == "finished"]) == 3)
    looks, own = file_text("looks").count("\n"), file_text("own").count("\n")
    idle_runs = [x for x in runs("watcher") + runs("own") if x["outcome"] == "no_work"]
    check(file_text("calls") == "", "nobody was called")
    check(looks == own == 3 and len(idle_runs) == 6, f"every check is on record: {len(idle_runs)} of {looks} + {own}")
    now = avoided()
    check(now["ever"] - before["ever"] == looks + own and now["today"] <= now["ever"],
          f"as many as there were looks, commands left out: {before} {now}")
    check(rota_json("show", "watcher")["model_calls_avoided"] == looks and rota_json("show", "own")["model_calls_avoided"] == own,
          "each has its own count")
    r = rota("status")
    check(f"model calls avoided: {now['today']} today, {now['ever']} in all" in r.stdout, "status tells", r)
    r = rota("show", "watcher")
    check(f"model calls avoided: {looks}" in r.stdout, "and show", r)
    agent("costly", f"echo called >> {path_of('calls')}", check="true")
    run("watcher", "done")
    check(file_text("calls") == "called\n", "a check that finds something has it called")
    check(avoided()["ever"] == now["ever"], "and that is not counted")


# --- by the command line -----------------------------------------------------------------------------------------


def add():
    r = rota("add", "every day at 8:00", "--agent", "one", "Greet {{ user.name }}\nin one line", "--tz", "Asia/Tokyo")
    said = r.stdout
    check(r.returncode == 0 and r.stderr == "" and said.startswith("Greet-user.name-in: added\n") or "added" in said,
          "an agent and a message", r)
    for part in (r"agent +one\n", r"message +Greet \{\{ user.name \}\} in one line\n", r"zone +Asia/Tokyo", r"timeout +900 s",
                 "missed: execute_immediately", r"budget +none", r"directory +" + re.escape(ROOT), "on failure", r"next +20"):
        check(re.search(part, said), f"add echoes {part}", r)
    name = said.split(":")[0]
    got = run(name, "done")
    check(got["origin"]["message"] == "Greet Ann\nin one line", f"the message: {got['origin']}")
    r = rota("edit", name, "--message", "Good night", "--agent", "echo")
    check(r.returncode == 0 and re.search(r"agent +echo", r.stdout), "edit", r)
    check(run(name, "done")["origin"]["agent"] == "echo", "the other one takes it")
    r = rota("add", "@daily", "--agent", "nobody", "hello")
    check(r.returncode == 0 and "agent 'nobody' is not known" in r.stderr and "blocked" in r.stderr, "who is not known", r)
    for argv, says in ((["@daily", "hello"], "--agent names it"), (["@daily", "--agent", "one"], "a message"),
                       (["@daily", "--agent", "one", "hello", "--", "true"], "give one of them")):
        r = rota("add", *argv)
        check(r.returncode == 2 and says in r.stderr, f"add {argv}", r)


# --- the daemon dies, and comes back -----------------------------------------------------------------------------


def killed():
    agent("long", f"echo begin >> {path_of('long.marks')}; while ! test -e {path_of('go')}; do sleep 0.05; done;"
          f" echo end >> {path_of('long.marks')}; echo finished")
    schedule("long", agent="long")
    number = json.loads(rota("run", "long", "--json").stdout)["run"]
    until("it is in the middle of it", lambda: file_text("long.marks") == "begin\n")
    schedule("whoever", warns=True)
    check("there are several agents" in rota("show", "whoever").stdout, "several are no default")
    stop(signal.SIGKILL)
    with sqlite3.connect(path_of("share/rota/rota.db")) as db: # another version wrote it, say
        db.execute("UPDATE agent SET text = '{\"name\":\"idle\"}' WHERE name = 'idle'")
    write("go", "")
    start(ROTA_DEFAULT_AGENT="loud")
    got = until("it is over", lambda: (lambda x: x.get("state") == "finished" and x)(rota_json("show", number)))
    check(got["outcome"] == "done" and got["attempt"] == 1 and got["answer"] == "finished\n" and
          file_text("long.marks") == "begin\nend\n", f"the turn went on without the daemon, once: {got}")
    until("a setting made a default", lambda: state("whoever") == "active")
    check(run("whoever", "done")["origin"]["agent"] == "loud", "who takes the turns that name nobody")
    until("what was changed meanwhile is seen", lambda: state("idle") == "blocked")
    got = run("idle", "failed/definition")
    check("the definition of agent 'idle' cannot be read: agent 'idle' needs a prompt" in got["detail"], f"and said: {got}")
    forget("loud")
    until("it is gone", lambda: state("whoever") == "blocked")
    check("agent 'loud', the default, is not known" in rota("show", "whoever").stdout, "and named")


sys.exit(run_parts(seed, traps, definitions, slots, idle, add, killed, seed_ends))
