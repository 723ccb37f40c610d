#!/usr/bin/env python3
"""An HTTP server that behaves as the path of a request says, and writes each request to LOG as a line of JSON. Prints
its port when it listens; runs until it is killed.

usage: receiver.py LOG ADDRESS PORT [CERTIFICATE KEY]"""
import http.server
import json
import socket
import ssl
import sys
import threading
import time
import urllib.parse

LOG, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = {"method": self.command, "path": self.path, "body": body.decode(),
                "headers": {k.lower(): v for k, v in self.headers.items()}}
        with lock, open(LOG, "a") as log:
            log.write(json.dumps(sent) + "\n")
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        getattr(self, "do_" + path.split("/")[1], self.do_ok)(query)
        self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = any

    def answer(self, status, headers=(), body=b"fine\n"):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def raw(self, *pieces, pause=0):
        """Writes until the client closes the connection."""
        try:
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(pause)
        except OSError:
            pass

    def do_ok(self, _query):
        self.answer(200)

    def do_status(self, query):
        headers = [("Retry-After", query["after"])] if "after" in query else []
        self.answer(int(query["code"]), headers)

    def do_redirect(self, query):
        headers = [("Location", query["to"]), ("Set-Cookie", "crumb=1; Path=/")] if "to" in query else []
        self.answer(int(query.get("code", 302)), headers)

    def do_loop(self, _query):
        self.answer(302, [("Location", "/loop")])

    def do_hops(self, query):
        n = int(query["n"])
        self.answer(307 if n else 200, [("Location", f"/hops?n={n - 1}")] if n else [])

    def do_slow(self, query):
        time.sleep(0.4)
        n = int(query["n"])
        self.answer(307 if n else 200, [("Location", f"/slow?n={n - 1}")] if n else [])

    def do_hang(self, _query):
        self.rfile.read(1)  # until the client closes the connection

    def do_drip(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ", *[b"a"] * 100000, pause=0.1)

    def do_headers(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\n", *[b"X-More: " + b"a" * 1000 + b"\r\n"] * 10000)

    def do_informed(self, _query):
        self.raw(*[b"HTTP/1.1 103 Early Hints\r\nLink: " + b"a" * 1000 + b"\r\n\r\n"] * 10000)

    def do_longline(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\nX-Long: ", *[b"a" * 65536] * 1000)

    def do_body(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\n\r\n", *[b"b" * 65536] * 4000)

    def do_bodyredirect(self, query):
        self.raw(b"HTTP/1.1 307 Elsewhere\r\nLocation: " + query["to"].encode() + b"\r\n\r\n", *[b"b" * 65536] * 4000)

    def do_early(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789")

    def do_chunks(self, _query):
        self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n")

    def do_nothing(self, _query):
        pass

    def do_garbage(self, _query):
        self.raw(b"\x1b]0;owned\x07 220 mail ready\r\n" * 20)

    def do_rude(self, _query):
        self.raw(b"HTTP/9.9\x1b[31m 200 \x1b[31mOK\r\n\r\n")


IPV6_FREEBIND = 78


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    address_family = socket.AF_INET6 if ":" in ADDRESS else socket.AF_INET

    def server_bind(self):
        if ":" in ADDRESS:
            self.socket.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)  # for an address that no interface has, only a route
        socket.socket.bind(self.socket, self.server_address)  # the server does not look up its own name
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_):
        pass  # the client has closed the connection


server = Server((ADDRESS, PORT), Handler)
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[4], sys.argv[5])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.socket.getsockname()[1], flush=True)
server.serve_forever()
