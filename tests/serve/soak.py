"""Soak test: puts minutes of mixed load on `ordernet serve`, from many good clients whose every answer is
compared with the command's, beside slow, broken and oversized ones, and reloads. Prints memory and
descriptors every 10 seconds; at the end no answer may have been wrong or lost, no descriptor leaked, and
memory must not have grown.

usage: python3 tests/serve/soak.py [SECONDS]     ORDERNET names the program
"""
import collections
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

from client import ROOT, SORT, Server, command, exact

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 600
TSP = os.path.join(ROOT, "models/tsp.safetensors")
WORDS = os.path.join(ROOT, "models/words.safetensors")

counts = collections.Counter()
wrong = []
done = threading.Event()


def number_sets(count, draw):
    return [{"items": [[round(draw.random(), 4)] for _ in range(draw.randint(1, 20))]} for _ in range(count)]


def answers_of(printed):
    keys = ("order", "logprob", "steps", "top")
    return [{k: v for k, v in exact(line).items() if k in keys} for line in printed.splitlines()]


def make_cases():
    """Returns requests with their expected answers, all made by the commands."""
    draw = random.Random(1)
    cases = []
    for i in range(24):
        sets = number_sets(draw.choice((1, 1, 4, 32)), draw)
        top = draw.choice((1, 1, 3))
        lines = "".join(json.dumps(s) + "\n" for s in sets)
        printed, _, _ = command("order", "--model", SORT, "--top", str(top), "--steps", stdin=lines)
        cases.append(("/v1/order", {"model": "sort", "sets": sets, "top": top, "steps": True},
                      {"model": "sort", "answers": answers_of(printed)}))
    for method in ("exact", "christofides", "ordernet"):
        cities = [[round(draw.random(), 4), round(draw.random(), 4)] for _ in range(12)]
        printed, _, _ = command("tsp", "solve", "--quiet", "--model", TSP, "--method", method, "-", stdin=json.dumps({"items": cities}) + "\n")
        cases.append(("/v1/tour", {"items": cities, "method": method}, printed.splitlines()[1].split()))
    printed, _, _ = command("unscramble", "--model", WORDS, "--top", "2", "in , born he london was")
    cases.append(("/v1/unscramble", {"words": "in , born he london was", "top": 2}, [line.split("  ")[-1] for line in printed.splitlines()]))
    for body, sentence in (({"model": "sort", "items": ["a"]}, "the items are words"), ({"model": "sort", "items": [[1, 2]]}, "has 2 features"),
                           ({"model": "sort", "items": [[1]] * 1001}, "at most 1000")):
        cases.append(("/v1/order", body, sentence))
    return cases


def right(path, status, answer, expected):
    if isinstance(expected, str):
        return status in (400, 413) and expected in answer["error"]
    if status != 200:
        return False
    if path == "/v1/tour":
        return answer["answers"][0]["tour"] == expected
    if path == "/v1/unscramble":
        return [" ".join(o["words"]) for o in answer["orders"]] == [" ".join(e.split()) for e in expected]
    return answer == expected


def good(server, cases, seed):
    draw = random.Random(seed)
    connection = server.connect()
    while not done.is_set():
        path, body, expected = draw.choice(cases)
        try:
            status, answer = server.post(path, body, connection)
        except Exception as e:  # a good client must never lose its connection
            wrong.append(f"{path}: lost: {e!r}")
            connection = server.connect()
            continue
        counts["answers"] += 1
        if status == 503:
            counts["busy"] += 1
            time.sleep(0.1)
        elif not right(path, status, answer, expected):
            wrong.append(f"{path} {json.dumps(body)[:200]}: {status} {json.dumps(answer)[:300]}")
        if draw.random() < 0.01:
            connection.close()
            connection = server.connect()
    connection.close()


def slow(server, seed):
    """Trickles a request until it is cut off."""
    draw = random.Random(seed)
    request = (b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + b" " * 4000)
    while not done.is_set():
        with contextlib.suppress(OSError), server.socket() as s:
            s.settimeout(0.2)
            at = draw.randrange(200)
            s.sendall(request[:at])
            while not done.is_set():
                s.sendall(request[at:at + 1])
                at += 1
                with contextlib.suppress(TimeoutError):
                    if not s.recv(100):
                        break
        counts["slow"] += 1


