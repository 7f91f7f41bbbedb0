#!/usr/bin/env python3
"""Real servers, real traffic, faults, one verdict: the handoff on beside off.

  scripts/soak [--minutes M] [--seed S] [--scenario NAME] [--shard I/N] [--out DIR] [--plant FAULT]

The same seed gives the same phases, client acts and faults. DIR gets samples.jsonl as it runs, soak.json at the end, and
what each process said. Exit: 0, every gate is green; 42, one is red; 1, the soak could not run; 130, it was interrupted
(with the report of what ran).
"""

import random
import sys
import time

import gates
import interrupt
import report
from options import arguments
from plan import LAST_WINDOWS, STRATEGIES, WINDOWS, judges_windows, plan, window_of
from planted import planted_binaries
from progress import Progress
from sampler import Sampler
from scenarios import SCENARIOS, warm_up
from servers import ServerFault
from stage import Outcome, Stage

CANNOT, INTERRUPTED = 1, 130


class Soak:
    def __init__(self, options):
        self.options, self.began = options, time.monotonic()
        self.folder = options.out
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("soak.json", "soak.html"):  # of an earlier run: what stands here is of this one
            (self.folder / name).unlink(missing_ok=True)
        self.stages, self.phases, self.gates = {}, [], []
        self.first, self.windows = {}, {"first": {}, "last": {}, "fresh": {}}
        self.window_seconds, self.judges, self.error = 0, False, None
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
        """Short runs of one load at each server in turn: their latencies. At the end new servers stand beside them."""
        self.sampler.phase = f"{which} windows"
        self.progress.say(f"p99 at the {'start' if which == 'first' else 'end'}")
        rows = [(which, stage, mode, server) for stage in self.stages.values() for mode, server in stage.servers.items()]
        if which == "last":
            fresh = [("fresh", stage, mode, stage.start(mode)) for _, stage, mode, _ in rows]
            rows = [row for pair in zip(rows, fresh) for row in pair]
            for _, stage, _, server in fresh:  # as warm as the others were at the start
                stage.storm(server, seed, 0.5, connections=256).result()
        for number in range((WINDOWS if which == "first" else LAST_WINDOWS) if self.judges else 1):
            for of, stage, mode, server in rows:
                clients, seen = stage.storm(server, seed + number, self.window_seconds, connections=32, rate=1000,
                                            path="/").result()
                wrong = sum(clients[how] for how in ("truncated", "reset", "timeout", "bad", "dropped", "refused"))
                self.windows[of].setdefault(f"{mode}.{stage.strategy}", []).append(
                    dict({name: seen["latency_us"][name] for name in ("p99", "p999")}, answered=clients["answered"],
                         wrong=wrong))
        for stage in self.stages.values():
            for server in stage.others:
                server.stop()
            stage.others = []

    def state_of(self, server):
        line, outside = server.quiet(), server.outside()
        return {"fds": outside["fds"], "threads": outside["threads"], "timers": sum(line["timers"]),
                "own_timers": len(line["timers"]) ** 2,  # of each worker: a retry, and a look at each peer
                "heap_bytes": line["heap_bytes"]}

    def run_phase(self, number, name, strategy, seed, seconds):
        stage = self.stages[strategy]
        self.sampler.phase = f"{number}:{name}.{strategy}"
        begin = time.monotonic() - self.began
        found, outcomes = [], {}
        try:
            outcomes = SCENARIOS[name](stage, seed, seconds)
        except ServerFault as fault:
            found.append(dict(gates.fault(fault), server=strategy))
            for server in stage.others:
                server.kill()
        for mode, outcome in outcomes.items():
            found += [dict(one, server=f"{mode}.{strategy}") for one in gates.of_phase(outcome)]
            if name == "skew" and mode == "on" and strategy == "per-worker":
                found.append(dict(gates.starved(outcome), server=f"{mode}.{strategy}"))
        stage.others = []
        for server in stage.servers.values():
            found += [dict(one, server=server.name) for one in self.at_rest(server)]
        row = {"phase": number, "scenario": name, "strategy": strategy, "seed": seed, "begin": round(begin, 3),
               "end": round(time.monotonic() - self.began, 3), "ok": gates.verdict(found), "gates": found,
               "clients": {mode: outcome.clients for mode, outcome in outcomes.items()},
               "latency_us": {mode: outcome.storm.get("latency_us") for mode, outcome in outcomes.items()}}
        self.phases.append(row)
        self.sampler.write({"t": row["end"], "phase_done": row})
        red = [gates.shown(one, f"{one['server']}: ") for one in found if one["ok"] is False]
        self.progress.say("\n    ".join([f"{number:3} {name} ({strategy}): {'ok' if row['ok'] else 'RED'}", *red]))
        if any(server.process.poll() is not None for server in stage.servers.values()):
            raise ServerFault("a server has ended")

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
        part, of = self.options.shard
        seed = (self.options.seed * of + part - 1) % (1 << 32)
        length, phases = plan(seed, self.options.minutes, self.options.scenario)
        self.window_seconds = window_of(length)
        self.judges = judges_windows(length)
        self.start()
        self.warm_up(seed)
        self.windows_of_load("first", seed)
        for number, phase in enumerate(phases, 1):
            self.run_phase(number, *phase)
        self.windows_of_load("last", seed)

    def at_rest(self, server):
        """The gates of a long-lived server at a quiet point."""
        try:
            return list(gates.baseline(self.first[server.name], self.state_of(server)))
        except ServerFault as fault:
            return [gates.fault(fault)]

    def judge_whole(self, complete):
        """What is judged over the whole run, as far as it came."""
        minutes = self.options.minutes if complete else (time.monotonic() - self.began) / 60
        for stage in self.stages.values():
            for server in stage.servers.values():
                name, windows = server.name, {of: self.windows[of].get(server.name, []) for of in self.windows}
                found = self.at_rest(server) if name in self.first else []
                self.gates.append(gates.memory(name, minutes, self.sampler.memory.get(name, [])))
                self.gates.append(gates.drift(name, windows["first"], windows["last"], windows["fresh"],
                                              self.window_seconds))
                self.gates.append(gates.answered(name, [one for of in windows.values() for one in of]))
                outcome = Outcome({}, drain_ms=server.drain_ms)
                try:
                    outcome.report = server.stop()
                except ServerFault as fault:
                    found.append(gates.gate("ends", False, server.code, "with a report", str(fault)))
                outcome.exit_code, outcome.stderr = server.code, server.stderr()
                found += [*gates.ending(outcome), gates.said(outcome)]
                self.gates += [dict(one, name=f"{name}: {one['name']}") for one in found]
        self.gates.append(gates.gate("samples were written", self.sampler.error is None, None, "to the end",
                                     str(self.sampler.error or "")))

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
        header = dict(self.header(), **({"error": self.error} if self.error else {}))
        whole = report.assemble(header, self.phases, self.gates, self.windows, round(time.monotonic() - self.began, 1),
                                complete)
        report.write(self.folder, whole)
        red = [one for one in self.gates if one["ok"] is False]
        for one in red:
            print(f"soak: RED  {gates.shown(one)}")
        bad = sum(not phase["ok"] for phase in self.phases)
        print(f"soak: {whole['verdict']}{'' if complete else ', not complete'}: {len(self.phases)} phases, {bad} of them "
              f"red; {len(red)} of {len(self.gates)} gates of the whole red\n"
              f"soak: {self.folder / 'soak.html'}, {self.folder / 'soak.json'}\nsoak: replay: {whole['replay']}")
        return whole["verdict"] == "green"


