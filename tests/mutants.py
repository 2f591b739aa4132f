#!/usr/bin/env python3
"""Mutation testing: draws errors by rules, plants one at a time in a copy of a source file, and runs the
tests of its folder until one fails. `make check-mutants` (COUNT=60 SEED=1). Needs only Python's standard
library.

The rules: flip a comparison, drop a check, swap two arguments, move a bound by one, take the other branch.
The objects are built once, with all names visible, into one shared library; a mutant is one object compiled
again and the library linked again, so that the tests need not be.
"""
import argparse
import concurrent.futures
import hashlib
import itertools
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDERS = ["engine/" + f for f in "base words data model kernels train decode evaluate tune".split()] + [
    "tasks/tours/solve", "tasks/words/sentence", "app", "tasks/tours", "tasks/words", "tasks/layout", "front/serve", "front/cli",
    "tasks/layout/order"]
# The tests of each folder: unit tests, and command-line cases by the beginning of their names. Those of a file come first.
UNITS = {
    "engine/base": "number json shown file file_memory arguments world locale interrupt words_lookup data_jsonl data_lines",
    "engine/data": "data_csv data_jsonl data_lines data_files npz safetensors pick constraints record_text text_value ranks columns json scaling groups divide relations data_memory model_file arguments",
    "engine/words": "words_lookup words_vectors words_public words_prepare words_memory arguments",
    "engine/model": "model_file public growth choices arguments sizes merge engine_golden paper_form",
    "engine/kernels": "kernels engine_golden engine_properties relative relations mixed paper_form sizes",
    "engine/train": "train train_augment ranker sizes mixed growth arguments world choices relations identity",
    "engine/decode": "engine_properties best_order constrained groups engine_golden arguments world relative sizes relations",
    "engine/evaluate": "measure compare oddities public arguments",
    "engine/tune": "divide",
    "tasks/tours/solve": "tsp_exact tsp_matching tsp_directed tsp_api tsp_net arguments",
    "tasks/words/sentence": "words_bag words_memory arguments",
    "tasks/words": "words_prepare words_memory show",
    "tasks/tours": "tsp_tsplib tsp_generate tours_geo tsp_exact tsp_net",
    "tasks/layout": "pages pages_api pages_plain show",
    "tasks/layout/order": "pages pages_api pages_choose pages_plain",
    "app": "options interrupt show serve_request pages",
    "front/serve": "serve_request serve_clients",
    "front/cli": "draw",
}
CASES = {
    "engine/base": "file no closed full device dangling", "engine/data": "convert order bad csv npz pairs eval-missing eval-group inspect-data train-missing train-category train-features train-formats train-ranks train-scale train-repeated", "engine/words": "words order",
    "engine/model": "model inspect merge", "engine/kernels": "", "engine/train": "train pairs", "engine/decode": "order unscramble pairs",
    "engine/evaluate": "eval train-report", "engine/tune": "train-tune", "tasks/tours/solve": "tsp", "tasks/words/sentence": "words unscramble", "tasks/words": "words unscramble",
    "tasks/tours": "tsp escapes", "tasks/layout": "pages", "tasks/layout/order": "pages", "front/serve": "serve",
}
# This case moves the program away from the mutant library, which it needs here.
ELSEWHERE = {"device-library-place.case"}
# Commands of tests/oom/run.sh, each allocation of which fails in turn.
COMMANDS = {
    "engine/base": "convert-gz", "engine/data": "convert-csv convert-npz order-csv", "engine/words": "words-prepare unscramble",
    "engine/model": "inspect convert-half merge", "engine/kernels": "train", "engine/train": "train train-words",
    "engine/decode": "order order-score", "engine/evaluate": "eval eval-baselines", "tasks/tours/solve": "tsp-solve tsp-solve-christofides",
    "tasks/words/sentence": "unscramble", "tasks/words": "words-prepare words-eval",
    "tasks/tours": "tsp-generate tsp-solve tsp-eval", "tasks/layout": "pages-order pages-boxes pages-draw", "tasks/layout/order": "pages-order pages-boxes", "app": "draw",
}
# Other programs that test a folder.
PROGRAMS = {"front/serve": ["python3 tests/serve/test_serve.py", "python3 tests/oom/serve.py PRELOAD"]}
PROGRAMS.update({folder: ["tests/oom/run.sh PRELOAD " + names] for folder, names in COMMANDS.items()})
for folder in "tasks/tours", "tasks/words", "tasks/layout", "app":
    PROGRAMS[folder].insert(0, "python3 tests/serve/test_serve.py")
