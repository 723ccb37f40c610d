#!/usr/bin/env python3
"""Which zone an expression is read in: TZ= or `timezone`, else the setting `timezone`, else UTC for documents and the machine's
zone for the verbs that a person types. The machine's zone is Asia/Tokyo here, whatever that of this machine is.

usage: zones.py ROTA MACHINE_ZONE_SO"""
import json
import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
TOKYO = {"LD_PRELOAD": os.path.abspath(sys.argv[2]), "MACHINE_ZONE": "Asia/Tokyo"}


class ZoneRig(Rig):
    def __init__(self):
        super().__init__(ROTA)
        self.env = {k: v for k, v in self.env.items() if k != "ROTA_TIMEZONE"} | TOKYO
        self.env["ROTA_CONFIG"] = self.config = os.path.join(self.dir, "rota.yaml")
        self.configure("")

    def configure(self, text):
        with open(self.config, "w") as f:
            f.write(text)

    def json(self, *argv, ok=True):
        at = argv.index("--") if "--" in argv else len(argv)
        r = self.cli(*argv[:at], "--json", *argv[at:])
        check((r.returncode == 0) == ok, f"exit code of {argv}", r)
        return json.loads(r.stdout) if r.returncode == 0 else {}

    def shown(self, name):
        return self.ask("GET", f"/schedules/{name}")

    def local_next(self, name, zone):
        at = datetime.fromisoformat(self.shown(name)["next"].replace("Z", "+00:00"))
        return at.astimezone(ZoneInfo(zone)).strftime("%H:%M")


def run_rota(rig, *argv, text=None, env=None):
    return subprocess.run([ROTA, *argv], input=text, capture_output=True, text=True, timeout=60, env=env or rig.env)


def previews():
    """next and explain: an expression's zone, else the configuration's, else the machine's; --batch: never the machine's."""
    with ZoneRig() as rig:
        def zone_of(*argv):
            return json.loads(run_rota(rig, "next", "0 9 * * *", "--json", *argv).stdout)["timezone"]
        line = '{"expr":"0 9 * * *","after":"2026-06-01T00:00:00Z","count":1}\n'
        r = run_rota(rig, "explain", "0 9 * * *")
        check("Asia/Tokyo, the zone of this machine" in r.stdout, "explain names the machine's zone", r)
        check(zone_of() == "Asia/Tokyo" and zone_of("--tz", "Europe/Berlin") == "Europe/Berlin", "next without a configuration")
        check("T09:00:00Z" in run_rota(rig, "next", "--batch", "-", text=line).stdout, "a batch uses UTC")
        rig.configure("timezone: America/New_York\ncalendars: {holidays: ['2026-06-01']}\n")
        r = run_rota(rig, "explain", "0 9 * * *")
        check("America/New_York, the setting `timezone`" in r.stdout, "explain uses the configuration's zone", r)
        check(zone_of() == "America/New_York" and zone_of("--tz", "Europe/Berlin") == "Europe/Berlin", "next with a configuration")
        check("T13:00:00Z" in run_rota(rig, "next", "--batch", "-", text=line).stdout, "a batch uses the configuration's zone")
        r = run_rota(rig, "next", "0 9 * * * EXCEPT holidays", "--after", "2026-06-01", "--count", "1", "--json")
        check("2026-06-02" in r.stdout.split('"next"')[1], "next knows the configuration's calendars", r)
        env = {k: v for k, v in rig.env.items() if k not in ("HOME", "ROTA_CONFIG") and not k.startswith("XDG_")}
        r = run_rota(rig, "next", "0 9 * * *", env=env)
        check(r.returncode == 0, "next works without a home directory", r)


def conditions():
    """next, explain and add check a condition in the same way, and name the same column."""
    with ZoneRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        for text, column in (("0 9 * * * IF agent.x ==", 24), ("0 9 * * * IF nobody.x == 1", 14)):
            errors = [run_rota(rig, *argv).stderr for argv in (
                ("next", text), ("explain", text), ("add", text, "--socket", rig.socket, "--", "true"))]
            check(f"at column {column}" in errors[0] and len(set(errors)) == 1, f"the condition of '{text}'", errors)
        r = run_rota(rig, "next", "--batch", "-", text='{"expr":"0 9 * * * IF nobody.x == 1"}\n')
        check('"error"' in r.stdout and "column 14" in r.stdout, "the condition in a batch", r)
        check(run_rota(rig, "next", "0 9 * * * IF agent.x == 1").returncode == 0, "a valid condition is accepted")


