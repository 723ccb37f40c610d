#!/usr/bin/env python3
"""The daemon: refused starts, stops, kills and restarts, runs that continue across restarts, changes of zone files.

usage: daemon.py ROTA FIXTURES [PART...]; FIXTURES is the directory of run files of earlier versions"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import NoAnswer, Refused, Rig, is_alive, kill, run_parts, wait_until  # noqa: E402

ROTA, FIXTURES = sys.argv[1:3]


def command(id, line, expression="0 0 29 2 *", **more):
    return {"id": id, "expression": expression, "action": {"type": "command", "command": line}, **more}


def run_now(rig, id):
    return rig.ask("POST", f"/schedules/{id}/run", {})["run"]


def run_of(rig, run):
    return rig.ask("GET", f"/runs/{run}")


def wait_finished(rig, run, seconds=30):
    return wait_until(seconds, lambda: (r := run_of(rig, run))["state"] == "finished" and r, 0.05) or run_of(rig, run)


def run_file(rig, run, attempt=1, kind="run"):
    found = glob.glob(f"{rig.data}/runs/*/{run[1:]}.{attempt}.{kind}")
    return found[0] if found else None


def run_file_facts(rig, run):
    """The facts in a run file, by name."""
    with open(wait_until(60, lambda: run_file(rig, run)), "rb") as f:
        lines = f.read().replace(b"\0", b"").decode(errors="replace").splitlines()
    return dict(line.split(" ", 1) for line in lines if " " in line)


def wait_started(rig, run):
    wait_until(60, lambda: run_of(rig, run)["started_at"])
    return run_file_facts(rig, run)


def run_processes(rig):
    """All processes of the rig except the daemon and its launcher."""
    return {p: n for p, n in rig.processes().items() if n not in ("rota", "rota-launcher")}


# --- refusals ----------------------------------------------------------------------------------------------------

def two_daemons():
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(command("one", "true"))
        r = rig.serve_once(at=rig.socket + "2")
        check(r.returncode == 75 and str(rig.daemon.pid) in r.stderr and rig.data in r.stderr,
              "a second daemon is refused, and the message names the first", r)
        check(not os.path.exists(rig.socket + "2"), "the second daemon leaves no socket")
        r = rig.serve_once(data=os.path.join(rig.dir, "other"))
        check(r.returncode == 1 and rig.socket in r.stderr, "a second daemon at the same socket is refused", r)
        check(wait_finished(rig, run_now(rig, "one"))["outcome"] == "done", "the first daemon still runs schedules")


def damage(path, offset, text):
    with open(path, "r+b") as f:
        f.seek(offset)
        f.write(text)


def bad_databases():
    with Rig(ROTA) as rig:
        rig.start()
        for n in range(50):
            rig.add(command(f"s{n}", "true"))
        check(rig.stop() == 0, "stopped")
        file = os.path.join(rig.data, "rota.db")
        good = open(file, "rb").read()

        def refused(what, code, *words):
            before = open(file, "rb").read()
            r = rig.serve_once()
            check(r.returncode == code and r.stderr.startswith("rota: ") and r.stderr.count("\n") == 1 and
                  all(w in r.stderr for w in words) and not r.stdout, f"{what}: exit {code}, {words}", r)
            check(open(file, "rb").read() == before, f"{what}: the file is unchanged")
            check(not os.path.exists(rig.socket), f"{what}: no socket is left")
            check(not rig.processes(), f"{what}: no process is left", rig.processes())

        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        refused("a newer database", 2, file, "99", "newer")
        open(file, "wb").write(b"this is no database, whatever it is called\n" * 100)
        refused("not a database", 2, file, "not a database")
        with sqlite3.connect(os.path.join(rig.dir, "other.db")) as db:
            db.execute("CREATE TABLE t (a)")
        db.close()
        shutil.copy(os.path.join(rig.dir, "other.db"), file)
        refused("a database of another program", 2, file, "another program")
        for offset in range(4096, len(good) - 4096, 4096):
            open(file, "wb").write(good)
            damage(file, offset, b"\xff" * 4096)
            r = rig.serve_once() if not wait_serving(rig) else None
            if r:
                check(r.returncode == 1 and r.stderr.startswith("rota: ") and file in r.stderr,
                      f"page {offset // 4096 + 1} is damaged: the error names the file", r)
        open(file, "wb").write(good)
        check(rig.start() and len(rig.ask("GET", "/schedules")["schedules"]) == 50, "the undamaged database is served again")


def wait_serving(rig):
    """Whether the daemon starts: some damaged pages are read only later, which is reported then."""
    if rig.start():
        rig.kill()
        return True
    rig.reap()
    return False


def bad_directories():
    with Rig(ROTA) as rig:
        os.makedirs(rig.dir + "/plain")
        open(rig.dir + "/file", "w").close()
        places = [rig.dir + "/file", rig.dir + "/file/below", "/proc/rota"]
        if os.path.ismount("/sys"):
            places.append("/sys/rota")
        if os.geteuid() != 0:
            os.makedirs(rig.dir + "/closed", 0o500)
            places.append(rig.dir + "/closed")
        for place in places:
            r = rig.serve_once(data=place)
            check(r.returncode == 1 and r.stderr.startswith("rota: ") and place in r.stderr,
                  f"{place}: the error names the path", r)
        check(not rig.processes(), "no process is left", rig.processes())


def no_daemon():
    with Rig(ROTA) as rig:
        os.makedirs(os.path.dirname(rig.socket), 0o700)
        for argv in (("status",), ("runs", "--json"), ("ls",), ("show", "x"), ("run", "x"), ("pause", "x"),
                     ("add", "@daily", "--", "true"), ("logs", "r1")):
            r = rig.cli(*argv)
            check(r.returncode == 69 and "no daemon" in r.stderr and "rota serve" in r.stderr, f"no daemon: {argv}", r)
        # The socket of a dead daemon counts as no daemon, and does not prevent a start.
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(rig.socket)
        r = rig.cli("ls")
        check(r.returncode == 69, "a stale socket counts as no daemon", r)
        check(rig.start(), "a stale socket is replaced", rig.log_text())
        rig.kill()
        check(os.path.exists(rig.socket) and rig.start(), "the socket of a killed daemon is replaced", rig.log_text())
        check(rig.stop() == 0 and not os.path.exists(rig.socket), "a daemon that was stopped leaves no socket")
        open(rig.socket, "w").close()
        r = rig.serve_once()
        check(r.returncode == 2 and rig.socket in r.stderr, "a file that is not a socket is not removed", r)
        check(os.path.exists(rig.socket), "the file that is not a socket still exists")


def daemon_dies_before_answering():
    """Exit code 69 means that no connection was made, 75 that it broke before the answer."""
    with Rig(ROTA) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        for argv in (("ls",), ("add", "@daily", "--id", "x", "--", "true")):
            rig.daemon.send_signal(signal.SIGSTOP)
            client = subprocess.Popen([ROTA, argv[0], "--socket", rig.socket, *argv[1:]], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=rig.env)
            wait_until(30, lambda: is_connected(client.pid))
            rig.kill()
            err = client.communicate(timeout=60)[1]
            check(client.returncode == 75 and "before it answered" in err, f"the connection of {argv[0]} broke",
                  (client.returncode, err))
            r = rig.cli(*argv)
            check(r.returncode == 69 and "no daemon at" in r.stderr, "no connection is made to a killed daemon", r)
            check(rig.start(), "the daemon starts again", rig.log_text())


def is_connected(pid):
    """Whether the process has a socket, which must be that to the daemon, and sleeps, which must be for the answer."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            sleeps = f.read().rsplit(")", 1)[1].split()[0] == "S"
        return sleeps and any(os.readlink(f"/proc/{pid}/fd/{n}").startswith("socket:") for n in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def doctor_before_the_first_start():
    """A fresh home: nothing but the daemon is missing, and the disk of a directory that does not exist yet is that of the
    directory above it."""
    with Rig(ROTA) as rig:
        env = {k: v for k, v in rig.env.items() if not k.startswith(("ROTA_DATA", "XDG_"))} | {"HOME": rig.dir + "/home"}
        os.mkdir(rig.dir + "/home")
        r = subprocess.run([ROTA, "doctor", "--json"], capture_output=True, text=True, timeout=60, env=env)
        states = {c["check"]: c["state"] for c in json.loads(r.stdout)["checks"]}
        check([c for c, s in states.items() if s == "fail"] == ["daemon"] and states["disk"] == "ok", "a fresh home", r)


# --- stops and restarts ------------------------------------------------------------------------------------

def stopped_in_a_burst():
    """SIGTERM while a hundred runs are due, running or waiting, and schedules are being added. The commands end when the
    file `go` exists, however long stopping takes."""
    with Rig(ROTA, "--slots", "12") as rig:
        rig.start()
        marks, go = os.path.join(rig.dir, "marks"), os.path.join(rig.dir, "go")
        at = int(time.time()) + 6
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        documents = []
        for n in range(60):
            documents.append(command(f"burst{n}", f"echo S $ROTA_RUN_ID >>{marks}; while [ ! -e {go} ]; do sleep 0.{n % 5 + 1};"
                                                  f" done; echo E $ROTA_RUN_ID >>{marks}", when))
            documents.append({"id": f"event{n}", "expression": when, "action": {"type": "event", "name": "x"}})
        rig.ask("POST", "/apply", {"documents": documents})
        acked, stop = [], threading.Event()

        def adding():
            while not stop.is_set():
                try:
                    rig.add(command(f"late{len(acked)}", "true"))
                    acked.append(f"late{len(acked)}")
                except (NoAnswer, Refused):
                    return
        t = threading.Thread(target=adding)
        time.sleep(max(0, at - 0.3 - time.time()))
        t.start()
        time.sleep(max(0, at + 0.4 - time.time()))
        wait_until(30, lambda: os.path.exists(marks))
        code = rig.stop()
        stop.set()
        t.join()
        check(code == 0, f"SIGTERM in a burst: exit {code}", rig.log_text()[-500:])
        alive = run_processes(rig)
        check(any(re.fullmatch(r"r\d+\.\d+", n) for n in alive.values()), "runs go on without the daemon", alive)
        check("rota-launcher" not in rig.processes().values(), "the launcher ends with the daemon")
        open(go, "w").close()
        time.sleep(1.5)  # some runs end meanwhile
        rig.start()
        over = wait_until(60, lambda: not rig.ask("GET", "/status")["runs"], 0.2)
        check(over, "all runs end", rig.ask("GET", "/status"))
        runs = rig.runs()
        check(len(runs) == 120 and all(r["outcome"] == "done" for r in runs), "each schedule has run once, with success",
              [r for r in runs if r["outcome"] != "done"][:3])
        with open(marks) as f:
            lines = f.read().split("\n")[:-1]
        check(len(lines) == len(set(lines)) == 120, f"the marks of the commands agree: {len(lines)}, {len(set(lines))}")
        have = set(rig.schedules())
        check(set(acked) <= have, f"all acknowledged schedules exist: {len(acked)}", set(acked) - have)


def stopped_while_stuck():
    """SIGTERM while the store cannot write: waiting requests are answered, and the daemon ends."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(command("first", "true"))
        other = sqlite3.connect(os.path.join(rig.data, "rota.db"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answers = []

        def send(order):
            try:
                answers.append(rig.ask(*order))
            except (NoAnswer, Refused) as e:
                answers.append(e)
        document = {"document": command("stuck", "true")}
        orders = (("POST", "/schedules", document), ("POST", "/pause", {"all": True}), ("POST", "/apply", {"documents": [
            document["document"]]}))
        waiting = [threading.Thread(target=send, args=(o,)) for o in orders]
        for t in waiting:
            t.start()
        time.sleep(0.5)
        code = rig.stop()
        for t in waiting:
            t.join()
        check(code == 0, f"SIGTERM while the store is stuck: exit {code}", rig.log_text()[-3000:])
        check(len(answers) == 3 and all(isinstance(e, (NoAnswer, Refused)) or not e["complete"] for e in answers),
              "no request is answered with success", answers)
        other.execute("ROLLBACK")
        rig.start()
        check([s["id"] for s in rig.ask("GET", "/schedules")["schedules"]] == ["first"], "nothing was changed")


def zone_numbers_while_starting():
    """Zones get no numbers before the numbers in the database are loaded."""
    zones = ["Asia/Tokyo", "America/Lima", "Asia/Kolkata", "Africa/Cairo", "Australia/Perth", "Asia/Dubai"]
    hours = {"Asia/Tokyo": 9, "America/Lima": -5, "Asia/Kolkata": 5.5, "Africa/Cairo": 2, "Australia/Perth": 8, "Asia/Dubai": 4}
    with Rig(ROTA) as rig:
        rig.start()
        for n, zone in enumerate(zones):
            rig.add(command(f"z{n}", "true", "0 12 1 1 *", timezone=zone))
            rig.kill()
            rig.start(wait=False)
            sent = wait_until(60, lambda: quick_add(rig, command(f"w{n}", "true", "0 12 1 1 *", timezone=zones[-1 - n])), 0)
            check(sent, "a schedule is added while the daemon starts")
        rig.kill()
        rig.start()
        for s in rig.ask("GET", "/schedules")["schedules"]:
            zone = zones[int(s["id"][1:])] if s["id"][0] == "z" else zones[-1 - int(s["id"][1:])]
            hour = int(s["next"][11:13]) + int(s["next"][14:16]) / 60
            check(hour == (12 - hours[zone]) % 24, f"{s['id']} in {zone}: {s['next']}")


def quick_add(rig, document):
    try:
        return rig.add(document)
    except NoAnswer:
        return None


def commands_while_busy():
    """A schedule can be paused, resumed, changed and removed while it is being recorded."""
    with Rig(ROTA) as rig:
        rig.start()
        event = {"action": {"type": "event", "name": "x"}, "expression": "* * * * * *"}
        for n in range(400):
            rig.add({"id": f"s{n}", **event})
        refused, given = [], 0
        for round in range(3):
            time.sleep(1.0005 - time.time() % 1)  # all of them are being recorded now
            for n in range(round * 20, round * 20 + 20):
                for order in (("POST", f"/schedules/s{n}/pause", {}), ("POST", f"/schedules/s{n}/resume", {}),
                              ("POST", "/schedules", {"document": {"id": f"s{n}", **event, "expression": "*/2 * * * * *"}, "update": True}),
                              ("POST", "/schedules", {"document": {"id": f"s{n}", **event, "priority": 3}, "update": True}),
                              ("DELETE", f"/schedules/s{n}")):
                    given += 1
                    try:
                        rig.ask(*order)
                    except Refused as e:
                        refused.append((order[:2], str(e)))
        check(not refused, f"{len(refused)} of {given} requests are refused", refused[:2])
        check(len(rig.ask("GET", "/schedules?limit=1000")["schedules"]) == 340, "all requests were carried out")


def clients_wait_across_restart():
    """`run --wait` and `run --watch` continue across a restart of the daemon."""
    with Rig(ROTA) as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        got = {}
        rig.ask("POST", "/schedules", {"document": command("waits", "sleep 3; echo end")})
        rig.ask("POST", "/schedules", {"document": command("watched", "sleep 3; echo end")})
        threads = [threading.Thread(target=lambda i=i, how=how: got.update({i: rig.cli("run", i, how)}))
                   for i, how in (("waits", "--wait"), ("watched", "--watch"))]
        for t in threads:
            t.start()
        check(wait_until(60, lambda: len(rig.ask("GET", "/runs")["runs"]) == 2), "both run")
        time.sleep(0.3)
        rig.kill()
        time.sleep(0.5)
        check(rig.start(), "the daemon starts again", rig.log_text())
        for t in threads:
            t.join()
        for i, r in got.items():
            check(r.returncode == 0 and "done" in r.stdout, f"{i}: the end is reported", r)
        check("end\n" in got["watched"].stdout, "the output after the restart is shown", got["watched"])


def old_run_files():
    """The daemon reads run files of other versions."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(command("long", "exec sleep 1000"))
        rig.add(command("other", "exec sleep 1000"))
        runs = [run_now(rig, "long"), run_now(rig, "other")]
        facts = [wait_started(rig, run) for run in runs]
        rig.kill()
        for run, f, fixture in zip(runs, facts, ("v1-ended.run", "v1-running.run")):
            for pid in (int(f["pid"]), int(f["agent"])):
                kill(pid)
            wait_until(60, lambda: not is_alive(int(f["pid"])) and not is_alive(int(f["agent"])))
            # The process must be dead and the file unlocked, so the file is replaced.
            path = run_file(rig, run)
            os.unlink(path)
            shutil.copy(os.path.join(FIXTURES, fixture), path)
        rig.start()
        r = wait_finished(rig, runs[0])
        check((r["outcome"], r["exit_code"]) == ("killed", 143), "an exit record of version 1 is read", r)
        r = wait_finished(rig, runs[1])
        check((r["outcome"], r["reason"]) == ("failed", "lost"), "a run of an earlier boot without an exit record is lost", r)


# --- processes ---------------------------------------------------------------------------------------------------

STUBBORN_TREE = r"""
import os, signal, sys, time
def flood():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    while True:
        os.write(1, b"x" * 65536)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for n in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if n % 2:
                os.setsid()
            flood()
        os._exit(0)
while True:
    time.sleep(1)
"""


def process_tree():
    """A command that double-forks, makes sessions, ignores SIGTERM and floods its output is killed completely."""
    with Rig(ROTA) as rig:
        rig.start()
        rig.add(command("tree", [sys.executable, "-c", STUBBORN_TREE], timeout="2s"))
        run = run_now(rig, "tree")
        check(wait_until(60, lambda: len(run_processes(rig)) >= 6), "the processes of the run are running", run_processes(rig))
        r = wait_finished(rig, run)
        check((r["outcome"], r["reason"]) == ("killed", "timeout"), "the outcome is killed/timeout", r)
        check(not run_processes(rig), "no process is left when the end is recorded", run_processes(rig))
        check(os.path.getsize(run_file(rig, run, kind="log")) < 8 << 20, "the log of the run is bounded")
        # A second run of the same command is stopped by a request, after a crash of the daemon.
        rig.add(command("tree", [sys.executable, "-c", STUBBORN_TREE]), update=True)
        run = run_now(rig, "tree")
        wait_until(60, lambda: len(run_processes(rig)) >= 6)
        rig.kill()
        rig.start()
        check(wait_until(60, lambda: run_of(rig, run)["state"] == "running"), "the run is adopted", run_of(rig, run))
        rig.ask("POST", f"/runs/{run}/stop", {})
        r = wait_finished(rig, run)
        check((r["outcome"], r["reason"]) == ("killed", "cancelled"), "the outcome is killed/cancelled", r)
        check(not run_processes(rig), "no process is left", run_processes(rig))


def killed_shim():
    """The agent of a killed shim is killed before the run is recorded as lost, with the daemon running or not."""
    line = [sys.executable, "-c", STUBBORN_TREE.replace("os.write(1", "time.sleep(0.1); os.write(1")]
    for down in (False, True):
        with Rig(ROTA) as rig:
            rig.start()
            rig.add(command("victim", line))
            run = run_now(rig, "victim")
            facts = wait_started(rig, run)
            wait_until(60, lambda: len(run_processes(rig)) >= 6)
            if down:
                rig.kill()
            check(kill(int(facts["pid"])), "the shim is killed")
            wait_until(60, lambda: not is_alive(int(facts["pid"])))
            if down:
                check(run_processes(rig), "the processes of the killed shim are alive")
                rig.start()
            r = wait_finished(rig, run)
            check((r["outcome"], r["reason"]) == ("failed", "lost"), f"down={down}: failed/lost", r)
            check(not run_processes(rig), f"down={down}: no process is alive when the run is recorded as lost", run_processes(rig))


def killed_shim_retried():
    """The retry of a lost run waits until the processes of the killed shim are dead."""
    with Rig(ROTA) as rig:
        rig.start()
        marks = os.path.join(rig.dir, "marks")
        line = f"echo $ROTA_ATTEMPT >>{marks}; if [ $ROTA_ATTEMPT = 1 ]; then trap '' TERM; sleep 1000; fi"
        rig.add(command("again", line, retry={"max_attempts": 1, "initial_delay": 1}))
        run = run_now(rig, "again")
        facts = wait_started(rig, run)
        wait_until(60, lambda: os.path.exists(marks))
        kill(int(facts["pid"]))
        r = wait_finished(rig, run)
        check((r["outcome"], r["attempt"]) == ("done", 2), "the second attempt succeeds", r)
        check(open(marks).read() == "1\n2\n", "each attempt was started once")
        check(not is_alive(int(facts["agent"])), "the first attempt is dead")


def stopped_launcher():
    """A launcher stopped with SIGSTOP is replaced. Runs it had been given are not started twice."""
    with Rig(ROTA) as rig:
        rig.start()
        marks = os.path.join(rig.dir, "marks")
        rig.add(command("tick", f"echo $ROTA_RUN_ID.$ROTA_ATTEMPT >>{marks}", overlap="allow"))
        rig.add(command("victim", "exec sleep 1000"))
        victim = run_now(rig, "victim")
        facts = wait_started(rig, victim)
        launcher = rig.launcher()
        os.kill(launcher, signal.SIGSTOP)
        runs = [run_now(rig, "tick") for _ in range(20)]
        kill(int(facts["pid"]))  # a launcher must kill the remaining processes of this shim, too
        ok = wait_until(40, lambda: all(run_of(rig, r)["state"] == "finished" for r in runs), 0.2)
        check(ok, "runs start although the launcher hangs", run_of(rig, runs[0]))
        if not ok:
            os.kill(launcher, signal.SIGCONT)
        check(rig.launcher() not in (None, launcher) and not is_alive(launcher), "the launcher is replaced")
        r = wait_finished(rig, victim)
        check((r["outcome"], r["reason"]) == ("failed", "lost"), "the processes of the killed shim are killed", r)
        check(all(run_of(rig, r)["outcome"] == "done" for r in runs), "all runs succeed")
        lines = open(marks).read().split()
        check(len(lines) == len(set(lines)) == 20, f"each was started once: {len(lines)}, {len(set(lines))}")
        # A launcher that is stopped only for a moment is kept.
        launcher = rig.launcher()
        os.kill(launcher, signal.SIGSTOP)
        run = run_now(rig, "tick")
        time.sleep(1)
        os.kill(launcher, signal.SIGCONT)
        check(wait_finished(rig, run)["outcome"] == "done" and rig.launcher() == launcher, "a short stop does not replace the launcher")
        # WINDOW applies to the decision to start; a delay in the launcher does not cancel the run.
        os.kill(launcher, signal.SIGSTOP)
        due = int(time.time()) + 3
        rig.add(command("window", "true", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due)), window="3s"))
        check(wait_until(60, lambda: rig.runs("window")), "the start is decided")
        time.sleep(max(0, due + 3.5 - time.time()))
        os.kill(launcher, signal.SIGCONT)
        r = wait_finished(rig, rig.runs("window")[0]["id"])
        check(r["outcome"] == "done", "the run starts, because the decision was within the window", r)


