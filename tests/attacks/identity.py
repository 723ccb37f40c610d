#!/usr/bin/env python3
"""Processes that rota started and that try to be taken for a person: children of a killed shim, and commands of
notifications. None of them may do what a person may.

usage: identity.py ROTA
"""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import FAR, ROTA, check, daemon_pid, file_text, path_of, rota, rota_json, run_parts, start, stop, until, write  # noqa: E402

SOCKET = path_of("run/rota/rota.sock")


def adding(name, out):
    """A command that tries to add a schedule as a person, with a clean environment."""
    return f'env -i PATH="$PATH" HOME=/ ROTA_SOCKET={SOCKET} {ROTA} add "{FAR}" --id {name} -- true > {path_of(out)}.tmp 2>&1; echo "exit $?" >> {path_of(out)}.tmp; mv {path_of(out)}.tmp {path_of(out)}'


def exists(name):
    return any(s["id"] == name for s in rota_json("ls").get("schedules", []))


def put(document):
    r = rota("apply", "-f", write(f"{document['id']}.json", json.dumps(document)))
    check(r.returncode == 0, f"{document['id']} is accepted", r)


def check_notification():
    put({"id": "notifies", "expression": FAR, "action": {"type": "command", "command": "false"},
         "notification": {"on_failure": True, "to": [{"type": "command", "command": adding("by_message", "message.out")}]}})
    rota("run", "notifies", "--wait")
    text = until("the command of the notification has run", lambda: file_text("message.out"))
    check("exit 77" in text and not exists("by_message"), "the command of a notification is not a person", text)


def shim_of(pid):
    """The shim above a process: its name is r1.1."""
    while pid > 1:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            text = f.read()
        if text[text.index("(") + 1:text.rindex(")")].startswith("r"):
            name = text[text.index("(") + 1:text.rindex(")")]
            if name[1:].replace(".", "").isdigit():
                return pid
        pid = int(text[text.rindex(")") + 1:].split()[1])
    return 0


def child_after_kill(name, kill_launcher):
    """Starts a run with a detached child that waits for a file, kills the shim (and the launcher), and lets it act."""
    go = path_of(name + ".go")
    put({"id": name, "expression": FAR, "action": {"type": "command", "cwd": path_of(), "command": ["sh", write(f"{name}.sh", f"""
setsid env -i PATH="$PATH" sh {write(name + "-child.sh", f"trap '' TERM HUP; while ! [ -e {go} ]; do sleep 0.01; done; {adding(name + '_made', name + '.out')}")} > /dev/null 2>&1 &
echo $! > {path_of(name)}.child
sleep 60
""")]}})
    rota("run", name)
    child = int(until("the run has its child", lambda: file_text(name + ".child").strip()))
    shim = shim_of(child)
    check(shim > 0, "the shim is found")
    os.kill(child, signal.SIGSTOP)  # so that it is not killed before it acts
    if kill_launcher:
        with open(f"/proc/{daemon_pid()}/task/{daemon_pid()}/children", encoding="ascii") as f:
            for pid in f.read().split():
                os.kill(int(pid), signal.SIGKILL)
    write(name + ".go", "")
    os.kill(shim, signal.SIGKILL)
    os.kill(child, signal.SIGCONT)
    return child


def ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def check_killed_shim():
    for n in range(3):
        name = f"shim{n}"
        child = child_after_kill(name, kill_launcher=False)
        until("the child acted, or was killed", lambda p=child, w=name: ended(p) or file_text(w + ".out"))
        check(not exists(name + "_made"), "a child of a killed shim is not a person", file_text(name + ".out"))
        until("the child was killed", lambda p=child: ended(p))


def check_killed_launcher():
    child = child_after_kill("launcher", kill_launcher=True)
    until("the child acted, or was killed", lambda: ended(child) or file_text("launcher.out"))
    check(not exists("launcher_made"), "the same without a launcher", file_text("launcher.out"))
    r = rota("add", FAR, "--id", "person", "--", "true")
    check(r.returncode == 0, "a person still may", r)


def check_removed_run_file():
    """A run that outlives a restart does not descend from the new daemon, and removes the file that names its shim."""
    put({"id": "removes", "expression": FAR, "action": {"type": "command", "cwd": path_of(), "command": ["sh", write("removes.sh", f"""
touch {path_of('removes.ready')}
while ! [ -e {path_of('removes.go')} ]; do sleep 0.01; done
cd {path_of('share')}
for f in $(find . -name "$ROTA_RUN_ID.1.run"); do mv $f {path_of('removed.run')}; done
{adding('removes_made', 'removes.out')}
""")]}})
    rota("run", "removes")
    until("the run has started", lambda: os.path.exists(path_of("removes.ready")))
    stop()
    start()
    write("removes.go", "")
    text = until("the run has tried", lambda: file_text("removes.out"))
    check(os.path.exists(path_of("removed.run")), "the run file was removed")
    check("exit 77" in text and not exists("removes_made"), "a run without its run file is not a person", text)
    r = rota("add", FAR, "--id", "person2", "--", "true")
    check(r.returncode == 0, "a person still may", r)


def check_environment():
    stop()
    start(GREETING="hello", LD_DEBUG_OUTPUT="/nowhere", SSLKEYLOGFILE=path_of("keys"), HOME=path_of("home"), LC_TIME="C")
    put({"id": "env", "expression": FAR, "action": {"type": "command", "cwd": path_of(), "command": "env > env.out"}})
    rota("run", "env", "--wait")
    names = {line.split("=", 1)[0] for line in file_text("env.out").splitlines()}
    check({"HOME", "PATH", "LC_TIME", "ROTA_RUN_ID", "ROTA_TOKEN"} <= names, "a run gets the usual variables", names)
    check(not {"GREETING", "LD_DEBUG_OUTPUT", "SSLKEYLOGFILE"} & names, "and no others of the daemon", names)
    put({"id": "env2", "expression": FAR, "action": {"type": "command", "command": "false"},
         "notification": {"on_failure": True, "to": [{"type": "command", "command": f"env > {path_of('message.env')}.tmp; mv {path_of('message.env')}.tmp {path_of('message.env')}"}]}})
    rota("run", "env2", "--wait")
    text = until("the message is delivered", lambda: file_text("message.env"))
    check("ROTA_MESSAGE_TEXT=" in text and "GREETING" not in text, "the same for commands of notifications", text)
    for setting, passed in (("pass_env: [GREET*]\n", True), ("pass_env: all\n", True), ("pass_env: [GREET]\n", False)):
        write("config/rota/rota.yaml", setting)
        stop()
        start(GREETING="hello")
        rota("run", "env", "--wait")
        check(("GREETING=hello" in file_text("env.out")) == passed, f"{setting.strip()}: passed on: {passed}", file_text("env.out"))
    os.unlink(path_of("config/rota/rota.yaml"))


sys.exit(run_parts(check_notification, check_killed_shim, check_killed_launcher, check_removed_run_file, check_environment))
