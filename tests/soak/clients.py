"""Clients of two kinds: flare-storm for load, and a few that do what no load generator does."""

import asyncio
import json
import pathlib
import random
import signal
import socket
import struct
import subprocess
import time

from interrupt import over

PATIENCE = 20  # seconds for an answer


def tally(**counts):
    """What clients saw. connected: connections; unfinished: those that a client gave up before it knew; answered: answers
    read whole; left: connections that a client ended with an answer possibly under way; truncated: answers that ended
    within, or never came; reset: requests that met a reset, reset_first those of them that were the first of their
    connection; dropped: connections that a server ended without a word; too_late: heads that met a 408."""
    return dict({"connected": 0, "unfinished": 0, "refused": 0, "answered": 0, "left": 0, "truncated": 0, "reset": 0,
                 "reset_first": 0, "timeout": 0, "dropped": 0, "bad": 0, "too_late": 0}, **counts)


def add(one, other):
    return {key: one.get(key, 0) + other.get(key, 0) for key in {*one, *other}}


class Storm:
    """One run of flare-storm. label: of its files. server: the name of its target."""

    def __init__(self, binary, folder, label, server, address, seed, seconds, **flags):
        self.label, self.server, self.offset, self.resets = label, server, 0, flags.get("mode") == "reset"
        self.file = pathlib.Path(folder) / f"{label}.storm.json"
        self.live_file = pathlib.Path(folder) / f"{label}.storm.jsonl"
        command = [str(binary), address, "--json", str(self.file), "--quiet", "--seed", str(seed),
                   "--duration-ms", str(int(seconds * 1000)), "--stats-file", str(self.live_file)]
        for name, value in flags.items():
            command += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        self.command, self.seconds = command, seconds
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, start_new_session=True)

    def result(self):
        """(tally, the whole report)."""
        said = self.finished(time.monotonic() + self.seconds + 60)
        if self.process.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(self.command)}: {said.decode(errors='replace').strip()}")
        report = json.loads(self.file.read_text())
        ends = report["endings"]
        unfinished = report["opened"] - report["connected"] - ends["connect_refused"] - ends["connect_failed"]
        return tally(connected=report["connected"], unfinished=unfinished, answered=report["answered"],
                     refused=ends["connect_refused"],
                     # Only those that reset end a connection whose answer may be under way.
                     left=ends["closed_by_us"] * self.resets + ends["timeout"],
                     truncated=ends["truncated"] + ends["eof_outstanding"],
                     reset=ends["reset_first_request"] + ends["reset_outstanding"],
                     reset_first=ends["reset_first_request"],
                     dropped=sum(ends[how] for how in ("eof_idle", "eof_unused", "reset_idle", "reset_unused",
                                                       "connect_failed")),
                     timeout=ends["timeout"], bad=ends["bad_response"], probes=report["probes"]), report

    def finished(self, end):
        """What it said on stderr, once it has ended; the end of the soak ends it."""
        told = False
        while True:
            try:
                return self.process.communicate(timeout=0.2)[1]
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    self.process.kill()
                    raise
                if over.is_set() and not told:
                    self.process.send_signal(signal.SIGINT)
                    told = True

    def new_lines(self):
        """The lines of figures since the last call."""
        try:
            with open(self.live_file, encoding="utf-8") as file:
                file.seek(self.offset)
                whole, _, _ = file.read().rpartition("\n")
        except FileNotFoundError:
            return []  # it looks for its ports first
        self.offset += len(whole) + 1 if whole else 0
        return [json.loads(line) for line in whole.splitlines()]


# --- The others: a coroutine of (reader, writer, random) each; it returns what it adds to the tally.

