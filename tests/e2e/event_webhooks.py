#!/usr/bin/env python3
"""Webhooks of events: receivers on the loopback address that are down, slow, fail or want nothing more. Every receiver that is
there gets every event that it wants, in order, across kill -9; no receiver delays another; what it can never get is said.

usage: event_webhooks.py ROTA ROTA-OUT"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import check  # noqa: E402
from rig import Rig, run_parts, wait_until  # noqa: E402

ROTA, ROTA_OUT = map(os.path.abspath, sys.argv[1:3])
KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
WAIT = 90


class Receiver:
    """Answers every request with `status`, after `delay` seconds; `fail` further requests get 500."""

    def __init__(self, port=0):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.over.wait(outer.delay)
                with outer.lock:
                    status = 500 if outer.fail > 0 else outer.status
                    outer.fail -= outer.fail > 0
                    outer.requests.append((status, {k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.requests, self.lock, self.over = [], threading.Lock(), threading.Event()
        self.status, self.fail, self.delay = 200, 0, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/events"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def batches(self):
        with self.lock:
            return [(h, json.loads(b)) for status, h, b in self.requests if status == 200]

    def events(self):
        return [e for _, b in self.batches() for e in b["events"]]

    def seqs(self):
        return [e["seq"] for e in self.events()]


class EventRig(Rig):
    def __init__(self, *targets):
        super().__init__(ROTA, env={"ROTA_OUT": ROTA_OUT})
        self.configure(*targets)

    def configure(self, *targets):
        path = os.path.join(self.dir, "rota.yaml")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"out": {"allow": ["127.0.0.1"]}, "events": list(targets)}, f)
        self.options = ["--config", path]

    def logged(self, *types):
        """The numbers of all events of these types, from the log."""
        found = self.ask("GET", "/events?after=0&limit=1000")["events"]
        return [e["seq"] for e in found if not types or e["type"] in types]

    def problems(self):
        return [p for p in json.loads(self.cli("ls", "problems", "--json").stdout)["problems"] if "events to" in p["subject"]]

    def make(self, n):
        for i in range(n):
            self.cli("add", "0 0 1 1 *", "--id", f"s{time.monotonic_ns()}", "--", "true")


def first_time(seqs):
    """The numbers in the order in which they came first: a batch whose answer was lost is sent again."""
    return list(dict.fromkeys(seqs))


def verify(headers, body):
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    want = base64.b64encode(hmac.new(KEY, text, hashlib.sha256).digest()).decode()
    return f"v1,{want}" in headers["webhook-signature"].split()


def delivers():
    """Events arrive in order and signed; a target gets only the types that it names."""
    every, some = Receiver(), Receiver()
    with EventRig({"url": every.url, "secret": SECRET}, {"url": some.url, "types": ["schedule:*", "run:finished"]}) as rig:
        rig.start()
        rig.cli("add", "0 0 1 1 *", "--id", "a", "--", "true")
        rig.cli("run", "a", "--wait")
        check(wait_until(WAIT, lambda: {e["type"] for e in every.events()} >= {"schedule:created", "run:started", "run:finished"}),
              "events arrive", str(every.events()))
        wanted = rig.logged()
        check(wait_until(WAIT, lambda: every.seqs() == wanted[-len(every.seqs()):] and every.seqs()[-1:] == wanted[-1:]),
              "every event, once, in order", f"{every.seqs()} {wanted}")
        check(wait_until(WAIT, lambda: "run:finished" in {e["type"] for e in some.events()}), "some events arrive")
        check(all(e["type"].startswith("schedule:") or e["type"] == "run:finished" for e in some.events()), "only wanted types",
              str(some.events()))
        check(some.seqs() == sorted(some.seqs()), "in order")
        with every.lock:
            check(all(verify(h, b) for _, h, b in every.requests), "every request is signed")
            ids = [h["webhook-id"] for _, h, _ in every.requests]
        check(len(set(ids)) == len(ids), "every batch has an id of its own", str(ids))
        envelope = every.events()[0]
        check(set(envelope) == {"seq", "ts", "type", "data"}, "the envelope", str(envelope))
    every.close()
    some.close()


def down():
    """A receiver that is down, fails or is slow gets all it missed, in order; others do not wait."""
    good, late, failing, slow = Receiver(), Receiver(), Receiver(), Receiver()
    port = late.port
    late.close()
    failing.fail, slow.delay = 2, 3
    with EventRig(*({"url": r.url} for r in (good, late, failing, slow))) as rig:
        rig.start()
        rig.make(5)
        check(wait_until(WAIT, lambda: len(good.seqs()) >= 5), "a good receiver does not wait", str(good.seqs()))
        rig.kill()
        rig.start()
        rig.make(3)
        late = Receiver(port)
        last = rig.logged()[-1]
        for name, r in (("down", late), ("failing", failing), ("slow", slow), ("good", good)):
            check(wait_until(WAIT, lambda r=r: r.seqs() and first_time(r.seqs())[-1] >= last), f"{name}: the last event arrives",
                  f"{r.seqs()} {last}")
            seqs = first_time(r.seqs())
            check(seqs == list(range(seqs[0], seqs[-1] + 1)), f"{name}: nothing is lost, and the order is kept", str(r.seqs()))
            check(len(seqs) >= 8, f"{name}: it has got what it missed", str(seqs))
        check(not rig.problems(), "a short outage is no problem", str(rig.problems()))
    for r in (good, late, failing, slow):
        r.close()


def killed():
    """No event is lost for a receiver across kill -9 of the daemon."""
    receiver = Receiver()
    with EventRig({"url": receiver.url}) as rig:
        rig.start()
        rig.make(1)
        for _ in range(4):
            rig.make(3)
            rig.kill()
            rig.start()
        rig.make(1)
        last = rig.logged()[-1]
        check(wait_until(WAIT, lambda: receiver.seqs() and max(receiver.seqs()) >= last), "the last event arrives", str(receiver.seqs()))
        seqs = first_time(receiver.seqs())
        check(seqs == list(range(seqs[0], last + 1)), "no event is lost", str(receiver.seqs()))
        again = len(receiver.seqs()) - len(seqs)
        print(f"killed: {len(seqs)} events, {again} of them twice")
    receiver.close()


def gone():
    """410, and an answer that no retry helps, are problems; other receivers go on; a restart tries again."""
    good, gone_, bad = Receiver(), Receiver(), Receiver()
    gone_.status, bad.status = 410, 404
    with EventRig(*({"url": r.url} for r in (good, gone_, bad))) as rig:
        rig.start()
        rig.make(2)
        check(wait_until(WAIT, lambda: len(rig.problems()) == 2), "two problems", str(rig.problems()))
        check(any("gets no more events" in p["text"] for p in rig.problems()), "one says that it is gone", str(rig.problems()))
        number = rig.problems()[0]["number"]
        check(rig.cli("ack", str(number)).returncode == 0, "a person can acknowledge it")
        check("the webhook at http://127.0.0.1" in rig.cli("status").stdout, "status shows them", rig.cli("status").stdout)
        before = len(gone_.requests)
        rig.make(2)
        check(wait_until(WAIT, lambda: len(good.seqs()) >= 4), "others go on", str(good.seqs()))
        check(len(gone_.requests) == before, "the receiver that is gone gets nothing more")
        gone_.status = bad.status = 200
        rig.stop()
        rig.start()
        last = rig.logged()[-1]
        for r in (gone_, bad):
            check(wait_until(WAIT, lambda r=r: r.seqs()[-1:] and r.seqs()[-1] >= last), "after a restart it gets what it missed",
                  str(r.seqs()))
        check(wait_until(WAIT, lambda: not rig.problems()), "the problems close", str(rig.problems()))
    for r in (good, gone_, bad):
        r.close()


def gap():
    """Events that were pruned before a receiver got them: the receiver is told, and there is a problem."""
    receiver = Receiver()
    receiver.status = 503
    with EventRig({"url": receiver.url}) as rig:
        rig.start()
        rig.make(6)
        check(wait_until(WAIT, lambda: receiver.requests), "it is tried")
        rig.stop()
        with sqlite3.connect(f"{rig.data}/rota.db") as db:
            numbers = [n for n, in db.execute("SELECT number FROM event ORDER BY number")]
            db.execute("DELETE FROM event WHERE number <= ?", (numbers[-3],))
            db.execute("UPDATE meta SET value = max(value, ?) WHERE name = 'last_event'", (numbers[-3],)) \
                if "name" in [c[1] for c in db.execute("PRAGMA table_info(meta)")] else None
        receiver.status = 200
        rig.start()
        check(wait_until(WAIT, lambda: receiver.batches()), "it gets the rest")
        first = receiver.batches()[0][1]
        check(first["gap"] and first["gap"]["to"] < first["events"][0]["seq"], "the first batch names the gap", str(first["gap"]))
        found = wait_until(WAIT, lambda: [p for p in rig.problems() if "were removed" in p["text"]])
        check(bool(found), "the gap is a problem", str(rig.problems()))
        if found:
            rig.cli("ack", str(found[0]["number"]))
        rig.make(1)
        check(wait_until(WAIT, lambda: not rig.problems()), "an acknowledged gap is closed", str(rig.problems()))
    receiver.close()


PARTS = [delivers, down, killed, gone, gap]
if __name__ == "__main__":
    sys.exit(run_parts(PARTS, sys.argv[3:], 3))
