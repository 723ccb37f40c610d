#!/usr/bin/env python3
"""Changes the C sources in small ways, one at a time, and counts the changes that the tests notice.

usage: mutants.py [PATH...] [--count N] [--seed S] [--jobs N] [--bar PERCENT] [--only KIND] [--tests NAME,...]

Each worker has a copy of the tree. A mutant is built with its warnings allowed; one that does not build is replaced by another.
Then the tests of its area run, the fastest first, until one fails or exceeds its time: the mutant is killed. A mutant that no
test notices survives. Survivors that behave like the original are listed with the reason in equivalent.txt; one of its lines
that matches no source any more is an error. The same seed on the same sources chooses the same mutants."""
import argparse
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import c_source

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMES_BASELINE, SECONDS_LEAST = 6, 10  # a mutant's test may take this many times what the original takes

# The tests that should notice a change below a path: names of meson's tests, or of suites. The longest matching path counts.
AREAS = {
    "src/base": ["suite:unit"],
    "src/core": ["suite:unit", "sim", "conformance"],
    "src/core/when": ["cron", "forms", "when", "phrase", "coming", "zone", "zoneinfo", "explain", "brute", "oracle", "cli"],
    "src/core/when/phrase": ["phrase", "forms", "explain", "oracle", "cli"],
    "src/core/expr": ["expr", "template", "scope", "conformance", "expressions", "eval", "cli"],
    "src/core/doc": ["doc_broken", "doc", "config", "scope", "agentdoc", "template", "yaml", "turn", "interpreter", "documents",
                     "agent_files", "replay_document", "replay_agent"],
    "src/core/org": ["suite:org", "agentdoc", "doc_broken", "agent_files", "replay_agent"],
    "src/core/schedule": ["retry", "news", "delivery_retry", "why", "sim", "doc_broken", "why_reasons"],
    "src/core/engine": ["heap", "why", "sim"],
    "src/shim": ["suite:runner", "secrets", "daemon"],
    "src/store": ["suite:store"],
}
SKIPPED = {"store_prune_year", "store_reader_load", "docsize"}  # they measure, or take minutes


class Failure(Exception):
    pass


