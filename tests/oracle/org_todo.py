#!/usr/bin/env python3
"""Tasks that are done, and repeat: `rota advance` writes what Emacs's org-todo writes, byte for byte (Emacs: log into the
drawer LOGBOOK, no alignment of tags). The plans are made from a seed; the time is that of the clock.

usage: org_todo.py ROTA [--files N] [--seed S]
"""
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from checks import check, finish  # noqa: E402

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]
DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


def stamp(r, repeat):
    """An active timestamp from years ago to weeks ahead."""
    if r.random() < 0.3:  # the ends of months
        year, month = r.randint(2023, 2027), r.randint(1, 12)
        day = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] - r.choice([0, 0, 1])
        when = time.gmtime(time.mktime((year, month, day, 12, 0, 0, 0, 0, 0)))
    else:
        when = time.gmtime(time.time() + r.uniform(-400, 40) * 86400)
    text = time.strftime("%Y-%m-%d ", when) + DAYS[when.tm_wday]
    unit = r.choice("dwmyh")
    if unit == "h" or r.random() < 0.5:
        text += f" {r.randint(6, 22):02}:{r.choice(['00', '30', '59'])}"
        if unit != "h" and r.random() < 0.2:
            text += "-23:30"
    if repeat:
        text += f" {r.choice(['+', '++', '.+'])}{r.randint(1, 13)}{unit}"
        if unit == "d" and r.random() < 0.2:
            text += f"/{r.randint(14, 20)}d"
    if r.random() < 0.15:
        text += r.choice([" -3d", " --2d"])
    return f"<{text}>"


def plan(r):
    lines = []
    if r.random() < 0.3:
        lines.append(r.choice(["#+TODO: OPEN DOING | DONE", "#+TYP_TODO: ANN BEN | DONE", "#+TODO: TODO | DONE GONE"]))
    states = {"#+TODO: OPEN DOING | DONE": ["OPEN", "DOING"], "#+TYP_TODO: ANN BEN | DONE": ["ANN", "BEN"],
              "#+TODO: TODO | DONE GONE": ["TODO"]}.get(lines[0] if lines else "", ["TODO", "NEXT", "DOING"])
    state = r.choice(states)
    lines.append(f"* {state} " + r.choice(["[#A] ", ""]) + r.choice(["Water the plants", "x", "über"]) + r.choice(["", " :home:"]))
    words = []
    if r.random() < 0.3:
        words.append("CLOSED: [2026-01-02 Fri 10:00]")
    if r.random() < 0.8:
        words.append("SCHEDULED: " + stamp(r, r.random() < 0.8))
    if r.random() < 0.5:
        words.append("DEADLINE: " + stamp(r, r.random() < 0.7))
    r.shuffle(words)
    if words:
        lines.append(r.choice(["", "", "  "]) + " ".join(words))
    if r.random() < 0.5:
        lines += [":PROPERTIES:", ":Effort:   1:00"]
        lines += [":LAST_REPEAT: [2025-01-01 Wed 09:00]"] if r.random() < 0.5 else []
        lines += [f":REPEAT_TO_STATE: {r.choice(states)}"] if r.random() < 0.2 else []
        lines += [":END:"]
    if r.random() < 0.4:
        lines += [":LOGBOOK:", '- State "DONE"       from "TODO"       [2025-01-01 Wed 09:00]', ":END:"]
    if r.random() < 0.2:
        lines += [stamp(r, True)]
    if r.random() < 0.5:
        lines += ["Text."]
    if r.random() < 0.2:
        lines += ["Also " + stamp(r, True) + " and " + stamp(r, False) + "."]
    if r.random() < 0.2:
        lines += ["#+begin_src sh", "echo '" + stamp(r, True) + "'", "#+end_src"]
    lines += ["** TODO a child", "SCHEDULED: <2026-01-01 Thu +1w>", "* TODO another", "SCHEDULED: <2026-01-01 Thu +1w>"]
    return "\n".join(lines) + "\n"


def emacs(jobs):
    done = subprocess.run(["emacs", "-Q", "--batch", "-l", os.path.join(HERE, "org", "todo.el")], check=True, timeout=300,
                          input="".join(f"{zone} DONE {path}\n" for zone, path in jobs), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return [tuple(float(x) for x in line.split()) for line in done.stdout.splitlines() if line]


def task_of(text):
    line = next(x for x in text.splitlines() if x.startswith("* "))
    for word in ("[#A]", ":home:"):
        line = line.replace(word, "")
    return " ".join(line.split()[2:])


def compare(rota, zone, path, times):
    before, after = times
    with open(path + ".emacs", encoding="utf-8") as f:
        want = f.read()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if int(before) // 60 != int(after) // 60:
        return False  # the minute changed meanwhile
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(after))
    done = subprocess.run([rota, "advance", path, task_of(text), "DONE", "--now", now, "--tz", zone], timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(path, encoding="utf-8") as f:
        got = f.read()
    if "Not at a timestamp" in want:
        return False  # org-timestamp-change reads at most 16 characters after the time
    if want.startswith("error:"):
        return check(done.returncode == 2, f"Emacs refuses: {want}", text)
    check(done.returncode == 0 and got == want, f"{zone} at {now}:\n{text}\n--- rota\n{got}\n--- Emacs\n{want}", done)
    return True


def main():
    rota = os.path.abspath(sys.argv[1])
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    seed = int(options.get("--seed", random.SystemRandom().randrange(1 << 32)))
    count = int(options.get("--files", 120))
    print(f"org_todo.py: --files {count} --seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="rota-org-") as directory:
        jobs = []
        for i in range(count):
            path = os.path.join(directory, f"{i}.org")
            with open(path, "w", encoding="utf-8") as f:
                f.write(plan(random.Random(f"{seed}/{i}")))
            jobs.append((ZONES[i % len(ZONES)], path))
        times = emacs(jobs)
        check(len(times) == len(jobs), f"{len(times)} answers for {len(jobs)} files")
        compared = sum(bool(compare(rota, zone, path, t)) for (zone, path), t in zip(jobs, times))
    check(compared > count * 0.7, f"only {compared} of {count} could be compared")
    print(f"{compared} of {count} plans compared")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
