#!/usr/bin/env python3
"""Secrets, with a real daemon: an agent has them in its environment, and they are nowhere else: not in the arguments or
the environment of another process, in a listing, a log, a file of a run, or the database.

usage: secrets.py ROTA"""
import glob
import json
import os
import sys

from fixture import ENV, ROOT, ROTA, daemon_pid, path_of, run_parts, rota, start, stop, until, write
from checks import check

ENV["CREDENTIALS_DIRECTORY"] = path_of("credentials")
# Random, so that nothing else on this machine can have them.
VALUES = {name: os.urandom(12).hex() for name in ("API_KEY", "MAIL_KEY", "PRINTED")}


def apply(name, document):
    r = rota("apply", "-f", write(name + ".json", json.dumps(document)))
    check(r.returncode == 0 and r.stderr == "", f"{name} is accepted", r)


def apply_agent(name, command, **keys):
    apply("agent-" + name, {"agent": {"name": name, "prompt": f"You are {name}.", "command": command} | keys})


def apply_turn(name, of, **keys):
    apply(name, {"id": name, "expression": "0 0 1 1 *", "agent": of, "action": {"type": "agent_turn", "message": "go"}} | keys)


def last_run(name):
    return json.loads(rota("runs", name, "--json").stdout)["runs"][0]["id"]


def secrets_in(path):
    """The names of the secrets whose values are in a file."""
    try:
        with open(path, "rb") as f:
            content = f.read()
    except OSError:
        return []
    return [n for n, v in VALUES.items() if v.encode() in content]


def processes_with_secrets(name):
    return {int(p.split("/")[2]): has for p in glob.glob(f"/proc/[0-9]*/{name}") if (has := secrets_in(p))}


def ancestors(pid):
    found = []
    while pid > 1:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                pid = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            break
    return found


def check_not_exposed(what):
    """No value is in a listing or in a file of the daemon."""
    for argv in ((), ("ls",), ("ls", "agents"), ("ls", "runs"), ("show", "work"), ("show", "keyed"), ("show", last_run("work")),
                 ("logs", "work"), ("events",), ("config",), ("doctor",), ("why", "work"), ("memory", "ls"),
                 ("state", "get", "--agent", "keyed")):
        for more in ((), ("--json",)):
            r = rota(*argv, *more)
            check(r.returncode == (argv == ("doctor",)) and not [n for n, v in VALUES.items() if v in r.stdout + r.stderr],
                  f"{what}: rota {' '.join(argv + more)}", r)
    for base in (ENV["XDG_DATA_HOME"], ENV["XDG_RUNTIME_DIR"]):
        for at, _, files in os.walk(base):
            for f in files:
                check(not secrets_in(os.path.join(at, f)), f"{what}: {f}")


def configure():
    write("keys/api", VALUES["API_KEY"] + "\n")
    write("credentials/rota.mail", VALUES["MAIL_KEY"])
    write("keys/printed", VALUES["PRINTED"] + "\n")
    # The command is not secret; its output is.
    write("config/rota/rota.yaml", json.dumps({"secrets": {"API_KEY": {"file": path_of("keys", "api")}, "MAIL_KEY": {"credential": "rota.mail"},
                                  "PRINTED": {"command": f"echo asked >&2; cat {path_of('keys', 'printed')}"},
                                  "GONE": {"file": path_of("keys", "gone")}}}))


