#!/usr/bin/env python3
"""Secrets that a run sends to rota on every way in, in every form that is masked: none of them is stored.

usage: secrets.py ROTA
"""
import base64
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from fixture import FAR, ROOT, ROTA, check, path_of, rota, rota_json, run_parts, start, stop, until, write  # noqa: E402

VALUES = {
    "PLAIN": "s3cr3t-plain-value/with+slash",
    "BLANKS": "trailing blanks value 7   ",
    "LINES": "ab12\ncd34  \nef56\ngh78",
    "UMLAUT": "gr\u00fc\u00dfe \u00e4us \"K\u00f6ln\" & <\u20ac\U0001f511>",
    "NUMBER": "9182736450",
    "DECIMAL": "1234567.8901",
}

# Sends each line of a file of JSON requests, and prints the answers.
SEND = """
import http.client, json, os, socket, sys
for line in open(sys.argv[1]):
    method, route, body = json.loads(line)
    c = http.client.HTTPConnection("localhost")
    c.sock = socket.socket(socket.AF_UNIX)
    c.sock.connect(os.environ["ROTA_SOCKET"])
    c.request(method, route, body, {"Authorization": "Bearer " + os.environ["ROTA_TOKEN"], "Content-Type": "application/json"})
    r = c.getresponse()
    print(r.status, method, route)
    if r.status >= 300:
        print("FAIL", r.read().decode())
"""


def forms(value):
    """The forms of a value, as an honest program would write them."""
    yield value
    yield value.rstrip()
    lines = [line.strip() for line in value.split("\n")]
    if len(lines) > 1:
        yield from ("".join(lines), " ".join(lines), "\n".join(lines), "\r\n".join(lines))
    stripped = value.strip()
    for text in (value, stripped):
        for ascii_only in (True, False):
            yield json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            yield json.dumps(text, ensure_ascii=ascii_only)[1:-1].replace("/", "\\/")
            yield json.dumps(json.dumps(text, ensure_ascii=ascii_only)[1:-1])[1:-1]
        yield urllib.parse.quote(text)
        yield urllib.parse.quote(text, safe="")
        yield urllib.parse.quote_plus(text)
        yield urllib.parse.quote(text, safe="").lower() if text.islower() else urllib.parse.quote(text, safe="!'()*")
        yield text.encode().hex()
        yield text.encode().hex().upper()
        for before in ("", "x", "xy", "xyz", "wxyz"):
            yield base64.b64encode((before + text).encode()).decode()
            yield base64.urlsafe_b64encode((before + text).encode()).decode()
            yield base64.b32encode((before + text).encode()).decode()


