"""Tests `ordernet serve` with its allocations failing, one at a time. It must end with status 5 and an error
message before it listens, or listen. Then each request must get its right answer, or 503, or its connection
is closed; the request after that must get its right answer, and SIGTERM must end the server with status 0.

usage: tests/oom/serve.py PRELOAD.so      OOM_EVERY=N tests every Nth allocation
"""
import http.client
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "serve"))
from client import SORT, Server

PRELOAD = os.path.abspath(sys.argv[1])
EVERY = int(os.environ.get("OOM_EVERY", "1"))
ORDER = {"model": "sort", "sets": [{"items": [[3], [1], [2]]}, {"items": [[5], [4]]}]}
REQUESTS = [("GET", "/v1/models", None), ("POST", "/v1/order", ORDER), ("GET", "/metrics", None)]


def start(**environment):
    """Starts a server under the preloaded library; returns it, or None and the error with which it ended."""
    os.environ.update(environment, LD_PRELOAD=PRELOAD)
    try:
        return Server("--model", "sort=" + SORT, "--threads", "1", "--timeout", "2"), None
    except RuntimeError as error:
        return None, error
    finally:
        for name in [*environment, "LD_PRELOAD"]:
            del os.environ[name]


def end(server):
    server.process.send_signal(signal.SIGTERM)
    return server.process.wait(60)


def answer(server, request):
    """Returns status and body; None as status where the connection was closed."""
    try:
        status, _, body = server.ask(*request, connection=server.connect(timeout=10))
    except TimeoutError:
        return 0, b"no answer within 10 seconds"
    except (http.client.HTTPException, OSError):
        return None, b""
    return status, body


def problem(at, good):
    """Returns what is wrong with a server whose allocation `at` fails; None if nothing is."""
    server, why = start(OOM_AT=str(at))
    if not server:
        return None if why.status == 5 and "memory" in str(why) else f"status {why.status}: {why}"
    try:
        return problem_of(server, good)
    finally:
        server.process.kill()


def problem_of(server, good):
    for request in REQUESTS:
        status, body = answer(server, request)
        usual = status == 200 and (request[0] == "GET" or body == good)
        if not usual and status not in (None, 503):
            return f"{request[1]}: status {status}: {body[:200]!r}"
    for _ in range(3): # the allocation that fails may be one of the first two
        status, body = answer(server, REQUESTS[1])
    if (status, body) != (200, good):
        return f"the next request: status {status}: {body[:200]!r}"
    left = end(server)
    return None if left == 0 else f"ended with status {left}: {server.process.stderr.read()}"


def main():
    count = f"/tmp/oom-serve-{os.getpid()}"
    server, why = start(OOM_COUNT=count)
    if not server:
        sys.exit("FAILED serve: without a failing allocation: " + str(why))
    good = [answer(server, request)[1] for request in REQUESTS][1]
    answer(server, REQUESTS[1])
    if end(server):
        sys.exit("FAILED serve: did not end")
    with open(count) as file:
        total = int(file.read())
    os.remove(count)
    points, failed = range(1, total + 1, EVERY), 0
    for at in points:
        what = problem(at, good)
        if what:
            failed += 1
            print(f"FAILED serve: allocation {at}: {what}")
    print(f"serve: {len(points)} allocations failed, one at a time")
    print(f"{0 if failed else 1} passed, {1 if failed else 0} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
