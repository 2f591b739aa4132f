"""Tests `ordernet serve` end to end over real sockets: answers, errors, limits, headers and origins, reloads,
shutdown, the files of the browser page.
usage: ORDERNET=PROGRAM python3 tests/serve/test_serve.py
"""
import contextlib
import gzip
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from client import ROOT, SORT, Server, command, exact

PATIENCE = float(os.environ.get("PATIENCE", "1"))  # a program with sanitizers is slower
TSP = os.path.join(ROOT, "models/tsp.safetensors")
WORDS = os.path.join(ROOT, "models/words.safetensors")
PAGES = os.path.join(ROOT, "models/pages.safetensors")


def number_sets(count, seed, low=1, high=12):
    draw = random.Random(seed)
    return [{"items": [[round(draw.random(), 4)] for _ in range(draw.randint(low, high))]} for _ in range(count)]


def lines(sets):
    return "".join(json.dumps(s) + "\n" for s in sets)


def answers_of(printed):
    """Returns what the command added to the sets, number by number."""
    keys = ("order", "logprob", "steps", "top")
    return [{k: v for k, v in exact(line).items() if k in keys} for line in printed.splitlines()]


def as_request(said):
    """Returns the command's error message as the server words it: without options."""
    sentence = said.splitlines()[0].replace("ordernet order: ", "").replace("standard input", "request")
    return re.sub(r" \([^)]*--[^)]*\)", "", sentence).replace("--", "")


@contextlib.contextmanager
def serving(*options, **how):
    server = Server(*options, **how)
    try:
        yield server
    finally:
        status, said = server.stop()
    assert status == 0 and "Sanitizer" not in said, said


def together(count, work):
    """Runs work(i) in threads; raises what one of them raised."""
    failed = []

    def run(i):
        try:
            work(i)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


