"""User memory of an idle connection: of the server's proportional set, with many connections after one request each less none."""

import pathlib
import resource
import socket

IDLE = 6000
REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"


def pss_kib(pid):
    for line in (pathlib.Path("/proc") / str(pid) / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise OSError(f"/proc/{pid}/smaps_rollup has no Pss")


def ask(one):
    one.sendall(REQUEST)
    if not one.recv(4096).startswith(b"HTTP/1.1 200"):
        raise OSError("no answer with status 200")


def bytes_per_connection(peer, count=IDLE):
    """Of a peer that has served nothing yet but a first request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count + 100)), hard))
    with socket.create_connection(("127.0.0.1", peer.port), 5) as first:
        ask(first)
    before, held = pss_kib(peer.pid), []
    try:
        for _ in range(count):
            held.append(socket.create_connection(("127.0.0.1", peer.port), 5))
            ask(held[-1])
        return (pss_kib(peer.pid) - before) * 1024 / count
    finally:
        for one in held:
            one.close()