def needles():
    """What must not be found: a part of each form that does not depend on the text around it."""
    found = set()
    for value in VALUES.values():
        text = value.strip()
        found.add(text.encode())
        found.add(json.dumps(text)[1:-1].encode())
        found.add(json.dumps(text)[1:-1].replace("/", "\\/").encode())
        found.add(urllib.parse.quote(text, safe="").encode())
        found.add(urllib.parse.quote_plus(text).encode())
        found.add("".join(line.strip() for line in text.split("\n")).encode())
        found.add(" ".join(line.strip() for line in text.split("\n")).encode())
        found.add(text.encode().hex().encode())
        found.add(text.encode().hex().upper().encode())
        for before in ("", "x", "xy", "xyz", "wxyz"):
            coded = base64.b64encode((before + text).encode())
            found.add(coded[8:8 + (len(text.encode()) - 6) // 3 * 4 - 4])
            coded = base64.b32encode((before + text).encode())
            found.add(coded[8:8 + (len(text.encode()) - 5) // 5 * 8 - 8])
    return {n for n in found if len(n) >= 8}


def escaped(text):
    """JSON in which every character is an escape."""
    units = text.encode("utf-16-be")
    return '"' + "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)) + '"'


def requests():
    n = 0
    for value in VALUES.values():
        for text in dict.fromkeys(forms(value)):
            n += 1
            yield "PATCH", "/api/v1/state", json.dumps({"agent": "desk", "patch": {f"k{n}": [text], text: 1}})
            if n % 4 == 0:
                yield "POST", "/api/v1/memory", json.dumps({"agent": "desk", "text": f"note {n}: {text}", "tags": [f"t{n}"]})
                yield "POST", "/api/v1/runs/RUN/reports", json.dumps({"kind": "step", "text": f"step {n}: {text}"})
        yield "PATCH", "/api/v1/state", '{"agent":"desk","patch":{"escaped":' + escaped(value) + "}}"
    yield "PATCH", "/api/v1/state", '{"agent":"desk","patch":{"number":' + VALUES["NUMBER"] + ',"decimal":[' + VALUES["DECIMAL"] + "]}}"


def stored():
    """The bytes of all files of the data directory, with the logs and the database."""
    for folder, _, names in os.walk(path_of("share")):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as f:
                    yield os.path.join(folder, name)[len(ROOT):], f.read()
            except OSError:
                pass


def check_dead_shim():
    """Only the shim can mask the reports of its run: without it they are not kept."""
    value = "value-of-a-dead-shim"
    write("secret-DEAD", value)
    write("config/rota/rota.yaml", f"secrets:\n  DEAD: {{file: {path_of('secret-DEAD')}}}\n")
    stop()
    start()
    report = json.dumps({"report": "note", "text": "it is $DEAD"}).replace('"', '\\"')
    for name, secrets in (("told", {"secrets": ["DEAD"]}), ("plain", {})):
        script = write(f"{name}.sh", f'cat > /dev/null; echo "{report}" >> "$ROTA_OUTBOX"; kill -9 $PPID; sleep 60', 0o700)
        r = rota("apply", "-f", write(f"{name}.json", json.dumps({"agent": {"name": name, "command": ["sh", script], "prompt": "p", **secrets}})))
        check(r.returncode == 0, f"the agent {name} is accepted", r)
        rota("add", FAR, "--id", f"dead-{name}", "--agent", name, "go")
        rota("run", f"dead-{name}", "--wait")
        runs = rota_json("runs", f"dead-{name}").get("runs", [])
        check(runs and runs[0].get("reason") == "lost", "the run is lost", runs)
        shown = rota("show", runs[0]["id"]).stdout
        check(value not in shown and ("it is" in shown) == (not secrets), f"{name}: reports are shown if they need no mask", shown)
    for name, content in stored():
        check(value.encode() not in content, f"{name} does not have the secret")


def check_ways():
    for name, value in VALUES.items():
        write(f"secret-{name}", value)
    write("config/rota/rota.yaml", "secrets:\n" + "".join(f"  {n}: {{file: {path_of('secret-' + n)}}}\n" for n in VALUES))
    stop()
    start()
    write("send.py", SEND)
    lines = list(requests())
    write("requests", "".join(json.dumps(r) + "\n" for r in lines))
    write("prints.json", json.dumps([t for v in VALUES.values() for t in dict.fromkeys(forms(v))]))
    write("agent.sh", f"""
cat > /dev/null
sed "s/RUN/$ROTA_RUN_ID/" {path_of('requests')} > {path_of('requests.run')}
python3 {path_of('send.py')} {path_of('requests.run')} > {path_of('sent')} 2>&1
python3 -c 'import json; [print(t) for t in json.load(open("{path_of('prints.json')}"))]'
printf %s "$UMLAUT" | base64
printf %s "$UMLAUT" | od -An -v -tx1 | tr -d " \\n"
python3 - <<'END'
import json, os
with open(os.environ["ROTA_OUTBOX"], "a") as f:
    for t in json.load(open("{path_of('prints.json')}"))[::8]:
        f.write(json.dumps(dict(report="note", text=t)) + "\\n")
END
{ROTA} step "step: $PLAIN and $BLANKS"
{ROTA} memory add "$LINES"
touch {path_of('ready')}
while ! [ -e {path_of('go')} ]; do sleep 0.05; done
""", 0o700)
    r = rota("apply", "-f", write("desk.json", json.dumps({"agent": {
        "name": "desk", "command": ["sh", path_of("agent.sh")], "prompt": "p", "secrets": list(VALUES)}})))
    check(r.returncode == 0, "the agent is accepted", r)
    r = rota("add", FAR, "--id", "turn", "--agent", "desk", "go")
    check(r.returncode == 0, "the schedule is added", r)
    rota("run", "turn")
    until("the run has sent everything", lambda: os.path.exists(path_of("ready")))
    with open(path_of("sent"), encoding="utf-8") as f:
        sent = f.read()
    check("FAIL" not in sent and len(sent.splitlines()) == len(lines), "all requests are accepted", sent[-600:])
    shown = "".join(rota(*words).stdout for words in (("show", "turn"), ("state", "get", ".", "--agent", "desk"), ("memory", "search", "note", "--agent", "desk"),
                                                      ("logs", "turn"), ("show", "r1", "--json"))).encode()
    for needle in needles():
        check(needle not in shown, f"not shown while the run is alive: {needle!r}")
    write("go", "")
    until("the run ends", lambda: '"outcome":"' in rota("runs", "turn", "--json").stdout)
    stop()
    for path, content in stored():
        for needle in needles():
            check(needle not in content, f"{path} does not have {needle!r}")
    check(any(b"[redacted]" in content for _, content in stored()), "the texts are stored, masked")
    start()
    os.unlink(path_of("config/rota/rota.yaml"))


sys.exit(run_parts(check_ways, check_dead_shim))