class Answers(unittest.TestCase):
    """They equal those of the commands."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--model", f"sort={SORT}", "--model", f"tsp={TSP}", "--model", f"words={WORDS}", "--model", f"pages={PAGES}")

    @classmethod
    def tearDownClass(cls):
        status, said = cls.server.stop()
        assert status == 0 and "Sanitizer" not in said, said

    def order(self, sets, connection=None, **options):
        status, answer = self.server.post("/v1/order", {"model": "sort", "sets": sets, **options}, connection)
        self.assertEqual(status, 200, answer)
        return answer["answers"]

    def test_one_set(self):
        status, answer = self.server.post("/v1/order", {"model": "sort", "items": [[3], [1], [2]]})
        self.assertEqual((status, answer), (200, {"model": "sort", "answers": [{"order": ["1", "2", "0"], "logprob": "0"}]}))

    def test_options(self):
        sets = number_sets(40, 1)
        for options, arguments in [
                ({}, []),
                ({"top": 3, "steps": True}, ["--top", "3", "--steps"]),
                ({"top": 7}, ["--top", "7"]),
                ({"beam": 2}, ["--beam", "2"]),
                ({"decode": "greedy", "steps": True}, ["--decode", "greedy", "--steps"]),
                ({"decode": "sample", "seed": 7, "top": 2}, ["--decode", "sample", "--seed", "7", "--top", "2"])]:
            printed, said, _ = command("order", "--model", SORT, "--device", "cpu", *arguments, stdin=lines(sets))
            self.assertEqual(self.order(sets, **options), answers_of(printed), (options, said))

    def test_seeds(self):
        """All 64 bits of a seed count."""
        draw = random.Random(6)
        cities = {"items": [[draw.random(), draw.random()] for _ in range(30)]}
        sets = [cities] * 3
        seen = set()
        for seed in (0, 2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1):
            printed, said, _ = command("order", "--model", TSP, "--device", "cpu", "--decode", "sample", "--seed", str(seed),
                                       stdin=lines(sets))
            found = self.order(sets, model="tsp", decode="sample", seed=seed)
            self.assertEqual(found, answers_of(printed), (seed, said))
            seen.add(json.dumps(found))
            self.assertEqual(self.server.post("/v1/tour", {**cities, "method": "2opt", "kicks": 3, "seed": seed})[0], 200)
        self.assertGreater(len(seen), 3)
        for seed in ("18446744073709551616", "-1", "1.0", "1e3", '"1"', "01", "99999999999999999999999", "null", "[1]"):
            for path, given in (("/v1/order", '{"model": "sort", "items": [[1], [2]]'), ("/v1/tour", '{"items": [[1, 2], [3, 4]]')):
                status, answer = self.server.post(path, (given + ', "seed": %s}' % seed).encode())
                self.assertEqual((status, answer["error"]), (400, "field `seed` takes a whole number from 0 to 18446744073709551615"), seed)

    def test_constraints(self):
        sets = [{"items": [[3], [1], [2], [5]], "first": 0, "before": [[3, 1]]},
                {"items": [[3], [1], [2], [5]], "context": [1], "last": 0}]
        printed, _, _ = command("order", "--model", SORT, stdin=lines(sets))
        self.assertEqual(self.order(sets), answers_of(printed))

    def test_columns(self):
        """A model that knows the names of its features takes them by name, and missing ones as it learned to."""
        draw = random.Random(4)
        with tempfile.TemporaryDirectory() as folder:
            data, model = os.path.join(folder, "d.jsonl"), os.path.join(folder, "m.safetensors")
            with open(data, "w") as out:
                for s in range(50):
                    items = [{"age": draw.randint(1, 90), "height": None if s == i else draw.random()} for i in range(4)]
                    out.write(json.dumps({"items": items, "order": sorted(range(4), key=lambda i: items[i]["age"])}) + "\n")
            said = command("train", "--data", data, "--model", model, "--epochs", "1", "--missing", "mean", "--quiet")
            self.assertEqual(said[2], 0, said)
            sets = [{"items": [{"height": 0.5, "age": 7, "name": "x"}, {"age": 3, "height": None}, {"height": 1, "age": 9}]},
                    {"items": [[7, 0.5], [3, None]]}]
            printed, said, status = command("order", "--model", model, stdin=lines(sets))
            self.assertEqual(status, 0, said)
            with serving("--model", f"m={model}") as server:
                self.assertEqual(server.post("/v1/order", {"sets": sets})[1]["answers"], answers_of(printed))
                self.assertEqual(json.loads(server.ask("GET", "/v1/models")[2])["models"][0]["columns"], ["age", "height"])
                for item in ({"height": 0.5}, {"height": 0.5, "age": "2024-05-31"}, {"height": True, "age": 7}):
                    bad = {"items": [item]}
                    _, said, status = command("order", "--model", model, stdin=lines([bad]))
                    self.assertEqual(status, 3)
                    self.assertEqual(server.post("/v1/order", bad)[1]["error"], as_request(said))

    def test_relations(self):
        """Sets with relations, with and without features; the list of models says that they are needed."""
        draw = random.Random(5)

        def one(items, order=False):
            n = draw.randint(2, 5)
            new = {"pairs": [[None if i == j else [draw.random(), draw.random()] for j in range(n)] for i in range(n)]}
            if items:
                new["items"] = [[draw.random()] for _ in range(n)]
            if order:
                new["order"] = draw.sample(range(n), n)
            return new

        for items in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                data, model = os.path.join(folder, "d.jsonl"), os.path.join(folder, "m.safetensors")
                with open(data, "w") as out:
                    out.write(lines([one(items, True) for _ in range(20)]))
                said = command("train", "--data", data, "--model", model, "--epochs", "1", "--quiet")
                self.assertEqual(said[2], 0, said)
                sets = [one(items) for _ in range(5)]
                printed, said, status = command("order", "--model", model, stdin=lines(sets))
                self.assertEqual(status, 0, said)
                with serving("--model", f"m={model}") as server:
                    self.assertEqual(server.post("/v1/order", {"sets": sets})[1]["answers"], answers_of(printed))
                    self.assertEqual(server.post("/v1/order", {**sets[0], "first": 1, "next": [[1, 0]]})[1]["answers"][0]["order"][:2],
                                     ["1", "0"])
                    about = json.loads(server.ask("GET", "/v1/models")[2])["models"][0]
                    self.assertEqual((about["relations"], about["width"]), (2, int(items)))
                    for bad in ({"pairs": [[None, 1], [1, None]]}, {"items": [[1], [2]]}, {"pairs": [[None, [1, 16777217]], [[1, 1], None]]}, {"pairs": [[None, [1, None]], [[1, 1], None]]}):
                        if items:
                            bad = {"items": [[1], [2]], **bad}
                        _, said, _ = command("order", "--model", model, stdin=lines([bad]))
                        self.assertEqual(server.post("/v1/order", bad)[1]["error"], as_request(said).replace(model, "m"))

    def test_batched(self):
        """Requests of many clients at once, some with another search, some that fail."""
        sets = {i: number_sets(1 + i % 5, i) for i in range(48)}
        sets[7][0] = {"items": [[3], [1], [2]], "context": [1]}
        sets[9][0] = {"items": [[3], [1], [2]], "prefix": [2]}
        expected = {}
        for i, own in sets.items():
            top = 3 if i % 3 == 0 else 1
            printed, _, _ = command("order", "--model", SORT, "--top", str(top), stdin=lines(own))
            expected[i] = top, answers_of(printed)
        before = self.server.metrics()

        def client(i):
            connection = self.server.connect()
            for repeat in range(6):
                if i % 8 == 0:
                    status, _ = self.server.post("/v1/order", {"model": "sort", "items": [[1, 2]]}, connection)
                    self.assertEqual(status, 400)
                top, answers = expected[i]
                self.assertEqual(self.order(sets[i], connection, top=top), answers)
            connection.close()

        together(len(sets), client)
        after = self.server.metrics()
        asked = after['ordernet_batched_requests_total{model="sort"}'] - before['ordernet_batched_requests_total{model="sort"}']
        batches = after['ordernet_batches_total{model="sort"}'] - before['ordernet_batches_total{model="sort"}']
        self.assertEqual(asked, 48 * 6)
        self.assertLess(batches, asked)  # how many share a batch depends on the machine

    def test_overflow_beside_others(self):
        """One request whose numbers overflow in the net does not harm those in its batch."""
        draw = random.Random(3)
        good = {"model": "tsp", "items": [[draw.random(), draw.random()] for _ in range(6)]}
        _, expected = self.server.post("/v1/order", good)

        def client(i):
            for _ in range(5):
                if i % 2:
                    status, answer = self.server.post("/v1/order", {"model": "tsp", "sets": [
                        {"items": [[0, 1], [1, 0]]}, {"items": [[3e38, 1], [-3e38, 2], [1, 3e38]]}]})
                    self.assertEqual(status, 400)
                    self.assertRegex(answer["error"], "^request:2: the features are too large for the net")
                else:
                    self.assertEqual(self.server.post("/v1/order", good), (200, expected))

        together(8, client)

    def test_tours(self):
        draw = random.Random(5)
        sets = [{"items": [[round(draw.random(), 4), round(draw.random(), 4)] for _ in range(n)]} for n in (1, 2, 5, 9, 12)]
        for options in ({}, {"method": "held-karp"}, {"method": "christofides"}, {"method": "farthest"},
                        {"method": "nearest"}, {"method": "2opt"}, {"method": "2opt", "kicks": 20, "seed": 3},
                        {"method": "ordernet"}, {"method": "ordernet", "beam": 2}, {"method": "ordernet", "decode": "greedy"},
                        {"method": "ordernet", "symmetries": 8}):
            arguments = [a for k, v in {"method": "exact", **options}.items() for a in ("--" + k, str(v))]
            printed, said, _ = command("tsp", "solve", "--quiet", "--model", TSP, *arguments, "-", stdin=lines(sets))
            status, answer = self.server.post("/v1/tour", {"sets": sets, **options})
            self.assertEqual(status, 200, answer)
            rows = printed.splitlines()
            self.assertEqual([" ".join(a["tour"]) for a in answer["answers"]], rows[1::2], options)
            for a, row in zip(answer["answers"], rows[::2]):
                self.assertAlmostEqual(float(a["length"]), float(row.split("length ")[1].split(",")[0]), places=6)
                self.assertEqual(a.get("optimal", False), "optimal" in row)

    def test_tours_of_objects(self):
        """The command and the server choose the same keys as coordinates, in any order, and note degrees."""
        points = [(0, 0), (0, 3), (1, 3), (1.5, 0.2), (0.7, 1.1)]
        for keys in ("yx", "xy", ("id", "x", "y"), ("y", "id", "x"), ("lat", "lon"), ("Longitude", "id", "Latitude"), ("a", "b")):
            value = lambda k, at, i: i if k == "id" else at[1] if k in ("x", "lon", "Longitude", "b") else at[0]
            sets = [{"items": [{k: value(k, at, i) for k in keys} for i, at in enumerate(points)]}] * 2
            printed, said, _ = command("tsp", "solve", "-", stdin=lines(sets))
            status, answer = self.server.post("/v1/tour", {"sets": sets})
            self.assertEqual(status, 200, answer)
            self.assertEqual([" ".join(a["tour"]) for a in answer["answers"]], printed.splitlines()[1::2], keys)
            self.assertEqual("points of the plane" in answer.get("note", ""), "points of the plane" in said, (keys, said))
            self.assertEqual("note" in answer, keys[0][0] in "lL", answer)

    def test_unscramble(self):
        for words in ("in , born he london was", "the cat saw the dog and the bird", "Zürich xqzzy is in", "London don't born, in he."):
            printed, _, _ = command("unscramble", "--model", WORDS, "--top", "4", words)
            for given in (words, words.split()):
                status, answer = self.server.post("/v1/unscramble", {"words": given, "top": 4})
                self.assertEqual(status, 200, answer)
                shown = "".join("%5.1f%%  %s\n" % (100 * float(o["probability"]), o["text"]) for o in answer["orders"])
                self.assertEqual(shown, printed)
        self.assertEqual(self.server.post("/v1/unscramble", {"words": "xqzzy <b> is"})[1]["unknown"], ["xqzzy", "<b>"])
        for case, text in ({}, "He was born in London."), ({"case": "lower"}, "he was born in london."):
            best = self.server.post("/v1/unscramble", {"words": "London was born in he.", **case})[1]["orders"][0]
            self.assertEqual((best["text"], best["words"]), (text, ["he", "was", "born", "in", "London", "."]))

    def test_pages(self):
        """As the command orders the same boxes, page by page; a page of a request gets its place in the queue after others'."""
        pages = [{"boxes": [[55, 20, 100, 90], [0, 0, 100, 15], [0, 20, 45, 90]], "types": ["text", "title", "text"]},
                 {"boxes": [[x * 40 + 2, y * 10, x * 40 + 36, y * 10 + 9] for x in (3, 1, 0, 2) for y in range(9)]},
                 {"boxes": [[0, 0, 9, 9], [0, 10, 9, 11], [0, 12, 9, 20]], "types": [None, "separator", "paragraph"]}]
        rows = [{"items": [{"bbox": b, "type": t or "text"} for b, t in zip(p["boxes"], p.get("types") or [None] * 99)]} for p in pages]
        for direction in "ltr", "rtl":
            printed = command("pages", "order", "--model", PAGES, "--quiet", "--direction", direction, "-", stdin=lines(rows))[0]
            status, answer = self.server.post("/v1/pages", {"pages": pages, "direction": direction})
            self.assertEqual((status, answer["model"]), (200, "pages"), answer)
            self.assertEqual([[int(i) for i in a["order"]] for a in answer["answers"]],
                             [json.loads(line)["order"] for line in printed.splitlines()])
        self.assertEqual(self.server.post("/v1/pages", pages[0])[1]["answers"][0]["order"], ["1", "2", "0"])

    def test_sentences(self):
        """Bad sets get the command's error message, with `request` for the file and without options."""
        for bad in ('{"items": [[1], [2, 3]]}', '{"items": []}', '{"items": [[1, 2]]}', '{"items": ["a"]}', '{"items": [[1e39]]}',
                    '{"items": [[NaN]]}', '{"items": [[1], [2]], "first": 7}', '{"items": [[1], [2]], "before": [[0, 1], [1, 0]]}',
                    '{"items": [[1], [2]], "context": [0, 1]}', '{"order": [1]}', '{"items": [[1]], "order": [4]}'):
            _, said, _ = command("order", "--model", SORT, stdin=bad + "\n")
            sentence = as_request(said)
            sentence = sentence.replace(SORT, "sort")
            for body, where in (('{"model": "sort", ' + bad[1:], 0), ('{"model": "sort", "sets": [%s]}' % bad, 1)):
                status, answer = self.server.post("/v1/order", body.encode())
                self.assertEqual(status, 400, bad)
                if "column" not in sentence:
                    self.assertEqual(answer["error"], sentence)

    def test_statuses(self):
        sort = {"model": "sort", "items": [[1], [2]]}
        cases = [
            ("POST", "/v1/order", b"", 400, "expected a JSON object"),
            ("POST", "/v1/order", b"{", 400, "a key in quotes"),
            ("POST", "/v1/order", b"[]", 400, "a JSON object"),
            # No example of another path's body.
            ("POST", "/v1/unscramble", b'"was he"', 400, "expected a JSON object, in braces"),
            ("POST", "/v1/order", b'{"a" 1}', 400, "a colon"),
            ("POST", "/v1/order", b'{"model": "sort", "model": "tsp"}', 400, "`model` is there twice"),
            ("POST", "/v1/order", b'{"items": [[1]]} x', 400, "nothing after the object"),
            ("POST", "/v1/order", b'{"items": [["\n"]]}', 400, "no control character"),
            ("POST", "/v1/order", {**sort, "tpo": 1}, 400, "unknown key `tpo`"),
            ("POST", "/v1/order", {**sort, "<script>\"'&": 1}, 400, "unknown key `<script>"),
            ("POST", "/v1/order", {**sort, "model": "none"}, 404, "no such model; served are: sort, tsp, words, pages"),
            ("POST", "/v1/order", {"items": [[1]]}, 400, "name a model in field `model`: sort, tsp, words"),
            ("POST", "/v1/order", {**sort, "model": 3}, 400, "`model` takes a name"),
            ("POST", "/v1/order", {**sort, "top": 0}, 400, "`top` takes a whole number from 1 to 200"),
            ("POST", "/v1/order", {**sort, "top": 9, "beam": 3}, 400, "9 orders are more than a beam of 3 can find; widen the beam to 9 (`top`, `beam`)"),
            ("POST", "/v1/order", {**sort, "top": 2, "decode": "greedy"}, 400, "greedy decoding finds one order, not 2; use beam or sample (`top`, `decode`)"),
            ("POST", "/v1/order", {**sort, "decode": "x"}, 400, "`decode` is one of beam, greedy, sample"),
            ("POST", "/v1/order", {**sort, "steps": 1}, 400, "`steps` takes true or false"),
            ("POST", "/v1/order", {**sort, "sets": []}, 400, "`items` belongs to one set"),
            ("POST", "/v1/order", {"model": "sort", "sets": []}, 400, "the array is empty"),
            ("POST", "/v1/order", {"model": "sort", "sets": 1}, 400, "not an array"),
            ("POST", "/v1/order", {"model": "sort", "sets": [1]}, 400, "request:1: a set is an object"),
            ("POST", "/v1/order", {"model": "sort", "sets": [sort] * 1025}, 413, "more than the 1024"),
            ("GET", "/healthz", {"a": 1}, 413, "this path takes no body"),
            ("POST", "/healthz", {"a": 1}, 405, "this path takes GET"),
            ("POST", "/v1/order", {"model": "sort", "items": [[1]] * 1001}, 413, "request:1: a set of 1001 items"),
            ("POST", "/v1/order", {"model": "sort", "beam": 200, "sets": [{"items": [[1]] * 1000}] * 2}, 413, "too much work"),
            ("POST", "/v1/order", b"[" * 100000, 400, "a JSON object"),
            ("POST", "/v1/order", b'{"model": "sort", "items": ' + b"[" * 100000 + b"]" * 100000 + b"}", 400, "request:1"),
            ("POST", "/v1/order", b'{"model": "sort", "items": [["\xff"]]}', 400, "request:1"),
            ("POST", "/v1/unscramble", {"words": ""}, 400, "no words"),
            ("POST", "/v1/pages", {}, 400, "`boxes` is missing"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 3]]}, 400, "`boxes`[0] is not"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 0, 3]]}, 400, "x0 <= x1"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 3, 4]], "types": []}, 400, "one string for each"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 3, 4]], "types": [1]}, 400, "neither a string"),
            ("POST", "/v1/pages", {"pages": [], "direction": "ltr"}, 400, "not a list of pages"),
            ("POST", "/v1/pages", {"pages": [{"box": []}]}, 400, "unknown key"),
            ("POST", "/v1/pages", {"pages": [{"boxes": [[1, 2, 3, 4]]}], "types": []}, 400, "beside `pages`"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 3, 4]], "model": "sort"}, 400, "not a model for pages"),
            ("POST", "/v1/pages", {"boxes": [[1, 2, 3, 4]] * 1001}, 413, "at most 1000"),
            ("POST", "/v1/unscramble", {}, 400, "`words` is missing"),
            ("POST", "/v1/unscramble", {"words": [1]}, 400, "an array of strings"),
            ("POST", "/v1/unscramble", {"words": "a", "case": "upper"}, 400, "sentence, keep"),
            ("POST", "/v1/unscramble", {"words": "a", "model": "sort"}, 400, "its items are numbers"),
            ("POST", "/v1/unscramble", {"words": "a " * 1001}, 400, "1000 words at most"),
            ("POST", "/v1/order", {"model": "sort", "items": [[1], [2]], "pairs": [[0, 1], [2, 0]]}, 400, "request:1: two items have 1 relation"),
            ("POST", "/v1/tour", {"items": [[1], [2]]}, 400, "not points x, y"),
            ("POST", "/v1/tour", {"sets": [{"items": [[1, 2], [3, 4]], "first": 1}]}, 400, "request:1: unknown key `first`"),
            ("POST", "/v1/order", {"model": "sort", "sets": [{"items": [[1]], "id": 7, "text": "a", "list": 2}, {"items": [[1], [2]], "frist": 1}]}, 400, "request:2: unknown key `frist`; did you mean `first`?"),
            ("POST", "/v1/order", {"model": "sort", "sets": [{"items": [[1], [2]], "Before": [[1, 0]]}]}, 400, "did you mean `before`?"),
            ("POST", "/v1/order", {"model": "sort", "sets": [{"items": [[1], [2]], "nxt": [[1, 0]]}]}, 400, "did you mean `next`?"),
            ("POST", "/v1/order", {"model": "sort", "sets": [{"items": [[1], [2]], "prefixes": [1]}, {"items": [[1], [2]], "prefax": [1]}]}, 400, "request:2: unknown key `prefax`; did you mean `prefix`?"),
            ("POST", "/v1/tour", {"items": [{"a": 1, "b": 2, "c": 3}] * 2}, 400, "not points x, y"),
            ("POST", "/v1/tour", {"items": [[None, 1], [2, 3]]}, 400, "request:1"),
            ("POST", "/v1/tour", {"sets": [{"items": [[1, 2], [2, 3]], "pairs": [[None, 1], [2, None]]}]}, 400, "have relations"),
            ("POST", "/v1/order", {"model": "sort", "items": [[None], [2]]}, 400, "request:1"),
            ("POST", "/v1/order", {"model": "sort", "items": ["a", "b"]}, 400, "request:1"),
            ("POST", "/v1/tour", {"items": [[1, 2], [2, 3]], "context": [0]}, 400, "visits every city"),
            ("POST", "/v1/tour", {"items": [[1, 2]], "method": "magic"}, 400, "`method` is one of"),
            ("POST", "/v1/tour", {"items": [[1, 2]], "symmetries": 3}, 400, "1 or 8"),
            ("POST", "/v1/tour", {"items": [[1, 2]], "time_limit": 11}, 413, "more than the 10"),
            ("POST", "/v1/tour", {"items": [[1, 2]] * 21, "method": "held-karp"}, 400, "20"),
            ("POST", "/v1/tour", {"items": [[1, 2]], "method": "ordernet", "model": "sort"}, 400, "orders neither points"),
            ("GET", "/v1/order", None, 405, "takes POST"),
            ("DELETE", "/v1/models", None, 405, "takes GET"),
            ("POST", "/healthz", {}, 405, "takes GET"),
            ("PUT", "/", b"x", 405, "takes GET"),
            ("GET", "/none", None, 404, "nothing at this path"),
            ("GET", "/v1/", None, 404, "nothing at this path"),
        ]
        connection = self.server.connect()
        for method, path, body, status, part in cases:
            found, headers, data = self.server.ask(method, path, body, connection=connection)
            self.assertEqual(found, status, (method, path, body if body is None else str(body)[:80], data))
            self.assertIn(part, json.loads(data)["error"])
            self.assertNotRegex(json.loads(data)["error"], r"--[a-z]|onet_")  # names of other fronts
            self.assertEqual(headers["Content-Type"], "application/json")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            if b"script" in data:
                self.assertNotIn(b"<", data)
            if status == 405:
                self.assertIn(headers["Allow"], ("POST", "GET, HEAD"))
        found, _, data = self.server.ask("POST", "/v1/order", b"{}", {"Content-Type": "text/plain"}, connection)
        self.assertEqual(found, 415, data)
        self.assertEqual(self.server.post("/v1/order", sort, connection)[0], 200)
        connection.close()

    def test_get(self):
        status, headers, data = self.server.ask("GET", "/v1/models")
        models = json.loads(data)["models"]
        self.assertEqual([(m["name"], m["items"], m["width"]) for m in models],
                         [("sort", "numbers", 1), ("tsp", "numbers", 2), ("words", "words", 50), ("pages", "numbers", 139)])
        self.assertEqual(self.server.ask("GET", "/healthz")[2], b'{"status":"ok"}\n')
        status, headers, data = self.server.ask("HEAD", "/healthz")
        self.assertEqual((status, data), (200, b""))

    def test_openapi(self):
        data = self.server.ask("GET", "/openapi.json")[2]
        with open(os.path.join(ROOT, "docs/openapi.json"), "rb") as file:
            self.assertEqual(data, file.read())

        def members(pairs):
            self.assertEqual(len(dict(pairs)), len(pairs), [name for name, _ in pairs])
            return dict(pairs)

        api = json.loads(data, object_pairs_hook=members)
        self.assertEqual(api["info"]["version"], command("--version")[0].split()[1])
        self.assertEqual({(path, method) for path, about in api["paths"].items() for method in about},
                         {("/v1/order", "post"), ("/v1/tour", "post"), ("/v1/unscramble", "post"), ("/v1/pages", "post"), ("/v1/models", "get"),
                          ("/openapi.json", "get"), ("/healthz", "get"), ("/metrics", "get")})
        for path in ("/v1/order", "/v1/tour", "/v1/unscramble", "/v1/pages"):
            schema = api["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            for example in schema["examples"].values():
                status, answer = self.server.post(path, example["value"])
                self.assertEqual(status, 200 if example["value"].get("model", "") != "mine" else 404, answer)
            # Every property is known to the server, and every other is refused.
            name = schema["schema"]["$ref"].rsplit("/", 1)[1]
            for key in api["components"]["schemas"][name]["properties"]:
                answer = self.server.post(path, {key: None})[1]
                self.assertNotIn("unknown key", answer["error"], key)

    def settled(self, least=0):
        """The metrics, once at least so many requests for orders are counted and no more follow: a request is counted when its
        answer is away, and the client may have read it before."""
        count = 'ordernet_request_seconds_count{path="/v1/order"}'
        last, end = None, time.monotonic() + 20
        while True:
            found = self.server.metrics()
            if found[count] >= least and found[count] == last or time.monotonic() > end:
                return found
            last = found[count]
            time.sleep(0.3)

    def test_metrics(self):
        connection = self.server.connect()
        name = 'ordernet_requests_total{path="/v1/order",code="%d"}'
        count = 'ordernet_request_seconds_count{path="/v1/order"}'
        before = self.settled()
        for _ in range(3):
            self.server.post("/v1/order", {"model": "sort", "items": [[1], [2]]}, connection)
        self.server.post("/v1/order", {"model": "sort", "items": [["a"]]}, connection)
        connection.close()
        after = self.settled(before[count] + 4)
        self.assertEqual(after[name % 200] - before.get(name % 200, 0), 3)
        self.assertEqual(after[name % 400] - before.get(name % 400, 0), 1)
        errors = 'ordernet_errors_total{path="/v1/order"}'
        self.assertEqual(after[errors] - before[errors], 1)
        self.assertEqual(after[count] - before[count], 4)
        self.assertEqual(after[count], after['ordernet_request_seconds_bucket{path="/v1/order",le="+Inf"}'])
        self.assertGreater(after['ordernet_request_seconds_sum{path="/v1/order"}'], 0)
        self.assertIn('ordernet_queue_requests{model="sort"}', after)
        self.assertGreater(after["process_resident_memory_bytes"], 1e6)
        of_models = {}
        for key in after:
            found = re.fullmatch(r'(\w+){model="([^"]*)"}', key)
            if found:
                of_models.setdefault(found.group(1), set()).add(found.group(2))
        self.assertGreaterEqual(len(of_models), 5)
        for name, models in of_models.items():
            self.assertEqual(models, {"sort", "tsp", "words", "pages"}, name)
        for line in self.server.ask("GET", "/metrics")[2].decode().splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+]+)$')


    def test_document(self):
        """The examples of docs/server.md print what it says."""
        if not shutil.which("curl"):
            print("skipped: no curl here, the examples of docs/server.md were not run", flush=True)
            return
        with open(os.path.join(ROOT, "docs/server.md")) as file:
            examples = re.findall(r"^\$ (curl .*)\n((?:[^$`].*\n)*)", file.read(), re.M)
        self.assertGreater(len(examples), 5)

        def rounded(printed):  # the last digits depend on the kernels
            return re.sub(r"-?\d+\.\d+(e-\d+)?", lambda number: "%.3g" % (round(float(number.group()), 5) + 0.0), printed)

        # The models that `ordernet serve` has by default.
        with serving("--model", f"tsp={ROOT}/models/tours.safetensors", "--model", f"pages={PAGES}", "--model", f"words={WORDS}") as server:
            for example, expected in examples:
                asked = example.replace(":8080/", f":{server.port}/")
                printed = subprocess.run(asked, shell=True, capture_output=True, text=True).stdout
                self.assertEqual(rounded(printed), rounded(expected), example)


