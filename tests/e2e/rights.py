#!/usr/bin/env python3
"""The rights of runs: which requests of a run the daemon accepts, by the command line and by plain HTTP.

usage: rights.py ROTA"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from fixture import ENV, FAR, ROOT, ROTA, path_of, run_parts, rota, start, stop, file_text, until, write
from checks import check

HERE = os.path.dirname(os.path.abspath(__file__))

# A client without rota: method, target, body, token. Prints the answers as JSON.
ASK = path_of("ask.py")
ASK_TEXT = '''
import http.client, json, os, socket, sys
class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["ROTA_SOCKET"])
def ask(method, target, body, token):
    c = Connection("rota")
    c.request(method, target, body or None, {"Authorization": "Bearer " + token} if token else {})
    r = c.getresponse()
    return r.status, r.read().decode()
requests = json.load(open(sys.argv[1])) if len(sys.argv) == 2 else [sys.argv[1:]]
print(json.dumps([ask(*r[:3], os.environ["ROTA_TOKEN"] if r[3] == "own" else r[3]) for r in requests]))
'''


def apply(name, command, **keys):
    document = {"id": name, "expression": FAR, "action": {"type": "command", "command": command}} | keys
    with open(path_of(f"{name}.json"), "w", encoding="utf-8") as f:
        json.dump(document, f)
    r = rota("apply", "-f", path_of(f"{name}.json"))
    check(r.returncode == 0, f"{name} is accepted", r)


def show(number):
    r = rota("show", number, "--json")
    return json.loads(r.stdout) if r.returncode == 0 else {}


def start_run(name):
    """Starts a run by hand. Returns its id."""
    r = rota("run", name, "--json")
    check(r.returncode == 0, f"{name} is run", r)
    return json.loads(r.stdout)["run"]


def run(name, expected="done"):
    number = start_run(name)
    until(f"{name} ends", lambda: show(number).get("state") == "finished")
    got = show(number)
    said = got["outcome"] + ("/" + got["reason"] if got["reason"] else "")
    check(said == expected, f"{name}: {expected}, not {said}: {rota('logs', name).stdout}")
    return got


def record(name, *argv):
    """A shell command that runs argv and writes its output and exit code to files of this name."""
    words = " ".join("'" + a.replace("'", "'\\''") + "'" for a in argv)
    return f"{words} > {path_of(name)}.out 2> {path_of(name)}.err; echo $? > {path_of(name)}; "


def result(name):
    """The exit code, output and errors that `record` has written."""
    code = file_text(name).strip()
    return int(code) if code else -1, file_text(name + ".out"), file_text(name + ".err")


def expect(name, code, part=""):
    got = result(name)
    check(got[0] == code and part in got[2] + got[1], f"{name}: exit {code} and {part!r}, not {got}")


# --- every verb and every route -----------------------------------------------------------------------------------------------------

# Verbs, with arguments that a run might use. Each verb must be in one of these lists.
DENIED = {
    "status": [], "add": ["@daily", "--", "true"], "apply": ["-f", path_of("victim.json")], "ls": [], "edit": ["victim", "--when", "@daily"],
    "rm": ["victim"], "run": ["victim"], "stop": ["victim"], "pause": ["victim"], "resume": ["victim"], "runs": [],
    "logs": ["victim"], "why": ["victim"], "ack": ["1"], "backfill": ["victim", "--from", "1d", "--to", "now"], "events": [],
    "serve": [], "doctor": [], "clock": [], "backup": [path_of("copy.db")], "restore": [path_of("copy.db")],
    "notify": []}
PERMITTED = {
    "show": ["r$ROTA_RUN_ID"], "state": ["get", "."], "report": ["step", "hello"], "step": ["hello"], "note": ["hello"],
    "next-check": ["1h"], "memory": ["add", "hello"]}
FREE = {
    "config": [], "version": [], "completion": ["bash"], "next": ["@daily"], "explain": ["@daily"], "zones": ["Berlin"],
    "eval": ["1 + 1"], "render": [path_of("template")], "agent": ["check", path_of("helper.org")],
    "org": ["parse", path_of("plans/plan.org")], "agenda": [path_of("plans/plan.org")],
    "plan": ["show", path_of("plans/plan.org")],
    "claim": [path_of("plans/plan.org"), "a", "--agent", "x"], "release": [path_of("plans/plan.org"), "a", "--agent", "x"],
    "advance": [path_of("plans/plan.org"), "a", "DONE"]}
# Rows of routes without a verb of the same name that a run may use.
OPEN = {"get-run", "get-state", "set-state", "add-report", "add-memory", "list-memory", "search-memory", "remove-memory",
        "remove-run-memory"}


def op_rows():
    """Name, method and route of the operations with a route, read from the source, so that new rows are tested."""
    rows = os.path.join(HERE, "..", "..", "src", "op", "rows")
    parts = []
    for name in sorted(os.listdir(rows)):
        with open(os.path.join(rows, name), encoding="utf-8") as f:
            parts += re.split(r'\.name = "', f.read())[1:]
    for part in parts:
        name = part.split('"')[0]
        check(".within = WITHIN_" in part, f"row {name} has .within")
        route = re.search(r'\.route = "([^"]+)"', part)
        if route:
            check(".role = ROLE_" in part, f"row {name} has .role")
            yield name, re.search(r'\.method = "([A-Z]+)"', part)[1], route[1]


def make_plan():
    """A plan in a repository, whose tasks can be claimed."""
    os.mkdir(path_of("plans"))
    with open(path_of("plans/plan.org"), "w", encoding="utf-8") as f:
        f.write("* TODO a\n")
    for words in ("init -q", "add .", "-c user.name=x -c user.email=x@example.org commit -qm x"):
        subprocess.run(["git", "-C", path_of("plans"), *words.split()], check=True)


def check_every_verb():
    make_plan()
    verbs = re.findall(r"^  (\S+) +\S", rota("--help").stdout, re.M)
    check(sorted(verbs) == sorted([*DENIED, *PERMITTED, *FREE]), f"each verb is in one of the lists: {set(verbs) ^ {*DENIED, *PERMITTED, *FREE}}")
    with open(path_of("template"), "w", encoding="utf-8") as f:
        f.write("hello")
    with open(path_of("helper.org"), "w", encoding="utf-8") as f:
        f.write("* helper\n:PROPERTIES:\n:RUNNER: command\n:COMMAND: cat\n:END:\n** System prompt\nHelp.\n")
    apply("victim", "sleep 0.1")
    line = ""
    for verb, more in {**DENIED, **PERMITTED, **FREE}.items():
        words = " ".join(f'"{w}"' for w in more)
        line += f'"{ROTA}" {verb} {words} > {path_of("verb-" + verb)}.out 2> {path_of("verb-" + verb)}.err; echo $? > {path_of("verb-" + verb)}; '
    # Again without the token: a descendant of a run has the rights of the run.
    for verb, more in DENIED.items():
        words = " ".join(f'"{w}"' for w in more)
        if verb not in ("serve", "backup", "restore", "ls", "stop", "doctor"):
            line += (f'env -u ROTA_TOKEN "{ROTA}" {verb} {words} > {path_of("bare-" + verb)}.out 2> {path_of("bare-" + verb)}.err; '
                     f'echo $? > {path_of("bare-" + verb)}; ')
    apply("verbs", line, agent="desk", next_check="1s..1h")
    run("verbs")
    for verb in DENIED:
        granted = verb in ("add", "edit", "rm")
        expect("verb-" + verb, 77, "does not let its runs add, change or remove schedules: it has no `grants`" if granted else
             "permitted for the run itself: show, state, memory, report, step, note, next-check")
        if os.path.exists(path_of("bare-" + verb)):
            expect("bare-" + verb, 77, "it has no `grants`" if granted else "is not permitted within a run")
    for verb in {**PERMITTED, **FREE}:
        expect("verb-" + verb, 0)
    left = json.loads(rota("ls", "--json").stdout)["schedules"]
    check(sorted(s["id"] for s in left) == ["verbs", "victim"], f"nothing was added or removed: {left}")
    check(not show("r999").get("id") and len(json.loads(rota("runs", "victim", "--json").stdout)["runs"]) == 0, "no schedule was run")
    check(not os.path.exists(path_of("copy.db")), "no backup was made")


def check_every_route():
    """By plain HTTP, with the token and without: the daemon itself must refuse, not only the command line."""
    requests = []
    for name, method, route in op_rows():
        target = route.replace("{run}", "1").replace("{schedule}", "victim").replace("{problem}", "1").replace("{name}", "victim").replace("{agent}", "x").replace(
            "{note}", "99").replace("{message}", "1")
        requests += [(name, [method, target, "{}", token]) for token in ("own", "")]
    with open(path_of("routes"), "w", encoding="utf-8") as f:
        json.dump([one for _, one in requests], f)
    apply("routes-run", record("routes-asked", "python3", ASK, path_of("routes")), agent="desk")
    run("routes-run")
    code, out, err = result("routes-asked")
    if not check(code == 0, f"all requests were sent: {err}"):
        return
    for (name, one), (status, said) in zip(requests, json.loads(out), strict=True):
        if name in ("get-run", "add-report", "set-next-check"):
            check(status == 403 and "r1 is another run" in said, f"{one}: only about itself: {status} {said}")
        elif name in ("add", "edit", "rm"):
            check(status == 403 and "it has no `grants`" in said, f"{one}: nothing is granted: {status} {said}")
        elif name in OPEN:
            check(status in (200, 400, 404), f"{one}: permitted: {status} {said}")
        else:
            check(status == 403 and "not permitted within a run" in said, f"{one}: denied: {status} {said}")


# --- tokens --------------------------------------------------------------------------------------------------------


def check_tokens():
    """A token is valid for one attempt of one run, while it is running."""
    wait = f"until test -e {path_of('go')}; do sleep 0.05; done"
    apply("first", f'echo $ROTA_TOKEN > {path_of("first.token")}; echo "I am $ROTA_TOKEN"; {wait}; '
          f'test $ROTA_ATTEMPT = 2 && {{ echo $ROTA_TOKEN > {path_of("second.token")}; until test -e {path_of("end")}; do sleep 0.05; done; }}',
          agent="desk", retry={"max_attempts": 1, "initial_delay": 1})
    apply("other", record("stolen", "sh", "-c", f'ROTA_TOKEN=$(cat {path_of("first.token")}) "{ROTA}" show r$ROTA_RUN_ID'), agent="thief")
    number = start_run("first")
    token = until("it has a token", lambda: file_text("first.token").strip())
    check(re.fullmatch(rf"{number}\.1\.[0-9a-f]{{64}}", token), f"the token has the documented form: {token}")
    check(os.stat(path_of("share/rota")).st_mode & 0o777 == 0o700, "only the owner may read the directory of the store, which has the key")
    check(not os.path.exists(path_of("share/rota/token.key")), "there is no file with the key, as in earlier versions")
    check(token not in rota("logs", "first").stdout, "the token is not in the log")

    r = rota("show", number, ROTA_TOKEN=token)
    check(r.returncode == 0, "a request with the token has the rights of the run", r)
    check(rota("status", ROTA_TOKEN=token).returncode == 77, "a request with the token has no other rights")
    run("other")
    expect("stolen", 77, "belongs to another run")
    for wrong in (token[:-1] + ("0" if token[-1] != "0" else "1"), token[:-1], token + "0", token.replace(".1.", ".2."), "x",
                  number, f"{number}.1.", "r1.1." + token.split(".")[2], token.upper()):
        r = rota("show", number, ROTA_TOKEN=wrong)
        check(r.returncode == 77 and "does not belong to a run of this daemon" in r.stderr, f"an invalid token is refused, not ignored: {wrong}", r)

    stop(signal.SIGKILL)
    start()
    check(rota("show", number, ROTA_TOKEN=token).returncode == 0, "the token is valid after a restart of the daemon")
    with open(path_of("go"), "w", encoding="utf-8"):
        pass
    second = until("the next attempt has another token", lambda: file_text("second.token").strip())
    check(second != token and second.startswith(f"{number}.2."), f"the token of attempt 2: {second}")
    r = rota("show", number, ROTA_TOKEN=token)
    check(r.returncode == 77 and "attempt 1 of run" in r.stderr, "the token of an earlier attempt is not valid", r)
    check(rota("show", number, ROTA_TOKEN=second).returncode == 0, "the token of the current attempt is valid")
    with open(path_of("end"), "w", encoding="utf-8"):
        pass
    until("it ends", lambda: show(number).get("state") == "finished")
    r = rota("show", number, ROTA_TOKEN=second)
    check(r.returncode == 77 and "has ended, so its token is no longer valid" in r.stderr, "the token of a run that has ended is not valid", r)


def check_descent():
    """A process cannot leave its run by changing its name, session or environment."""
    twice = ("import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
             "import time\ntime.sleep(0.3)\nos.execve(sys.argv[1], sys.argv[1:], {k: os.environ[k] for k in ('ROTA_SOCKET', 'HOME')})\n")
    with open(path_of("twice.py"), "w", encoding="utf-8") as f:
        f.write(twice)
    shell = f'#!/bin/sh\n"{ROTA}" pause victim > {path_of("daemonized")}.out 2> {path_of("daemonized")}.err\necho $? > {path_of("daemonized")}\n'
    with open(path_of("shell.sh"), "w", encoding="utf-8") as f:
        f.write(shell)
    os.chmod(path_of("shell.sh"), 0o700)
    named = ("import ctypes, os, subprocess, sys\nctypes.CDLL(None).prctl(15, b'r1.1', 0, 0, 0)\n"
             "sys.exit(subprocess.run(sys.argv[1:]).returncode)\n")
    with open(path_of("named.py"), "w", encoding="utf-8") as f:
        f.write(named)
    apply("hidden", f"python3 {path_of('twice.py')} {path_of('shell.sh')}; until test -s {path_of('daemonized')}; do sleep 0.05; done; " +
          record("renamed", "python3", path_of("named.py"), "env", "-i", f"HOME={ROOT}", f"ROTA_SOCKET={path_of('run/rota/rota.sock')}", ROTA, "pause", "victim") +
          record("self", "python3", path_of("named.py"), ROTA, "show", "r1"), agent="desk")
    run("hidden")
    expect("daemonized", 77, "is not permitted within a run")
    expect("renamed", 77, "is not permitted within a run")
    expect("self", 77, "r1 is another run")

    # The shim of the run is killed. Its process lives for a moment more, and is recognized by its environment.
    apply("orphan", f"kill -9 $PPID; {record('orphaned', 'env', '-u', 'ROTA_TOKEN', ROTA, 'pause', 'victim')} sleep 60")
    number = start_run("orphan")
    until("the run ends", lambda: show(number).get("state") == "finished")
    code, _, err = result("orphaned")
    check(code in (-1, 77), f"a process without its shim has no rights of a person: {code} {err}")
    r = rota("show", "victim", "--json")
    check("paused_until" not in json.loads(r.stdout), "nothing was paused", r)


def check_checks_and_scripts():
    """Checks and expectation scripts have the rights of the run."""
    apply("around", "true", agent="desk", check=record("in-check", ROTA, "pause", "victim") + record("state-check", ROTA, "state", "set", "seen", "1"),
          expectations=[{"type": "script", "command": record("in-script", ROTA, "pause", "victim")}])
    run("around")
    expect("in-check", 77)
    expect("state-check", 0)
    expect("in-script", 77)


def check_sandbox():
    """In other namespaces and without /proc: the daemon identifies the process from outside."""
    probe = subprocess.run(["unshare", "-Urpmf", "true"], capture_output=True, check=False)
    if probe.returncode:
        return  # user namespaces are not permitted on this machine
    inner = f"mount -t tmpfs none /proc; {record('boxed', 'python3', ASK, 'POST', '/api/v1/schedules/victim/pause', '{}', '')}"
    with open(path_of("inner.sh"), "w", encoding="utf-8") as f:
        f.write(inner)
    apply("boxed-run", f"unshare -Urpmf sh {path_of('inner.sh')}", agent="desk")
    run("boxed-run")
    expect("boxed", 0, "[[403, ")


# --- requests that a run may send ----------------------------------------------------------------------------------------


def check_state():
    """A run may change the state of its own agent and read the user's."""
    rota("state", "set", "name", "Ann", "--user")
    rota("state", "set", "secret", "x", "--agent", "other")
    apply("stateful", record("s1", ROTA, "state", "set", "count", "1", "--json") + record("s2", ROTA, "state", "set", "count", "2", "--rev", "1") +
          record("s3", ROTA, "state", "set", "count", "3", "--rev", "1") + record("s4", ROTA, "state", "get", "count") +
          record("s5", ROTA, "state", "get", "name", "--user") + record("s6", ROTA, "state", "set", "name", "Eve", "--user") +
          record("s7", ROTA, "state", "get", ".", "--agent", "other") + record("s8", ROTA, "state", "set", "a", "1", "--agent", "other") +
          record("s9", "env", "-u", "ROTA_TOKEN", "-u", "ROTA_AGENT", ROTA, "state", "get", "count"), agent="counter")
    run("stateful")
    expect("s1", 0, '"rev":1')
    expect("s2", 0)
    expect("s3", 1, "the state has revision 2, not 1")
    expect("s4", 0, "2")
    expect("s5", 0, "Ann")
    expect("s6", 77, "a run may read the user's profile, but not change it")
    expect("s7", 77, "'other' is another agent")
    expect("s8", 77, "'other' is another agent")
    expect("s9", 0, "2")
    check(rota("state", "get", "name", "--user").stdout == '"Ann"\n', "the user's profile is unchanged")
    check(json.loads(rota("state", "get", ".", "--agent", "counter").stdout) == {"count": 2}, "the state is as the run set it")
    apply("no-agent-run", record("no-agent", ROTA, "state", "get", "."))
    run("no-agent-run")
    code, _, err = result("no-agent")
    check(code in (2, 77), f"a run without an agent has no state: {code} {err}")


