#!/usr/bin/env python3
"""Attacks by files below the data directory: links, pipes, directories and files of other users in the place of rota's
own; data directories that others can write; and a process that hangs when it is asked to stop.

usage: files.py ROTA HANG_LIBRARY
"""
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA, HANG = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def command(name, script, when="0 0 1 1 *"):
    return {"id": name, "expression": when, "action": {"type": "command", "command": ["/bin/sh", "-c", script]}}


def finished(rig, name):
    """The last run of a schedule, when it is over."""
    def over():
        runs = [r for r in rig.runs(name) if r["state"] not in ("waiting", "queued", "running")]
        return runs[0] if runs else None
    return wait_until(30, over)


def alone(rig, *argv):
    """A verb that needs no daemon."""
    return subprocess.run([ROTA, *argv], capture_output=True, text=True, timeout=60, env=rig.env, check=False)


def files_of(rig, kind):
    return [os.path.join(d, f) for d, _, names in os.walk(os.path.join(rig.data, "runs")) for f in names
            if f.endswith("." + kind)]


def replaced_by(how, path):
    os.unlink(path)
    {"pipe": lambda: os.mkfifo(path), "link": lambda: os.symlink("/etc/passwd", path),
     "directory": lambda: os.mkdir(path)}[how]()


def run_replaces_its_run_file():
    """The engine's thread reads the file when the run ends: a pipe would hang it for good."""
    with Rig(ROTA) as rig:
        rig.start()
        replace = "f=$(ls {0}/runs/*/$ROTA_RUN_ID.1.run); rm $f; {1}"
        rig.add(command("pipe", replace.format(rig.data, "mkfifo $f")))
        rig.add(command("link", replace.format(rig.data, "ln -s /etc/passwd $f")))
        rig.add(command("directory", replace.format(rig.data, "mkdir $f")))
        rig.add(command("after", "true"))
        for name in ("pipe", "link", "directory"):
            rig.ask("POST", f"/schedules/{name}/run", {})
        for name in ("pipe", "link", "directory"):
            run = finished(rig, name)
            check(run and (run["outcome"], run["reason"]) == ("failed", "lost"), f"{name}: its run is lost", run)
        rig.ask("POST", "/schedules/after/run", {})
        run = finished(rig, "after")
        check(run and run["outcome"] == "done", "other schedules go on", run)


# Within a run: writes an exit section into its own run file, and kills its shim.
FORGE = """
import glob, os, signal, sys
path = glob.glob(sys.argv[1] + "/runs/*/" + os.environ["ROTA_RUN_ID"] + ".1.run")[0]
with open(path, "r+b") as f:
    block = f.read()
    shim = next(int(line[4:]) for line in block.split(b"\\n") if line.startswith(b"pid "))
    text = "".join(line + "\\n" for line in sys.argv[2:]).encode()
    h = 0xcbf29ce484222325
    for byte in text:
        h = (h ^ byte) * 0x100000001b3 % (1 << 64)
    text += b"sum %016x\\n" % h
    f.seek(len(block) // 2)
    f.write(text.ljust(len(block) // 2, b"\\0"))
if shim == os.getppid():
    os.kill(shim, signal.SIGKILL)
"""


