#!/usr/bin/env python3
"""Real servers, real traffic, faults, one verdict: the handoff on beside off.

  scripts/soak [--minutes M] [--seed S] [--scenario NAME] [--shard I/N] [--out DIR] [--plant FAULT]

The same seed gives the same phases, client acts and faults. DIR gets samples.jsonl as it runs, soak.json at the end, and
what each process said. Exit: 0, every gate is green; 42, one is red; 1, the soak could not run; 130, it was interrupted
(with the report of what ran).
"""

import argparse
import pathlib
import random
import sys
import time

import gates
import interrupt
import report
from planted import PLANTS, planted_binaries
from progress import Progress
from sampler import Sampler
from scenarios import SCENARIOS, warm_up
from servers import ServerError
from stage import Stage

STRATEGIES = ("per-worker", "shared")
PHASE_SECONDS = (6, 40)  # at least and at most
WINDOWS = 5
WARM_UP_SECONDS = 25
CANNOT, INTERRUPTED = 1, 130


def shard_of(text):
    part, _, of = text.partition("/")
    if not (part.isdigit() and of.isdigit() and 1 <= int(part) <= int(of)):
        raise argparse.ArgumentTypeError(f"'{text}', expected I/N with I from 1 to N")
    return int(part), int(of)


def minutes_of(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 24 * 60:
        raise argparse.ArgumentTypeError(f"'{text}', expected minutes from 1, which leaves room for one phase, to 1440")
    return value


def arguments(given):
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=minutes_of, default=5.0)
    parser.add_argument("--seed", type=int, help="default: random, printed")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), help="only this one, again and again")
    parser.add_argument("--shard", type=shard_of, default=(1, 1), metavar="I/N", help="another seed for each shard")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/soak"))
    parser.add_argument("--plant", choices=PLANTS, help="with this fault in the server: the verdict must be red")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args(given)


def plan(seed, minutes, only=None):
    """[(scenario, strategy, seed, seconds)]: drawn from the seed alone. It begins and ends with the load whose tail is
    compared; between them every scenario comes once before one comes twice."""
    rng, names = random.Random(seed), [only] if only else sorted(SCENARIOS)
    left, phases, bag, rounds = minutes * 60.0, [], [], 0
    length = min(PHASE_SECONDS[1], max(PHASE_SECONDS[0], left / (2 * len(names) + 8)))
    left -= 4 * length + WARM_UP_SECONDS  # the windows at both ends
    while left > length:
        if not bag:
            bag = [(name, STRATEGIES[(rounds + at) % 2]) for at, name in enumerate(names)]
            rng.shuffle(bag)
            rounds += 1
        name, strategy = bag.pop()
        phases.append((name, strategy, rng.randrange(1 << 32), length))
        left -= length + 2  # its quiet points
    return length, phases


