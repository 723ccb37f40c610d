#!/usr/bin/env python3
"""Runs rota-out against receivers that misbehave: which addresses it connects to, which redirects it follows, which
headers it sends, what it prints. In namespaces there are a receiver at a public address and a name server that lies;
where namespaces are not permitted, addresses of the loopback network are used instead, and the test says so.

usage: out.py ROTA_OUT"""
import base64
import hashlib
import hmac
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check, finish  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROTA_OUT = os.path.abspath(sys.argv[1])
INSIDE = sys.argv[2:] == ["--inside"]
ROOT = tempfile.mkdtemp(prefix="rota-out-")
ENV = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")} | {"HOME": ROOT}
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
HIDDEN = "tok-4711"  # a secret in paths, headers and bodies, which must never appear on stderr
started = []

FAULTS = ["answered", "refused", "resolve", "connect", "tls", "timeout", "broken", "too_large", "redirects", "cancelled"]


def has_v6():
    try:
        socket.socket(socket.AF_INET6).close()
        return True
    except OSError:
        return False


V6 = has_v6()


class Receiver:
    def __init__(self, address="127.0.0.1", port=0, tls=()):
        self.log = tempfile.mktemp(dir=ROOT)
        self.process = start("receiver.py", self.log, address, str(port), *tls)
        self.port = int(self.process.stdout.readline())
        host = f"[{address}]" if ":" in address else address
        self.url = f"http{'s' if tls else ''}://{host}:{self.port}"

    def sent(self):
        """The requests received since the last call."""
        if not os.path.exists(self.log):
            return []
        with open(self.log) as log:
            lines = log.read().splitlines()
        os.remove(self.log)
        return [json.loads(line) for line in lines]


def start(script, *argv):
    process = subprocess.Popen([sys.executable, os.path.join(HERE, script), *argv], stdout=subprocess.PIPE)
    started.append(process)
    return process


class Result:
    def __init__(self, done, url=""):
        self.url = url
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def __repr__(self):
        return f"exit {self.code}, stdout {self.out[:100]!r}, stderr {self.err!r}"


def send(url, allow=("127.0.0.1",), env=ENV, **more):
    request = {"url": url, "allow": list(allow), "timeout": 20} | more
    done = subprocess.run([ROTA_OUT], input=json.dumps(request).encode(), capture_output=True, env=env, timeout=60)
    r = Result(done, url)
    check(r.err.startswith("rota-out: ") and r.err.count("\n") == 1 and r.err.isascii() and r.err[:-1].isprintable(),
          "one harmless line", r)
    check(HIDDEN not in r.err, "it prints no secret", r)
    return r


def fault(word, result, *has):
    """Checks the exit code and the words of a fault."""
    if word == "refused" and not V6 and "[" in result.url:
        word, has = "resolve", ()  # a kernel without IPv6 has no such addresses
    check(result.code == 16 + FAULTS.index(word), f"{word} is exit {16 + FAULTS.index(word)}", result)
    for part in (f"rota-out: {word}: ", *has):
        check(part in result.err, f"says {part!r}", result)


def status(number, code, result, *has):
    check(result.code == code, f"{number} is exit {code}", result)
    for part in (f"rota-out: answered: {number} from ", *has):
        check(part in result.err, f"says {part!r}", result)


def wrong(result, *has):
    check(result.code == 2 and result.err.startswith("rota-out: input: ") and result.out == b"", "a wrong request", result)
    for part in has:
        check(part in result.err, f"says {part!r}", result)


# --- requests and responses ------------------------------------------------------------------------------------------

