"""A fixed rate below what the machine can do: CPU, and latency from the intended send time, beside nginx; two workers each."""

import loads
import peers
import rounds as turns
import table

RATE, CONNECTIONS = 10000, 256
NAME = "fixed rate"
BARS = {"cpu_us": 0.80, "p50": 1.05, "p99": 1.10}
TEXTS = {"cpu_us": "CPU", "p50": "p50", "p99": "p99"}


def run(bench):
    """The judged rows."""
    running = {}
    try:
        running["flare"] = peers.start_flare(bench.options.bin, "static", workers=2)
        running["nginx"] = peers.start_nginx(bench.work, name="nginx-2", workers=2)
    except peers.Missing as error:
        for peer in running.values():
            peer.end()
        return [{"name": f"{NAME}: not judged", "why": str(error)}]
    try:
        found = turns.in_turn(list(running), bench.options.rounds, lambda name: measure(bench, running[name]))
    finally:
        for peer in running.values():
            peer.end()
    name = f"{NAME}, {RATE} per second, {CONNECTIONS} connections"
    return [turns.judge(f"{name}: {TEXTS[figure]} / nginx", turns.ratios(found, figure, "flare", "nginx"), bar)
            for figure, bar in BARS.items()]


def measure(bench, peer):
    seen, cpu_us = bench.spent(peer, lambda: table.storm(
        bench.options.bin, f"127.0.0.1:{peer.port}", "--connections", str(CONNECTIONS), "--rate", str(RATE), "--duration-ms",
        str(1000 * max(2, bench.options.seconds))))
    if seen["answered"] < 0.9 * RATE * max(2, bench.options.seconds):
        raise loads.LoadError(f"{peer.name}: {seen['answered']} answers at {RATE} per second: the machine is too slow for it")
    return {"cpu_us": cpu_us / seen["answered"], "p50": seen["latency_us"]["p50"], "p99": seen["latency_us"]["p99"]}