def check_memory():
    """A run may write notes of its own agent. The id of the run is recorded, whatever the request claims."""
    other = json.loads(rota("memory", "add", "a note of another", "--agent", "other", "--json", ROTA_RUN_ID="1").stdout)
    check("run" not in other, f"a person cannot claim to be a run: {other}")
    apply("mindful", record("m1", ROTA, "memory", "add", "mine", "--json") +
          record("m2", "env", "-u", "ROTA_TOKEN", "-u", "ROTA_AGENT", "ROTA_RUN_ID=1", ROTA, "memory", "add", "mine, too", "--json") +
          record("m3", ROTA, "memory", "add", "x", "--agent", "other") + record("m4", ROTA, "memory", "search", "note", "--agent", "other") +
          record("m5", ROTA, "memory", "rm", str(other["number"])) + record("m6", ROTA, "memory", "ls", "--json"), agent="mindful")
    number = run("mindful")["id"]
    for name in ("m1", "m2"):
        expect(name, 0, f'"run":"{number}"')
    expect("m3", 77, "'other' is another agent")
    expect("m4", 77, "'other' is another agent")
    expect("m5", 1, "does not belong to 'mindful'")
    expect("m6", 0, "mine, too")
    check("another" not in result("m6")[1], "notes of other agents are not listed")
    left = json.loads(rota("memory", "ls", "--agent", "other", "--json").stdout)["notes"]
    check([n["text"] for n in left] == ["a note of another"], f"notes of other agents are unchanged: {left}")