def plain(a):
    r = send(a.url + "/ok?x=" + HIDDEN, headers={"X-Token": HIDDEN, "Content-Type": "application/json", "X-Empty": ""},
             body='{"a":"ä\\u0000"}')
    status(200, 0, r, "(127.0.0.1)")
    check(r.out == b"fine\n", "the body of the answer", r)
    got, = a.sent()
    h = got["headers"]
    check(got["method"] == "POST" and got["path"] == "/ok?x=" + HIDDEN and got["body"] == '{"a":"ä\\u0000"}', "the request is sent as requested", got)
    check(h["x-token"] == HIDDEN and h["content-type"] == "application/json" and h["x-empty"] == "", "headers", got)
    check(h["user-agent"].startswith("rota/") and "expect" not in h and "webhook-id" not in h and "cookie" not in h,
          "no other headers are sent", got)
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        status(200, 0, send(a.url + "/ok#fragment", method=method))
        got, = a.sent()
        check(got["method"] == method and got["path"] == "/ok", method, got)
    status(200, 0, send(a.url + "/ok"))
    check([s["method"] for s in a.sent()] == ["GET"], "GET without a body")
    status(200, 0, send(a.url + "/ok", body="x", headers={"User-Agent": "me"}))
    got, = a.sent()
    check("content-type" not in got["headers"] and got["headers"]["user-agent"] == "me", "no content type is added", got)
    big = "b" * 3000000
    status(200, 0, send(a.url + "/ok", body=big))
    got, = a.sent()
    check(got["body"] == big and "expect" not in got["headers"], "a large body, without Expect")


def statuses(a):
    for number, code in ((204, 0), (201, 0), (304, 3), (400, 3), (401, 3), (403, 3), (404, 3), (410, 4), (408, 5),
                         (425, 5), (429, 5), (500, 5), (502, 5), (503, 5)):
        status(number, code, send(f"{a.url}/status?code={number}"))
    status(429, 5, send(a.url + "/status?code=429&after=120"), "retry after 120 s")
    later = time.strftime("%a,%%20%d%%20%b%%20%Y%%20%H:%M:%S%%20GMT", time.gmtime(time.time() + 3600))
    r = send(f"{a.url}/status?code=503&after={later}")
    status(503, 5, r)
    after = int(r.err.split("retry after ")[1].split()[0]) if "retry after" in r.err else 0
    check(3000 < after <= 3600, "a date in Retry-After", r)
    for text in ("soon", "-5", "Mon,%2001%20Jan%202001%2000:00:00%20GMT", "%01"):
        r = send(f"{a.url}/status?code=503&after={text}")
        check(r.code == 5 and "retry after" not in r.err, f"Retry-After {text} is ignored", r)
    status(503, 5, send(a.url + "/status?code=503&after=99999999999999999999"))


def refusals_of_requests(a):
    for url, part in (("ftp://127.0.0.1/", "must begin with http://"), ("file:///etc/passwd", "must begin with http://"),
                      ("gopher://127.0.0.1:70/_x", "must begin with http://"), ("127.0.0.1/", "must begin with http://"),
                      ("http://me:" + HIDDEN + "@127.0.0.1/", "a user or a password"),
                      ("http://127.0.0.1:99999/", "is not valid"), ("http://", "is not valid"),
                      ("http://127.0.0.1/\r\nX: y", "is not valid"), ("http://127.0.0.1/\0", "U+0000"),
                      ("http://h/" + "a" * 9000, "more than 8192 bytes")):
        wrong(send(url), part)
    for headers, part in (({"Host": "x"}, "set by rota"), ({"content-length": "1"}, "set by rota"),
                          ({"Transfer-Encoding": "chunked"}, "set by rota"), ({"X": "a\r\nY: " + HIDDEN}, "control character"),
                          ({"X Y": "a"}, "is not a valid header name"), ({"": "a"}, "is not a valid header name"), ({"X:": "a"}, "is not a valid header name"),
                          ({"X": 1}, "must be a string"), ({f"X-{i}": "" for i in range(257)}, "more than 256"),
                          ({"X": "a" * 70000}, "more than 65536")):
        wrong(send(a.url + "/ok", headers=headers), part)
    wrong(send(a.url, method="BREW"), "'BREW' is not known")
    wrong(send(a.url, method="GET\r\nX: y"), "is not known")
    wrong(send(a.url, method="HEAD", body="x"), "HEAD request cannot have a body")
    wrong(send(a.url, allow=["10.0.0.0/33"]), "10.0.0.0/33")
    wrong(send(a.url, allow=["no name"]), "no name")
    wrong(send(a.url, timeout=0), "out of range")
    wrong(send(a.url, limit=1 << 40), "out of range")
    wrong(send(a.url, colour="red"), "no key 'colour'")
    for secret in ("whsec_" + HIDDEN, HIDDEN, "whsec_" + "A" * 12, SECRET + " nope", "whsec_" + "A" * 400):
        wrong(send(a.url, secret=secret, id="m1"), "the secret must be whsec_ followed by the base64 of 24 to 64 bytes")
    for name in ("", "a.b", "a\r\nb"):
        wrong(send(a.url, secret=SECRET, id=name), "the id of a signed message")
    wrong(send(a.url, secret=SECRET, id="m1", headers={"Webhook-Id": "x"}), "set by rota")
    for text in (b"", b"[]", b"{}", b'{"url":1}', b'{"url":"http://x/"', b"\xff"):
        done = subprocess.run([ROTA_OUT], input=text, capture_output=True, env=ENV, timeout=60)
        check(done.returncode == 2 and done.stderr.startswith(b"rota-out: input: "), f"{text}", Result(done))
    done = subprocess.run([ROTA_OUT, "--url"], input=b"", capture_output=True, env=ENV, timeout=60)
    check(done.returncode == 2, "no arguments", Result(done))
    check(a.sent() == [], "nothing was sent")


