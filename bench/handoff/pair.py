"""Servers of two workers with the handoff on or off, and loads at them."""

import json
import pathlib
import re
import subprocess

import table


class Server:
    """A running flare-serve; ended at the end of its scope."""

    def __init__(self, binary, folder, mode, arguments):
        self.stats = pathlib.Path(folder) / "stats.jsonl"
        self.stats.unlink(missing_ok=True)
        # --pdeathsig: it does not outlive this program.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", str(binary), "--workers", "2", "--address", "127.0.0.1:0", "--handoff", mode,
             "--handoff-threshold", "1", "--drain-timeout-ms", "100", "--stats-interval-ms", "100", "--stats-file",
             str(self.stats), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.match(r"listening on (\S+)", line)
            if found:
                self.address = found.group(1)
                return
        raise table.BenchError(f"{binary} ended with {self.process.wait()} and listened nowhere")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=20)

    def counts(self):
        """Sums over the workers, of all it did."""
        self.end()
        last = json.loads(self.stats.read_text().splitlines()[-1])
        return {name: sum(last[name]) for name in ("handed_out", "wakes_sent")}


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work

    def server(self, mode, *arguments):
        return Server(self.options.bin / "flare-serve", self.work, mode, arguments)

    def storm(self, server, *arguments):
        """Its report."""
        return table.storm(self.options.bin, server.address, *arguments)


def in_turn(bench, rounds, server_arguments, storm_arguments):
    """[(report on, report off)] of adjacent loads; which comes first changes."""
    found = []
    with bench.server("on", *server_arguments) as on, bench.server("off", *server_arguments) as off:
        for number in range(rounds):
            order = [("on", on), ("off", off)][::1 if number % 2 == 0 else -1]
            seen = {mode: bench.storm(server, *storm_arguments, "--seed", str(number)) for mode, server in order}
            found.append((seen["on"], seen["off"]))
    return found
