"""Scenarios that end a server, or need one of a special kind: they start their own."""

import signal
import subprocess
import time

from clients import add, tally
from gates import change_of
from interrupt import pause
from servers import ServerError, ServerFault
from stage import Outcome

CLOSING_MAY_RESET = 16


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


def lost_by(report, how):
    """Connections that the workers lost to which it happened: only these may."""
    return sum(worker["cut"] + worker["left"] for worker in report["workers"] if worker[how])


def stuck(stage, seed, seconds):
    """A handler that does not come back: the others serve, and the drain leaves at its deadline."""
    run = min(max(1, seconds - 2), 40)
    # Longer than the load, the drain and their beginnings; flare-serve allows a minute.
    handler_us = (run + 15) * 1_000_000

    def whole(mode):
        server = stage.start(mode, drain_ms=500)
        before = server.quiet()
        holder = stage.storm(server, seed, 1, connections=1, requests=1, timeout_ms=60000, path=f"/sleep/{handler_us:.0f}")
        pause(0.3)  # the holder is in its handler now, or the stuck count below says that it is not
        clients, _ = stage.storm(server, seed + 1, run, connections=16, timeout_ms=1000, reconnect=True,
                                 path="/").result()
        outcome = stage.finish(server, Outcome(clients, before, expected_exit=(4,)))
        held, _ = holder.result()
        outcome.may_wait = clients["timeout"]
        outcome.clients = add(outcome.clients, held)
        outcome.happened = {"stuck workers": (outcome.report["totals"]["stuck"], 1),
                            "answers": (clients["answered"], 100)}
        outcome.may_cut, outcome.may_drop = lost_by(outcome.report, "stuck"), True
        return outcome
    return stage.in_each_mode(whole)


def under_load(stage, mode, seed, seconds):
    """(A server of the phase's own, its line before, a storm that goes on until the phase ends.)"""
    server = stage.start(mode)
    before = server.quiet()
    return server, before, stage.storm(server, seed, seconds, connections=16, rate=1000, reconnect=True,
                                       path="/sleep/200")


def restart(stage, seed, seconds):
    """SIGTERM in mid-load, and a new server on the same port: what was asked is answered, who comes later is served."""
    def whole(mode):
        first, before, storm = under_load(stage, mode, seed, seconds)
        pause(seconds / 2)
        first.signal(signal.SIGTERM)
        outcome = Outcome(tally(), before, report=first.wait())
        second = stage.start(mode, address=first.address)
        clients, report = storm.result()
        second.quiet()
        served = second.stop()
        outcome.exit_code, outcome.stderr = first.code or second.code, first.stderr() + second.stderr()
        outcome.report["drain_ms"] = max(outcome.report["drain_ms"], served["drain_ms"])
        outcome.storm, outcome.clients, outcome.may_drop = report, clients, True
        # Between a listener's last accept and its closing the kernel completes connects that nobody will serve.
        outcome.may_refuse = min(clients["reset_first"], CLOSING_MAY_RESET)
        outcome.happened = {"answers before": (outcome.report["totals"]["requests"], 50),
                            "answers after": (served["totals"]["requests"], 50)}
        for key in ("accepted", "requests", "cut", "left"):
            outcome.report["totals"][key] += served["totals"][key]
        outcome.report["adds_up"] = outcome.report["adds_up"] and served["adds_up"]
        return outcome
    return stage.in_each_mode(whole)


def break_a_poll(server):
    """The next epoll_wait of one worker fails with EBADF, by strace; returns once the worker has crashed."""
    end, sleeper = time.monotonic() + 10, None
    while sleeper is None and time.monotonic() < end:
        sleeper = next((tid for tid in server.tasks() if server.sleeps_in_epoll(tid)), None)
    if sleeper is None:
        raise ServerFault(f"{server.name}: for 10 s no worker waited for events")
    tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", "trace=epoll_wait,epoll_pwait", "-e",
                               "inject=epoll_wait,epoll_pwait:error=EBADF:when=1", "-p", sleeper],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while server.fresh()["crashed"] == 0 and time.monotonic() < end:
            if tracer.poll() not in (None, 0):
                raise ServerError(f"strace can't attach to {server.name}: {tracer.stderr.read().decode().strip()}")
    finally:
        tracer.terminate()
        tracer.communicate()


def crash(stage, seed, seconds):
    """A worker's poll fails in mid-load: its connections are cut and counted, the others serve on."""
    def whole(mode):
        server, before, storm = under_load(stage, mode, seed, seconds)
        pause(seconds / 3)
        break_a_poll(server)
        answered = sum(server.live()["requests"])
        clients, report = storm.result()
        server.quiet()
        outcome = stage.finish(server, Outcome(clients, before, storm=report, expected_exit=(4,)))
        outcome.may_cut, outcome.may_drop = lost_by(outcome.report, "crashed"), True
        outcome.may_say = (r"flare: worker \d+ crashed: Reactor::poll: Bad file descriptor",)
        outcome.happened = {"crashes": (outcome.report["totals"]["crashed"], 1),
                            "answers after": (outcome.report["totals"]["requests"] - answered, 50)}
        return outcome
    return stage.in_each_mode(whole)
