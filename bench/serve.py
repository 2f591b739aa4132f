"""Measures `ordernet serve` under load from wrk (an HTTP benchmark), on the loopback interface of this
machine.

For 1, 16 and 256 connections, one set of 10 numbers per request: requests per second and latencies. For 256
connections and 32 sets per request: the sets per second as a share of the engine's own rate (bench/serve_engine.c:
the same model, 1,024 sets per call, in memory).

wrk runs on the same CPUs as the server, so that the share is given in three ways: as it is; against the engine's
rate on the part of the CPUs that wrk leaves; and by CPU time, sets per CPU second of the server against sets per
CPU second of the engine, which other programs on the machine disturb least.

usage: make bench-serve [BENCH_ARGS=SECONDS]
"""
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/serve"))
from client import Server, command

SECONDS = sys.argv[1] if len(sys.argv) > 1 else "10"
SETS = 32


def wrk_script(folder, sets):
    draw = random.Random(1)

    def body():
        own = [{"items": [[round(draw.random(), 4)] for _ in range(10)]} for _ in range(sets)]
        return json.dumps({"sets": own} if sets > 1 else own[0])

    path = os.path.join(folder, f"order{sets}.lua")
    with open(path, "w") as out:
        out.write('wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nlocal requests = {}\n')
        out.write("local bodies = {%s}\n" % ",".join("[[%s]]" % body().replace("]]", "] ]") for _ in range(64)))
        out.write("init = function() for i, b in ipairs(bodies) do requests[i] = wrk.format(nil, nil, nil, b) end end\n"
                  "local at = 0\nrequest = function() at = at % #requests + 1 return requests[at] end\n")
    return path


def server_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load(server, script, connections):
    before, wrk_before = server_seconds(server), children_seconds()
    printed = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", "--timeout", "30s", "-s", script,
                              f"http://127.0.0.1:{server.port}/v1/order"], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in printed or "Socket errors" in printed:
        raise SystemExit(printed)
    return {"rate": float(re.search(r"Requests/sec:\s*([0-9.]+)", printed).group(1)),
            "p50": re.search(r"^ +50% +(\S+)", printed, re.M).group(1), "p99": re.search(r"^ +99% +(\S+)", printed, re.M).group(1),
            "requests": int(re.search(r"(\d+) requests in", printed).group(1)),
            "server": server_seconds(server) - before, "wrk": children_seconds() - wrk_before,
            "seconds": float(re.search(r"requests in ([0-9.]+)s", printed).group(1))}


def engine(model):
    """Returns sets per second, and per CPU second (bench/serve_engine.c)."""
    printed = subprocess.run([os.environ["ENGINE"], model, SECONDS], capture_output=True, text=True, check=True).stdout
    found = json.loads(printed)
    return found["sets_per_second"], found["sets_per_cpu_second"]


with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, "sort.safetensors")
    said = command("train", "--data", "examples/data/sort.jsonl", "--model", model, "--quiet", "--seed", "1")
    if said[2]:
        raise SystemExit(said[1])
    cores = len(os.sched_getaffinity(0))
    server = Server("--model", f"sort={model}")
    print(f"{cores} CPUs, {SECONDS} s each, one thread of wrk; the default net, trained on examples/data/sort.jsonl")
    print("connections  sets/request  requests/s    sets/s       p50       p99  CPUs: server  wrk")
    for connections, sets in ((1, 1), (16, 1), (256, 1), (256, SETS)):
        r = load(server, wrk_script(folder, sets), connections)
        print(f"{connections:11d}  {sets:12d}  {r['rate']:10.0f}  {sets * r['rate']:8.0f}  {r['p50']:>8s}  {r['p99']:>8s}"
              f"  {r['server'] / r['seconds']:12.2f}  {r['wrk'] / r['seconds']:.2f}", flush=True)
    rate, per_cpu = engine(model)
    server.stop()
    served = SETS * r["rate"]
    left = cores - r["wrk"] / r["seconds"]
    print(f"engine alone: {rate:.0f} sets/s, {per_cpu:.0f} per CPU second")
    print(f"share of the engine's rate, 256 connections, {SETS} sets per request: {100 * served / rate:.0f}%")
    print(f"of its rate on the {left:.2f} CPUs that wrk leaves: {100 * served / (rate * left / cores):.0f}%")
    print(f"by CPU time: {100 * (SETS * r['requests'] / r['server']) / per_cpu:.0f}%")
