"""What a soak does to its servers. Each scenario names what must have happened: one that did nothing is red.

A scenario is a function of (Stage, seed, seconds). On the long-lived servers the same acts and the same seed go to each
of them at once; those of faults.py start their own.
"""

from clients import add, run_clients
from faults import cap, crash, descriptors, restart, stuck
from gates import change_of


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
    return load(stage, seed, seconds, int(1000 * seconds), connections=64, rate=2000, path="/")


def skew(stage, seed, seconds):
    """Where a port goes is the kernel's to say with one listener per worker; with a shared one the wakes are skewed."""
    pinned = {"pin_worker": 0} if stage.strategy == "per-worker" else {}
    outcomes = load(stage, seed, seconds, int(200 * seconds), connections=8, path="/sleep/1000", **pinned)
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
    """Heads, bodies and readers, each in small steps, on one connection."""
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


def addresses(stage, seed, seconds):
    """Both addresses of every long-lived server at once."""
    def act(server):
        storms = [stage.storm(server, seed + number, seconds, address, connections=16, rate=1000, path="/")
                  for number, address in enumerate(server.addresses)]
        (one, _), (other, report) = [storm.result() for storm in storms]
        return add(one, other) | {"fewest": min(one["answered"], other["answered"])}, report
    outcomes = stage.on_each(act)
    for outcome in outcomes.values():
        outcome.happened = {"answers at each address": (outcome.clients.pop("fewest"), 100)}
    return outcomes


def throwing(stage, seed, seconds):
    """Each client is answered once, with a 500, and then cut."""
    outcomes = misbehave("thrower", 4, 20)(stage, seed, seconds)
    for outcome in outcomes.values():
        outcome.happened["500s"] = (outcome.clients["answered"], outcome.clients["connected"])
    return outcomes


def slow_heads(stage, seed, seconds):
    outcomes = misbehave("slow_head", 16, 16)(stage, seed, seconds)
    for outcome in outcomes.values():
        outcome.happened |= {"answers": (outcome.clients["answered"], 8), "408s": (outcome.clients["too_late"], 2)}
    return outcomes


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
    "slow-heads": slow_heads,
    "slow-bodies": misbehave("slow_body", 16, 16),
    "resets": resets,
    "big": big,
    "bodies": bodies,
    "ipv6": ipv6,
    "addresses": addresses,
    "half-closers": misbehave("half_closer", 8, 20),
    "pipelining": misbehave("pipeliner", 8, 20),
    "silent": misbehave("silent", 16, 16),
    "throwing": throwing,
    "slow-readers": misbehave("slow_reader", 4, 4),
    "resetters": misbehave("resetter", 8, 20),
    "cap": cap,
    "descriptors": descriptors,
    "stuck": stuck,
    "restart": restart,
    "crash": crash,
}