def run_forges_its_exit():
    """Numbers that no shim writes: a sum with the largest signal overflows; the store refuses to read a row with such an
    end, and with it every list of runs."""
    most = (1 << 63) - 1
    forged = {"signal": most, "negative": -most, "ended": most, "past": -most, "late": 253402300799 * 10**6, "lasted": most,
              "status": most, "unsigned": 2 * most}
    key = {"negative": "signal", "past": "ended", "late": "ended", "unsigned": "status"}
    with Rig(ROTA) as rig:
        rig.start()
        script = os.path.join(rig.dir, "forge.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write(FORGE)
        for name, value in forged.items():
            lines = {"exit": 1, "cause": "exit", "status": 3, "signal": 0, "ended": 1795012515107667, "lasted": 1}
            lines[key.get(name, name)] = value
            rig.add({"id": name, "expression": "0 0 1 1 *", "retry": {"max_attempts": 1, "initial_delay": "1s"},
                     "action": {"type": "command", "command": [
                         sys.executable, script, rig.data, *(f"{k} {v}" for k, v in lines.items())]}})
            rig.ask("POST", f"/schedules/{name}/run", {})
        for name in forged:
            run = finished(rig, name)
            check(run and run["outcome"] in ("done", "failed") and 0 <= run["exit_code"] <= 255, f"{name}: its run is over", run)
            check(run and run["ended_at"] < "3", f"{name}: it has ended by now", run)
            check(run and rig.cli("show", run["id"]).returncode == 0, f"{name}: the run can be shown")
        check(rig.stop() == 0 and rig.start() and len(rig.runs()) == len(forged), "the daemon starts again with these runs")


def run_creates_numbers():
    """Files of runs that never were: the daemon counts on after the last number, of which few must be used up. A shim with
    a very long number has no name of its own, and numbers end at 2^48."""
    with Rig(ROTA) as rig:
        rig.start()
        numbers = [(1 << n) + d for n in (40, 47, 48, 63) for d in (-1, 0)] + [10**12, (1 << 64) - 1, 1 << 64]
        script = "".join(f"mkdir -p {rig.data}/runs/{n // 4096} {rig.data}/notify/{n // 4096};"
                         f"for k in run log box; do touch {rig.data}/runs/{n // 4096}/{n}.1.$k {rig.data}/runs/0/{n}.1.$k; done;"
                         f"touch {rig.data}/notify/{n // 4096}/{n}.1.run;" for n in numbers)
        rig.add(command("forge", script + f"echo {(1 << 63) - 1} > {rig.data}/generation"))
        rig.ask("POST", "/schedules/forge/run", {})
        run = finished(rig, "forge")
        check(run and run["outcome"] == "done", "the files are there", run)
        rig.stop()
        check(rig.start(), "the daemon starts again", rig.log_text()[-500:])
        rig.add(command("after", "true"))
        rig.ask("POST", "/schedules/after/run", {})
        run = finished(rig, "after")
        check(run and run["outcome"] == "done" and int(run["id"][1:]) < 10**11, "runs go on with usual numbers", run)


def run_prepares_files_of_the_next():
    """Files of a run that has not started yet: links in the place of its log, and a report that it failed."""
    with Rig(ROTA) as rig:
        rig.start()
        victim = os.path.join(rig.dir, "victim")
        with open(victim, "w", encoding="utf-8") as f:
            f.write("mine\n")
        script = f"cd {rig.data}/runs/0;"
        for n in range(2, 40):
            how = "ln -s" if n % 2 else "ln"
            script += f"{how} {victim} {n}.1.log; {how} {victim} {n}.1.out;"
            script += f"echo '{{\"report\":\"fail\",\"text\":\"forged\"}}' > {n}.1.box;"
        rig.add(command("prepare", script))
        rig.ask("POST", "/schedules/prepare/run", {})
        finished(rig, "prepare")
        for name in ("first", "second"):
            rig.add(command(name, f"echo output of {name}"))
            rig.ask("POST", f"/schedules/{name}/run", {})
            run = finished(rig, name)
            check(run and run["outcome"] == "done", f"{name}: its result is its own", run)
            r = rig.cli("logs", name)
            check(r.stdout == f"output of {name}\n", f"{name}: and its log", r)
        with open(victim, encoding="utf-8") as f:
            check(f.read() == "mine\n", "the linked file is unchanged")


def log_is_replaced():
    """The operations thread reads the log when a client requests it."""
    for how in ("pipe", "link", "directory"):
        with Rig(ROTA) as rig:
            rig.start()
            rig.add(command("a", "echo hello"))
            rig.ask("POST", "/schedules/a/run", {})
            finished(rig, "a")
            for kind in ("log", "out"):
                for path in files_of(rig, kind):
                    replaced_by(how, path)
            r = rig.cli("logs", "a")
            check(r.returncode in (0, 1) and "root:" not in r.stdout, f"{how}: the log is not read", r)
            check(rig.cli("show", "r1").returncode == 0, f"{how}: the run can be shown")
            check(rig.ask("GET", "/status") is not None, f"{how}: the daemon answers")


def files_of_the_daemon_are_replaced():
    """At its start the daemon refuses what is not its own file, and does not hang."""
    for name in ("rota.db", "rota.db-wal", "lock"):
        for how in ("pipe", "link"):
            with Rig(ROTA) as rig:
                rig.start()
                rig.stop()
                path = os.path.join(rig.data, name)
                if not os.path.exists(path):
                    open(path, "w").close()
                replaced_by(how, path)
                r = rig.serve_once()
                check(r.returncode != 0 and path in r.stderr, f"{how} instead of {name}", r)
    with Rig(ROTA) as rig:
        rig.start()
        rig.stop()
        replaced_by("pipe", os.path.join(rig.data, "generation"))  # made again
        check(rig.start(), "the daemon starts with a pipe instead of generation")
    with Rig(ROTA) as rig:
        os.makedirs(rig.data, mode=0o700, exist_ok=True)
        os.mkfifo(os.path.join(rig.data, "token.key"))  # read only while the store has no key
        check(rig.start(), "the daemon starts with a pipe instead of the key file of earlier versions")
    with Rig(ROTA) as rig:
        rig.start()
        rig.stop()
        os.rename(os.path.join(rig.data, "runs"), os.path.join(rig.dir, "elsewhere"))
        os.symlink(os.path.join(rig.dir, "elsewhere"), os.path.join(rig.data, "runs"))
        r = rig.serve_once()
        check(r.returncode != 0 and "symbolic link" in r.stderr, "a link instead of the runs directory", r)


def directory_of_others():
    """A user who can replace the database can choose what the daemon executes."""
    with Rig(ROTA) as rig:
        for mode in (0o777, 0o1777, 0o770, 0o702):
            os.makedirs(rig.data, exist_ok=True)
            os.chmod(rig.data, mode)
            r = rig.serve_once()
            check(r.returncode == 77 and "other users may write" in r.stderr and "chmod go-w" in r.stderr,
                  f"a data directory with mode {mode:o} is refused", r)
            check(not os.path.exists(os.path.join(rig.data, "rota.db")), f"mode {mode:o}: nothing was made in it")
            r = rig.cli("doctor", "--data", rig.data)
            check(r.returncode != 0 and "can be written by other users" in r.stdout, f"mode {mode:o}: doctor says so", r)
        os.chmod(rig.data, 0o750)
        check(rig.start(), "one that others can only read is used")
        rig.stop()
        os.chmod(rig.data, 0o777)
        for verb in (("backup", os.path.join(rig.dir, "b")), ("restore", os.path.join(rig.data, "rota.db"))):
            r = alone(rig, *verb, "--data", rig.data)
            check(r.returncode == 77, f"{verb[0]} refuses it, too", r)
        if os.geteuid() == 0:
            os.chmod(rig.data, 0o700)
            os.chown(rig.data, 65534, 65534)
            r = rig.serve_once()
            check(r.returncode == 77 and "belongs to another user (uid 65534" in r.stderr, "another user's is refused", r)
            os.chown(rig.data, 0, 0)
        os.chmod(rig.data, 0o700)


def modes_and_umask():
    """Every file below the data directory is the owner's alone; runs have the umask that rota was started with."""
    for umask in (0o000, 0o022, 0o027):
        with Rig(ROTA) as rig:
            old = os.umask(umask)
            try:
                rig.start()
            finally:
                os.umask(old)
            rig.add(command("a", f"umask > {rig.dir}/umask; touch {rig.dir}/made; echo x; rota report note x || true"))
            rig.ask("POST", "/schedules/a/run", {})
            run = finished(rig, "a")
            check(run and run["outcome"] == "done", "it ran", run)
            with open(os.path.join(rig.dir, "umask")) as f:
                check(int(f.read(), 8) == umask, f"umask {umask:o}: the run has it")
            backup = os.path.join(rig.dir, "backup")
            alone(rig, "backup", backup, "--data", rig.data)
            everything = [backup] + [os.path.join(d, f) for d, _, names in os.walk(rig.data) for f in names]
            for path in everything:
                mode = stat.S_IMODE(os.lstat(path).st_mode)
                check(not mode & 0o077, f"umask {umask:o}: {path} has mode {mode:o}")
            for d, _, _ in os.walk(rig.data):
                mode = stat.S_IMODE(os.lstat(d).st_mode)
                check(not mode & 0o077, f"umask {umask:o}: {d} has mode {mode:o}")


def sigterm_ends_whatever_hangs():
    """Every read of a file below the data directory hangs from a moment on, on every thread."""
    with tempfile.TemporaryDirectory() as d:
        switch = os.path.join(d, "hang")
        rig = Rig(ROTA, env={"LD_PRELOAD": HANG, "ROTA_TEST_HANG": switch, "ROTA_TEST_HANG_BELOW": ""})
        rig.env["ROTA_TEST_HANG_BELOW"] = rig.data
        try:
            rig.start()
            rig.add(command("a", "true"))
            open(switch, "w").close()
            hung = subprocess.Popen([ROTA, "runs", "--socket", rig.socket], env=rig.env | {"LD_PRELOAD": ""},
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            check(wait_until(1, lambda: hung.poll() is not None) is False or hung.returncode != 0, "the daemon hangs")
            rig.daemon.send_signal(signal.SIGTERM)
            time.sleep(0.5)  # signals that arrive together are one
            rig.daemon.send_signal(signal.SIGTERM)
            try:
                code = rig.daemon.wait(60)
            except subprocess.TimeoutExpired:
                code = None
            check(code is not None, "SIGTERM ends a daemon that hangs")
            rig.daemon = None if code is not None else rig.daemon
            hung.wait(60)
        finally:
            os.path.exists(switch) and os.unlink(switch)
            rig.close()


def sigterm_while_documents_hang():
    """A directory of documents on a disk that does not answer."""
    with tempfile.TemporaryDirectory() as d:
        switch, docs = os.path.join(d, "hang"), os.path.join(d, "docs")
        os.mkdir(docs)
        rig = Rig(ROTA, docs, env={"LD_PRELOAD": HANG, "ROTA_TEST_HANG": switch, "ROTA_TEST_HANG_BELOW": docs})
        try:
            rig.start()
            open(switch, "w").close()
            with open(os.path.join(docs, "a.json"), "w", encoding="utf-8") as f:
                json.dump(command("a", "true"), f)
            time.sleep(0.5)  # the daemon notices the file within that time, or a little later
            check(rig.ask("GET", "/status") is not None and not rig.schedules(), "requests are answered meanwhile")
            rig.daemon.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            rig.daemon.send_signal(signal.SIGTERM)
            try:
                code = rig.daemon.wait(60)
            except subprocess.TimeoutExpired:
                code = None
            check(code is not None, "SIGTERM ends a daemon whose documents hang")
            rig.daemon = None if code is not None else rig.daemon
        finally:
            os.path.exists(switch) and os.unlink(switch)
            rig.close()


# Within a run: sends a report, which the daemon writes to the outbox of the run.
REPORT = """
import http.client, os, socket
c = http.client.HTTPConnection("localhost")
c.sock = socket.socket(socket.AF_UNIX)
c.sock.connect(os.environ["ROTA_SOCKET"])
c.request("POST", "/api/v1/runs/" + os.environ["ROTA_RUN_ID"] + "/reports", '{"kind":"note","text":"x"}',
          {"Authorization": "Bearer " + os.environ["ROTA_TOKEN"]})
print(c.getresponse().read())
"""


def directories_are_replaced():
    """The directories of run files become links while the daemon runs: nothing is written or read behind them."""
    with Rig(ROTA) as rig:
        rig.start()
        elsewhere = os.path.join(rig.dir, "elsewhere")
        os.mkdir(elsewhere)
        script = os.path.join(rig.dir, "report.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write(REPORT)
        rig.add(command("bucket", f"cd {rig.data}/runs; mv 0 {elsewhere}/0; ln -s {elsewhere}/0 0; {sys.executable} {script}"))
        rig.ask("POST", "/schedules/bucket/run", {})
        check(wait_until(30, lambda: os.path.islink(f"{rig.data}/runs/0")), "the directory is a link")
        rig.add(command("after", "true"))
        rig.ask("POST", "/schedules/after/run", {})
        trouble = wait_until(30, lambda: [p for p in rig.ask("GET", "/problems")["problems"] if "run" in p["key"]])
        check(trouble, "people are told", rig.ask("GET", "/problems"))
        names = os.listdir(elsewhere + "/0")
        check(not [f for f in names if f.endswith(".box")], "no report is written behind the link", names)
        check(not [f for f in names if f.startswith("2.")], "nor a run file", names)
        os.unlink(f"{rig.data}/runs/0")
        os.rename(elsewhere + "/0", f"{rig.data}/runs/0")
        for name in ("bucket", "after"):
            run = finished(rig, name)
            check(run and run["outcome"] == "done", f"{name}: it goes on when the directory is back", run)
        os.rename(f"{rig.data}/runs", elsewhere + "/runs")
        os.symlink(elsewhere + "/runs", f"{rig.data}/runs")
        rig.add(command("last", "true"))
        rig.ask("POST", "/schedules/last/run", {})
        time.sleep(1)
        check(not [f for f in os.listdir(elsewhere + "/runs/0") if f.startswith("3.")], "nothing is written below a link in the place of all runs")
        check(rig.ask("GET", "/status") is not None, "the daemon answers")
        os.unlink(f"{rig.data}/runs")
        os.rename(elsewhere + "/runs", f"{rig.data}/runs")
        run = finished(rig, "last")
        check(run and run["outcome"] == "done", "it runs when there are directories again", run)


sys.exit(run_parts([run_replaces_its_run_file, run_forges_its_exit, run_creates_numbers, run_prepares_files_of_the_next,
                     log_is_replaced, files_of_the_daemon_are_replaced,
                    directory_of_others, modes_and_umask, directories_are_replaced,
                    sigterm_while_documents_hang, sigterm_ends_whatever_hangs], sys.argv[3:], 4))