class Soak:
    def __init__(self, options):
        self.options, self.began = options, time.monotonic()
        self.folder = options.out
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stages, self.phases, self.gates = {}, [], []
        self.first, self.windows = {}, {"first": {}, "last": {}}
        self.window_seconds = 0
        self.sampler = Sampler(self.folder / "samples.jsonl", self.all_servers,
                               lambda: [stage.storms for stage in list(self.stages.values())], self.began)
        self.sampler.write({"header": self.header()})
        self.progress = Progress(options.minutes * 60, self.sampler)

    def all_servers(self):
        return [server for stage in list(self.stages.values()) for server in [*stage.servers.values(), *stage.others]
                if server.process.poll() is None]

    def start(self):
        for strategy in STRATEGIES:
            self.stages[strategy] = Stage(self.options.bin, self.folder, strategy)
            self.stages[strategy].start_long_lived()

    def windows_of_load(self, which, seed):
        """Short runs of one load at each server in turn: their latencies."""
        self.sampler.phase = f"{which} windows"
        self.progress.say(f"p99 at the {'start' if which == 'first' else 'end'}")
        for number in range(WINDOWS):
            for strategy, stage in self.stages.items():
                for mode, server in stage.servers.items():
                    _, seen = stage.storm(server, seed + number, self.window_seconds, connections=32, rate=1000,
                                            path="/").result()
                    self.windows[which].setdefault(f"{mode}.{strategy}", []).append(
                        {name: seen["latency_us"][name] for name in ("p99", "p999")})

    def state_of(self, server):
        line, outside = server.quiet(), server.outside()
        return {"fds": outside["fds"], "threads": outside["threads"], "timers": sum(line["timers"]),
                "own_timers": len(line["timers"]) ** 2,  # of each worker: a retry, and a look at each peer
                "heap_bytes": line["heap_bytes"]}

    def run_phase(self, number, name, strategy, seed, seconds):
        stage = self.stages[strategy]
        self.sampler.phase = f"{number}:{name}.{strategy}"
        begin = time.monotonic() - self.began
        outcomes = SCENARIOS[name](stage, seed, seconds)
        found = []
        for mode, outcome in outcomes.items():
            found += [dict(one, server=f"{mode}.{strategy}") for one in gates.of_phase(outcome)]
            if name == "skew" and mode == "on" and strategy == "per-worker":
                found.append(dict(gates.starved(outcome), server=f"{mode}.{strategy}"))
        stage.others = []
        for mode, server in stage.servers.items():
            if server.process.poll() is not None:
                raise ServerError(f"{server.name} ended with {server.process.poll()}: {server.stderr()[-500:]}")
            found += [dict(one, server=server.name) for one in gates.baseline(self.first[server.name], self.state_of(server))]
        row = {"phase": number, "scenario": name, "strategy": strategy, "seed": seed, "begin": round(begin, 3),
               "end": round(time.monotonic() - self.began, 3), "ok": gates.verdict(found), "gates": found,
               "clients": {mode: outcome.clients for mode, outcome in outcomes.items()},
               "latency_us": {mode: outcome.storm.get("latency_us") for mode, outcome in outcomes.items()}}
        self.phases.append(row)
        self.sampler.write({"t": row["end"], "phase_done": row})
        red = [f"{one['server']}: {one['name']}: {one['figure']} ({one['bar']}) {one['why']}"
               for one in found if one["ok"] is False]
        self.progress.say("\n    ".join([f"{number:3} {name} ({strategy}): {'ok' if row['ok'] else 'RED'}", *red]))

    def warm_up(self, seed):
        """Afterwards every long-lived server has what it needs, and whatever it has more at a quiet point is a leak."""
        self.sampler.phase = "warm-up"
        self.progress.say("warm-up")
        for stage in self.stages.values():
            warm_up(stage, seed)
        for stage in self.stages.values():
            for server in stage.servers.values():
                self.first[server.name] = self.state_of(server)

    def run(self):
        seed = self.options.seed + self.options.shard[0] - 1
        length, phases = plan(seed, self.options.minutes, self.options.scenario)
        self.window_seconds = length / (WINDOWS * 4)
        self.start()
        self.warm_up(seed)
        self.windows_of_load("first", seed)
        for number, phase in enumerate(phases, 1):
            self.run_phase(number, *phase)
        self.windows_of_load("last", seed)

    def judge_whole(self):
        """What is judged over the whole run, as far as it came."""
        elapsed = (time.monotonic() - self.began) / 60
        for stage in self.stages.values():
            for server in stage.servers.values():
                name = server.name
                if name in self.first and server.process.poll() is None:
                    self.gates += [dict(one, name=f"{name}: {one['name']}")
                                   for one in gates.baseline(self.first[name], self.state_of(server))]
                self.gates.append(gates.memory(name, elapsed, self.sampler.memory.get(name, [])))
                self.gates.append(gates.drift(name, self.windows["first"].get(name, []), self.windows["last"].get(name, []),
                                              self.window_seconds))
                said = server.stop()
                self.gates.append(gates.gate(f"{name}: report adds up", bool(said and said["adds_up"]),
                                             server.code, "exit code 0"))

    def header(self):
        options = self.options
        replay = f"scripts/soak --minutes {options.minutes:g} --seed {options.seed}"
        if options.scenario:
            replay += f" --scenario {options.scenario}"
        if options.plant:
            replay += f" --plant {options.plant}"
        if options.shard != (1, 1):
            replay += f" --shard {options.shard[0]}/{options.shard[1]}"
        return {"seed": options.seed, "shard": list(options.shard), "minutes": options.minutes, "replay": replay}

    def conclude(self, complete):
        """Writes the report and says what it says. Returns whether it is green."""
        whole = report.assemble(self.header(), self.phases, self.gates, self.windows,
                                round(time.monotonic() - self.began, 1), complete)
        report.write(self.folder, whole)
        red = [one for one in self.gates if one["ok"] is False]
        for one in red:
            print(f"soak: RED  {one['name']}: {one['figure']} ({one['bar']}) {one['why']}")
        bad = sum(not phase["ok"] for phase in self.phases)
        print(f"soak: {whole['verdict']}{'' if complete else ', not complete'}: {len(self.phases)} phases, {bad} of them "
              f"red; {len(red)} of {len(self.gates)} gates of the whole red\n"
              f"soak: {self.folder / 'soak.html'}, {self.folder / 'soak.json'}\nsoak: replay: {whole['replay']}")
        return whole["verdict"] == "green"


def main():
    options = arguments(sys.argv[1:])
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    print(f"soak: seed {options.seed}", flush=True)
    if options.plant:
        options.bin = planted_binaries(options.plant)

    interrupt.install()
    soak, complete, code = Soak(options), False, report.RED
    try:
        soak.run()
        complete = True
    except KeyboardInterrupt:
        print("soak: interrupted", flush=True)
        code = INTERRUPTED
    except (ServerError, OSError) as error:
        print(f"soak: {error}", flush=True)
        code = CANNOT
    finally:
        try:
            soak.judge_whole()
        finally:
            for server in soak.all_servers():
                server.kill()
            soak.sampler.end()
            soak.progress.end()
    return 0 if soak.conclude(complete) else code


if __name__ == "__main__":
    sys.exit(main())
