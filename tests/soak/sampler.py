"""One line of figures per server and second, written as they come: a soak that is killed still has its data."""

import json
import threading
import time


class Sampler:
    """servers(): those to sample now. Lines: {"t": seconds, "server": name, "phase": label, ...}."""

    def __init__(self, path, servers, began):
        self.file = open(path, "w", encoding="utf-8")
        self.servers, self.began, self.phase = servers, began, ""
        self.memory = {}  # name -> [(seconds, KiB)], of all samples
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.wait(1):
            for server in self.servers():
                self.sample(server)

    def sample(self, server):
        outside, live = server.outside(), last_line(server)
        if outside is None:
            return
        moment = round(time.monotonic() - self.began, 3)
        self.memory.setdefault(server.name, []).append((moment, outside["rss_kib"]))
        self.write({"t": moment, "server": server.name, "phase": self.phase, **outside, "live_line": live})

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
