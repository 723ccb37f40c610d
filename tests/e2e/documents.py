#!/usr/bin/env python3
"""Documents and the real binary: the examples are applied and run, seed 004's as they stand; what this version does
not do is told with its place, blocked, and never looks as if it had been done.

usage: documents.py ROTA EXAMPLES"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
EXAMPLES, AGENTS = (os.path.join(os.path.abspath(sys.argv[2]), name) for name in ("ace", "agents"))
ROOT = tempfile.mkdtemp(prefix="rota-documents-")
HOME = os.path.join(ROOT, "home")
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROTA_") and k not in ("TZ", "TZDIR")} | {
    "XDG_RUNTIME_DIR": os.path.join(ROOT, "run"), "HOME": HOME,
    "XDG_CONFIG_HOME": os.path.join(ROOT, "config"), "XDG_DATA_HOME": os.path.join(ROOT, "share")}
ENV |= {"PATH": os.path.dirname(ROTA) + ":" + ENV["PATH"], "DESK_INBOX": os.path.join(ROOT, "inbox"),
        "DESK_NEWS": os.path.join(ROOT, "news")}
if "ROTA_LAUNCHER" in os.environ:
    ENV["ROTA_LAUNCHER"] = os.environ["ROTA_LAUNCHER"]
# It is noon where the daemon is: nothing of the examples comes due by itself, but what runs every few minutes.
ENV["ROTA_TIMEZONE"] = f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"

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
ACE = """id: workday
expression: |
  TZ=America/New_York
  0 9 * * 1-5
  IF agent.user.is_workday
  WINDOW 15m
