"""What a soak does to its servers. Each scenario names what must have happened: one that did nothing is red.

A scenario is a function of (Stage, seed, seconds). On the long-lived servers the same acts and the same seed go to each
of them at once; scenarios that end a server, or need one of a special kind, start their own.
"""

import concurrent.futures
import signal
import subprocess
import time
from dataclasses import dataclass, field

from clients import Storm, add, run_clients, tally
from gates import change_of
from servers import Server

WORKERS = 4
# The same for every server: short deadlines, so that silent clients end within a phase.
COMMON = ["--workers", str(WORKERS), "--head-deadline-ms", "1000", "--body-deadline-ms", "2000", "--idle-deadline-ms",
          "10000", "--write-deadline-ms", "5000"]
MODES = {"on": ["--handoff", "on", "--handoff-threshold", "1"], "baseline_off": ["--handoff", "off"]}


@dataclass
class Outcome:
    """What one server and its clients did in one phase. before, after: lines of its statistics at quiet points; for a
    server that ended, report is there instead of after."""
    clients: dict
    before: dict = None
    after: dict = None
    report: dict = None
    exit_code: int = None
    expected_exit: tuple = (0,)
    stderr: str = ""
    storm: dict = field(default_factory=dict)
    happened: dict = field(default_factory=dict)  # what -> (count, least)
    may_cut: int = 0   # connections whose answer the scenario lets the server cut
    may_say: tuple = ()  # patterns of lines on stderr, beside those of every server
    may_wait: int = 0  # connections that the scenario lets wait at a stuck worker until their client gives up


class Stage:
    """The long-lived servers of one listener strategy, and what starts others."""

    def __init__(self, binaries, folder, strategy):
        self.binaries, self.folder, self.strategy = binaries, folder, strategy
        self.servers = {}  # mode -> the long-lived one
        self.count = 0
        self.others = []  # servers of a phase's own, for the sampler

    def launch(self, name, mode, *arguments, **more):
        return Server(self.binaries / "flare-serve", self.folder, name,
                      [*COMMON, "--listeners", self.strategy, *MODES[mode], *arguments], **more)

    def start_long_lived(self):
        for mode in MODES:
            self.servers[mode] = self.launch(f"{mode}.{self.strategy}", mode, "--address", "[::1]:0")

    def start(self, mode, *arguments, drain_ms=5000, **more):
        self.count += 1
        own = self.launch(f"{mode}.{self.strategy}.{self.count}", mode, "--drain-timeout-ms", str(drain_ms), *arguments,
                          **more)
        self.others = [*self.others, own]
        return own

    def storm(self, server, seed, seconds, address=None, **flags):
        self.count += 1
        return Storm(self.binaries / "flare-storm", self.folder, f"{server.name}.{self.count}",
                     address or server.address, seed, seconds, **flags)

    def on_each(self, act):
        """act(server) -> (clients, storm report) for every long-lived server at once. Returns mode -> Outcome."""
        def whole(mode):
            server = self.servers[mode]
            before = server.quiet()
            clients, report = act(server)
            return Outcome(clients, before, server.quiet(), storm=report, stderr=server.stderr())
        return self.in_each_mode(whole)

    def in_each_mode(self, whole):
        with concurrent.futures.ThreadPoolExecutor(len(MODES)) as pool:
            runs = {mode: pool.submit(whole, mode) for mode in MODES}
            return {mode: run.result() for mode, run in runs.items()}

    def finish(self, server, outcome):
        """Ends a server of a phase's own and keeps its report."""
        outcome.report = server.stop()
        outcome.exit_code, outcome.stderr = server.code, server.stderr()
        return outcome


def load(stage, seed, seconds, least, address=None, **flags):
    """One storm at every long-lived server."""
    def act(server):
        return stage.storm(server, seed, seconds, address and address(server), **flags).result()
    outcomes = stage.on_each(act)
    for outcome in outcomes.values():
        outcome.happened = {"answers": (outcome.clients["answered"], least)}
    return outcomes