def misbehaviour(a):
    fault("timeout", send(a.url + "/hang?" + HIDDEN, timeout=1))
    fault("timeout", send(a.url + "/drip", timeout=1))
    fault("too_large", send(a.url + "/headers"), "more than 65536 bytes of headers")
    fault("too_large", send(a.url + "/informed"))
    fault("too_large", send(a.url + "/longline"), "more than 65536 bytes of headers")
    r = send(a.url + "/body", limit=1000)
    status(200, 0, r, "the body was truncated")
    check(r.out == b"b" * 1000, "the response is limited to the requested size", len(r.out))
    r = send(a.url + "/body")
    check(len(r.out) == 1 << 20, "a mebibyte by default", len(r.out))
    status(200, 0, send(a.url + "/ok", limit=5))
    check("truncated" in send(a.url + "/ok", limit=4).err, "one byte too many")
    status(200, 0, send(f"{a.url}/bodyredirect?to=/ok"))
    for path in ("early", "chunks", "nothing", "garbage", "rude"):
        fault("broken", send(f"{a.url}/{path}"))
    gone = Receiver()
    end(gone.process)
    fault("connect", send(gone.url))
    fault("resolve", send("http://nobody.invalid/" + HIDDEN))
    for host in ("b\u00fccher.invalid", "b%c3%bccher.invalid"):
        fault("redirects", send(f"{a.url}/redirect?to=http://{host}/"), "not ASCII")
        wrong(send(f"http://{host}/"), "not ASCII; write it in its xn-- form")
    full = os.open("/dev/full", os.O_WRONLY)
    done = subprocess.run([ROTA_OUT], input=json.dumps({"url": a.url, "allow": ["127.0.0.1"]}).encode(), stdout=full,
                          stderr=subprocess.PIPE, env=ENV, timeout=60)
    os.close(full)
    check(done.returncode == 1 and b"cannot write the response" in done.stderr, "standard output cannot be written", done)
    a.sent()


# --- addresses -------------------------------------------------------------------------------------------------------

def addresses(a):
    """Every way to write addresses of this machine, and other addresses that are not public."""
    port = a.port
    for host in ("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.2", "0.0.0.0", "[::]", "0"):
        fault("refused", send(f"http://{host}:{port}/ok?{HIDDEN}", allow=()), "address")
    for host, kind in (("10.1.2.3", "private"), ("172.31.0.1", "private"), ("192.168.0.1", "private"),
                       ("169.254.1.1", "link-local"), ("169.254.169.254", "metadata"), ("100.64.0.1", "carrier"),
                       ("224.0.0.1", "multicast"), ("240.0.0.1", "reserved"), ("255.255.255.255", "reserved"),
                       ("0.1.2.3", "unspecified"), ("[fd00:ec2::254]", "metadata"), ("[fd12::1]", "private"),
                       ("[fe80::1]", "link-local"), ("[ff02::1]", "multicast"), ("[::ffff:10.0.0.1]", "private"),
                       ("[64:ff9b::10.0.0.1]", "private"), ("[2002:a00:1::]", "private"), ("[::10.0.0.1]", "private")):
        fault("refused", send(f"http://{host}/", allow=()), kind)
    fault("refused", send("http://169.254.169.254/", allow=["169.254.0.0/16", "0.0.0.0/0", "::/0"]), "metadata")
    fault("refused", send(f"http://0.0.0.0:{port}/", allow=["0.0.0.0/0", "0.0.0.0"]), "unspecified")
    fault("refused", send(f"http://127.0.0.1:{port}/", allow=["127.0.0.2", "10.0.0.0/8", "localhost", "::1", "::/0"]))
    check(a.sent() == [], "no receiver got a request")
    for allow in ("127.0.0.1", "127.0.0.0/8", "0.0.0.0/0", "::ffff:127.0.0.1"):
        status(200, 0, send(f"http://127.0.0.1:{port}/ok", allow=[allow]))
    for host in ("localhost", "LocalHost"):
        status(200, 0, send(f"http://{host}:{port}/ok", allow=["localhost"]))
    check(len(a.sent()) == 6, "allowed receivers get the request")


