#!/usr/bin/env python3
"""Documents with the real binary: the examples, and those of the specification, are applied and run. A schedule with a
feature that this version does not support is accepted with a warning and its position, and blocked.

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
# It is noon in the daemon's zone: only examples that run every few minutes are due during the test.
ENV["ROTA_TIMEZONE"] = f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"

SUMMARY = """schedule:
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
WORKDAY = """id: workday
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
    check(False, f"timed out: {what}")
    return None


def only_warnings(r):
    return all(re.match(r"rota: .*\.yaml: warning: .*, at line \d+(, column \d+)?\Z", line) for line in r.stderr.splitlines())


def check_examples():
    ids = sorted(re.findall(r"^(?:- |  )id: (\S+)", "".join(
        open(os.path.join(EXAMPLES, name), encoding="utf-8").read() for name in sorted(os.listdir(EXAMPLES))), re.M))
    check(len(ids) >= 6, f"examples: {ids}")
    r = rota("apply", "-f", EXAMPLES, "--dry-run")
    check(r.returncode == 0 and f"{len(ids)} added" in r.stdout and "nothing was applied" in r.stdout, "apply --dry-run accepts the examples", r)
    check(only_warnings(r), "standard error has only warnings, with positions", r)
    r = rota("apply", "-f", EXAMPLES)
    check(r.returncode == 0 and f"{len(ids)} added" in r.stdout, "apply accepts the examples", r)
    r = rota("apply", "-f", EXAMPLES)
    check(r.returncode == 0 and f"{len(ids)} unchanged" in r.stdout, "apply again changes nothing", r)
    for name in ids:
        r = rota("run", name, "--wait")
        check(r.returncode == 0 and "done" in r.stdout, f"example {name} runs", r)
    output = {"daily-summary": "Summary for", "disk-space": "used:", "clean-up": "0 files removed",
            "stand-up-reminder": "stand-up is at", "weekly-report-sent": "Report of"}
    for name, text in output.items():
        r = rota("logs", name)
        check(text in r.stdout, f"example {name} prints {text!r}", r)


def check_example_agent():
    """The example of an agent: no work, work, state and memory, next check, notification."""
    # The example would be the only agent, and would take the turns of schedules that name none. `turn` is such a schedule.
    rota("rm", "turn")
    r = rota("apply", "-f", AGENTS)
    check(r.returncode == 0 and "2 added" in r.stdout and r.stderr == "", "the agent and its schedule are applied", r)
    r = rota("run", "night-rounds", "--wait")
    check(r.returncode == 0 and "no_work" in r.stdout, "an empty inbox: no work", r)
    check("model calls avoided: 1 today" in rota("status").stdout, "status counts the avoided model call")
    os.mkdir(ENV["DESK_INBOX"])
    for n in range(3):
        file(f"inbox/{n}.txt", "Dear desk, ...")
    r = rota("run", "night-rounds", "--wait")
    check(r.returncode == 0 and "done" in r.stdout, "three letters: done", r)
    check(sorted(os.listdir(os.path.join(ENV["DESK_INBOX"], "filed"))) == ["0.txt", "1.txt", "2.txt"], "the letters are filed")
    r = rota("show", runs("night-rounds")[0]["id"])
    check("3 letters filed" in r.stdout and re.search("step +message: It is .*: file the letters", r.stdout), "show prints result and step", r)
    check(json.loads(rota("state", "get", "--agent", "night-desk").stdout) == {"letters": 3}, "the run has changed the state of the agent")
    check("3 letters came in" in rota("memory", "search", "letters").stdout, "the run has added a note to the memory of the agent")
    r = rota("why", "night-rounds")
    check(re.search(r"\(in \d+ (min|s)\): it will run", r.stdout), "the run has set the next check", r)
    until("a notification is sent", lambda: os.path.exists(ENV["DESK_NEWS"]) and
          open(ENV["DESK_NEWS"], encoding="utf-8").read().count("night-rounds done") == 1)


def check_specification():
    path = file("summary.yaml", SUMMARY)
    r = rota("apply", "-f", path)
    check(r.returncode == 0 and "1 added" in r.stdout, "the example of an agent turn is applied", r)
    check(only_warnings(r), "standard error has only warnings", r)
    check("there is no agent; define one and apply it with `rota apply`: schedule 'daily_summary' is accepted, but blocked, at line 2" in
          r.stderr, "the warning says that it is blocked, and why", r)
    r = rota("apply", "-f", file("workday.yaml", WORKDAY))
    check(r.returncode == 0 and "1 added" in r.stdout and r.stderr == "", "the example of directives is applied", r)
    r = rota("run", "workday", "--wait")
    check(r.returncode == 0, "a run by hand ignores the condition", r)
    r = rota("run", "daily_summary", "--wait")
    check(r.returncode == 1 and "failed/definition" in r.stdout, "a run by hand without an agent fails", r)


def check_blocked():
    """A blocked schedule that is due is skipped with a reason; other schedules run."""
    documents = {
        "turn": "action: {type: agent_turn, message: hello}\n",
    }
    reasons = {"turn": "there is no agent"}
    for name, text in documents.items():
        r = rota("apply", "-f", file(name + ".yaml", f"id: {name}\nexpression: '@every 1s'\n{text}"))
        check(r.returncode == 0 and "warning: " in r.stderr, f"{name} is accepted with a warning", r)
    rota("add", "@every 1s", "--id", "plain", "--", "true")
    for name in documents:
        got = until(f"{name} has been skipped", lambda n=name: [x for x in runs(n) if x["state"] == "skipped"])
        check(got and all(x["reason"] == "blocked" for x in got), f"{name} is skipped as blocked: {got}")
        check(all(x["state"] in ("skipped", "pending") for x in runs(name)), f"{name} has not run")
        until(f"the record of {name} has the reason", lambda x=got[-1]["id"], n=name: reasons[n] in rota("show", x).stdout)
    until("other schedules run", lambda: [x for x in runs("plain") if x["outcome"] == "done"])
    for name, text in documents.items():
        rota("apply", "-f", file(name + "-later.yaml", f"id: {name}-later\nexpression: '@yearly'\n{text}"))
        r = rota("show", name + "-later")
        check("-later: blocked" in r.stdout and reasons[name] in r.stdout, f"show prints that {name} is blocked, and why", r)
        r = rota("why", name + "-later")
        check("it will not run" in r.stdout and "skipped/blocked" in r.stdout and reasons[name] in r.stdout, f"why prints why {name} is blocked", r)
    r = rota("ls")
    check(all(re.search(rf"^{name} +blocked", r.stdout, re.M) for name in documents), "ls prints that the schedules are blocked", r)
    check(re.search("^plain +active", r.stdout, re.M), "ls prints that the other one is active", r)


def check_many_conditions():
    """More conditions than can be evaluated at the same time: all are evaluated, and runs without a condition do not
    wait."""
    n = 600
    rota("pause", "--all")
    r = rota("apply", "-f", file("many-conditions.yaml", "schedules:\n" + "".join(
        f"- {{id: c{i}, expression: '@every 4s IF user.x', action: {{type: command, command: 'true'}}}}\n" for i in range(n))))
    check(r.returncode == 0 and f"{n} added" in r.stdout, "schedules with conditions are applied", r)
    rota("resume", "--all")

    def all_skipped():
        r = rota("runs", "--limit", "1000", "--json")
        rows = json.loads(r.stdout)["runs"] if r.returncode == 0 else []
        return len({x["schedule"] for x in rows if re.match(r"c\d+\Z", x["schedule"]) and x["reason"] == "condition"}) == n
    until("all conditions are evaluated", all_skipped)
    r = rota("run", "plain", "--wait")
    check(r.returncode in (0, 75), "other schedules run", r)


def check_messages():
    r = rota("add", "@daily", "--id", "shell-template", "--", "echo '{{ date }}'")
    check(r.returncode == 0 and "rota: warning: '{{ date }}' is not expanded" in r.stderr, "add warns of a template in a command line", r)
    r = rota("apply", "-f", file("many.yaml", "schedules:\n" + "".join(
        f"- {{id: t{i}, expression: '@daily', action: {{type: agent_turn, message: hello}}}}\n" for i in range(150))))
    check(r.stderr.count("warning: there is no agent") == 100 and "there may be more" in r.stderr, "at most 100 warnings are printed", r)
    r = rota("add", "@daily TZ=Europe/Berlin", "--tz", "Europe/Berlin", "--id", "twice", "--", "true")
    check(r.returncode == 2 and "timezone is given twice" in r.stderr, "a directive and its option are refused, even if they agree", r)
    r = rota("apply", "-f", file("m.yaml", "id: m\nexpression: '@daily'\naction: {type: mission, mission: x}\n"))
    check(r.returncode == 2 and "m.yaml: an action of type mission is not supported yet; allowed are command, event, agent_turn, webhook, workflow, at line 3, column 16" in r.stderr, "missions are not supported", r)


def main():
    os.makedirs(ENV["XDG_RUNTIME_DIR"], 0o700)
    os.makedirs(HOME)
    os.makedirs(os.path.join(ROOT, "config", "rota"))
    with open(os.path.join(ROOT, "config", "rota", "rota.yaml"), "w", encoding="utf-8") as f:
        f.write("pass_env: [DESK_*]\n")
    daemon = subprocess.Popen([ROTA, "serve", "--data", os.path.join(ROOT, "data")], env=ENV, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        check(b"serving" in daemon.stdout.readline(), "the daemon starts")
        for test in (check_examples, check_specification, check_blocked, check_messages, check_many_conditions,
                     check_example_agent):  # this part is the last one, because the others need a daemon without agents
            test()
    finally:
        daemon.send_signal(signal.SIGTERM)
        check(daemon.wait(30) == 0, "the daemon exits with 0")
        shutil.rmtree(ROOT)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