class Limits(unittest.TestCase):
    def test_token(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "token")
            with open(file, "w") as out:
                out.write("  secret-1234567 \nsecond line\n")
            with serving("--model", f"sort={SORT}", "--token-file", file) as server:
                good = {"items": [[1], [2]]}
                for given, status in ((None, 401), ("Bearer secret-1234567", 200), ("bearer secret-1234567", 200),
                                      ("Bearer secret-123456", 401), ("Bearer secret-12345678", 401), ("Bearer ", 401),
                                      ("Basic secret-1234567", 401), ("Bearer secret-1234567secret-1234567", 401)):
                    headers = {"Authorization": given} if given else {}
                    found, got, _ = server.ask("POST", "/v1/order", good, headers)
                    self.assertEqual(found, status, given)
                    if status == 401:
                        self.assertEqual(got["WWW-Authenticate"], "Bearer")
                    self.assertEqual(server.ask("GET", "/metrics", headers=headers)[0], status)
                for path in ("/", "/healthz", "/openapi.json"):
                    self.assertEqual(server.ask("GET", path)[0], 200)

    def test_sizes(self):
        with serving("--model", f"sort={SORT}", "--max-body", "1000", "--max-header", "4096") as server:
            self.assertEqual(server.ask("POST", "/v1/order", b" " * 980 + b'{"items": [[1]]}')[0], 200)
            # Told by its length: refused before it is sent.
            with server.socket() as s:
                s.sendall(b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n")
                self.assertIn(b" 413 ", s.recv(100))
            # In chunks: found out on the way.
            with server.socket() as s:
                s.sendall(b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in range(3):
                    s.sendall(b"200\r\n" + b" " * 512 + b"\r\n")
                s.sendall(b"0\r\n\r\n")
                self.assertIn(b" 413 ", s.recv(100))
            # Without end: cut off.
            with server.socket() as s, self.assertRaises(OSError):
                s.sendall(b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in range(100000):
                    s.sendall(b"200\r\n" + b" " * 512 + b"\r\n")
            for size, status in ((3900, b" 200 "), (4100, b" 431 ")):
                with server.socket() as s:
                    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * size + b"\r\n\r\n")
                    self.assertIn(status, s.recv(100))
            for header in (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n"):
                with server.socket() as s:
                    s.sendall(header)
                    self.assertRegex(s.recv(100), rb" (413|414|431) ")
            self.assertEqual(server.ask("GET", "/healthz")[0], 200)
        with serving("--model", f"words={WORDS}", "--max-items", "3") as server:
            self.assertEqual(server.post("/v1/unscramble", {"words": "he was born"})[0], 200)
            status, answer = server.post("/v1/unscramble", {"words": "he was born in"})
            self.assertEqual((status, answer["error"]), (413, "4 words; this server takes at most 3"))

    def test_busy(self):
        """One request fits into the queue: the second gets 503 and a time to try again."""
        with serving("--model", f"sort={SORT}", "--queue", "1") as server:
            draw = random.Random(1)
            hard = {"items": [[draw.random(), draw.random()] for _ in range(200)], "time_limit": PATIENCE}
            slow = threading.Thread(target=lambda: self.assertEqual(server.post("/v1/tour", hard)[0], 200))
            slow.start()
            while server.metrics()["ordernet_requests_under_way"] < 2:  # with the one that asks
                time.sleep(0.01)
            time.sleep(0.3 * PATIENCE)
            status, headers, data = server.ask("POST", "/v1/order", {"items": [[1], [2]]})
            self.assertEqual(status, 503, data)
            self.assertEqual(headers["Retry-After"], "1")
            self.assertEqual(server.ask("GET", "/healthz")[0], 200)
            slow.join()
            self.assertEqual(server.ask("POST", "/v1/order", {"items": [[1], [2]]})[0], 200)

    def test_fair(self):
        """A small request does not wait for the large ones that came before it."""
        draw = random.Random(1)
        large = {"items": [[draw.random()] for _ in range(1000)], "beam": 12}
        long = {"items": [[draw.random(), draw.random()] for _ in range(200)], "time_limit": 1.5 * PATIENCE}
        for path, slow, quick in (("/v1/order", large, {"items": [[3], [1], [2]]}),
                                  ("/v1/tour", long, {"items": [[0, 0], [1, 1], [0, 1], [1, 0]]}),
                                  ("/v1/tour", long, {"items": long["items"][:20], "method": "christofides"})):
            with serving("--model", f"sort={SORT}") as server:
                ended = []
                threads = [threading.Thread(target=lambda: ended.append(server.post(path, slow)[0])) for _ in range(4)]
                for t in threads:
                    t.start()
                while server.metrics()["ordernet_requests_under_way"] < 5:  # with the one that asks
                    time.sleep(0.01)
                for _ in range(3):
                    self.assertEqual(server.post(path, quick)[0], 200)
                self.assertEqual(ended, [], f"{path}: the large ones came first")
                for t in threads:
                    t.join()
                self.assertEqual(ended, [200] * 4)

    def test_connections(self):
        """More connections than allowed wait or are closed; when one ends there is room again."""
        with serving("--model", f"sort={SORT}", "--connections", "4") as server:
            held = [server.socket() for _ in range(4)]
            for s in held:
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answered = []
            for s in held:
                s.settimeout(0.5 * PATIENCE)
                try:
                    answered.append(b"200 OK" in s.recv(1000))
                except OSError:
                    answered.append(False)
            extra = server.socket(timeout=0.5 * PATIENCE)
            with self.assertRaises(OSError):
                extra.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                if not extra.recv(1000):
                    raise OSError("closed")
            extra.close()
            for s in held:
                s.close()
            self.assertGreaterEqual(sum(answered), 2)
            for _ in range(50):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    if server.ask("GET", "/healthz")[0] == 200:
                        break
                time.sleep(0.05)
            else:
                self.fail("no room after all connections were closed")

    def test_few_files(self):
        """Where few files may be open, as in a container, fewer connections are allowed than by default."""
        few = ("sh", "-c", 'ulimit -n 80 && exec "$@"', "few")
        with serving("--model", f"sort={SORT}", before=few) as server:
            self.assertEqual(server.ask("GET", "/healthz")[0], 200)
            held = [server.socket() for _ in range(8)]  # (80 - 64) / 2
            for s in held:
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", held[0].recv(1000))
            for s in held:
                s.close()

    def test_slow(self):
        """Clients that trickle headers, a body or nothing are cut off; others are served meanwhile."""
        with serving("--model", f"sort={SORT}", "--timeout", "1") as server:
            head = b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
            trickled = [head, head + b" " * 400, b"GET /heal", b"", b"\r\n\r\n\r\n"]

            def trickle(i):
                began = time.monotonic()
                with server.socket() as s:
                    s.settimeout(0.1)
                    full = trickled[i] + b" " * 500
                    sent = 0 if i == 0 else len(trickled[i])
                    s.sendall(full[:sent])
                    while time.monotonic() - began < 20:
                        try:
                            if i != 3:
                                s.sendall(full[sent:sent + 1])
                                sent = min(sent + 1, 480)
                            if s.recv(100) == b"":
                                return
                        except TimeoutError:
                            continue
                        except OSError:
                            return
                    self.fail(f"client {i} was never cut off")

            done = threading.Event()

            def others():
                connection = server.connect()
                while not done.is_set():
                    self.assertEqual(server.post("/v1/order", {"items": [[2], [1]]}, connection)[0], 200)
                    time.sleep(0.01)
                connection.close()

            fast = threading.Thread(target=others)
            fast.start()
            together(len(trickled), trickle)
            done.set()
            fast.join()
            self.assertGreaterEqual(server.metrics()["ordernet_slow_connections_total"], 3)

    def test_slow_reader(self):
        """A client that does not take its answer is cut off."""
        with tempfile.TemporaryDirectory() as page:
            with open(os.path.join(page, "large.bin"), "wb") as out:
                out.truncate(64 << 20)
            with serving("--model", f"sort={SORT}", "--page", page, "--timeout", "1") as server:
                with server.socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    s.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    end = time.monotonic() + 20 * PATIENCE
                    while not server.metrics()["ordernet_slow_connections_total"]:
                        self.assertLess(time.monotonic(), end, "it was never cut off")
                        time.sleep(0.1)

    def test_lone_client(self):
        """--wait is for requests that come together: one client alone never waits."""
        with serving("--model", f"sort={SORT}", "--wait", "1000") as server:
            connection, began = server.connect(), time.monotonic()
            for _ in range(20):
                self.assertEqual(server.post("/v1/order", {"items": [[2], [1]]}, connection)[0], 200)
            connection.close()
            self.assertLess(time.monotonic() - began, 10)  # 20 s, if each had waited

    def test_address(self):
        """It listens on the loopback address alone, unless --host names another, which it then answers to."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))  # nothing is sent
                address = s.getsockname()[0]
            except OSError:
                address = "127.0.0.1"
        if address.startswith("127."):
            print("skipped: this machine has no address but the loopback one: which address is listened at was not tested", flush=True)
            return
        with serving("--model", f"sort={SORT}") as server:
            with self.assertRaises(OSError):
                socket.create_connection((address, server.port), timeout=5)
        with serving("--model", f"sort={SORT}", "--host", "0.0.0.0") as server:
            connection = http.client.HTTPConnection(address, server.port, timeout=60)
            self.assertEqual(server.ask("GET", "/healthz", connection=connection)[0], 200)
            self.assertEqual(server.ask("GET", "/healthz", headers={"Host": "evil.example"}, connection=connection)[0], 421)
            connection.close()

    def test_broken(self):
        """Clients that break off or send garbage: no descriptor is lost, and the server goes on."""
        with serving("--model", f"sort={SORT}") as server:
            body = json.dumps({"sets": number_sets(50, 1)}).encode()
            head = b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            server.ask("GET", "/healthz")
            before = server.metrics()["process_open_fds"]

            def breaks(i):
                draw = random.Random(i)
                for _ in range(20):
                    with contextlib.suppress(OSError), server.socket() as s:
                        kind = draw.randrange(5)
                        if kind == 0:
                            s.sendall((head + body)[:draw.randrange(len(head + body))])
                        elif kind == 1:
                            s.sendall(head + body)  # goes away before the answer
                        elif kind == 2:
                            s.sendall(bytes(draw.randrange(256) for _ in range(200)) + b"\r\n\r\n")
                        elif kind == 3:
                            s.sendall(head.replace(b"HTTP/1.1", b"HTTP/9.9") + body)
                        else:
                            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # resets
                            s.sendall(head + body[:100])

            together(8, breaks)
            self.assertEqual(server.post("/v1/order", {"items": [[2], [1]]})[0], 200)
            for _ in range(100):
                time.sleep(0.05)
                # Open is the connection that asks.
                now = server.metrics()
                if now["ordernet_connections"] == 1:
                    break
            self.assertEqual((now["ordernet_connections"], now["ordernet_requests_under_way"]), (1, 1))
            self.assertLessEqual(now["process_open_fds"], before)


class Headers(unittest.TestCase):
    """What two servers in a row could read in two ways is refused, and the connection closed."""

    def exchange(self, server, sent):
        """All that comes back until the server closes the connection."""
        with server.socket(timeout=10) as s:
            s.sendall(sent)
            got = b""
            while True:
                more = s.recv(65536)
                if not more:
                    return got
                got += more

    def test_two_lengths(self):
        body = b'{"items": [[2], [1]]}'
        hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        length = b"Content-Length: %d" % len(body)
        with serving("--model", f"sort={SORT}") as server:
            for headers in ([length, length], [length, b"Content-Length: 0"], [b"Content-Length: 0", length],
                            [length, b"Transfer-Encoding: chunked"], [b"Transfer-Encoding: chunked", length],
                            [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
                            [b"content-length: 0", b"CONTENT-LENGTH: 0"], [b"Transfer-Encoding: gzip, chunked"],
                            [b"Transfer-Encoding: xchunked"], [b"Content-Length: +5"], [b"Content-Length: 5, 5"], [b"Content-Length: -1"],
                            [b"Content-Length : 5"], [b"Content-Length\t: 5"], [b"Transfer-Encoding : chunked"],
                            # Lines that go on in the next one, and a CR that another server may take for their end.
                            [b"Content-Length:", b" %d" % len(body)], [b"Content-Leng: %d" % len(body), b" th"], [b"X: a", b"\tb"],
                            [b"Transfer-Encoding:", b" chunked"], [b"X: a\r" + length],
                            # A NUL, behind which libmicrohttpd does not look, and a line that ends in LF alone.
                            [b"Content-Length: 0\x00%d" % len(body)], [b"X: a\x00b"], [b"Content-Leng\x00th: 5"], [b"X: a\n" + length]):
                for first in (b"POST /v1/order", b"GET /healthz"):
                    sent = first + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + b"\r\n".join(headers)
                    got = self.exchange(server, sent + b"\r\n\r\n" + body + hidden + hidden)
                    self.assertTrue(got.startswith(b"HTTP/1.1 400 "), (headers, got))
                    self.assertEqual(got.count(b"HTTP/1."), got.count(b"HTTP/1.1 400 "), (headers, got))  # libmicrohttpd repeats its own
                    self.assertNotIn(b'"status":"ok"', got)
            # One of them is good.
            for headers, sent in ((length, body), (b"Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))):
                got = self.exchange(server, b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                            b"Content-Type: application/json\r\n" + headers + b"\r\n\r\n" + sent)
                self.assertTrue(got.startswith(b"HTTP/1.1 200 "), got)

    def test_host(self):
        """A name that leads here from a stranger's page is refused (DNS rebinding)."""
        with serving("--model", f"sort={SORT}", "--host-name", "Orders.example.org", "--host-name", "10.1.2.3") as server:
            def ask(*hosts, path="/v1/models", version=b"1.1"):
                lines = b"".join(b"Host: " + h + b"\r\n" for h in hosts)
                got = self.exchange(server, b"GET " + path.encode() + b" HTTP/" + version + b"\r\nConnection: close\r\n" + lines + b"\r\n")
                return int(got.split(b" ")[1])
            for host in (b"localhost", b"LOCALHOST", b"localhost.", b"localhost:8080", b"127.0.0.1", b"127.0.0.1:%d" % server.port,
                         b"127.1.2.3", b"[::1]", b"[::1]:80", b"orders.example.org", b"orders.example.org:443", b"ORDERS.example.org.", b"10.1.2.3"):
                self.assertEqual(ask(host), 200, host)
            for host in (b"evil.example", b"evil.example:80", b"localhost.evil.example", b"127.0.0.1.evil.example", b"10.0.0.1", b"",
                         b"xorders.example.org", b"[::2]", b"[::1", b"[::1]x", b"localhost:80x", b"localhost@evil.example", b"a" * 300):
                for path in ("/v1/models", "/", "/healthz", "/metrics"):
                    self.assertEqual(ask(host, path=path), 421, host)
            counted = server.metrics()
            self.assertEqual(counted['ordernet_requests_total{path="/healthz",code="421"}'], 13)
            self.assertNotIn('ordernet_requests_total{path="/healthz",code="500"}', counted)
            # Blanks before a value, or none.
            for line in (b"Host:localhost", b"Host:  \t localhost"):
                got = self.exchange(server, b"GET /healthz HTTP/1.1\r\nConnection:close\r\n" + line + b"\r\n\r\n")
                self.assertTrue(got.startswith(b"HTTP/1.1 200 "), got)
            self.assertEqual(ask(b"localhost", b"localhost"), 400)
            self.assertEqual(ask(), 400)
            self.assertEqual(ask(version=b"1.0"), 200)

    def test_origins(self):
        """Pages of other origins may send requests only if --allow-origin names them (CORS)."""
        origin, other = "https://example.org", "https://evil.example"
        leave = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        with tempfile.TemporaryDirectory() as folder:
            token = os.path.join(folder, "token")
            with open(token, "w") as out:
                out.write("secret\n")
            key = {"Authorization": "Bearer secret"}
            with serving("--model", f"sort={SORT}") as server:
                status, headers, _ = server.ask("POST", "/v1/order", {"items": [[2], [1]]}, {"Origin": origin})
                self.assertEqual((status, headers.get("Access-Control-Allow-Origin"), headers.get("Vary")), (200, None, None))
                self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
                self.assertEqual(server.ask("OPTIONS", "/v1/order", headers={"Origin": origin, **leave})[0], 405)
            with serving("--model", f"sort={SORT}", "--allow-origin", origin, "--allow-origin", "http://localhost:3000",
                         "--token-file", token) as server:
                for who, may in ((origin, True), ("http://localhost:3000", True), (other, False), ("null", False), (origin + ".evil.example", False)):
                    status, headers, data = server.ask("OPTIONS", "/v1/order", headers={"Origin": who, **leave})
                    self.assertEqual((status, data if may else b""), (204, b"") if may else (401, b""), who)
                    self.assertEqual(headers.get("Access-Control-Allow-Origin"), who if may else None)
                    if may:
                        self.assertEqual(headers["Access-Control-Allow-Methods"], "POST")
                        self.assertEqual(headers["Access-Control-Allow-Headers"], "Authorization, Content-Type")
                    for path, body in (("/v1/order", {"items": [[2], [1]]}), ("/v1/order", {"items": "x"}), ("/v1/models", None)):
                        status, headers, _ = server.ask("POST" if body else "GET", path, body, {"Origin": who, **key})
                        self.assertEqual(headers.get("Access-Control-Allow-Origin"), who if may else None, (who, path))
                        self.assertEqual(headers["Vary"], "Origin")
                        self.assertEqual(headers["Cross-Origin-Resource-Policy"], "cross-origin" if may else "same-origin")
                self.assertEqual(server.ask("POST", "/v1/order", {"items": [[2], [1]]}, {"Origin": origin})[0], 401)  # an allowed origin still needs the token
                self.assertNotIn("Access-Control-Allow-Origin", server.ask("GET", "/", headers={"Origin": origin})[1])
                self.assertEqual(server.ask("OPTIONS", "/v1/order", headers={"Origin": origin, **key})[0], 405)  # not a CORS preflight request
            with serving("--model", f"sort={SORT}", "--allow-origin", "*") as server:
                self.assertEqual(server.ask("GET", "/v1/models", headers={"Origin": other})[1]["Access-Control-Allow-Origin"], "*")
        for wrong in ("example.org", "https://example.org/", "https://", "", "https://a, https://b"):
            printed, said, status = command("serve", "--port", "0", "--model", f"sort={SORT}", "--allow-origin", wrong)
            self.assertEqual(status, 2, said)

    def test_nul(self):
        with serving("--model", f"sort={SORT}") as server:
            for path in ("/healthz%00", "/healthz%00.js", "/%00", "/v1/models%00x", "/a%01b", "/a%0Ab", "/a%7f"):
                self.assertEqual(server.ask("GET", path)[0], 400, path)
            for path in ("/health%7A", "/healthz?a=%00"):
                self.assertEqual(server.ask("GET", path)[0], 200, path)
            for path in ("/%", "/%4", "/%zz", "/healthz%", "/healthz%2500"):
                self.assertEqual(server.ask("GET", path)[0], 404, path)


class Signals(unittest.TestCase):
    def test_reload(self):
        """SIGHUP under load: every request gets the answer of the old or the new model, none is lost."""
        with tempfile.TemporaryDirectory() as folder:
            model, other = os.path.join(folder, "m.safetensors"), os.path.join(folder, "o.safetensors")
            shutil.copy(SORT, model)
            data = os.path.join(folder, "d.jsonl")
            with open(data, "w") as out:
                for s in number_sets(50, 2, 4, 4):
                    s["order"] = sorted(range(4), key=lambda i: -s["items"][i][0])
                    out.write(json.dumps(s) + "\n")
            said = command("train", "--data", data, "--model", other, "--epochs", "1", "--seed", "5", "--quiet")
            self.assertEqual(said[2], 0, said)
            sets = number_sets(4, 9)
            old, new = (answers_of(command("order", "--model", m, stdin=lines(sets))[0]) for m in (SORT, other))
            self.assertNotEqual(old, new)
            with serving("--model", f"m={model}") as server:
                done = threading.Event()
                seen = [0, 0]

                def load(_):
                    connection = server.connect()
                    while not done.is_set():
                        status, answer = server.post("/v1/order", {"sets": sets}, connection)
                        self.assertEqual(status, 200, answer)
                        self.assertIn(answer["answers"], (old, new))
                        seen[answer["answers"] == new] += 1
                    self.assertEqual(server.post("/v1/order", {"sets": sets}, connection)[1]["answers"], new)
                    connection.close()

                def change():
                    time.sleep(0.2 * PATIENCE)
                    # A file that cannot be loaded leaves the old model in place.
                    with open(model + ".new", "w") as out:
                        out.write("no model")
                    for version in (model + ".new", other, SORT, other):
                        if version != model + ".new":
                            shutil.copy(version, model + ".new")
                        os.rename(model + ".new", model)
                        server.send(signal.SIGHUP)
                        time.sleep(0.4 * PATIENCE)

                changer = threading.Thread(target=lambda: (change(), done.set()))
                changer.start()
                together(4, load)
                changer.join()
                self.assertGreater(seen[0], 0)
                self.assertGreater(seen[1], 0)
                self.assertEqual(server.metrics()['ordernet_model_loads_total{model="m"}'], 4)
                status, said = server.stop()
                self.assertEqual(status, 0)
                self.assertIn("model m stays as it was: " + model, said)
                self.assertIn("model m loaded again", said)

    def test_drain(self):
        """SIGTERM: what is under way is answered, new connections are refused, the program ends with 0."""
        server = Server("--model", f"sort={SORT}")
        draw = random.Random(1)
        hard = {"items": [[draw.random(), draw.random()] for _ in range(200)], "time_limit": 1.5 * PATIENCE}
        answers = []
        slow = threading.Thread(target=lambda: answers.append(server.ask("POST", "/v1/tour", hard)))
        slow.start()
        idle = server.connect()  # a connection that is open but asks nothing must not keep it from ending
        server.ask("GET", "/healthz", connection=idle)
        time.sleep(0.5 * PATIENCE)
        server.send(signal.SIGTERM)
        time.sleep(0.3)
        with self.assertRaises(OSError):
            server.socket()
        status, headers, data = server.ask("POST", "/v1/order", {"items": [[2], [1]]}, connection=idle)
        self.assertEqual((status, headers["Connection"]), (200, "close"), data)
        slow.join()
        self.assertEqual(answers[0][0], 200)
        self.assertEqual(len(json.loads(answers[0][2])["answers"][0]["tour"]), 200)
        idle.close()
        status, said = server.stop()
        self.assertEqual(status, 0, said)
        self.assertNotIn("Sanitizer", said)

    def test_hurry(self):
        """A second SIGTERM: a long search ends with the tour that it has."""
        server = Server("--model", f"sort={SORT}", "--max-seconds", "60")
        draw = random.Random(1)
        hard = {"items": [[draw.random(), draw.random()] for _ in range(200)], "time_limit": 60}
        connection = server.connect()
        connection.request("POST", "/v1/tour", json.dumps(hard), {"Content-Type": "application/json"})
        time.sleep(0.5 * PATIENCE)
        began = time.monotonic()
        server.send(signal.SIGTERM)
        time.sleep(0.2)
        status, said = server.stop()
        connection.close()
        self.assertEqual(status, 0, said)
        self.assertLess(time.monotonic() - began, 10 * PATIENCE)


class Page(unittest.TestCase):
    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page")
            os.makedirs(os.path.join(page, "sub"))
            files = {"index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
                     "engine.wasm": "application/wasm", "sub/m.safetensors": "application/octet-stream",
                     "style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml", ".hidden": None}
            for name in files:
                with open(os.path.join(page, name), "w") as out:
                    out.write("<!doctype html>" + name)
            with open(os.path.join(folder, "outside"), "w") as out:
                out.write("outside")
            os.symlink(os.path.join(folder, "outside"), os.path.join(page, "link"))
            with serving("--model", f"sort={SORT}", "--page", page) as server:
                for name, mime in files.items():
                    status, headers, data = server.ask("GET", "/" + name)
                    if not mime:
                        self.assertEqual(status, 404)
                        continue
                    self.assertEqual((status, headers["Content-Type"], data), (200, mime, ("<!doctype html>" + name).encode()))
                    self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
                    self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
                    self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                    again, _, nothing = server.ask("GET", "/" + name, headers={"If-None-Match": headers["ETag"]})
                    self.assertEqual((again, nothing), (304, b""))
                self.assertEqual(server.ask("GET", "/")[2], b"<!doctype html>index.html")
                for path in ("/../outside", "/sub/../../outside", "/%2e%2e/outside", "/..%2foutside", "/link", "//etc/passwd",
                             "/sub", "/sub/", "/./app.js", "/page/../index.html"):
                    self.assertEqual(server.ask("GET", path)[0], 404, path)
                # A reload sees what was added.
                with open(os.path.join(page, "new.txt"), "w") as out:
                    out.write("new")
                self.assertEqual(server.ask("GET", "/new.txt")[0], 404)
                server.send(signal.SIGHUP)
                for _ in range(100):
                    if server.ask("GET", "/new.txt")[0] == 200:
                        break
                    time.sleep(0.02)
                else:
                    self.fail("the new file is not served after a reload")

    def test_compressed(self):
        """Text is sent as gzip to those who take it, the same bytes each time; HEAD and 304 fit."""
        with tempfile.TemporaryDirectory() as page:
            script = b"const a = 1;\n" * 500
            plain = {"app.js": script, "m.safetensors": script, "small.js": b"1;\n", "noise.txt": os.urandom(3000)}
            for name, data in {**plain, "index.html": script}.items():
                with open(os.path.join(page, name), "wb") as out:
                    out.write(data)
            sent = []
            for _ in range(2):
                with serving("--model", f"sort={SORT}", "--page", page) as server:
                    for accept, packed in (("gzip", True), ("br, gzip;q=0.5", True), ("*", True), ("GZIP ; q=1.0", True), (None, False),
                                           ("br", False), ("gzip;q=0", False), ("gzip; q=0.000, *", False), ("*;q=0", False), ("gzipped", False)):
                        headers = {"Accept-Encoding": accept} if accept else {"Accept-Encoding": ""}
                        status, got, data = server.ask("GET", "/app.js", headers=headers)
                        self.assertEqual((status, got.get("Content-Encoding"), got["Vary"]), (200, "gzip" if packed else None, "Accept-Encoding"), accept)
                        self.assertEqual(gzip.decompress(data) if packed else data, script)
                        self.assertEqual(got["Content-Type"], "text/javascript; charset=utf-8")
                        tag = got["ETag"]
                        self.assertEqual("gzip" in tag, packed)
                        again, _, nothing = server.ask("GET", "/app.js", headers={**headers, "If-None-Match": tag})
                        self.assertEqual((again, nothing), (304, b""))
                        if packed:
                            sent.append(data)
                            self.assertLess(len(data), 200)
                            self.assertEqual(int(server.ask("HEAD", "/app.js", headers=headers)[1]["Content-Length"]), len(data))
                    for name in ("m.safetensors", "small.js", "noise.txt"):
                        status, got, data = server.ask("GET", "/" + name, headers={"Accept-Encoding": "gzip"})
                        self.assertEqual((status, got.get("Content-Encoding"), data), (200, None, plain[name]))
                    # A file that was changed since is sent as it is now.
                    with open(os.path.join(page, "app.js"), "wb") as out:
                        out.write(script + b"2;\n")
                    status, got, data = server.ask("GET", "/app.js", headers={"Accept-Encoding": "gzip"})
                    self.assertEqual((status, got.get("Content-Encoding"), data), (200, None, script + b"2;\n"))
                with open(os.path.join(page, "app.js"), "wb") as out:
                    out.write(script)
            self.assertEqual(len(set(sent)), 1)

    def test_links_in_place_of_folders(self):
        """A folder or file that is swapped for a link after it was listed is not followed."""
        with tempfile.TemporaryDirectory() as folder:
            page, outside = os.path.join(folder, "page"), os.path.join(folder, "outside")
            for place in (os.path.join(page, "sub", "deep"), os.path.join(outside, "deep")):
                os.makedirs(place)
            for place, text in ((page, "inside"), (outside, "outside")):
                sub = os.path.join(page, "sub") if place == page else outside
                for name in ("a.txt", "deep/a.txt"):
                    with open(os.path.join(sub, name), "w") as out:
                        out.write(text)
            link = os.path.join(folder, "link-to-page")
            os.symlink(page, link)  # the folder that the operator names may be a link
            with serving("--model", f"sort={SORT}", "--page", link) as server:
                for path in ("/sub/a.txt", "/sub/deep/a.txt"):
                    self.assertEqual(server.ask("GET", path)[2], b"inside")
                os.rename(os.path.join(page, "sub"), os.path.join(folder, "old"))
                os.symlink(outside, os.path.join(page, "sub"))
                for path in ("/sub/a.txt", "/sub/deep/a.txt"):
                    self.assertEqual(server.ask("GET", path)[0], 404, path)
                os.remove(os.path.join(page, "sub"))
                os.rename(os.path.join(folder, "old"), os.path.join(page, "sub"))
                self.assertEqual(server.ask("GET", "/sub/a.txt")[2], b"inside")
                os.remove(os.path.join(page, "sub", "a.txt"))
                os.symlink(os.path.join(outside, "a.txt"), os.path.join(page, "sub", "a.txt"))
                self.assertEqual(server.ask("GET", "/sub/a.txt")[0], 404)
                os.remove(os.path.join(page, "sub", "a.txt"))
                os.mkfifo(os.path.join(page, "sub", "a.txt"))  # opening it must not wait for a writer
                self.assertEqual(server.ask("GET", "/sub/a.txt")[0], 404)

    def test_index(self):
        """Without a page there is an index that names the API."""
        with tempfile.TemporaryDirectory() as folder, serving("--model", f"sort={SORT}", "--page", folder) as server:
            status, headers, data = server.ask("GET", "/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            for path in json.loads(server.ask("GET", "/openapi.json")[2])["paths"]:
                self.assertIn(path.encode() + b"<", data)


if __name__ == "__main__":
    result = unittest.main(verbosity=1, exit=False).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed", flush=True)
    raise SystemExit(bad != 0)