def environment(a, b):
    """rota-out ignores proxies, netrc and cookies."""
    with open(os.path.join(ROOT, ".netrc"), "w") as f:
        f.write("default login me password " + HIDDEN + "\n")
    proxies = {name: b.url for name in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "HTTPS_PROXY")}
    status(200, 0, send(a.url + "/redirect?to=/ok", env=ENV | proxies))
    first, second = a.sent()
    check(b.sent() == [] and first["path"] == "/redirect?to=/ok", "no proxy", first)
    check("authorization" not in second["headers"] and "cookie" not in second["headers"], "no netrc, no cookies", second)
    status(200, 0, send(a.url + "/ok", env=ENV | {"OPENSSL_CONF": "/nowhere", "RES_OPTIONS": "attempts:0", "LOCALDOMAIN": "nowhere.invalid"}))
    a.sent()


# --- redirects -------------------------------------------------------------------------------------------------------

SECRETS = {"Authorization": "Bearer " + HIDDEN, "X-Api-Key": HIDDEN, "Cookie": HIDDEN, "Content-Type": "text/x"}


def redirects(a, b):
    for n in (1, 5):
        status(200, 0, send(f"{a.url}/hops?n={n}"))
        check(len(a.sent()) == n + 1, f"{n} redirects")
    fault("redirects", send(a.url + "/hops?n=6"), "after 5 redirects")
    check(len(a.sent()) == 6, "no further redirect is followed")
    fault("redirects", send(a.url + "/loop"))
    a.sent()
    status(302, 3, send(a.url + "/redirect?code=302"))  # without a Location
    a.sent()
    for to, part in (("ftp://127.0.0.1/", "must begin with http://"), ("file:///etc/passwd", "must begin with http://"),
                     ("http://me:pw@127.0.0.1/", "a user or a password"), ("http://127.0.0.1:99999/", "is not valid")):
        fault("redirects", send(f"{a.url}/redirect?to={to}"), part)
    # Each redirect is checked: only 127.0.0.1 is allowed.
    other = f"http://127.0.0.2:{b.port}/ok"
    for to in (other, f"http://localhost:{b.port}/ok".replace("localhost", "[::1]"), "http://10.0.0.1/", "http://169.254.169.254/",
               f"http://0:{b.port}/", f"http://[::ffff:127.0.0.2]:{b.port}/"):
        fault("refused", send(f"{a.url}/redirect?to={to}"))
    fault("refused", send(f"{a.url}/redirect?to={a.url}/redirect%3Fto={other}"))
    check(b.sent() == [], "nothing was sent to the target of a redirect")
    a.sent()
    # Method and body stay, except after 303.
    for code in (301, 302, 303, 307, 308):
        status(200, 0, send(f"{a.url}/redirect?to=/ok&code={code}", method="PUT", body="b", headers=SECRETS, secret=SECRET,
                            id="m1"))
        first, second = a.sent()
        want = ("GET", "") if code == 303 else ("PUT", "b")
        check((second["method"], second["body"]) == want, f"{code}", second)
        check(second["headers"]["authorization"] == SECRETS["Authorization"], "the same origin gets the secrets", second)
        check(second["headers"].get("webhook-signature") == (None if code == 303 else first["headers"]["webhook-signature"]),
              "the request is signed as long as method and body are unchanged", second)
    # Another origin gets no secrets, nor does the first one after a redirect back to it.
    for to in (b.url + "/ok", f"{b.url}/redirect?code=307%26to={b.url}/ok", f"{b.url}/redirect?code=307%26to={a.url}/ok"):
        status(200, 0, send(f"{a.url}/redirect?code=307&to={to}", body="b", headers=SECRETS, secret=SECRET, id="m1"))
        for sent in b.sent() + a.sent()[1:]:
            names = set(sent["headers"]) & {"authorization", "x-api-key", "cookie", "webhook-id", "webhook-timestamp",
                                            "webhook-signature"}
            check(not names, f"sent to another origin: {names}", sent)
            check(sent["body"] == "b" and sent["headers"]["content-type"] == "text/x", "headers that are not secret are sent", sent)
            check(HIDDEN not in json.dumps(sent), "no secret", sent)
    # Each redirect is within the timeout, all together are not.
    fault("timeout", send(f"{a.url}/slow?n=5", timeout=1))
    a.sent()