CASES_OF = {  # files of src/app and src/front/cli
    "cmd_train": "train", "training": "train progress", "folds": "train", "cmd_order": "order bad model", "ordering": "order eval",
    "cmd_eval": "eval", "eval_sets": "eval", "report": "eval train", "cmd_inspect": "inspect escapes", "cmd_convert": "convert bad",
    "cmd_draw": "draw", "cmd_help": "help", "help": "help", "commands": "help unknown no old",
    "main": "help no version closed full unknown", "options": "option bad flag choice operand unknown help",
    "cmd_completion": "completion", "interrupt": "train-interrupt train-terminate train-hangup tsp-interrupt",
    "model_path": "unscramble device tsp", "processes": "processes order train", "progress": "progress train tsp", "canvas": "draw tsp",
    "chart": "draw eval", "models": "serve", "batcher": "serve", "division": "train",
    "cmd_merge": "merge", "comparison": "eval train-report", "error_line": "bad order-on-error escapes", "feature_report": "eval inspect train-report train-tune",
    "json_report": "eval inspect", "learning_curve": "train-learning", "tuning": "train-tune", "text": "eval train inspect",
    "request_fields": "serve", "request_order": "serve", "request_sets": "serve",
}

# (name, pattern, replacement): the pattern is looked for in lines of code.
def swap(match):
    return match.group(1) + match.group(3) + ", " + match.group(2) + match.group(4)

RULES = [
    ("flip a comparison", r" (<=|>=|<|>|==|!=) ",
     lambda m: {"<": " <= ", "<=": " < ", ">": " >= ", ">=": " > ", "==": " != ", "!=": " == "}[m.group(1)]),
    ("drop a check", r"\bif \((?=.*\breturn (?:fail|bad|refuse)|.*\)$)", lambda m: "if (0 && "),
    ("take the other branch", r"\bif \(!(\w+)\)", lambda m: "if (" + m.group(1) + ")"),
    ("swap two arguments", r"(\b\w+\()(\w+), (\w+)(\))", swap),
    ("move a bound by one", r" ([+-]) 1\b(?![.0-9])", lambda m: " " + m.group(1) + " 2"),
    ("confuse and with or", r" (&&|\|\|) ", lambda m: {"&&": " || ", "||": " && "}[m.group(1)]),
]
SKIP = re.compile(r"^\s*(/\*|\*|#|//|\"|static const|typedef|enum)|\bfor \(.*\bskip\b|assert|snprintf|printf|_Static|\*/\s*$")


def sources(folder):
    skip = {"avx2.c", "avx512.c", "neon.c", "simd128.c", "peak.c", "speed.c", "cmd_bench.c", "device.c", "gpu.c", "shared.c"}
    return [p for p in sorted(pathlib.Path("src", folder).glob("*.c")) if p.name not in skip]


def candidates(folder):
    """Returns all places of a folder that a rule fits: (file, line number, rule, changed line)."""
    found = []
    for path in sources(folder):
        inside_comment = False
        for number, line in enumerate(path.read_text().split("\n")):
            if "/*" in line and "*/" not in line:
                inside_comment = True
            if inside_comment or SKIP.search(line) or not line.startswith("    "):
                inside_comment = inside_comment and "*/" not in line
                continue
            for name, pattern, change in RULES:
                for match in re.finditer(pattern, line):
                    changed = line[: match.start()] + change(match) + line[match.end():]
                    # A check that is dropped keeps its condition: close the parenthesis where it was.
                    if name == "drop a check":
                        changed = line[: match.start()] + "if (0 && (" + line[match.end():]
                        end = closing(changed, match.start() + len("if ("))
                        if end is None:
                            continue
                        changed = changed[:end] + ")" + changed[end:]
                    if changed != line and not in_string(line, match.start()):
                        found.append((path, number, name, changed))
    return found


def closing(line, start):
    """Returns the place of the parenthesis that closes the condition beginning at start."""
    depth = 1
    for at in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 1 and line[at] == ")":
            return at
    return None


def in_string(line, at):
    return line[:at].replace('\\"', "").count('"') % 2 == 1


def draw(count, seed, folders):
    """The same number from each folder, and within it from each rule as far as they go. A place's turn depends on its
    own line alone, so that a change of the code changes the draw in that place only."""
    lists = {}
    for folder in folders:
        by_rule = {name: [] for name, _, _ in RULES}
        seen = {}
        for place in candidates(folder):
            path, _, name, changed = place
            key = f"{seed} {path} {name} {changed.strip()}"
            seen[key] = seen.get(key, 0) + 1
            by_rule[name].append((hashlib.sha256(f"{key} {seen[key]}".encode()).digest(), place))
        for group in by_rule.values():
            group.sort(key=lambda turn: turn[0])
        # Each folder begins with another rule: few errors per folder are of all rules together.
        first = FOLDERS.index(folder) % len(RULES)
        names = [name for name, _, _ in RULES[first:] + RULES[:first]]
        lists[folder] = [by_rule[name][turn][1] for turn in range(max(map(len, by_rule.values()))) for name in names
                         if turn < len(by_rule[name])]
    drawn, turn = [], 0
    while len(drawn) < 4 * count and turn < max(map(len, lists.values())):  # more than needed: some do not compile
        for folder in folders:
            if turn < len(lists[folder]):
                drawn.append(lists[folder][turn])
        turn += 1
    return drawn


