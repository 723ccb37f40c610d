#!/usr/bin/env python3
"""Secrets with a real daemon: an agent has them in its environment, and nobody finds them anywhere else: not in the
arguments or the environment of another process, in a listing, a log, a file of a run, or the database.

usage: secrets.py ROTA"""
import glob
import json
import os
import sys

from fixture import ENV, ROOT, ROTA, daemon_pid, path_of, run_parts, rota, start, stop, until, write
from checks import check

ENV["CREDENTIALS_DIRECTORY"] = path_of("credentials")
# Made here and now, so that nothing else on this machine can have them.
VALUES = {name: os.urandom(12).hex() for name in ("API_KEY", "MAIL_KEY", "PRINTED")}


def apply(name, document):
    r = rota("apply", "-f", write(name + ".json", json.dumps(document)))
    check(r.returncode == 0 and r.stderr == "", f"{name} is taken", r)


def agent(name, command, **keys):
    apply("agent-" + name, {"agent": {"name": name, "prompt": f"You are {name}.", "command": command} | keys})


def turn(name, of, **keys):
    apply(name, {"id": name, "expression": "0 0 1 1 *", "agent": of, "action": {"type": "agent_turn", "message": "go"}} | keys)


def last(name):
    return json.loads(rota("runs", name, "--json").stdout)["runs"][0]["id"]


def holds(path):
    """Which of the values are in there."""
    try:
        with open(path, "rb") as f:
            content = f.read()
    except OSError:
        return []
    return [n for n, v in VALUES.items() if v.encode() in content]


def processes(name):
    return {int(p.split("/")[2]): has for p in glob.glob(f"/proc/[0-9]*/{name}") if (has := holds(p))}


def parents(pid):
    found = []
    while pid > 1:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                pid = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            break
    return found


def nowhere(what):
    """Neither in a listing nor in a file of the daemon's."""
    for argv in ((), ("ls",), ("ls", "agents"), ("ls", "runs"), ("show", "work"), ("show", "keyed"), ("show", last("work")),
                 ("logs", "work"), ("events",), ("config",), ("doctor",), ("why", "work"), ("memory", "ls"),
                 ("state", "get", "--agent", "keyed")):
        for more in ((), ("--json",)):
            r = rota(*argv, *more)
            check(r.returncode == (argv == ("doctor",)) and not [n for n, v in VALUES.items() if v in r.stdout + r.stderr],
                  f"{what}: rota {' '.join(argv + more)}", r)
    for base in (ENV["XDG_DATA_HOME"], ENV["XDG_RUNTIME_DIR"]):
        for at, _, files in os.walk(base):
            for f in files:
                check(not holds(os.path.join(at, f)), f"{what}: {f}")


def configure():
    write("keys/api", VALUES["API_KEY"] + "\n")
    write("credentials/rota.mail", VALUES["MAIL_KEY"])
    write("keys/printed", VALUES["PRINTED"] + "\n")
    # Its words are no secret; what it prints is.
    write("config/rota/rota.yaml", json.dumps({"secrets": {"API_KEY": {"file": path_of("keys", "api")}, "MAIL_KEY": {"credential": "rota.mail"},
                                  "PRINTED": {"command": f"echo asked >&2; cat {path_of('keys', 'printed')}"},
                                  "GONE": {"file": path_of("keys", "gone")}}}))


