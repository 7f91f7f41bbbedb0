"""How far a soak is: on a terminal one line that changes every second, else a line every 10 s."""

import sys
import threading

EVERY, EVERY_WITHOUT_TERMINAL = 1, 10


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def line(elapsed, whole, phase, rows):
    """rows: the newest sample of each server."""
    live = {row["server"]: sum(row["live_line"]["live"]) for row in rows if row["live_line"]}
    counts = "  ".join(f"{name} {live[name]}" for name in sorted(live))
    return f"soak: {clock(elapsed)}, {clock(max(0, whole - elapsed))} left  {phase or 'start'}  live: {counts}"


class Progress:
    def __init__(self, whole, sampler, out=sys.stdout):
        self.whole, self.sampler, self.out = whole, sampler, out
        self.terminal = out.isatty()
        self.over, self.lock = threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.wait(EVERY if self.terminal else EVERY_WITHOUT_TERMINAL):
            now = self.sampler.now()
            rows = [row for row in list(self.sampler.newest.values()) if now - row["t"] < 5]
            text = line(now, self.whole, self.sampler.phase, rows)
            with self.lock:
                self.out.write(f"\r\033[K{text}" if self.terminal else f"{text}\n")
                self.out.flush()

    def say(self, text):
        """A line that stays."""
        with self.lock:
            self.out.write(("\r\033[K" if self.terminal else "") + f"soak: {clock(self.sampler.now())}  {text}\n")
            self.out.flush()

    def end(self):
        self.over.set()
        self.thread.join()
        if self.terminal:
            self.out.write("\r\033[K")