class Builder:
    def __init__(self, build):
        self.build = build
        flags = ["make", "-s", f"B={build}", "CFLAGS=-O1 -fvisibility=default", f"PROGRAM={build}/static"]
        tests = sorted(p.stem for p in pathlib.Path("tests").glob("test_*.c"))
        objects = subprocess.run(flags + ["-f", "Makefile", "--eval", "print-all: ; @echo $(LIB_OBJ) $(CLI_OBJ) $(TEST_HELP:%.c=$(B)/%.o)",
                                          "print-all"], capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(flags + [f"-j{os.cpu_count()}", f"{build}/tests/oom.so"] + objects, check=True)
        self.objects = [o for o in objects if not o.endswith("cli/main.o")]
        self.main = [o for o in objects if o.endswith("cli/main.o")]
        self.libs = "-lz -llzma -lutf8proc -lm -ldl -pthread -ljansson -lcairo -lmicrohttpd -lxml2 -ljpeg -lcmocka".split()
        self.plain = tempfile.TemporaryDirectory()  # like the folder of a mutant, but unchanged
        plain = self.plain.name
        self.link(self.objects, pathlib.Path(plain))
        self.good, self.lock = {}, threading.Lock()
        here = ["-L", plain, "-lmutant", "-Wl,-rpath-link," + plain]
        subprocess.run(["cc"] + self.main + here + self.libs + ["-o", f"{build}/ordernet"], check=True)
        include = "-Iinclude -Isrc -Itests -iquote tests -I/usr/include/libxml2 -D_GNU_SOURCE -std=c11 -O0 -w".split()
        self.make_test = lambda source, out: subprocess.run(["cc"] + include + [source, "-o", out] + here + self.libs, check=True)
        wanted = {t for names in UNITS.values() for t in names.split()}
        headers = [os.path.getmtime(p) for top in ("include", "src", "tests") for p in pathlib.Path(top).rglob("*.h")]
        for test in tests:
            name = test[len("test_"):]
            if name not in wanted:
                continue
            out = f"{build}/{test}"
            newest = max([os.path.getmtime(f"tests/{test}.c")] + headers)
            if not os.path.exists(out) or os.path.getmtime(out) < newest:
                self.make_test(f"tests/{test}.c", out)

    def link(self, objects, folder):
        """The library, and beside it the models, which the program looks for where its code is."""
        (folder / "models").symlink_to(os.path.abspath("models"))
        out = str(folder / "libmutant.so")
        return subprocess.run(["cc", "-shared", "-o", out] + objects + self.libs, capture_output=True).returncode == 0

    def compile(self, path, text, folder):
        """Builds the library with one file changed, in a folder of its own; returns False if it does not compile."""
        source = folder / path.name
        source.write_text(text)
        object_ = f"{self.build}/{path.with_suffix('.o')}"
        # What the compiler refuses is no error that the tests need to notice.
        flags = "-Werror=int-conversion -Werror=incompatible-pointer-types".split()
        # What make check-asan stops at, the tests stop at here.
        flags += "-fsanitize=undefined -fno-sanitize=object-size -fsanitize-undefined-trap-on-error".split()
        flags += "-std=c11 -fPIC -pthread -ffp-contract=off -O1 -Iinclude -Isrc -I/usr/include/libxml2 -D_GNU_SOURCE".split()
        made = subprocess.run(["cc"] + flags + ["-iquote", str(path.parent), "-c", str(source), "-o", str(folder / "mutant.o")],
                              capture_output=True)
        if made.returncode:
            return False
        if path.name == "main.c":
            return False
        for test in pathlib.Path("tests").glob("test_*.c"):  # one that has the file in it, for its static functions
            text, inside = test.read_text(), f'#include "../{path}"'
            if inside in text:
                (folder / test.name).write_text(text.replace(inside, f'#include "{source.resolve()}"'))
                self.make_test(str(folder / test.name), str(folder / test.stem))
        return self.link([str(folder / "mutant.o") if o == object_ else o for o in self.objects], folder)


    def is_good(self, kind, test):
        """Returns whether a test passes without a mutant."""
        with self.lock:
            if test not in self.good:
                self.good[test] = passes(kind, test, self.build, self.plain.name)
            return self.good[test]


def tests_of(path):
    """The tests of a file, in the order in which it is tried: ("unit", name), ("case", path), ("program", line)."""
    folder = str(path.parent.relative_to("src"))
    units = UNITS[folder].split()
    units.sort(key=lambda name: name not in path.stem and path.stem not in name)  # the file's own first
    starts = (CASES[folder] if folder in CASES else CASES_OF.get(path.stem, "help order train")).split()
    cases = [c for c in sorted(pathlib.Path("tests/cli").glob("*.case")) if c.name.startswith(tuple(starts)) and c.name not in ELSEWHERE]
    return [("unit", u) for u in units] + [("case", c) for c in cases if starts] + [("program", p) for p in PROGRAMS.get(folder, [])]


def passes(kind, test, build, library_folder):
    """Returns whether one test passes with the library in a folder; None: it did not end."""
    own = f"{library_folder}/test_{test}"
    line = {"unit": lambda: [own if os.path.exists(own) else f"{build}/test_{test}"],
            "program": lambda: test.replace("PRELOAD", f"{build}/tests/oom.so").split(),
            "case": lambda: ["tests/cli/run.sh", str(test)]}[kind]()
    path = ":".join(filter(None, [os.path.abspath(library_folder), os.environ.get("LD_LIBRARY_PATH")]))
    env = dict(os.environ, LD_LIBRARY_PATH=path, ORDERNET=f"{build}/ordernet",
               ORDERNET_SHARED=os.environ.get("ORDERNET_SHARED", "../shared"))
    # Seconds of the CPU, which do not depend on what else the machine does; those of the clock are for deadlocks.
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    try:
        ended = subprocess.run(["nice"] + line, env=env, capture_output=True, timeout=600, preexec_fn=limit).returncode
        return None if ended == -signal.SIGKILL else ended == 0
    except subprocess.TimeoutExpired:
        return None


def run_tests(builder, library_folder, path):
    """Returns the first test that fails, or None."""
    for kind, test in tests_of(path):
        passed = passes(kind, test, builder.build, library_folder)
        if not passed:
            if not builder.is_good(kind, test):
                continue  # named at the end
            if passed is False and passes(kind, test, builder.build, library_folder):
                continue  # by chance, on a busy machine
            return f"{getattr(test, 'name', test)}" + (" (did not end)" if passed is None else "")
    return None


def one(builder, place, base):
    path, number, rule, changed = place
    lines = path.read_text().split("\n")
    before = lines[number]
    lines[number] = changed
    with tempfile.TemporaryDirectory(dir=base) as folder:
        if not builder.compile(path, "\n".join(lines), pathlib.Path(folder)):
            return None
        by = run_tests(builder, folder, path)
    return (f"{path}:{number + 1}", rule, before.strip(), changed.strip(), by)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="+", default=FOLDERS, choices=FOLDERS, help="of src (all)")
    parser.add_argument("--at", nargs="+", metavar="FILE:LINE", help="plant every error that the rules have for these lines")
    parser.add_argument("--build", default="build/mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="only print what would be planted")
    parser.add_argument("--least", type=float, default=0, help="fail if a smaller share is noticed, in percent")
    given = parser.parse_args()
    if given.at:
        drawn = [place for folder in FOLDERS for place in candidates(folder) if f"{place[0]}:{place[1] + 1}" in given.at]
        given.count = len(drawn)
    else:
        drawn = draw(given.count, given.seed, given.folders)
    if given.list:
        for path, number, rule, changed in drawn[: given.count]:
            print(f"{path}:{number + 1}: {rule}: {changed.strip()}")
        return 0
    os.makedirs(given.build, exist_ok=True)
    builder = Builder(given.build)
    started, noticed, planted, survivors = time.time(), 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool, tempfile.TemporaryDirectory() as base:
        waiting = iter(drawn)
        running = {pool.submit(one, builder, place, base) for place in itertools.islice(waiting, given.count)}
        while running:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                result = future.result()
                if result is None:  # does not compile: another one instead
                    running |= {pool.submit(one, builder, place, base) for place in itertools.islice(waiting, 1)}
                    continue
                where, rule, before, after, by = result
                planted += 1
                noticed += by is not None
                print(f"{'noticed ' if by else 'SURVIVED'} {where}: {rule}: {after}" + (f" [{by}]" if by else f"  (was: {before})"),
                      flush=True)
                if not by:
                    survivors.append(where)
    share = 100 * noticed / planted
    print(f"{planted} planted, {noticed} noticed ({share:.0f}%), {len(survivors)} survived, {time.time() - started:.0f} s")
    broken = sorted(str(test) for test, good in builder.good.items() if not good)
    if broken:
        print("left out, since they fail without a mutant too: " + ", ".join(broken))
    return share < given.least or bool(broken)


if __name__ == "__main__":
    sys.exit(main())
