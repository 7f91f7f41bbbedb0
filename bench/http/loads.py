"""wrk at a server, pinned to the processor that the server does not have."""

import pathlib
import re
import resource
import subprocess

from peers import LOAD_CPU, program

PIPELINED = 16
SCRIPTS = {
    "keep-alive": "",
    "pipelined": f"init = function(args) local r = {{}} for i = 1, {PIPELINED} do r[i] = wrk.format() end "
                 "all = table.concat(r) end\nrequest = function() return all end\n",
    "close": 'wrk.headers["Connection"] = "close"\n',
}


class LoadError(Exception):
    """A load that says nothing: errors, or no answers."""


def wrk_limits(connections):
    """Lets the loads, and the servers started from here on, have so many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < connections + 100:
        raise LoadError(f"{connections} connections need a hard limit of {connections + 100} descriptors, it is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, connections + 100), hard))


def wrk(work, port, shape, connections, seconds):
    """{"requests", "rate", "p50_us", "p99_us", "cpu_ns" of the load}."""
    script = pathlib.Path(work) / f"{shape}.lua"
    script.write_text(SCRIPTS[shape] + """
done = function(summary, latency, requests)
  io.write(string.format("figures %d %d %f %f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), summary.errors.connect + summary.errors.read + summary.errors.write +
    summary.errors.status + summary.errors.timeout))
end
""")
    done = subprocess.run(["taskset", "-c", LOAD_CPU, program("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "-s",
                           str(script), f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=False)
    found = re.search(r"^figures (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)$", done.stdout, re.M)
    if done.returncode != 0 or found is None:
        raise LoadError(f"wrk: {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}")
    requests, micros, p50, p99, errors = (float(field) for field in found.groups())
    if requests == 0 or (errors > 0 and shape != "close"):
        raise LoadError(f"wrk at port {port}, {shape}: {requests:.0f} requests, {errors:.0f} errors")
    return {"requests": requests, "rate": requests / micros * 1e6, "p50_us": p50, "p99_us": p99}
