#!/usr/bin/env python3
"""A name server on 127.0.0.1 that gives a different answer to each query. For NAME=ADDRESS,ADDRESS,… it gives the addresses
one after the other, then always the last one. For NAME= it never answers. Prints a line when it listens, and writes each
query to LOG.

usage: names.py LOG NAME=ADDRESSES..."""
import socket
import struct
import sys

answers = {name.encode(): [a for a in list_.split(",") if a] for name, list_ in (x.split("=") for x in sys.argv[2:])}
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    query, client = server.recvfrom(2048)
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]])
        at += query[at] + 1
    name, kind = b".".join(labels).lower(), struct.unpack(">H", query[at + 1:at + 3])[0]
    with open(sys.argv[1], "a") as log:
        log.write(f"{name.decode()} {kind}\n")
    known = answers.get(name)
    if known == []:
        continue
    record = b""
    if known and kind == 1:
        address = known.pop(0) if len(known) > 1 else known[0]
        record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address)
    head = query[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, bool(record), 0, 0)
    server.sendto(head + query[12:at + 5] + record, client)
