"""Figures every second, written as they come: a soak that is killed still has its data.

A line per server: {"t": seconds, "server": name, "phase": label, ..., "live_line": its own figures}; and one per load:
{"t", "load": label, "server", "phase", "storm": what flare-storm wrote of the span}.
"""

import json
import threading
import time


class Sampler:
    """servers(): those to sample now. storms(): the lists of loads; those that have ended are taken away."""

    def __init__(self, path, servers, storms, began):
        self.file = open(path, "w", encoding="utf-8")
        self.servers, self.storms, self.began, self.phase = servers, storms, began, ""
        self.error = None  # what ended the sampling
        self.memory = {}  # name -> [(seconds, KiB)], of all samples
        self.newest = {}  # name -> the last sample
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.over.wait(1):
                self.sample_all()
            self.sample_all()
        except Exception as error:
            self.error = error

    def sample_all(self):
        for server in self.servers():
            self.sample(server)
        for storms in self.storms():
            for storm in list(storms):
                ended = storm.process.poll() is not None  # asked first: its last line is there then
                self.sample_load(storm)
                if ended:
                    storms.remove(storm)

    def now(self):
        return round(time.monotonic() - self.began, 3)

    def sample(self, server):
        outside, live = server.outside(), last_line(server)
        if outside is None:
            return
        row = {"t": self.now(), "server": server.name, "phase": self.phase, **outside, "live_line": live}
        self.memory.setdefault(server.name, []).append((row["t"], outside["rss_kib"]))
        self.newest[server.name] = row
        self.write(row)

    def sample_load(self, storm):
        for line in storm.new_lines():
            self.write({"t": self.now(), "load": storm.label, "server": storm.server, "phase": self.phase, "storm": line})

    def write(self, row):
        with self.lock:
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()

    def end(self):
        self.over.set()
        self.thread.join()
        self.file.close()


def last_line(server):
    """The newest whole line of its statistics; apart from Server.live, whose place in the file is its caller's."""
    try:
        with open(server.live_file, "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 8192))
            lines = file.read().split(b"\n")
        return json.loads(lines[-2]) if len(lines) > 2 else None
    except (OSError, ValueError):
        return None
