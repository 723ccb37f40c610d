#!/usr/bin/env python3
"""`rota plan`, with the real binary: components in parallel, failing, hanging, printing too much; plans that are wrong.

usage: workflows.py ROTA"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

ROTA = os.path.abspath(sys.argv[1])
DIR = tempfile.mkdtemp(prefix="rota-workflows-")
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROTA_")} | {"XDG_CONFIG_HOME": DIR, "HOME": DIR, "TMPDIR": DIR}


def write(name, text):
    path = os.path.join(DIR, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def rota(*argv, stdin=None):
    return subprocess.run([ROTA, *argv], input=stdin, capture_output=True, text=True, env=ENV, timeout=120)


def plan(*components, name="W"):
    """A workflow of (name, header arguments, source)."""
    text = f"* {name} :workflow:\n"
    for title, arguments, source in components:
        text += f"** {title} :component:\n#+begin_src {arguments}\n{source}\n#+end_src\n"
    return write("plan.org", text)


def run(*components, options=()):
    r = rota("plan", "run", plan(*components), *options)
    result = json.loads(r.stdout) if r.stdout.startswith("[") else [{"tasks": [], "exports": []}]
    tasks = {t["name"]: t for t in result[0]["tasks"]}
    words = {n: "/".join(x for x in (t["outcome"], t["reason"]) if x) for n, t in tasks.items()}
    return r, tasks, words, {e["name"]: e for e in result[0]["exports"]}


def check_order():
    wait = "touch me-$ROTA_COMPONENT; until [ -e me-a ] && [ -e me-b ] && [ -e me-c ]; do sleep 0.05; done; echo $ROTA_COMPONENT"
    r, tasks, words, exports = run(("a", "sh :out xa", wait), ("b", "sh :out xb", wait), ("c", "sh :out xc", wait),
                                   ("all", "sh :in xa, xb, xc :out joined", 'cat "$ROTA_INPUT_XA" "$ROTA_INPUT_XB" "$ROTA_INPUT_XC"'))
    check(r.returncode == 0 and set(words.values()) == {"done"}, "independent components run at the same time", words)
    check(exports.get("joined", {}).get("text") == "a\nb\nc\n", "their outputs are its inputs", exports)
    order = 'echo "$ROTA_COMPONENT" >> order'
    r, *_ = run(("last", "sh :deps mid", order), ("mid", "sh :deps first", order), ("first", "sh", order), options=("--jobs", "1"))
    with open(os.path.join(DIR, "order"), encoding="utf-8") as f:
        check(r.returncode == 0 and f.read() == "first\nmid\nlast\n", "deps order the execution", r)
    os.mkdir(os.path.join(DIR, "sub"))
    r, _, _, exports = run(("here", "sh :dir sub :out where", "pwd"))
    check(exports["where"]["text"].strip() == os.path.join(DIR, "sub"), ":dir is the directory", exports)


def check_languages():
    r, tasks, words, exports = run(
        ("py", "python :out p", "    if True:\n        print('from python')"), ("sh", "bash :out b", "[[ a == a ]] && echo from bash"),
        ("js", "node :out n", "console.log('from ' + 'node')"), ("odd", "klingon", "x"), ("gone", "ghost", "x"))
    check([exports[x]["text"] for x in "pbn"] == ["from python\n", "from bash\n", "from node\n"], "sh, bash, python, node", exports)
    check(words["odd"] == "failed/definition" and "no interpreter is known for 'klingon'" in tasks["odd"]["detail"],
          "a language without interpreter", tasks["odd"])
    os.mkdir(os.path.join(DIR, "rota"))
    write("rota/rota.yaml", "interpreters: {ghost: no-such-program -x, klingon: cat}\n")
    r, tasks, words, exports = run(("odd", "klingon :out k", "qapla"), ("gone", "ghost", "x"), ("other", "sh", "true"))
    check(exports["k"]["text"] == "qapla\n", "an interpreter of the configuration", tasks)
    check(words["gone"] == "failed/interpreter" and "cannot execute no-such-program" in tasks["gone"]["detail"] and words["other"] == "done",
          "a missing interpreter", tasks["gone"])
    os.remove(os.path.join(DIR, "rota", "rota.yaml"))


def check_failures():
    r, tasks, words, exports = run(("bad", "sh :out x", "echo why >&2; exit 7"), ("next", "sh :in x :out y", "echo no"),
                                   ("later", "sh :deps next", "echo no"), ("other", "sh :out z", "echo yes"))
    check(r.returncode == 1 and words == {"bad": "failed/exit", "next": "skipped/dependency", "later": "skipped/dependency",
                                          "other": "done"}, "a failed component stops its dependents, not the others", words)
    check(tasks["bad"]["exit_code"] == 7 and tasks["bad"]["log"] == "why\n", "its log is captured", tasks["bad"])
    start = time.monotonic()
    r, tasks, words, _ = run(("hang", "sh :timeout 1s", "sleep 1000 & sleep 1000"), ("other", "sh", "true"))
    check(words == {"hang": "killed/timeout", "other": "done"} and time.monotonic() - start < 60, "a component that hangs", words)
    r, tasks, words, _ = run(("hang", "sh", "sleep 1000"), options=("--timeout", "1s"))
    check(words == {"hang": "killed/timeout"}, "the time of --timeout", words)
    r, tasks, words, _ = run(("loud", "sh :out x", "head -c 100000000 /dev/zero"), ("uses", "sh :in x", "true"), ("other", "sh", "true"))
    check(words == {"loud": "failed/output", "uses": "skipped/dependency", "other": "done"}, "100 MB of output", words)
    r, tasks, words, _ = run(("loud", "sh", "head -c 100000000 /dev/zero >&2; echo end >&2"))
    check(words == {"loud": "done"} and len(tasks["loud"]["log"]) <= 65536 and tasks["loud"]["log"].endswith("end\n"),
          "100 MB of messages: the end is kept", words)
    r, tasks, words, _ = run(("endless", "sh :timeout 1s", "yes >&2"), ("other", "sh", "true"))
    check(words == {"endless": "killed/timeout", "other": "done"}, "messages without end", words)
    r, tasks, words, _ = run(("left", "sh", "yes >&2 & true"))
    check(words == {"left": "done"}, "a child that is left and prints without end", words)
    r, tasks, words, exports = run(("child", "sh :out x", "(sleep 1000; echo late) & echo early"))
    check(words == {"child": "done"} and exports["x"]["text"] == "early\n", "a child that lives on does not delay the end", exports)
    r, tasks, words, _ = run(("nowhere", "sh :dir missing", "true"))
    check(words == {"nowhere": "failed/interpreter"} and "No such file" in tasks["nowhere"]["detail"], "a directory that is missing", tasks)
    sub = "".join(f"{stars} {name} :{tag}:\n{block}" for stars, name, tag, block in (
        ("*", "W", "workflow", ""), ("**", "S", "workflow", ""),
        ("***", "bad", "component", "#+begin_src sh :out x\nexit 1\n#+end_src\n"),
        ("***", "good", "component", "#+begin_src sh :out y\necho good\n#+end_src\n"),
        ("**", "uses", "component", "#+begin_src sh :in x\ncat $ROTA_INPUT\n#+end_src\n"),
        ("**", "other", "component", "#+begin_src sh :in y :out z\ncat $ROTA_INPUT\n#+end_src\n")))
    result = json.loads(rota("plan", "run", write("sub.org", sub)).stdout)[0]
    words = {t["name"]: (t["outcome"], t["reason"]) for t in result["tasks"]}
    check(words == {"uses": ("skipped", "dependency"), "other": ("done", None)} and result["exports"][0]["text"] == "good\n",
          "a failed component of a sub-workflow stops its dependents, not the others", result)
    r, tasks, words, _ = run(("odd", "sh :timeout soon", "true"))
    check(words == {"odd": "failed/definition"}, "a timeout that is none", tasks)


def check_refusals():
    for name, components, text in (
            ("a cycle", (("a", "sh :in y :out x", ""), ("b", "sh :in x :out y", "")), "there is a cycle"),
            ("an input", (("a", "sh :in x", ""),), "has no upstream producer"),
            ("a language", (("a", "", ""),), "component has no language")):
        r = rota("plan", "run", plan(*components))
        check(r.returncode == 2 and text in r.stderr and not r.stdout, f"{name}: nothing is run", r)
        r = rota("plan", "check", plan(*components))
        check(r.returncode == 2 and text in r.stdout and json.loads(r.stdout)[0]["level"] == "error", f"{name}: check says so", r)
    path = plan(("a", "sh :in x :out y", 'cat "$ROTA_INPUT"'))
    for given, argv in (("-", '{"x": {"n": [1]}}'), ('{"x": "text"}', None)):
        r = rota("plan", "run", path, "--input", given, stdin=argv)
        want = '{"n":[1]}' if argv else "text"
        check(r.returncode == 0 and json.loads(r.stdout)[0]["exports"][0]["text"] == want, f"--input {given}", r)
    for given, text in (("[]", "must be a JSON object"), ("{", "")):
        r = rota("plan", "run", path, "--input", given)
        check(r.returncode == 2 and text in r.stderr, f"--input {given} is refused", r)
    check(rota("plan", "check", path + ".gone").returncode == 1, "a file that cannot be read: exit 1")
    check(rota("plan", "run", path, "--name", "V", "--input", '{"x":1}').returncode == 1, "a workflow that does not exist")
    r = rota("plan", "run", write("none.org", "* TODO a\n"))
    check(r.returncode == 1 and "no workflow to run" in r.stderr and not r.stdout, "a plan without workflows", r)
    check(rota("plan", "show").returncode == 2 and rota("plan", "diff", path).returncode == 2 and rota("plan", "x", path).returncode == 2,
          "missing arguments")
    r = rota("plan", "run", path, "--dry-run", "--input", '{"x":1}')
    check(json.loads(r.stdout) == [{"workflow": "W", "schedule": None, "tasks": ["a"], "sub_workflows": [], "exports": ["y"]}],
          "--dry-run lists names", r)
    old, new = write("old.org", "* A :workflow:\n* B :workflow:\n"), write("new.org", "* A :workflow:\n")
    r = rota("plan", "diff", old, new)
    check(r.returncode == 2 and json.loads(r.stdout) == [{"level": "error", "scope": "B", "message": "the workflow was removed"}], "diff", r)
    check(rota("plan", "diff", new, old).returncode == 0, "a new workflow breaks nothing")
    r = rota("run", plan(("a", "sh :out x", "echo hello")))
    check(r.returncode == 0 and "hello" in r.stdout, "rota run PLANFILE", r)


def check_stop():
    path = plan(("a", "sh :out x", f"echo $$ > {DIR}/pid; sleep 1000 & wait"), ("b", "sh :in x", "true"))
    p = subprocess.Popen([ROTA, "plan", "run", path], stdout=subprocess.PIPE, env=ENV, text=True)
    while not os.path.exists(os.path.join(DIR, "pid")) or not os.path.getsize(os.path.join(DIR, "pid")):
        time.sleep(0.02)
    p.send_signal(signal.SIGTERM)
    out, _ = p.communicate(timeout=60)
    words = [(t["outcome"], t["reason"]) for t in json.loads(out)[0]["tasks"]]
    check(p.returncode == 1 and words == [("killed", "cancelled"), ("skipped", "cancelled")], "SIGTERM stops the components", words)
    with open(os.path.join(DIR, "pid"), encoding="utf-8") as f:
        check(not os.path.exists(f"/proc/{f.read().strip()}"), "nothing of it runs any more")
    check(not [x for x in os.listdir(DIR) if x.startswith("rota-plan-")], "no temporary files are left", os.listdir(DIR))


def check_example():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "plans", "plan.org")
    r = rota("plan", "check", path)
    check(r.returncode == 0 and r.stdout == "[]\n", "the example has no errors", r)
    r = rota("plan", "run", path)
    check(r.returncode == 0 and json.loads(r.stdout)[0]["exports"][0]["text"] == "12\n", "the example runs", r)
    r = rota("agenda", path, "--now", "2026-11-18T12:00", "--tz", "UTC", "--json")
    titles = {k: [x["title"] for x in v] for k, v in json.loads(r.stdout).items()}
    check(titles == {"overdue": [], "due": ["Answer the letters"], "ready": ["Answer the letters"], "claimed": [], "stale": [],
                     "upcoming": ["Answer the letters", "Write the report"]}, "its agenda", titles)


for part in (check_example, check_order, check_languages, check_failures, check_refusals, check_stop):
    part()
subprocess.run(["rm", "-rf", DIR], check=True)
sys.exit(finish())