def check_reports():
    """Reports are visible while the run is running. They are sent over the socket if the outbox cannot be written."""
    apply("speaks", record("r1", ROTA, "step", "began") + record("r2", "env", "ROTA_OUTBOX=/nonexistent/box", ROTA, "step", "by socket") +
          record("r3", "env", "-u", "ROTA_OUTBOX", ROTA, "report", "note", "also") +
          f"until test -e {path_of('heard')}; do sleep 0.05; done; " + record("r4", "env", "-u", "ROTA_OUTBOX", ROTA, "report", "fail", "no access"))
    number = start_run("speaks")
    until("the commands have run", lambda: file_text("r3"))
    want = [("run:step", "began", "speaks"), ("run:step", "by socket", "speaks"), ("run:note", "also", "speaks")]
    told = []

    def heard():
        told[:] = [(e["type"], e["data"]["text"], e["data"]["schedule"]) for e in json.loads(rota("events", "--json").stdout)["events"]
                   if e["data"].get("run") == number and "text" in e["data"]]
        return len(told) >= 3
    until("the reports are logged", heard)
    check(told == want, f"reports are events: {told}")
    for key in "r1", "r2", "r3":
        expect(key, 0)
    got = show(number)
    check(got["state"] == "running" and [x["text"] for x in got["reports"]] == ["began", "by socket", "also"], f"reports are shown while the run is running: {got}")
    with open(path_of("heard"), "w", encoding="utf-8"):
        pass
    until("it ends", lambda: show(number).get("state") == "finished")
    expect("r4", 0)
    got = show(number)
    check((got["outcome"], got["reason"]) == ("failed", "reported"), f"a failure reported by the socket counts: {got}")
    # The daemon does not block on an outbox that is a pipe.
    report = f"""python3 {ASK} POST /api/v1/runs/$ROTA_RUN_ID/reports '{{"kind":"step","text":"x"}}' own"""
    apply("pipes", 'rm -f "$ROTA_OUTBOX"; mkfifo "$ROTA_OUTBOX"; ' + record("r5", "sh", "-c", report))
    run("pipes")
    expect("r5", 0, "cannot write")
    r = rota("report", "fail", "x")
    check(r.returncode == 2 and "within a run" in r.stderr, "report is refused outside of a run", r)
    r = subprocess.run(["python3", ASK, "POST", f"/api/v1/runs/{number}/reports", '{"kind":"step","text":"x"}', ""], capture_output=True,
                       text=True, env=ENV | {"ROTA_SOCKET": path_of("run/rota/rota.sock")}, check=False)
    check(r.stdout.startswith("[[403, "), "a person cannot report for a run", r)