def main():
    options = arguments(sys.argv[1:], __doc__.split("\n\n")[0])
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    print(f"soak: seed {options.seed}", flush=True)
    if options.plant:
        try:
            options.bin = planted_binaries(options.plant)
        except OSError as error:
            print(f"soak: --plant {options.plant}: {error}")
            return CANNOT

    interrupt.install()
    try:
        soak = Soak(options)
    except OSError as error:
        print(f"soak: --out '{options.out}': {error}")
        return CANNOT
    complete, code = False, report.RED
    try:
        soak.run()
        complete = True
    except KeyboardInterrupt:
        soak.error, code = "interrupted", INTERRUPTED
    except ServerFault as fault:
        soak.error = str(fault)  # and a gate of its phase
    except Exception as error:  # whatever it was: what ran is judged and reported
        soak.error, code = f"{type(error).__name__}: {error}", CANNOT
    interrupt.ignore()
    if soak.error:
        soak.progress.say(soak.error)
    try:
        soak.judge_whole(complete)
    except Exception as error:
        soak.error, complete, code = f"{type(error).__name__}: {error}", False, CANNOT
    finally:
        for server in soak.all_servers():
            server.kill()
        soak.sampler.end()
        soak.progress.end()
    return 0 if soak.conclude(complete) else code


if __name__ == "__main__":
    sys.exit(main())
