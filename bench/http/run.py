#!/usr/bin/env python3
"""HTTP servers in turn: server CPU per request beside bare and the peers. See docs/performance.md.

  scripts/bench http [--rounds N] [--seconds S] [--rows TEXT] [--out DIR]

Exit: 0, every bar that was judged holds; 42, one does not; 1, it could not run, or the run is void.
"""

import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]

import fixed
import growth
import loads
import machine
import peers
import rounds as turns
import syscalls
import table

BARE_OF_NGINX = 0.92  # above it the run is void: something else than the servers was measured
STATIC = {"bare": 1.08, "nginx": 0.94, "haproxy": 0.90, "h2o": 0.90, "lighttpd": 0.90, "beast": 0.85, "go": 0.65}


class Row:
    """What is measured: a server of ours beside peers under one load. bars: peer -> bar of the CPU ratio."""

    def __init__(self, name, ours, shape, connections, bars, rate=None):
        self.name, self.ours, self.shape, self.connections, self.bars, self.rate = name, ours, shape, connections, bars, rate


ROWS = [
    Row("static, keep-alive, 64", "flare-static", "keep-alive", 64, STATIC, 0.97),
    Row("static, keep-alive, 256", "flare-static", "keep-alive", 256, STATIC, 0.97),
    Row("dynamic, keep-alive, 64", "flare-path", "keep-alive", 64, {"bare": 1.12, "nginx": 0.97}),
    Row("static, pipelined by 16, 64", "flare-static", "pipelined", 64, {"bare": 1.20, "nginx": 0.10}),
    Row("dynamic, pipelined by 16, 64", "flare-path", "pipelined", 64, {"bare": 1.50}),
    Row("static, a connection per request, 64", "flare-static", "close", 64, {"nginx": 0.98, "haproxy": 0.78}),
    Row("static, deferred, a connection per request, 64", "flare-deferred", "close", 64, {"nginx": 0.70, "nginx-deferred": 0.90}),
]


def starters(binaries, work):
    answers = {}

    def bare():
        if "flare" not in answers:
            one = peers.start_flare(binaries, "static")
            answers["flare"] = one.answer()
            one.end()
        return peers.start_bare(binaries, work, answers["flare"])

    return {"flare-static": lambda: peers.start_flare(binaries, "static"),
            "flare-path": lambda: peers.start_flare(binaries, "path"), "bare": bare,
            "flare-deferred": lambda: peers.start_flare(binaries, "static", deferred=True),
            "nginx-deferred": lambda: peers.start_nginx(work, deferred=True, name="nginx-deferred"),
            "nginx": lambda: peers.start_nginx(work), "haproxy": lambda: peers.start_haproxy(work),
            "h2o": lambda: peers.start_h2o(work), "lighttpd": lambda: peers.start_lighttpd(work),
            "beast": lambda: peers.start_beast(binaries), "go": lambda: peers.start_go(binaries)}


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.starters, self.running, self.missing = starters(options.bin, work), {}, {}
        self.foreign = []

    def peer(self, name):
        if name not in self.running and name not in self.missing:
            try:
                self.running[name] = self.starters[name]()
            except (peers.Missing, OSError) as error:
                self.missing[name] = str(error)
        return self.running.get(name)

    def spent(self, peer, load):
        """(what the load says, the server's CPU in microseconds)."""
        before, others = machine.cpu_ns(peer.pid), machine.Foreign([peer.pid])
        seen = load()
        cpu = machine.cpu_ns(peer.pid) - before
        self.foreign.append(others.share())
        return seen, cpu / 1000

    def measure(self, name, row):
        peer = self.running[name]
        seen, cpu_us = self.spent(peer, lambda: loads.wrk(self.work, peer.port, row.shape, row.connections,
                                                          self.options.seconds))
        return dict(seen, cpu_us=cpu_us / seen["requests"])

    def run(self, row):
        """The judged rows of one of ROWS."""
        names = [name for name in (row.ours, *row.bars) if self.peer(name)]
        left_out = [f"{name}: {self.missing[name]}" for name in (row.ours, *row.bars) if name in self.missing]
        if left_out:
            return [{"name": f"{row.name}: not judged", "why": "; ".join(left_out)}]
        found = turns.in_turn(names, self.options.rounds, lambda name: self.measure(name, row))
        judged = [turns.judge(f"{row.name}: CPU / {peer}", turns.ratios(found, "cpu_us", row.ours, peer), bar)
                  for peer, bar in row.bars.items()]
        if row.rate:
            best = [one[row.ours]["rate"] / max(one[peer]["rate"] for peer in row.bars) for one in found]
            judged.append(turns.judge(f"{row.name}: rate / the best peer", best, row.rate, at_most=False))
        if "bare" in names and "nginx" in names and row.shape == "keep-alive":
            yardstick = turns.judge(f"{row.name}: bare / nginx", turns.ratios(found, "cpu_us", "bare", "nginx"), BARE_OF_NGINX)
            judged.append(dict(yardstick, void=yardstick["median"] > BARE_OF_NGINX))
        for one in judged:
            one["cpu_us"] = {name: round(turns.quantile([r[name]["cpu_us"] for r in found], 0.5), 3) for name in names}
        return judged

    def end(self):
        for peer in self.running.values():
            peer.end()


def arguments(given):
    parser = argparse.ArgumentParser(prog="scripts/bench http", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=int, default=2, help="of each load")
    parser.add_argument("--rows", default="", help="only rows whose name holds this text")
    options = table.arguments(parser, given)
    if not 1 <= options.seconds <= 600:
        parser.error(f"--seconds '{options.seconds}': expected 1 to 600")
    return options


def main():
    options = arguments(sys.argv[1:])
    chosen = [row for row in ROWS if options.rows in row.name]
    grows, more = options.rows in growth.NAME, [one for one in (syscalls, fixed) if options.rows in one.NAME]
    if not chosen and not grows and not more:
        names = "; ".join([*(row.name for row in ROWS), syscalls.NAME, fixed.NAME, growth.NAME])
        print(f"bench http: --rows '{options.rows}': expected a part of one of: {names}")
        return 2
    found, curves = [], []
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        try:
            if grows:
                loads.wrk_limits(max(growth.COUNTS))  # for the servers, too
            for row in chosen:
                found += bench.run(row)
                print(f"bench http: {row.name}: done", file=sys.stderr, flush=True)
            for one in more:
                found += one.run(bench)
            if grows:
                rows, curves = growth.run(bench, lambda count: Row("", "flare-static", "keep-alive", count, {}))
                found += rows
        except (loads.LoadError, table.BenchError, OSError) as error:
            print(f"bench http: {error}")
            return 1
        finally:
            bench.end()
    return table.conclude("http", options.out, found, bench.foreign, curves=curves)


if __name__ == "__main__":
    sys.exit(main())