# --- zone files --------------------------------------------------------------------------------------------------

def next_hour(rig, id):
    n = rig.ask("GET", f"/schedules/{id}")["next"]
    return int(n[11:13]) if n else None


def zones_change():
    with Rig(ROTA, env={}) as rig:
        tz = os.path.join(rig.dir, "zoneinfo")
        for name in ("UTC", "Europe/Berlin", "Asia/Tokyo", "Asia/Dubai", "America/Argentina/Buenos_Aires"):
            os.makedirs(os.path.dirname(os.path.join(tz, name)), exist_ok=True)
            shutil.copy(os.path.join("/usr/share/zoneinfo", name), os.path.join(tz, name))
        rig.env["TZDIR"] = tz
        rig.start()
        rig.add(command("noon", "true", "0 12 1 1 *", timezone="Europe/Berlin"))
        rig.add(command("deep", "true", "0 12 1 1 *", timezone="America/Argentina/Buenos_Aires"))
        rig.add(command("tick", "true", "* * * * * *", timezone="Europe/Berlin"))
        rig.add(command("held", "true", "0 12 1 1 *", timezone="Europe/Berlin"))
        rig.ask("POST", "/schedules/held/pause", {})
        check(next_hour(rig, "noon") == 11 and next_hour(rig, "deep") == 15, "the old zone is used before the change")

        def replace(name, by):
            """Replaces a zone file as a package manager does: writes a new file and renames it over the old one."""
            shutil.copy(os.path.join(tz, by), os.path.join(tz, name + ".new"))
            os.rename(os.path.join(tz, name + ".new"), os.path.join(tz, name))

        def runs():
            return len([r for r in rig.runs("tick") if r["outcome"] == "done"])
        replace("Europe/Berlin", "Asia/Dubai")
        check(wait_until(15, lambda: next_hour(rig, "noon") == 8, 0.1), "the new zone is used", next_hour(rig, "noon"))
        before = runs()
        check(wait_until(60, lambda: runs() >= before + 2, 0.1), "a schedule of every second goes on", runs())
        check(rig.ask("GET", "/status")["outdated"] == 0, "no schedule is outdated")
        check(wait_until(60, lambda: rig.add(command("new", "true", "0 12 1 1 *", timezone="Europe/Berlin"))["next"][0][11:13] == "08"),
              "new documents use the new zone")
        replace("America/Argentina/Buenos_Aires", "Asia/Tokyo")
        check(wait_until(15, lambda: next_hour(rig, "deep") == 3, 0.1), "a change of a zone two directories down is noticed", next_hour(rig, "deep"))
        # A change while the daemon is down.
        rig.kill()
        replace("Europe/Berlin", "Asia/Tokyo")
        rig.start()
        check(wait_until(15, lambda: next_hour(rig, "noon") == 3, 0.1), "the change is noticed at the start", next_hour(rig, "noon"))
        before = runs()
        check(wait_until(60, lambda: runs() >= before + 2, 0.1), "the schedule of every second goes on", runs())
        rig.ask("POST", "/schedules/held/resume", {})
        check(wait_until(60, lambda: next_hour(rig, "held") == 3, 0.1), "a schedule that was paused uses the new zone", next_hour(rig, "held"))
        nominal = [r["nominal"] for r in rig.runs("tick")]
        check(len(nominal) == len(set(nominal)), "no nominal time has run twice")
        # A missing zone file stops only the schedules of that zone, until the file is back.
        os.rename(os.path.join(tz, "Europe/Berlin"), os.path.join(rig.dir, "away"))
        check(wait_until(15, lambda: rig.ask("GET", "/status")["outdated"] > 0, 0.1), "a missing zone is noticed")
        os.rename(os.path.join(rig.dir, "away"), os.path.join(tz, "Europe/Berlin"))
        check(wait_until(15, lambda: rig.ask("GET", "/status")["outdated"] == 0, 0.1), "the return of the zone is noticed", rig.ask("GET", "/status"))
        before = runs()
        check(wait_until(60, lambda: runs() >= before + 2, 0.1), "the schedules of the zone run again", runs())