def added():
    """add writes the zone it used into the schedule and says why; no later setting moves it."""
    with ZoneRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        r = rig.cli("add", "0 9 * * *", "--id", "mine", "--", "true")
        check("Asia/Tokyo, the zone of this machine" in r.stdout, "add says which zone it uses", r)
        rig.json("add", "0 9 * * *", "--id", "given", "--tz", "Europe/Berlin", "--", "true")
        rig.json("add", "every day at 9 in Lisbon", "--id", "phrase", "--", "true")
        want = {"mine": "Asia/Tokyo", "given": "Europe/Berlin", "phrase": "Europe/Lisbon"}
        for id, zone in want.items():
            s = rig.shown(id)
            check((s["timezone"], s["timezone_from"]) == (zone, "document"), f"the zone of {id}", s)
            check(rig.local_next(id, zone) == "09:00", f"{id} is due at 9 in its zone", s)
        # A relative time is that of the machine's clock.
        now = datetime.now(ZoneInfo("Asia/Tokyo"))
        day = "today" if now.hour < 22 else "tomorrow"
        rig.json("add", f"{day} at 23:00", "--id", "late", "--", "true")
        at = now.replace(hour=23, minute=0, second=0, microsecond=0) + timedelta(days=day == "tomorrow")
        next_at = at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        check(rig.shown("late")["next"] == next_at, f"{day} at 23:00 is at {next_at}", rig.shown("late"))
        before = {id: rig.shown(id)["next"] for id in [*want, "late"]}
        check(rig.stop() == 0, "the daemon stops")
        rig.configure("timezone: America/New_York\n")
        check(rig.start(), "the daemon starts with another zone", rig.log_text())
        check({id: rig.shown(id)["next"] for id in before} == before, "a setting moves nothing that was added")
        r = rig.cli("add", "0 9 * * *", "--id", "set", "--", "true")
        check("America/New_York, the setting `timezone`" in r.stdout, "add uses the configuration's zone", r)
        r = rig.cli("edit", "mine", "--when", "tomorrow at 8:00")
        check(rig.local_next("mine", "Asia/Tokyo") == "08:00", "edit reads a relative time in the schedule's zone", r)


def documents():
    """A document without a zone follows the configuration, and is compiled anew when that changes."""
    with ZoneRig() as rig:
        check(rig.start(), "the daemon starts", rig.log_text())
        file = os.path.join(rig.dir, "s.yaml")
        with open(file, "w") as f:
            f.write("schedules:\n- {id: free, expression: 0 9 * * *, action: {type: command, command: a}}\n"
                    "- {id: fixed, expression: 0 9 * * *, timezone: Europe/Berlin, action: {type: command, command: a}}\n"
                    "- {id: each, expression: '@every 1s', action: {type: command, command: 'true'}}\n")
        r = rig.cli("apply", "-f", file)
        check(r.returncode == 0, "apply", r)
        rig.add({"id": "soon", "expression": "in 20 hours", "action": {"type": "command", "command": "a"}})
        soon = rig.shown("soon")["next"]
        check(rig.shown("free")["timezone"] == "UTC" and rig.local_next("free", "UTC") == "09:00", "no setting: UTC")
        check(wait_until(30, lambda: rig.runs("each")), "the interval runs")
        for zone in ("America/New_York", "Asia/Kolkata"):
            check(rig.stop() == 0, "the daemon stops")
            down = int(time.time()) + 1  # the next time comes due while no daemon runs
            rig.configure(f"timezone: {zone}\n")
            wait_until(30, lambda: time.time() > down)
            check(rig.start(), "the daemon starts with another zone", rig.log_text())
            check(wait_until(30, lambda: rig.shown("free")["timezone"] == zone), f"it follows {zone}", rig.shown("free"))
            check(rig.local_next("free", zone) == "09:00", f"its time is that of {zone}", rig.shown("free"))
            check(rig.shown("free")["timezone_from"] == "configuration", "its zone comes from the configuration")
            check(rig.local_next("fixed", "Europe/Berlin") == "09:00", "a document that names its zone stays as it is")
            check(rig.shown("soon")["next"] == soon, "a time that was resolved stays as it is", rig.shown("soon"))
            # The change of the zone is an edit of the expression: times that came due before it are recorded, and do not run.
            second = datetime.fromtimestamp(down, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            why = wait_until(30, lambda: (w := rig.json("why", "each", second)).get("reason") and w)
            check(why and why["disposition"] == "missed" and why["reason"] == "edited", f"a time before the change, {second}", why)
            r = rig.cli("ls")
            check(all(zone_ in r.stdout for zone_ in ("ZONE", zone, "Europe/Berlin")), "ls shows the zones in force", r)
            r = rig.cli("show", "free")
            check(f"zone: {zone}, the setting `timezone`" in r.stdout, "show says where the zone comes from", r)
            r = rig.cli("status")
            check("ZONE" in r.stdout and zone in r.stdout, "status shows the zones in force", r)
            check(not rig.ask("GET", "/status")["outdated"], "no schedule is outdated")
        r = rig.cli("apply", "-f", file)
        check(r.returncode == 0 and rig.shown("free")["timezone"] == "Asia/Kolkata", "the same file applied again", r)


PARTS = [previews, conditions, added, documents]

if __name__ == "__main__":
    sys.exit(run_parts(PARTS, sys.argv[3:], 2))