def handed_out():
    names = " ".join(VALUES)
    say = (f"env > {ROOT}/env; for n in {names}; do eval echo $n is \\$$n; eval echo $n \\$$n >&2; done; "
           f"{ROTA} step \"used $API_KEY\"; {ROTA} memory add \"it is $API_KEY\"; {ROTA} state set key \"$API_KEY\"; "
           "echo '{\"report\":\"note\",\"text\":\"'$MAIL_KEY'\"}' >> $ROTA_OUTBOX; "
           f"touch {ROOT}/ready; read line < {ROOT}/end")
    os.mkfifo(path_of("end"))  # it waits there, and starts nothing that would come and go
    agent("keyed", say, secrets=list(VALUES))
    agent("other", f"env > {ROOT}/env-other", secrets=["API_KEY"])
    agent("none", f"env > {ROOT}/env-none")
    turn("work", "keyed", check=f"env > {ROOT}/env-check")
    turn("some", "other")
    turn("nothing", "none")
    apply("plain", {"id": "plain", "expression": "0 0 1 1 *", "agent": "keyed",
                    "action": {"type": "command", "command": f"env > {ROOT}/env-plain"}})
    r = rota("run", "work")
    check(r.returncode == 0, "it runs", r)
    until("the agent works", lambda: os.path.exists(path_of("ready")))
    run = last("work")
    check(processes("cmdline") == {}, "in no process's arguments", processes("cmdline"))
    having = processes("environ")
    check(having and all(sorted(has) == sorted(VALUES) for has in having.values()), f"the agent has all of them: {having}")
    # The agent and what it started; neither its shim nor the daemon nor the launcher.
    with open(glob.glob(f"{ENV['XDG_DATA_HOME']}/rota/runs/*/{run[1:]}.1.run")[0], encoding="latin-1") as f:
        facts = dict(line.split(" ", 1) for line in f.read().split("\n") if " " in line)
    check(all(int(facts["agent"]) in parents(pid) for pid in having), f"and what it started, nobody else: {having}")
    check(int(facts["pid"]) not in having and daemon_pid() not in having, "not the shim, not the daemon")
    for name in ("cmdline", "environ"):
        check(not holds(f"/proc/{daemon_pid()}/{name}"), f"the daemon's {name}")
    check("used [redacted]" in rota("show", run).stdout, "a step says so while it runs", rota("show", run))
    with open(path_of("end"), "w", encoding="utf-8") as f:
        f.write("now\n")
    until("it ends", lambda: json.loads(rota("show", run, "--json").stdout)["state"] == "finished")
    shown = json.loads(rota("show", run, "--json").stdout)
    check(shown["outcome"] == "done", f"done: {shown}")
    check(holds(path_of("env")) == list(VALUES), "in its environment")
    check(holds(path_of("env-check")) == list(VALUES), "and in that of its check")
    log = rota("logs", "work").stdout
    check("API_KEY is [redacted]\n" in log and "PRINTED [redacted]\n" in log and log.startswith("asked\n"), f"masked: {log}")
    for schedule, file, wanted in (("some", "env-other", ["API_KEY"]), ("nothing", "env-none", []),
                                   ("plain", "env-plain", [])):
        r = rota("run", schedule, "--wait")
        check(r.returncode == 0 and os.path.exists(path_of(file)) and holds(path_of(file)) == wanted,
              f"{schedule} has {wanted}", r)
    nowhere("after it")


def not_to_be_had():
    agent("lost", f"touch {ROOT}/lost-ran", secrets=["API_KEY", "GONE"])
    agent("unknown", f"touch {ROOT}/lost-ran", secrets=["API_KEZ"])
    turn("lost", "lost")
    turn("unknown", "unknown")
    for name, why in (("lost", "secret GONE: its file cannot be read: No such file or directory"),
                      ("unknown", "secret API_KEZ: the configuration has none of that name")):
        r = rota("run", name, "--wait")
        check(r.returncode == 1 and "definition" in r.stdout + r.stderr, f"{name}: failed/definition", r)
        r = rota("show", last(name))
        check(why in r.stdout, f"{name} says why", r)
    check(not os.path.exists(path_of("lost-ran")), "nothing was executed")


def doctor():
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"]) for c in r if c["check"] == "secrets"]
    check(("fail", f"secret GONE: {path_of('keys', 'gone')}: No such file or directory") in said
          and ("fail", "agent unknown names the secret API_KEZ, which is not known") in said and len(said) == 2,
          f"the doctor: {said}")
    write("keys/api", VALUES["API_KEY"] + "\n", 0o640)
    write("keys/gone", "anything")
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"], c["advice"]) for c in r if c["check"] == "secrets"]
    check(("warn", f"secret API_KEY: {path_of('keys', 'api')} can be read by others", f"chmod 600 {path_of('keys', 'api')}") in said,
          f"the doctor: {said}")
    os.chmod(path_of("keys", "api"), 0o600)
    agent("unknown", "true", secrets=["API_KEY"])
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"]) for c in r if c["check"] == "secrets"]
    check(said == [("ok", "4, where they should be")], f"the doctor: {said}")


def left_behind():
    stop()
    for path in glob.glob(f"{ENV['XDG_DATA_HOME']}/rota/**", recursive=True):
        check(os.path.isdir(path) or not holds(path), f"left behind: {path}")
    start()


configure()
sys.exit(run_parts(handed_out, not_to_be_had, doctor, left_behind))
