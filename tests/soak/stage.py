"""What a scenario plays on: the long-lived servers of one listener strategy, and what starts others and loads."""

import concurrent.futures
from dataclasses import dataclass, field

from clients import Storm
from servers import Server

WORKERS = 4
# The same for every server: short deadlines, so that silent clients end within a phase.
DRAIN_MS = 5000
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
    drain_ms: int = DRAIN_MS  # its deadline
    stderr: str = ""
    storm: dict = field(default_factory=dict)
    lines: list = field(default_factory=list)  # of its statistics in the phase, of a long-lived server
    happened: dict = field(default_factory=dict)  # what -> (count, least)
    may_cut: int = 0   # connections whose answer the scenario lets the server cut
    may_say: tuple = ()  # patterns of lines on stderr, beside those of every server
    may_drop: bool = False  # the scenario ends servers: idle connections are dropped, and new ones refused
    may_refuse: int = 0  # connections that the kernel resets because their listener is closed
    may_wait: int = 0  # connections that the scenario lets wait at a stuck worker until their client gives up


class Stage:
    """The long-lived servers of one listener strategy, and what starts others."""

    def __init__(self, binaries, folder, strategy):
        self.binaries, self.folder, self.strategy = binaries, folder, strategy
        self.servers = {}  # mode -> the long-lived one
        self.count = 0
        self.others = []  # servers of a phase's own, for the sampler
        self.storms = []  # for the sampler, which takes away those that have ended

    def launch(self, name, mode, *arguments, drain_ms=DRAIN_MS, **more):
        return Server(self.binaries / "flare-serve", self.folder, name,
                      [*COMMON, "--listeners", self.strategy, "--drain-timeout-ms", str(drain_ms), *MODES[mode],
                       *arguments], drain_ms=drain_ms, **more)

    def start_long_lived(self):
        for mode in MODES:
            self.servers[mode] = self.launch(f"{mode}.{self.strategy}", mode, "--address", "[::1]:0")

    def start(self, mode, *arguments, **more):
        self.count += 1
        own = self.launch(f"{mode}.{self.strategy}.{self.count}", mode, *arguments, **more)
        self.others = [*self.others, own]
        return own

    def storm(self, server, seed, seconds, address=None, **flags):
        self.count += 1
        storm = Storm(self.binaries / "flare-storm", self.folder, f"{server.name}.{self.count}", server.name,
                      address or server.address, seed % (1 << 32), seconds, **flags)
        self.storms.append(storm)
        return storm

    def on_each(self, act):
        """act(server) -> (clients, storm report) for every long-lived server at once. Returns mode -> Outcome."""
        def whole(mode):
            server = self.servers[mode]
            before = server.quiet()
            clients, report = act(server)
            after = server.quiet()
            return Outcome(clients, before, after, storm=report, stderr=server.stderr(),
                           lines=server.lines_between(before, after))
        return self.in_each_mode(whole)

    def in_each_mode(self, whole):
        with concurrent.futures.ThreadPoolExecutor(len(MODES)) as pool:
            runs = {mode: pool.submit(whole, mode) for mode in MODES}
            return {mode: run.result() for mode, run in runs.items()}

    def finish(self, server, outcome):
        """Ends a server of a phase's own and keeps its report."""
        outcome.report = server.stop()
        outcome.exit_code, outcome.stderr, outcome.drain_ms = server.code, server.stderr(), server.drain_ms
        return outcome