def misbehave(kind, count, least):
    def scenario(stage, seed, seconds):
        outcomes = stage.on_each(lambda server: (run_clients(kind, server.address, seed, seconds, count), {}))
        for outcome in outcomes.values():
            outcome.happened = {f"{kind} connections": (outcome.clients["connected"], least)}
        return outcomes
    return scenario


def uniform(stage, seed, seconds):
    return load(stage, seed, seconds, 100, connections=64, rate=2000, path="/")


def skew(stage, seed, seconds):
    """Where a port goes is the kernel's to say with one listener per worker; with a shared one the wakes are skewed."""
    pinned = {"pin_worker": 0} if stage.strategy == "per-worker" else {}
    outcomes = load(stage, seed, seconds, 100, connections=8, path="/sleep/1000", **pinned)
    outcomes["on"].happened["handoffs"] = (change_of(outcomes["on"], "handed_out"), 1)
    return outcomes


def burst(stage, seed, seconds):
    return load(stage, seed, seconds, 256, connections=256, path="/")


def churn(stage, seed, seconds):
    outcomes = load(stage, seed, seconds, 100, connections=16, mode="per-request", path="/")
    for outcome in outcomes.values():
        outcome.happened["connections"] = (outcome.clients["connected"], 100)
    return outcomes


def slow(stage, seed, seconds):
    return load(stage, seed, seconds, 1, connections=32, mode="slow", path="/echo", method="POST", body_bytes=2000,
                slow_bytes=200)


def resets(stage, seed, seconds):
    outcomes = load(stage, seed, seconds, 0, connections=32, mode="reset", path="/")
    for outcome in outcomes.values():
        outcome.happened = {"connections": (outcome.clients["connected"], 100)}
    return outcomes


def big(stage, seed, seconds):
    return load(stage, seed, seconds, 10, connections=8, path="/big/1000000")


def bodies(stage, seed, seconds):
    return load(stage, seed, seconds, 10, connections=8, path="/echo", method="POST", body_bytes=300000)


def ipv6(stage, seed, seconds):
    """The second address of every long-lived server."""
    return load(stage, seed, seconds, 100, address=lambda server: server.addresses[1], connections=16, path="/")


def paused(stage, seed, seconds, answers, arguments=(), limit=None, **flags):
    """One storm at servers of the phase's own that have room for a part of it: they pause, and all are served."""
    def whole(mode):
        server = stage.start(mode, *arguments, limit=limit)
        before = server.quiet()
        clients, _ = stage.storm(server, seed, seconds, **flags).result()
        outcome = stage.finish(server, Outcome(clients, before, server.quiet()))
        outcome.happened = {"pauses": (change_of(outcome, "accept_pauses"), 1), "answers": (clients["answered"], answers)}
        return outcome
    return stage.in_each_mode(whole)


def cap(stage, seed, seconds):
    """Eight places for 24 clients that come and go: all are served."""
    return paused(stage, seed, seconds, 100, ["--max-connections", "2"], connections=24, mode="per-request",
                  path="/sleep/500")


def descriptors(stage, seed, seconds):
    """More clients than descriptors; who waits is served when others leave."""
    return paused(stage, seed, min(seconds, 20), 120 * 20, limit=64, connections=120, requests_per_client=20, rate=1200,
                  leave=True, timeout_ms=30000, path="/")


def stuck(stage, seed, seconds):
    """A handler that does not come back: the others serve, and the drain leaves at its deadline."""
    def whole(mode):
        server = stage.start(mode, drain_ms=500)
        before = server.quiet()
        holder = stage.storm(server, seed, 1, connections=1, requests=1, timeout_ms=60000, path="/sleep/30000000")
        time.sleep(0.3)  # the holder is in its handler now, or the stuck count below says that it is not
        clients, _ = stage.storm(server, seed + 1, max(1, seconds - 2), connections=16, timeout_ms=1000, reconnect=True,
                                 path="/").result()
        outcome = stage.finish(server, Outcome(clients, before, expected_exit=(4,)))
        held, _ = holder.result()
        outcome.may_wait = clients["timeout"]
        outcome.clients = add(outcome.clients, held)
        outcome.happened = {"stuck workers": (outcome.report["totals"]["stuck"], 1),
                            "answers": (clients["answered"], 100)}
        outcome.may_cut = outcome.report["totals"]["cut"] + outcome.report["totals"]["left"]
        return outcome
    return stage.in_each_mode(whole)