def read_equivalent():
    """Lines of equivalent.txt: file, mutated line, and why it behaves like the original, separated by " | "."""
    rows = {}
    for number, line in enumerate((HERE / "equivalent.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, _, rest = line.partition(" | ")
        text, _, reason = rest.rpartition(" | ")  # the mutated line may contain the separator
        if not text:
            raise Failure(f"equivalent.txt:{number}: expected 'FILE | LINE OF THE MUTANT | REASON'")
        rows[path, text] = reason
    return rows


def mutated_line(source, mutation):
    """The whole line around the mutation as the mutant has it, with single blanks; for a dropped statement the statement."""
    if mutation.kind == "statement":
        return "without " + " ".join(source[mutation.start:mutation.end].split())
    mutant = c_source.apply(source, mutation)
    begin = mutant.rfind("\n", 0, mutation.start) + 1
    end = mutant.find("\n", mutation.start + len(mutation.text))
    return " ".join(mutant[begin:end if end >= 0 else len(mutant)].split())


class Candidate:
    def __init__(self, path, source, mutation):
        self.path, self.source, self.mutation = path, source, mutation
        self.line = source.count("\n", 0, mutation.start) + 1
        self.text = mutated_line(source, mutation)
        self.result, self.by, self.seconds = None, "", 0.0

    def key(self):
        return self.path, self.text


def candidates(paths, only):
    files = subprocess.run(["git", "ls-files", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [f for f in files if f.endswith(".c")]
    if not files:
        raise Failure(f"no C file below {' '.join(paths)}")
    found = []
    for f in files:
        source = (ROOT / f).read_text()
        found += [Candidate(f, source, m) for m in c_source.mutations(source) if only in (None, m.kind)]
    return found


def shuffled(chosen, rng):
    """In random order, all kinds equally often: most places could have their arguments swapped."""
    kinds = {}
    for c in chosen:
        kinds.setdefault(c.mutation.kind, []).append(c)
    for rows in kinds.values():
        rng.shuffle(rows)
    order = []
    while any(kinds.values()):
        order += [rows.pop() for rows in kinds.values() if rows]
    return order


class Worker:
    """A copy of the tree with a build of its own."""

    def __init__(self, place, only_tests):
        self.only_tests = only_tests
        self.tree, self.build = place / "tree", place / "build"
        self.tree.mkdir(parents=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        files = [f for f in listed.decode().split("\0") if f and (ROOT / f).exists()]
        for f in files:
            (self.tree / f).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / f, self.tree / f)
        modules = ROOT / "tests/oracle/node_modules"
        if modules.exists():
            (self.tree / "tests/oracle/node_modules").symlink_to(modules)
        self.env = dict(os.environ, TMPDIR=str(place / "tmp"))
        (place / "tmp").mkdir()
        self.call(["meson", "setup", str(self.build), "-Dbuildtype=debug"], cwd=self.tree)
        listed = subprocess.run(["meson", "introspect", "--tests", str(self.build)], capture_output=True, text=True, check=True)
        self.tests = {t["name"]: t for t in json.loads(listed.stdout)}
        self.baseline, self.output = {}, ""

    def call(self, words, **more):
        done = subprocess.run(words, capture_output=True, text=True, env=self.env, **more)
        if done.returncode:
            raise Failure(f"{' '.join(words)}\n{done.stdout[-3000:]}{done.stderr[-1000:]}")

    def area(self, path):
        """The tests for this file, fastest first once their times are known."""
        if self.only_tests:
            return sorted(self.only_tests, key=lambda n: self.baseline.get(n, 0))
        longest = max((a for a in AREAS if path.startswith(a + "/")), key=len, default=None)
        if not longest:
            raise Failure(f"{path}: no tests are named for it in AREAS")
        names = []
        for word in AREAS[longest]:
            suite = word.removeprefix("suite:")
            names += [word] if word == suite else [n for n, t in self.tests.items() if suite in [s.split(":")[-1] for s in t["suite"]]]
        names = [n for n in dict.fromkeys(names) if n in self.tests and n not in SKIPPED]
        return sorted(names, key=lambda n: self.baseline.get(n, 0))

    def run_test(self, name, seconds):
        """True if it passed within the time. Its whole session is killed at the end."""
        t = self.tests[name]
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(t["cmd"], env={**self.env, **t["env"]}, cwd=t["workdir"] or self.build, stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                code = None
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            if code:
                out.seek(0)
                self.output = out.read()[-4000:].decode(errors="replace")
            return code == 0

    def measure(self, names):
        """Runs each test once on the original."""
        names = [n for n in names if n not in self.baseline]
        if names and not self.compile(names):
            raise Failure(f"the original does not build\n{self.output}")
        for name in names:
            began = time.monotonic()
            if not self.run_test(name, 900):
                raise Failure(f"the test {name} fails without any mutation\n{self.output}")
            self.baseline[name] = time.monotonic() - began

    def compile(self, names):
        """Builds what the tests need. A mutant may cause warnings; it must not fail to build."""
        inside = str(self.build) + "/"
        wanted = {word.removeprefix(inside) for name in names
                  for word in self.tests[name]["cmd"] + list(self.tests[name]["env"].values()) if word.startswith(inside)}
        done = subprocess.run(["ninja", "-C", str(self.build), *sorted(wanted)], capture_output=True, text=True, env=self.env)
        self.output = done.stdout[-4000:]
        return done.returncode == 0

    def judge(self, candidate):
        names = self.area(candidate.path)
        self.measure(names)
        names = self.area(candidate.path)
        file = self.tree / candidate.path
        began = time.monotonic()
        file.write_text(c_source.apply(candidate.source, candidate.mutation))
        try:
            if not self.compile(names):
                candidate.result = "no build"
                return
            candidate.result = "survived"
            for name in names:
                if not self.run_test(name, max(SECONDS_LEAST, TIMES_BASELINE * self.baseline[name])):
                    candidate.result, candidate.by = "killed", name
                    return
        finally:
            file.write_text(candidate.source)
            candidate.seconds = time.monotonic() - began


def work(worker, todo, count, judged, lock, equivalent, failures):
    try:
        while True:
            with lock:
                if sum(c.result in ("killed", "survived") for c in judged) >= count:
                    return
            candidate = todo.get_nowait()
            if candidate.key() in equivalent:
                candidate.result = "equivalent"
            else:
                worker.judge(candidate)
            with lock:
                judged.append(candidate)
                if candidate.result == "survived":
                    print(f"survived  {candidate.path}:{candidate.line}  {candidate.mutation.kind}: {candidate.text}", flush=True)
    except queue.Empty:
        pass
    except Failure as failure:
        with lock:
            failures.append(str(failure))


def table(judged):
    """Counts for each folder and each kind of mutation."""
    def line(name, rows):
        killed, survived = (sum(c.result == r for c in rows) for r in ("killed", "survived"))
        share = f"{100 * killed / (killed + survived):5.1f} %" if killed + survived else "      -"
        print(f"  {name:28} {killed:7} {survived:9} {sum(c.result == 'equivalent' for c in rows):11} {share}")

    print(f"\n  {'':28} {'killed':>7} {'survived':>9} {'equivalent':>11}")
    for name in sorted({os.path.dirname(c.path) for c in judged}):
        line(name, [c for c in judged if os.path.dirname(c.path) == name])
    for kind in sorted({c.mutation.kind for c in judged}):
        line(kind, [c for c in judged if c.mutation.kind == kind])
    line("all", judged)


def unknown_rows(equivalent):
    """Rows of equivalent.txt that no mutation of the sources matches."""
    files = {path for path, _ in equivalent}
    known = set()
    for path in files:
        if (ROOT / path).exists():
            source = (ROOT / path).read_text()
            known |= {(path, mutated_line(source, m)) for m in c_source.mutations(source)}
    return sorted(set(equivalent) - known)


def main():
    parser = argparse.ArgumentParser(description="change the sources, and count what the tests notice")
    parser.add_argument("paths", nargs="*", default=["src/core"], metavar="PATH")
    parser.add_argument("--count", type=int, default=400, help="mutants that build (default 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--bar", type=float, default=95.0, help="percent that must be killed (default 95)")
    parser.add_argument("--only", help="one kind of mutation")
    parser.add_argument("--tests", type=lambda v: v.split(","), help="these tests, instead of those of the area")
    options = parser.parse_args()
    equivalent = read_equivalent()
    stale = unknown_rows(equivalent)
    for path, text in stale:
        print(f"equivalent.txt: no mutation of {path} gives the line: {text}")
    chosen = candidates(options.paths, options.only)
    todo = queue.Queue()
    for c in shuffled(chosen, random.Random(options.seed)):
        todo.put(c)
    judged, failures, lock = [], [], threading.Lock()
    began = time.monotonic()
    place = pathlib.Path(tempfile.mkdtemp(prefix="rota-mutants-"))
    try:
        workers = [Worker(place / str(i), options.tests) for i in range(max(1, options.jobs))]
        threads = [threading.Thread(target=work, args=(w, todo, options.count, judged, lock, equivalent, failures)) for w in workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if failures:
        raise Failure("\n".join(failures))
    table(judged)
    killed, survived = (sum(c.result == r for c in judged) for r in ("killed", "survived"))
    share = 100 * killed / max(1, killed + survived)
    print(f"\nseed {options.seed}: {len(chosen)} possible mutations, {killed + survived} tried in {(time.monotonic() - began) / 60:.1f} min, "
          f"{share:.1f} % killed (at least {options.bar:g} %)")
    good = share >= options.bar and not stale
    print(f"{killed} passed, {0 if good else max(1, survived)} failed")
    return not good


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"mutants: {failure}", file=sys.stderr)
        sys.exit(1)