def unread(server, seed):
    """Asks for a long answer and does not read it."""
    body = json.dumps({"model": "sort", "top": 100, "steps": True,
                       "sets": number_sets(100, random.Random(seed))}).encode()
    head = b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    while not done.is_set():
        with contextlib.suppress(OSError), server.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(head + body)
            done.wait(5)
        counts["unread"] += 1


def broken(server, seed):
    draw = random.Random(seed)
    body = json.dumps({"model": "sort", "sets": number_sets(50, draw)}).encode()
    head = b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    while not done.is_set():
        with contextlib.suppress(OSError), server.socket() as s:
            kind = draw.randrange(4)
            if kind == 0:
                s.sendall((head + body)[:draw.randrange(len(head + body))])
            elif kind == 1:
                s.sendall(head + body)
            elif kind == 2:
                s.sendall(bytes(draw.randrange(256) for _ in range(300)) + b"\r\n\r\n")
            else:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                s.sendall(head + body[:100])
        counts["broken"] += 1
        done.wait(0.02)


def oversized(server, seed):
    draw = random.Random(seed)
    while not done.is_set():
        with contextlib.suppress(OSError), server.socket() as s:
            kind = draw.randrange(3)
            if kind == 0:
                s.sendall(b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n")
                s.sendall(b" " * 100000)
            elif kind == 1:
                s.sendall(b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in range(200):
                    s.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
            else:
                s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40000 + b"\r\n\r\n")
            s.recv(1000)
        counts["oversized"] += 1
        done.wait(0.1)


def reload(server, model):
    """Puts the same model in a new file: the file that is served changes, the answers do not."""
    while not done.wait(5):
        shutil.copy(SORT, model + ".new")
        os.rename(model + ".new", model)
        server.send(signal.SIGHUP)
        counts["reloads"] += 1


def main():
    cases = make_cases()
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "sort.safetensors")
        shutil.copy(SORT, model)
        server = Server("--model", f"sort={model}", "--model", f"tsp={TSP}", "--model", f"words={WORDS}", "--timeout", "3")
        server.ask("GET", "/healthz")
        began, first = time.monotonic(), server.metrics()["process_open_fds"]
        kinds = [(good, 12), (slow, 4), (unread, 2), (broken, 2), (oversized, 1)]
        threads = [threading.Thread(target=kind, args=(server, cases, i) if kind is good else (server, i))
                   for kind, number in kinds for i in range(number)]
        threads.append(threading.Thread(target=reload, args=(server, model)))
        for t in threads:
            t.start()
        memory = []
        while time.monotonic() - began < SECONDS and not wrong:
            time.sleep(10)
            now = server.metrics()
            memory.append(now["process_resident_memory_bytes"] / 2**20)
            print(f"{time.monotonic() - began:5.0f} s  {memory[-1]:6.1f} MiB  {now['process_open_fds']:.0f} descriptors  "
                  f"{now['ordernet_connections']:.0f} connections  {counts['answers']} answers", flush=True)
        done.set()
        for t in threads:
            t.join()
        time.sleep(4)
        last = server.metrics()
        status, said = server.stop()
    third = max(len(memory) // 3, 1)
    early, late = max(memory[:third]), max(memory[-third:])
    print(", ".join(f"{counts[k]} {k}" for k in sorted(counts)))
    print(f"{last['ordernet_slow_connections_total']:.0f} connections cut off as too slow")
    print(f"memory: at most {early:.1f} MiB in the first third, {late:.1f} MiB in the last; "
          f"descriptors: {first:.0f} before, {last['process_open_fds']:.0f} after; exit status {status}")
    for problem in wrong[:5]:
        print("wrong: " + problem)
    good_end = not wrong and status == 0 and last["process_open_fds"] <= first and late <= 1.05 * early + 2
    print("passed" if good_end else "FAILED: " + said[-500:])
    return not good_end


if __name__ == "__main__":
    sys.exit(main())