def check_environment():
    names = " ".join(VALUES)
    say = (f"env > {ROOT}/env; for n in {names}; do eval echo $n is \\$$n; eval echo $n \\$$n >&2; done; "
           f"{ROTA} step \"used $API_KEY\"; {ROTA} memory add \"it is $API_KEY\"; {ROTA} state set key \"$API_KEY\"; "
           "echo '{\"report\":\"note\",\"text\":\"'$MAIL_KEY'\"}' >> $ROTA_OUTBOX; "
           f"touch {ROOT}/ready; read line < {ROOT}/end")
    os.mkfifo(path_of("end"))  # the agent waits here without starting processes
    apply_agent("keyed", say, secrets=list(VALUES))
    apply_agent("other", f"env > {ROOT}/env-other", secrets=["API_KEY"])
    apply_agent("none", f"env > {ROOT}/env-none")
    apply_turn("work", "keyed", check=f"env > {ROOT}/env-check")
    apply_turn("some", "other")
    apply_turn("nothing", "none")
    apply("plain", {"id": "plain", "expression": "0 0 1 1 *", "agent": "keyed",
                    "action": {"type": "command", "command": f"env > {ROOT}/env-plain"}})
    r = rota("run", "work")
    check(r.returncode == 0, "the run is started", r)
    until("the agent works", lambda: os.path.exists(path_of("ready")))
    run = last_run("work")
    check(processes_with_secrets("cmdline") == {}, "no process has a secret in its arguments", processes_with_secrets("cmdline"))
    having = processes_with_secrets("environ")
    check(having and all(sorted(has) == sorted(VALUES) for has in having.values()), f"the agent has all secrets: {having}")
    # The agent and its children have the secrets. The shim, the daemon and the launcher do not.
    with open(glob.glob(f"{ENV['XDG_DATA_HOME']}/rota/runs/*/{run[1:]}.1.run")[0], encoding="latin-1") as f:
        facts = dict(line.split(" ", 1) for line in f.read().split("\n") if " " in line)
    check(all(int(facts["agent"]) in ancestors(pid) for pid in having), f"only the agent and its children have them: {having}")
    check(int(facts["pid"]) not in having and daemon_pid() not in having, "neither the shim nor the daemon has them")
    for name in ("cmdline", "environ"):
        check(not secrets_in(f"/proc/{daemon_pid()}/{name}"), f"the daemon's {name} has no secret")
    check("used [redacted]" in rota("show", run).stdout, "a step is redacted while the run is running", rota("show", run))
    with open(path_of("end"), "w", encoding="utf-8") as f:
        f.write("now\n")
    until("it ends", lambda: json.loads(rota("show", run, "--json").stdout)["state"] == "finished")
    shown = json.loads(rota("show", run, "--json").stdout)
    check(shown["outcome"] == "done", f"done: {shown}")
    check(secrets_in(path_of("env")) == list(VALUES), "the agent's environment has all secrets")
    check(secrets_in(path_of("env-check")) == list(VALUES), "the environment of its check has all secrets, too")
    log = rota("logs", "work").stdout
    check("API_KEY is [redacted]\n" in log and "PRINTED [redacted]\n" in log and log.startswith("asked\n"), f"the log is redacted: {log}")
    for schedule, file, wanted in (("some", "env-other", ["API_KEY"]), ("nothing", "env-none", []),
                                   ("plain", "env-plain", [])):
        r = rota("run", schedule, "--wait")
        check(r.returncode == 0 and os.path.exists(path_of(file)) and secrets_in(path_of(file)) == wanted,
              f"{schedule} has {wanted}", r)
    check_not_exposed("after the run")


def check_missing_secrets():
    apply_agent("lost", f"touch {ROOT}/lost-ran", secrets=["API_KEY", "GONE"])
    apply_agent("unknown", f"touch {ROOT}/lost-ran", secrets=["API_KEZ"])
    apply_turn("lost", "lost")
    apply_turn("unknown", "unknown")
    for name, why in (("lost", "secret GONE: its file cannot be read: No such file or directory"),
                      ("unknown", "secret API_KEZ: the configuration has no secret of that name")):
        r = rota("run", name, "--wait")
        check(r.returncode == 1 and "definition" in r.stdout + r.stderr, f"{name}: failed/definition", r)
        r = rota("show", last_run(name))
        check(why in r.stdout, f"{name}: the reason is shown", r)
    check(not os.path.exists(path_of("lost-ran")), "nothing was executed")


def check_doctor():
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"]) for c in r if c["check"] == "secrets"]
    check(("fail", f"secret GONE: {path_of('keys', 'gone')}: No such file or directory") in said
          and ("fail", "agent unknown needs the secret API_KEZ, which is not defined") in said and len(said) == 2,
          f"the doctor: {said}")
    write("keys/api", VALUES["API_KEY"] + "\n", 0o640)
    write("keys/gone", "anything")
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"], c["advice"]) for c in r if c["check"] == "secrets"]
    check(("warn", f"secret API_KEY: {path_of('keys', 'api')} can be read by other users", f"chmod 600 {path_of('keys', 'api')}") in said,
          f"the doctor: {said}")
    os.chmod(path_of("keys", "api"), 0o600)
    apply_agent("unknown", "true", secrets=["API_KEY"])
    r = json.loads(rota("doctor", "--json").stdout)["checks"]
    said = [(c["state"], c["text"]) for c in r if c["check"] == "secrets"]
    check(said == [("ok", "4 defined; their files can be read")], f"the doctor: {said}")


def check_files_after_stop():
    stop()
    for path in glob.glob(f"{ENV['XDG_DATA_HOME']}/rota/**", recursive=True):
        check(os.path.isdir(path) or not secrets_in(path), f"after the stop no file has a secret: {path}")
    start()


configure()
sys.exit(run_parts(check_environment, check_missing_secrets, check_doctor, check_files_after_stop))