def check_next_check():
    """A run may set its schedule's next time within bounds. Times before it are skipped; it survives a restart."""
    apply("sooner", f'echo x >> {path_of("sooner-ran")}; test -e {path_of("sooner-set")} || ' + record("sooner-set", ROTA, "next-check", "1s", "--json"),
          next_check="1s..1h")
    run("sooner")
    expect("sooner-set", 0, '"schedule":"sooner"')
    until("the schedule has run again", lambda: file_text("sooner-ran").count("x") == 2)
    runs = json.loads(rota("runs", "sooner", "--json").stdout)["runs"]
    promised = json.loads(file_text("sooner-set.out"))["next"]
    check(runs[0]["kind"] == "timer" and runs[0]["nominal"] == promised, f"the schedule runs at the time that was set: {promised} {runs[0]}")
    left = json.loads(rota("show", "sooner", "--json").stdout)
    check(left["next"][5:10] == "01-01" and "next_set_at" not in left, f"after that run the expression applies again: {left}")

    keys = {"next_check": "5m..1h", "overlap": "allow", "expression": "* * * * *"}
    # The run sets the time once, even if a second run starts meanwhile.
    apply("later", f"mkdir {path_of('once')} || exit 0; " + record("later-set", ROTA, "next-check", "50m", "--json") +
          record("too-soon", ROTA, "next-check", "4m") + record("too-late", ROTA, "next-check", "2h") +
          record("nonsense", ROTA, "next-check", "soon"), **keys)
    run("later")
    until("the commands have run", lambda: file_text("nonsense"))
    expect("too-soon", 77, "'later' allows its runs a next check in 5m to 1h from now")
    expect("too-late", 77, "5m to 1h")
    expect("nonsense", 2, "'soon' is not a duration")
    promised = json.loads(file_text("later-set.out"))["next"]

    def is_set():
        got = json.loads(rota("show", "later", "--json").stdout)
        return got["state"] == "active" and got["next"] == promised and got["next_set_at"]
    stop(signal.SIGKILL)
    start()
    check(is_set(), "the time is shown, and survives kill -9", rota("show", "later", "--json"))
    check(json.loads(rota("why", "later", "--json").stdout)["answer"] == "will_run", "why says that it will run at the time that was set", rota("why", "later"))
    minute = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() + 180))
    r = rota("why", "later", minute)
    check("one of its runs had set a later time" in r.stdout and "skipped/gated" in r.stdout, "it does not run before the time that was set", r)
    apply("later", "true", **keys)
    check(is_set(), "a change of the action keeps the time that was set", rota("show", "later", "--json"))
    apply("later", "true", **keys | {"expression": "*/2 * * * *"})
    got = json.loads(rota("show", "later", "--json").stdout)
    check(got["next"] != promised and "next_set_at" not in got, f"a change of the expression removes the time that was set: {got}")

    # Without an agent in the schedule, the only agent takes the turn, with its own bounds and state.
    with open(path_of("turn.sh"), "w", encoding="utf-8") as f:
        f.write(record("turn-set", ROTA, "next-check", "30m") + record("turn-soon", ROTA, "next-check", "1m") +
                record("turn-state", "env", "-u", "ROTA_AGENT", ROTA, "state", "set", "turns", "1"))
    with open(path_of("only.org"), "w", encoding="utf-8") as f:
        f.write(f"* only\n:PROPERTIES:\n:RUNNER: command\n:COMMAND: sh {path_of('turn.sh')}\n:NEXT-CHECK: 5m..1h\n:END:\n** System prompt\nHelp.\n")
    r = rota("apply", "-f", path_of("only.org"))
    check(r.returncode == 0, "the agent is accepted", r)
    apply("turn", "", action={"type": "agent_turn", "message": "go"})
    run("turn")
    expect("turn-set", 0)
    expect("turn-soon", 77, "5m to 1h")
    expect("turn-state", 0)
    check(rota("state", "get", "turns", "--agent", "only").stdout == "1\n", "the state is the agent's")

    apply("unbound", record("no-bounds", ROTA, "next-check", "30m"))
    run("unbound")
    expect("no-bounds", 77, "it has no `next_check`")
    r = rota("next-check", "30m")
    check(r.returncode == 2 and "within a run" in r.stderr, "next-check of a person is refused", r)
    r = subprocess.run(["python3", ASK, "POST", "/api/v1/runs/1/next-check", '{"in":"30m"}', ""], capture_output=True, text=True,
                       env=ENV | {"ROTA_SOCKET": path_of("run/rota/rota.sock")}, check=False)
    check(r.stdout.startswith("[[403, "), "next-check of a person by HTTP is refused", r)