def request(path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: soak\r\n{more}\r\n".encode()


async def read_answer(reader):
    """The status of one whole answer; raises IncompleteReadError when it ends within, or before."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(head.split(" ", 2)[1])
    fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return status


async def half_closer(reader, writer, rng):
    """Sends some requests and its end of stream; all of them are answered."""
    count = rng.randint(1, 4)
    writer.write(request("/sleep/500") * count)
    writer.write_eof()
    for _ in range(count):
        await read_answer(reader)
    rest = await reader.read()
    return tally(answered=count, bad=int(rest != b""))


async def pipeliner(reader, writer, rng):
    count = rng.choice((16, 64, 100))
    writer.write(request("/") * count)
    for _ in range(count):
        await read_answer(reader)
    return tally(answered=count)


async def silent(reader, writer, rng):
    """Says nothing, or half a head: the server ends it, in the second case with a 408."""
    half = rng.random() < 0.5
    if half:
        writer.write(b"GET / HTTP/1.1\r\nHo")
    said = await reader.read()
    return tally(bad=int(said.startswith(b"HTTP/1.1 408") != half))


async def slow_head(reader, writer, rng):
    """A head in small steps: answered if it is whole within the deadline of heads (1 s), else refused with a 408."""
    late, began = rng.random() < 0.3, time.monotonic()
    head = request("/", f"X-Long: {'x' * 300}\r\n")
    step = len(head) // (80 if late else 10)
    answer = asyncio.ensure_future(read_answer(reader))
    for at in range(0, len(head), step):
        if answer.done():
            break
        writer.write(head[at:at + step])
        await asyncio.sleep(0.04)
    in_time = time.monotonic() - began < 0.9  # else this client was too slow itself, and either answer is right
    status = await answer
    good = (408,) if late else (200,) if in_time else (200, 408)
    return tally(answered=int(status == 200), too_late=int(status == 408), bad=int(status not in good))


async def slow_body(reader, writer, rng):
    """A body in small steps, for longer than its deadline without progress (2 s) in all: it is answered."""
    steps = rng.choice((10, 30))
    writer.write(f"POST /echo HTTP/1.1\r\nHost: soak\r\nContent-Length: {steps * 100}\r\n\r\n".encode())
    for _ in range(steps):
        writer.write(b"x" * 100)
        await asyncio.sleep(0.1)
    status = await read_answer(reader)
    return tally(answered=1, bad=int(status != 200))


async def thrower(reader, writer, rng):
    """A handler that throws answers 500; one that throws behind the head cuts its connection."""
    writer.write(request("/throw"))
    status = await read_answer(reader)
    if status != 500:
        return tally(bad=1)
    writer.write(request("/throw-late"))
    try:
        await read_answer(reader)
    except (asyncio.IncompleteReadError, ConnectionError):
        return tally(answered=1, truncated=1)
    return tally(answered=1, bad=1)


async def slow_reader(reader, writer, rng):
    """A body that is larger than the buffers between, read in small steps."""
    writer.write(request("/big/2000000"))
    await reader.readuntil(b"\r\n\r\n")
    left = 2000000
    while left > 0:
        left -= len(await reader.readexactly(min(left, 65536)))
        await asyncio.sleep(0.005)
    return tally(answered=1)


async def resetter(reader, writer, rng):
    """Resets at one of its stages: before, within and behind the request, and within the answer."""
    stage = rng.randrange(4)
    if stage == 1:
        writer.write(b"POST /echo HTTP/1.1\r\nHost: soak\r\nContent-Length: 1000\r\n\r\n" + b"x" * 10)
    if stage >= 2:
        writer.write(request("/big/3000000"))
    if stage == 3:
        await reader.readexactly(1000)
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return tally(left=1)


KINDS = {kind.__name__: kind for kind in (half_closer, pipeliner, silent, slow_head, slow_body, thrower, slow_reader,
                                    resetter)}


async def one_client(kind, host, port, rng, end, result):
    while time.monotonic() < end and not over.is_set():
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port), PATIENCE)
        except OSError:
            result.update(add(result, tally(refused=1)))
            await asyncio.sleep(0.05)
            continue
        seen = tally(connected=1)
        try:
            seen = add(seen, await asyncio.wait_for(KINDS[kind](reader, writer, rng), PATIENCE))
        except asyncio.TimeoutError:
            seen = add(seen, tally(timeout=1, left=1))
        except ConnectionError:
            seen = add(seen, tally(reset=1))
        except (asyncio.IncompleteReadError, ValueError):
            seen = add(seen, tally(truncated=1))
        finally:
            writer.close()
        result.update(add(result, seen))


def run_clients(kind, address, seed, seconds, count):
    """count clients of a kind, each with a new connection as soon as its last one ended."""
    host, port = address.rsplit(":", 1)
    result = tally()

    async def all_of_them():
        end = time.monotonic() + seconds
        await asyncio.gather(*(one_client(kind, host.strip("[]"), int(port), random.Random(f"{seed}/{kind}/{number}"),
                                          end, result) for number in range(count)))

    asyncio.run(all_of_them())
    return result
