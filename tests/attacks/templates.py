#!/usr/bin/env python3
"""Values that try to become programs: a template in any word that an interpreter would execute is refused.

usage: templates.py ROTA
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import FAR, check, path_of, rota, run_parts, write  # noqa: E402

VALUE = "$(touch PWNED); touch PWNED"
T = "{{ user.evil }}"
# Commands in which the value would be executed.
REFUSED = [
    ["sh", "-c", T], ["sh", "-ce", T], ["sh", "-cx", T], ["sh", "-c", "--", T], ["bash", "-c", "-o", "pipefail", T],
    ["rbash", "-c", T], ["script", "-qc", T, "/dev/null"], ["env", "-S", T], ["env", f"-S{T}"], ["env", T],
    ["su", "-c", T], ["ssh", "host", T], ["xargs", "sh", "-c", T], ["find", ".", "-exec", "sh", "-c", T, ";"],
    ["find", ".", "-exec", T, ";"], ["python3", "-c", T], ["perl", "-e", T], ["perl", "-ne", T], ["node", "-e", T],
    ["node", f"--eval={T}"], ["awk", T], ["nice", "timeout", "5", "bash", "-lc", T], ["sh", T, "x"], [T, "-c", "x"],
    ["sh", "-c", "echo x", T], ["busybox", "ash", "-c", T], ["flock", "x", "-c", T], ["make", f"X={T}"],
    # the value names the program that a wrapper starts
    ["nice", "-n", "5", T, "-c", T], ["timeout", "5", T], ["env", "A=b", T], ["sudo", "-u", "www", T], ["setsid", "-w", T],
    ["chroot", "/x", T], ["unshare", "-r", T], ["systemd-run", "--user", T], ["flock", "x", T], ["stdbuf", "-o", "L", T],
    # the value becomes an option that executes its value
    ["tar", "-cf", "x.tar", "a", T], ["git", "fetch", "origin", T], ["git", "grep", "x", T], ["rsync", "-a", "src", T], ["scp", "a", T],
    ["sort", "f", T], ["vim", "f", T], ["yt-dlp", T], ["wget", T], ["su", "www", T],
    # other names, and other options
    ["bash-static", "-c", T], ["python3-dbg", "-c", T], ["python3.12t", "-c", T], ["python3", "-m", "timeit", T], ["pee", T], ["capsh", "--", "-c", T],
    # programs in containers, scripts of packages, rules of make
    ["docker", "exec", "box", "sh", "-c", T], ["docker", "exec", "box", T], ["docker", "run", "--rm", "image", T], ["podman", "run", f"--entrypoint={T}", "image"],
    ["docker", "compose", "exec", "web", T], ["kubectl", "exec", "pod", "--", T], ["kubectl", "exec", "pod", "--", "bash", "-lc", T],
    ["sudo", "podman", "exec", "box", T], ["npm", "run", T], ["npm", "run", "build", "--", T], ["npm", "exec", "--", T], ["npm", "exec", "-c", T],
    ["npx", T], ["npx", "-y", "tool", T], ["pnpm", "run", "x", T], ["yarn", "x", T], ["make", T], ["make", "-C", "d", "x", f"A={T}"],
    ["just", "deploy", T], ["uvx", T], ["env", f"BASH_ENV={T}", "bash", "run.sh"], ["env", f"GIT_SSH_COMMAND=ssh -i {T}", "git", "fetch"],
]
# Commands in which the value stays data.
ALLOWED = [["nice", "-n", "5", "prog", T], ["timeout", "5", "prog", T], ["tar", "-cf", "x.tar", "--", T], ["git", "commit", "-am", T],
           ["printf", "%s", T], ["env", f"X={T}", "true"], ["git", "commit", "-m", T], ["./run.sh", T], ["sh", "run.sh", T],
           ["docker", "ps", "--format", "{{.Names}}"]]


def document(command, **more):
    return json.dumps({"id": "attack", "expression": FAR, "action": {"type": "command", "cwd": path_of(), "command": command, **more}})


def add(text):
    return rota("apply", "-f", write("attack.json", text), "--dry-run")


def refused(what, text):
    r = add(text)
    check(r.returncode == 2 and "could execute its value" in r.stderr and "env" in r.stderr, what, r)


def check_commands():
    for command in REFUSED:
        refused(f"{command} is refused", document(command))
    for command in ALLOWED:
        r = add(document(command))
        check(r.returncode == 0, f"{command} is accepted", r)
    for keys in ({"check": ["sh", "-c", T]}, {"expectations": [{"type": "script", "command": ["bash", "-xc", T]}]}):
        refused(f"{list(keys)[0]}: the same is refused", json.dumps(json.loads(document(["true"])) | keys))
    r = add(document(f"echo {T}"))
    check(r.returncode == 0 and "is not expanded" in r.stderr and "env" in r.stderr and "as a list" not in r.stderr,
          "a command line causes a warning that names the environment only", r)


def check_input():
    for command in (["sh"], ["bash", "-s"], ["python3", "-"], ["python3", "-i", "x.py"], ["crontab", "-"], ["xargs", "sh", "-c", "{}"], "cat | sh", ["docker", "run", "-i", "image"], ["kubectl", "exec", "-i", "pod", "--", "psql"]):
        refused(f"{command}: a template in the program on stdin is refused", document(command, stdin=T))
    r = add(document(["cat"], stdin=T))
    check(r.returncode == 0, "a template in other input is accepted", r)


def check_agents():
    for command in (["bash", "-c"], "bash -c"):
        refused(f"an agent with the command {command}: templates in args are refused",
                json.dumps({"agent": {"name": "desk", "prompt": "p", "command": command, "args": [T]}}))


def check_environment():
    """The environment is the way to pass a value to a program, unless programs execute the variable itself."""
    for name in ("BASH_ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "LD_PRELOAD", "PS4", "PAGER"):
        r = add(document(["true"], env={name: f"x {T}"}))
        check(r.returncode == 2 and f"execute the value of {name}" in r.stderr, f"a template in {name} is refused", r)
    r = rota("state", "set", "evil", json.dumps(VALUE), "--user")
    check(r.returncode == 0, "the value is stored", r)
    r = rota("apply", "-f", write("safe.json", json.dumps({"id": "safe", "expression": FAR, "action": {
        "type": "command", "cwd": path_of(), "command": ["sh", "-c", 'printf %s "$X"'], "env": {"X": T}}})))
    check(r.returncode == 0, "a template in env is accepted", r)
    rota("run", "safe", "--wait")
    r = rota("logs", "safe")
    check(VALUE in r.stdout, "the value arrives unchanged", r)
    check(not os.path.exists(path_of("PWNED")), "no value was executed")


sys.exit(run_parts(check_commands, check_input, check_agents, check_environment))