action: { type: command, command: "true" }
"""


def rota(*argv):
    return subprocess.run([ROTA, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV, timeout=60,
                          cwd=ROOT)


def file(name, text):
    path = os.path.join(ROOT, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def runs(schedule):
    r = rota("runs", schedule, "--json")
    return json.loads(r.stdout)["runs"] if r.returncode == 0 else []


def until(what, fn):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.1)
    check(False, f"did not come about: {what}")
    return None


def only_warnings(r):
    return all(re.match(r"rota: .*\.yaml: warning: .*, at line \d+(, column \d+)?\Z", line) for line in r.stderr.splitlines())


def examples():
    ids = sorted(re.findall(r"^(?:- |  )id: (\S+)", "".join(
        open(os.path.join(EXAMPLES, name), encoding="utf-8").read() for name in sorted(os.listdir(EXAMPLES))), re.M))
    check(len(ids) >= 6, f"there are examples: {ids}")
    r = rota("apply", "-f", EXAMPLES, "--dry-run")
    check(r.returncode == 0 and f"{len(ids)} added" in r.stdout and "nothing was applied" in r.stdout, "dry run", r)
    check(only_warnings(r), "what is said on standard error are warnings, with places", r)
    r = rota("apply", "-f", EXAMPLES)
    check(r.returncode == 0 and f"{len(ids)} added" in r.stdout, "apply", r)
    r = rota("apply", "-f", EXAMPLES)
    check(r.returncode == 0 and f"{len(ids)} unchanged" in r.stdout, "applied again nothing changes", r)
    for name in ids:
        r = rota("run", name, "--wait")
        check(r.returncode == 0 and "done" in r.stdout, f"example {name} runs", r)
    says = {"daily-summary": "Summary for", "disk-space": "used:", "clean-up": "0 files removed",
            "stand-up-reminder": "stand-up is at", "weekly-report-sent": "Report of"}
    for name, text in says.items():
        r = rota("logs", name)
        check(text in r.stdout, f"example {name} says {text!r}", r)


def agents():
    """The example of an agent: it is idle for nothing, works, remembers, and somebody is told."""
    r = rota("apply", "-f", AGENTS)
    check(r.returncode == 0 and "2 added" in r.stdout and r.stderr == "", "the agent and its schedule", r)
    r = rota("run", "night-rounds", "--wait")
    check(r.returncode == 0 and "no_work" in r.stdout, "an empty inbox is no work", r)
    check("model calls avoided: 1 today" in rota("status").stdout, "and no call of a model")
    os.mkdir(ENV["DESK_INBOX"])
    for n in range(3):
        file(f"inbox/{n}.txt", "Dear desk, ...")
    r = rota("run", "night-rounds", "--wait")
    check(r.returncode == 0 and "done" in r.stdout, "three letters are work", r)
    check(sorted(os.listdir(os.path.join(ENV["DESK_INBOX"], "filed"))) == ["0.txt", "1.txt", "2.txt"], "which was done")
    r = rota("show", runs("night-rounds")[0]["id"])
    check("3 letters filed" in r.stdout and re.search("step +was told: It is .*: file the letters", r.stdout), "the run", r)
    check(json.loads(rota("state", "get", "--agent", "night-desk").stdout) == {"letters": 3}, "its state")
    check("3 letters came in" in rota("memory", "search", "letters").stdout, "its memory")
    r = rota("why", "night-rounds")
    check(re.search(r"\(in \d+ (min|s)\): it will run", r.stdout), "its next check", r)
    until("somebody is told", lambda: os.path.exists(ENV["DESK_NEWS"]) and
          open(ENV["DESK_NEWS"], encoding="utf-8").read().count("night-rounds done") == 1)


def seed():
    path = file("seed.yaml", SEED)
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and "1 added" in r.stdout, "seed 004's example", r)
    check(only_warnings(r), "with warnings alone", r)
    check("there is no agent; define one and apply it with `rota apply`: schedule 'daily_summary' is accepted, but blocked, at line 2" in
          r.stderr, "it says so", r)
    r = rota("apply", "-f", file("ace.yaml", ACE))
    check(r.returncode == 0 and "1 added" in r.stdout and r.stderr == "", "seed 004's ACE", r)
    r = rota("run", "workday", "--wait")
    check(r.returncode == 0, "by hand a condition is passed over", r)
    r = rota("run", "daily_summary", "--wait")
    check(r.returncode == 1 and "failed/definition" in r.stdout, "by hand nobody runs an agent that is not there", r)


def blocked():
    """What comes due and cannot run is skipped, with its reason, and the daemon goes on with the rest."""
    documents = {
        "turn": "action: {type: agent_turn, message: hello}\n",
        "checked": "check: agenda plan.org\naction: {type: command, command: 'true'}\n",
    }
    lacks = {"turn": "there is no agent", "checked": "'check: agenda' is not supported yet"}
    for name, text in documents.items():
        r = rota("apply", "-f", file(name + ".yaml", f"id: {name}\nexpression: '@every 1s'\n{text}"))
        check(r.returncode == 0 and "warning: " in r.stderr, f"{name} is accepted with a warning", r)
    rota("add", "@every 1s", "--id", "plain", "--", "true")
    for name in documents:
        got = until(f"{name} has been skipped", lambda n=name: [x for x in runs(n) if x["state"] == "skipped"])
        check(got and all(x["reason"] == "blocked" for x in got), f"{name} is blocked, and nothing else: {got}")
        check(all(x["state"] in ("skipped", "pending") for x in runs(name)), f"nothing of {name} has run")
        until(f"its record says what {name} lacks", lambda x=got[-1]["id"], n=name: lacks[n] in rota("show", x).stdout)
    until("others run meanwhile", lambda: [x for x in runs("plain") if x["outcome"] == "done"])
    for name, text in documents.items():
        rota("apply", "-f", file(name + "-later.yaml", f"id: {name}-later\nexpression: '@yearly'\n{text}"))
        r = rota("show", name + "-later")
        check("-later: blocked" in r.stdout and lacks[name] in r.stdout, f"show says that {name} is blocked, and why", r)
        r = rota("why", name + "-later")
        check("it will not run" in r.stdout and "skipped/blocked" in r.stdout and lacks[name] in r.stdout, f"why says so of {name}", r)
    r = rota("ls")
    check(all(re.search(rf"^{name} +blocked", r.stdout, re.M) for name in documents), "ls says so", r)
    check(re.search("^plain +active", r.stdout, re.M), "of nobody else", r)
    r = rota("run", "checked", "--wait")
    check(r.returncode == 1 and "failed/definition" in r.stdout, "a check that cannot be asked is no yes", r)


def crowd():
    """More questions at once than are looked at in a turn: each is answered, and what needs none is not kept waiting."""
    n = 600
    rota("pause", "--all")
    r = rota("apply", "-f", file("crowd.yaml", "schedules:\n" + "".join(
        f"- {{id: c{i}, expression: '@every 4s IF user.x', action: {{type: command, command: 'true'}}}}\n" for i in range(n))))
    check(r.returncode == 0 and f"{n} added" in r.stdout, "a crowd is applied", r)
    rota("resume", "--all")

    def answered():
        r = rota("runs", "--limit", "1000", "--json")
        rows = json.loads(r.stdout)["runs"] if r.returncode == 0 else []
        return len({x["schedule"] for x in rows if re.match(r"c\d+\Z", x["schedule"]) and x["reason"] == "condition"}) == n
    until("all of the crowd is answered", answered)
    r = rota("run", "plain", "--wait")
    check(r.returncode in (0, 75), "others go on", r)


def told():
    r = rota("add", "@daily", "--id", "told", "--", "echo '{{ date }}'")
    check(r.returncode == 0 and "rota: warning: '{{ date }}' is not expanded" in r.stderr, "add warns, too", r)
    r = rota("apply", "-f", file("many.yaml", "schedules:\n" + "".join(
        f"- {{id: t{i}, expression: '@daily', action: {{type: agent_turn, message: hello}}}}\n" for i in range(150))))
    check(r.stderr.count("warning: there is no agent") == 100 and "there may be more" in r.stderr, "not all warnings are told", r)
    r = rota("add", "@daily TZ=Europe/Berlin", "--tz", "Europe/Berlin", "--id", "twice", "--", "true")
    check(r.returncode == 2 and "timezone is given twice" in r.stderr, "the same thing twice is refused, even if it agrees", r)
    r = rota("apply", "-f", file("m.yaml", "id: m\nexpression: '@daily'\naction: {type: mission, mission: x}\n"))
    check(r.returncode == 2 and "m.yaml: an action of type mission is not supported yet; allowed are command, event, agent_turn, webhook, at line 3, column 16" in r.stderr, "missions", r)


def main():
    os.makedirs(ENV["XDG_RUNTIME_DIR"], 0o700)
    os.makedirs(HOME)
    daemon = subprocess.Popen([ROTA, "serve", "--data", os.path.join(ROOT, "data")], env=ENV, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        check(b"serving" in daemon.stdout.readline(), "the daemon is ready")
        for test in (examples, seed, blocked, told, crowd, agents):  # the last is the first that has an agent
            test()
    finally:
        daemon.send_signal(signal.SIGTERM)
        check(daemon.wait(30) == 0, "the daemon ends well")
        shutil.rmtree(ROOT)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