def restart(stage, seed, seconds):
    """SIGTERM in mid-load, and a new server on the same port: what was asked is answered, who comes later is served."""
    def whole(mode):
        first = stage.start(mode)
        before = first.quiet()
        storm = stage.storm(first, seed, seconds, connections=16, rate=1000, reconnect=True, path="/sleep/200")
        time.sleep(seconds / 2)
        first.signal(signal.SIGTERM)
        outcome = Outcome(tally(), before, report=first.wait())
        outcome.exit_code, outcome.stderr = first.code, first.stderr()
        second = stage.start(mode, address=first.address)
        clients, report = storm.result()
        second.quiet()
        served = second.stop()
        outcome.storm, outcome.clients = report, clients
        outcome.happened = {"answers before": (outcome.report["totals"]["requests"], 50),
                            "answers after": (served["totals"]["requests"], 50)}
        for key in ("accepted", "requests", "cut", "left"):
            outcome.report["totals"][key] += served["totals"][key]
        outcome.report["adds_up"] = outcome.report["adds_up"] and served["adds_up"]
        return outcome
    return stage.in_each_mode(whole)


def break_a_poll(server):
    """The next epoll_wait of one worker fails with EBADF, by strace; returns once the worker has crashed."""
    sleeper = next(tid for tid in server.tasks() if server.sleeps_in_epoll(tid))
    tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", "trace=epoll_wait,epoll_pwait", "-e",
                               "inject=epoll_wait,epoll_pwait:error=EBADF:when=1", "-p", sleeper],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 10
        while server.fresh()["crashed"] == 0 and time.monotonic() < end:
            pass
    finally:
        tracer.terminate()
        tracer.wait()


def crash(stage, seed, seconds):
    """A worker's poll fails in mid-load: its connections are cut and counted, the others serve on."""
    def whole(mode):
        server = stage.start(mode)
        before = server.quiet()
        storm = stage.storm(server, seed, seconds, connections=16, rate=1000, reconnect=True, path="/sleep/200")
        time.sleep(seconds / 3)
        break_a_poll(server)
        answered = sum(server.live()["requests"])
        clients, report = storm.result()
        server.quiet()
        outcome = stage.finish(server, Outcome(clients, before, storm=report, expected_exit=(4,)))
        outcome.may_cut = outcome.report["totals"]["cut"]
        outcome.may_say = (r"flare: worker \d+ crashed: Reactor::poll: Bad file descriptor",)
        outcome.happened = {"crashes": (outcome.report["totals"]["crashed"], 1),
                            "answers after": (outcome.report["totals"]["requests"] - answered, 50)}
        return outcome
    return stage.in_each_mode(whole)


def warm_up(stage, seed):
    """What lets every buffer and table of the long-lived servers grow to the size that the scenarios need."""
    for flags in ({"connections": 256}, {"connections": 64, "path": "/big/1000000"},
                  {"connections": 64, "path": "/echo", "method": "POST", "body_bytes": 300000}):
        for server in stage.servers.values():
            stage.storm(server, seed, 1, **flags).result()
    for server in stage.servers.values():
        for kind in ("pipeliner", "slow_reader", "silent"):
            run_clients(kind, server.address, seed, 1, 32)


SCENARIOS = {
    "uniform": uniform,
    "skew": skew,
    "burst": burst,
    "churn": churn,
    "slow": slow,
    "resets": resets,
    "big": big,
    "bodies": bodies,
    "ipv6": ipv6,
    "half-closers": misbehave("half_closer", 8, 20),
    "pipelining": misbehave("pipeliner", 8, 20),
    "silent": misbehave("silent", 16, 16),
    "throwing": misbehave("thrower", 4, 20),
    "slow-readers": misbehave("slow_reader", 4, 4),
    "resetters": misbehave("resetter", 8, 20),
    "cap": cap,
    "descriptors": descriptors,
    "stuck": stuck,
    "restart": restart,
    "crash": crash,
}