def check_grants():
    """Grants limit the number of schedules, their least interval, and their end, which is not later than the grantor's.
    Other schedules cannot be changed."""
    line = (record("g1", ROTA, "add", "@every 2h", "--id", "child", "--json", "--", "true") + record("g2", ROTA, "add", "@every 30m", "--id", "often", "--", "true") +
            record("g3", ROTA, "add", "0 8,9 * * *", "--id", "second", "--", "true") + record("g4", ROTA, "add", "@daily", "--id", "third", "--", "true") +
            record("g5", ROTA, "edit", "child", "--when", "@every 3h") + record("g6", ROTA, "edit", "child", "--when", "@every 59m") +
            record("g7", ROTA, "edit", "victim", "--when", "@every 3h") + record("g8", ROTA, "rm", "victim") + record("g9", ROTA, "rm", "second") +
            record("g10", ROTA, "add", "@daily UNTIL 2027-02-01", "--id", "third", "--", "true") + record("g11", ROTA, "apply", "-f", path_of("victim.json")) +
            record("g12", "python3", ASK, "POST", "/api/v1/schedules", json.dumps({"document": {
                "id": "more", "expression": "@daily", "grants": {"schedules": 1}, "action": {"type": "command", "command": "true"}}}), "") +
            record("g13", "python3", ASK, "POST", "/api/v1/schedules", json.dumps({"document": {
                "id": "more", "after": {"schedule": "child"}, "action": {"type": "command", "command": "true"}}}), "") +
            record("g15", "python3", ASK, "POST", "/api/v1/schedules", json.dumps({"document": {
                "id": "more", "expression": "@daily", "next_check": "1s..2h", "action": {"type": "command", "command": "true"}}}), "") +
            record("g16", "python3", ASK, "POST", "/api/v1/schedules", json.dumps({"document": {
                "id": "more", "expression": "@daily", "agent": "other", "action": {"type": "command", "command": "rota state get ."}}}), "") +
            record("g17", "python3", ASK, "PATCH", "/api/v1/schedules/child", json.dumps({"document": {"agent": "other"}}), "") +
            record("g18", "python3", ASK, "PATCH", "/api/v1/schedules/child", json.dumps({"document": {"agent": "mine"}}), "") +
            record("g14", ROTA, "add", "@daily", "--id", "victim", "--update", "--", "true"))
    apply("maker", line, grants={"schedules": 2, "interval": "1h"}, end_date="2027-03-01", agent="mine")
    number = run("maker")["id"]
    wanted = {"g1": (0, '"result":"added"'), "g2": (77, "at least 1h apart"), "g3": (0, ""), "g4": (77, "may have at most 2 schedules at a time"),
              "g5": (0, "changed"), "g6": (77, "at least 1h apart"), "g7": (77, "not added by a run of 'maker'"), "g8": (77, "was not added by a run of 'maker'"),
              "g9": (0, ""), "g10": (0, ""), "g11": (77, "not permitted"), "g12": (0, "[[403, "), "g13": (0, "[[403, "), "g14": (77, "not added by a run"),
              "g15": (0, "must begin at 1h"), "g16": (0, "'other' is another agent"), "g17": (0, "'other' is another agent"), "g18": (0, "[[200, ")}
    for key, (code, part) in wanted.items():
        expect(key, code, part)
    child = json.loads(rota("show", "child", "--json").stdout)
    check(child["source"] == f"run {number} of maker" and f"run {number} of maker" in rota("show", "child").stdout, f"the schedule shows which run made it: {child}")
    check(child["document"]["end_date"] == "2027-03-02T00:00:00Z", f"an added schedule ends when its grantor ends: {child}")
    third = json.loads(rota("show", "third", "--json").stdout)
    check(third["document"]["end_date"].startswith("2027-02-01"), f"an added schedule may end earlier: {third}")
    check(json.loads(rota("show", "victim", "--json").stdout)["document"]["expression"] == FAR, "other schedules are unchanged")

    # Runs of other schedules may not change it; a person may.
    apply("stranger", record("h1", ROTA, "rm", "child"), grants={"schedules": 2})
    run("stranger")
    expect("h1", 77, "was not added by a run of 'stranger'")
    check(rota("edit", "child", "--when", "@daily").returncode == 0 and "source" not in json.loads(rota("show", "child", "--json").stdout),
          "a schedule that a person has changed no longer belongs to the run")


write("ask.py", ASK_TEXT)
sys.exit(run_parts(
    check_every_verb, check_every_route, check_tokens, check_descent, check_checks_and_scripts,
    check_sandbox, check_state, check_memory, check_reports, check_next_check, check_grants))