# --- signatures ------------------------------------------------------------------------------------------------------

def signed(key, message, timestamp, body):
    """The signature as Python computes it, independently of rota-out."""
    mac = hmac.new(key, f"{message}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(mac).decode()


def signatures(a):
    for n in (24, 25, 26, 31, 32, 64):
        key = hashlib.sha512(b"%d" % n).digest()[:n]
        secret = "whsec_" + base64.b64encode(key).decode()
        body = json.dumps({"type": "run.failed", "text": "grün " * n}, ensure_ascii=False)
        before = int(time.time())
        status(200, 0, send(a.url + "/ok", body=body, secret=secret, id=f"msg_{n}"))
        got, = a.sent()
        h = got["headers"]
        check(h["webhook-id"] == f"msg_{n}" and before <= int(h["webhook-timestamp"]) <= time.time(), "id and time", got)
        check(h["webhook-signature"] == signed(key, f"msg_{n}", h["webhook-timestamp"], body), f"{n} bytes of key", got)
    old = hashlib.sha256(b"old").digest()
    status(200, 0, send(a.url + "/ok", body="", id="m", timestamp=1700000000,
                        secret=SECRET + " whsec_" + base64.b64encode(old).decode()))
    got, = a.sent()
    check(got["headers"]["webhook-signature"] == " ".join(signed(k, "m", 1700000000, "") for k in (KEY, old)), "two secrets", got)
    # The example of the libraries of the specification.
    status(200, 0, send(a.url + "/ok", secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id="msg_p5jXN8AQM9LWM0D4loKWxJek",
                        timestamp=1614265330, body='{"test": 2432232314}'))
    got, = a.sent()
    check(got["headers"]["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "the signature of the published example", got)


# --- TLS -------------------------------------------------------------------------------------------------------------

def openssl(*argv):
    subprocess.run(["openssl", *argv], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificate(name, san, days, ca=None, subject=None):
    """Self-signed, or signed by the authority `ca`."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", name + ".key", "-subj",
            "/CN=" + (subject or name), *(("-out", name + ".csr") if ca else ("-x509", "-days", str(days), "-addext", san, "-out", name + ".pem")))
    if ca:
        with open(os.path.join(ROOT, name + ".ext"), "w") as f:
            f.write(san.replace("=", " = ") + "\n")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days",
                str(days), "-extfile", name + ".ext", "-out", name + ".pem")
    return os.path.join(ROOT, name + ".pem"), os.path.join(ROOT, name + ".key")


def tls(a):
    ca, _ = certificate("ca", "subjectAltName=DNS:authority.test", 2)
    right = Receiver(tls=certificate("right", "subjectAltName=IP:127.0.0.1", 2, "ca"))
    status(200, 0, send(right.url + "/ok", ca=ca))
    keys = os.path.join(ROOT, "keys")
    status(200, 0, send(right.url + "/ok", ca=ca, env=ENV | {"SSLKEYLOGFILE": keys}))
    check(not os.path.exists(keys), "the keys of the connection are not written to SSLKEYLOGFILE")
    fault("tls", send(right.url + "/ok", env=ENV | {"SSL_CERT_FILE": ca, "CURL_CA_BUNDLE": ca}))  # not trusted by the environment
    fault("tls", send(right.url + "/" + HIDDEN))  # an unknown authority
    for name, san, days, by in (("other", "subjectAltName=DNS:other.test", 2, "ca"), ("old", "subjectAltName=IP:127.0.0.1", -1, "ca"),
                                ("self", "subjectAltName=IP:127.0.0.1", 2, None)):
        receiver = Receiver(tls=certificate(name, san, days, by))
        fault("tls", send(receiver.url + "/ok", ca=ca))
        check(receiver.sent() == [], f"nothing was sent to {name}")
    rude = Receiver(tls=certificate("rude", "basicConstraints=CA:FALSE", 2, "ca", "\x1b]0;owned\x07"))
    fault("tls", send(rude.url + "/ok", ca=ca), "owned")  # quoted, and printable: see send
    fault("tls", send(a.url.replace("http:", "https:") + "/ok", ca=ca))
    fault("tls", send(right.url + "/ok", ca="/nonexistent"))
    right.sent(), a.sent()
    # Redirects from http to https are followed, the reverse is not.
    status(200, 0, send(f"{a.url}/redirect?to={right.url}/ok", ca=ca))
    a.sent()
    fault("redirects", send(f"{right.url}/redirect?to={a.url}/ok", ca=ca), "from https to http")
    fault("redirects", send(f"{a.url}/redirect?to={right.url}/redirect%3Fto={a.url}/ok", ca=ca), "from https to http")
    check([s["path"] for s in a.sent()] == [f"/redirect?to={right.url}/redirect%3Fto={a.url}/ok"], "nothing was sent by http")
    status(200, 0, send(f"{right.url}/redirect?to={a.url}/ok", ca=ca, downgrade=True))
    check(len(a.sent()) == 1, "a redirect to http is followed if http is allowed")


# --- in a network namespace ------------------------------------------------------------------------------------------

PUBLIC, OWN, PRIVATE = "203.0.113.1", "203.0.113.77", "10.9.8.7"


def network():
    """A network in which 203.0.113.1 exists, and names have the addresses of the test. Requests to that address reach
    this machine, but the kernel's routes do not count it as an address of this machine: packets to it come from another one."""
    ip = shutil.which("ip") or "/usr/sbin/ip"
    for command in ("link set lo up", f"addr add {PRIVATE}/24 dev lo", f"addr add {OWN}/32 dev lo",
                    f"route add local {PUBLIC} dev lo src {PRIVATE}"):
        subprocess.run([ip, *command.split()], check=True)
    if os.path.exists("/proc/net/if_inet6"):
        for command in ("addr add 2001:db8::77/128 dev lo nodad", "addr add fd00::7/128 dev lo nodad",
                        "route add local 2001:db8::1 dev lo src fd00::7"):
            subprocess.run([ip, "-6", *command.split()], check=True)
    files = {"hosts": f"127.0.0.1 localhost\n{PRIVATE} private.test\n127.0.0.1 sneaky.test\n{PUBLIC} public.test\n"
                      f"{PRIVATE} mixed.test\n{PUBLIC} mixed.test\n",
             "resolv.conf": "nameserver 127.0.0.1\noptions timeout:30 attempts:3\n",
             "nsswitch.conf": "hosts: files dns\n"}
    for name, text in files.items():
        path = os.path.join(ROOT, name)
        with open(path, "w") as f:
            f.write(text)
        subprocess.run(["mount", "--bind", path, os.path.realpath("/etc/" + name)], check=True)


def public_and_private():
    asked = os.path.join(ROOT, "asked")
    names = start("names.py", asked, f"rebind.test={PUBLIC},127.0.0.1", f"turned.test=127.0.0.1,{PUBLIC}", "silent.test=")
    names.stdout.readline()

    public = Receiver(PUBLIC)
    loop, private = Receiver("127.0.0.1", public.port), Receiver(PRIVATE, public.port)
    port = public.port
    quiet = {"allow": ()}

    status(200, 0, send(public.url + "/ok", **quiet), f"({PUBLIC})")
    status(200, 0, send(f"http://public.test:{port}/ok", **quiet), f"({PUBLIC})")
    if os.path.exists("/proc/net/if_inet6"):
        status(200, 0, send(Receiver("2001:db8::1").url + "/ok", **quiet), "(2001:db8::1)")
    check(len(public.sent()) == 2, "a public receiver is reached without being allowed")
    # Public addresses of this machine: what listens on all addresses is reached there, too.
    own = Receiver(OWN)
    fault("refused", send(own.url + "/ok", **quiet), f"{OWN} is at this machine's own address ({OWN})")
    fault("refused", send(f"{public.url}/redirect?to={own.url}/ok", **quiet), "this machine's own address")
    fault("refused", send(f"http://[::ffff:{OWN}]:{own.port}/ok", **quiet), "this machine's own address")
    fault("refused", send("http://[64:ff9b::203.0.113.77]/ok", **quiet), "this machine's own address")
    if os.path.exists("/proc/net/if_inet6"):
        fault("refused", send(Receiver("2001:db8::77").url + "/ok", **quiet), "this machine's own address")
    check(own.sent() == [], "nothing was sent there")
    status(200, 0, send(own.url + "/ok", allow=[OWN]), f"({OWN})")
    status(200, 0, send(own.url + "/ok", allow=["203.0.113.0/24"]), f"({OWN})")
    check(len(own.sent()) == 2, "unless it is allowed")
    public.sent()
    for to in (f"http://{PRIVATE}:{port}/", f"http://127.0.0.1:{port}/", f"http://[::1]:{port}/", f"http://private.test:{port}/",
               f"http://sneaky.test:{port}/", "http://169.254.169.254/latest/meta-data/"):
        fault("refused", send(to, **quiet))
        fault("refused", send(f"{public.url}/redirect?to={to}", **quiet))
        fault("refused", send(f"{public.url}/redirect?to={public.url}/redirect%3Fto={to}", **quiet))
    public.sent()
    fault("refused", send(f"{public.url}/redirect?to=http://private.test:{port}/", **quiet),
          f"private.test is at a private address ({PRIVATE})")
    public.sent()
    status(200, 0, send(f"http://mixed.test:{port}/ok", **quiet), f"({PUBLIC})")
    check(private.sent() == [] and loop.sent() == [], "no private receiver got a request")
    check(len(public.sent()) == 1, "of several addresses the public one is used")
    status(200, 0, send(f"http://private.test:{port}/ok", allow=["private.test"]), f"({PRIVATE})")
    fault("refused", send(f"http://private.test:{port}/ok", allow=["public.test"]))
    fault("refused", send(f"http://{PRIVATE}:{port}/ok", allow=["private.test"]))
    private.sent()

    # The name server gives another address at the second query, but there is no second query.
    status(200, 0, send(f"http://rebind.test:{port}/redirect?to=http://rebind.test:{port}/ok", **quiet), f"({PUBLIC})")
    check([s["path"] for s in public.sent()][1:] == ["/ok"], "both reached the address that was checked")
    fault("refused", send(f"http://rebind.test:{port}/ok", **quiet))  # now the answer is 127.0.0.1
    fault("refused", send(f"http://turned.test:{port}/ok", **quiet))
    with open(asked) as f:
        questions = f.read().split("\n")
    check(questions.count("rebind.test 1") == 2 and questions.count("turned.test 1") == 1, "the name server is asked once for each request", questions)
    check(loop.sent() == [] and private.sent() == [] and public.sent() == [], "no other receiver got a request")
    # A name server that does not answer.
    fault("timeout", send(f"http://silent.test:{port}/ok", timeout=1, **quiet))


def namespaces():
    """The command that runs the test in its own namespaces; None: not permitted."""
    for flags in ("-mn", "-Urmn"):
        command = ["unshare", flags]
        try:
            if subprocess.run([*command, "sh", "-c", "mount --bind /etc/hosts /etc/hosts && PATH=$PATH:/usr/sbin ip link set lo up"],
                              capture_output=True, timeout=30).returncode == 0:
                return command
        except OSError:
            pass
    return None


def end(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def main():
    if INSIDE:
        network()
    a, b = Receiver(), Receiver()
    plain(a)
    statuses(a)
    a.sent()
    refusals_of_requests(a)
    misbehaviour(a)
    addresses(a)
    environment(a, b)
    redirects(a, b)
    signatures(a)
    tls(a)
    if INSIDE:
        public_and_private()


if not INSIDE:
    # The whole test runs in namespaces, so that a rota-out that breaks the rules reaches no real host.
    command = namespaces()
    if command:
        os.rmdir(ROOT)
        print(f"in its own namespaces ({' '.join(command)})", flush=True)
        os.execvp(command[0], [*command, sys.executable, os.path.abspath(__file__), ROTA_OUT, "--inside"])
    print("namespaces are not permitted here: private addresses behind names and redirects are shown with the loopback network, "
          "of which one address is allowed")
try:
    main()
finally:
    for one in started:
        if one.poll() is None:
            end(one)
    shutil.rmtree(ROOT)
sys.exit(finish())