def zones_change_while_waiting():
    """Zones change several times while a request waits for a locked store; the request is answered in the end."""
    with Rig(ROTA, env={}) as rig:
        tz = os.path.join(rig.dir, "zoneinfo")
        for name in ("UTC", "Europe/Berlin", "Asia/Tokyo", "Asia/Dubai"):
            os.makedirs(os.path.dirname(os.path.join(tz, name)), exist_ok=True)
            shutil.copy(os.path.join("/usr/share/zoneinfo", name), os.path.join(tz, name))
        rig.env["TZDIR"] = tz
        rig.start()
        rig.add(command("noon", "true", "0 12 1 1 *", timezone="Europe/Berlin"))
        lock = sqlite3.connect(os.path.join(rig.data, "rota.db"), isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        got = []

        def wait():
            try:
                got.append(rig.add(command("waits", "true", "0 12 1 1 *", timezone="Europe/Berlin")))
            except Refused as e:
                got.append(e)
        waiter = threading.Thread(target=wait)
        waiter.start()

        def is_noon(hour):
            return rig.ask("GET", f"/schedules/noon/why?time=2099-01-01T{hour:02}:00Z")["answer"] != "no_time"
        wait_until(60, lambda: is_noon(11), 0.1)
        for hour, by in ((8, "Asia/Dubai"), (3, "Asia/Tokyo"), (8, "Asia/Dubai")):
            shutil.copy(os.path.join(tz, by), os.path.join(tz, "new"))
            os.rename(os.path.join(tz, "new"), os.path.join(tz, "Europe/Berlin"))
            check(wait_until(15, lambda hour=hour: is_noon(hour), 0.1), f"the zone of {by} is noticed")
        lock.execute("ROLLBACK")
        lock.close()
        waiter.join(20)
        check(len(got) == 1 and isinstance(got[0], Refused), "the request is refused, because nothing could be recorded", got)
        # The daemon is stopped while schedules are being recompiled. Sanitizers report memory that it leaks.


# The longest first.
PARTS = (zones_change, zones_change_while_waiting, stopped_in_a_burst, stopped_while_stuck, stopped_launcher, bad_databases,
         two_daemons, bad_directories, no_daemon, daemon_dies_before_answering, doctor_before_the_first_start,
         zone_numbers_while_starting, commands_while_busy, clients_wait_across_restart,
         old_run_files, process_tree, killed_shim, killed_shim_retried)

if __name__ == "__main__":
    sys.exit(run_parts(PARTS, sys.argv[3:], 4))
