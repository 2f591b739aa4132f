#!/usr/bin/env python3
"""Adds to fuzz/corpus/NAME what a search found, as far as it reaches code that no smaller input reaches. libFuzzer's own merge
also keeps an input for each count of a loop, more than twice as many files.

usage: fuzz/keep.py PROGRAMS FOUND NAME ...      PROGRAMS holds fuzz_NAME, FOUND the found inputs in folders NAME"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def reaching(program, folders):
    """The inputs of the folders, smallest first, each of which reaches something that those before it do not."""
    with tempfile.TemporaryDirectory() as work:
        control = pathlib.Path(work, "control")
        pathlib.Path(work, "none").mkdir()
        subprocess.run([program, "-merge=1", f"-merge_control_file={control}", f"{work}/none", *map(str, folders)],
                       check=True, capture_output=True)
        lines = control.read_text().split("\n")
    # The number of files, how many of them are in the first folder, their names; then "COV number code ..." of what is new.
    count = int(lines[0])
    names = lines[2:2 + count]
    words = (line.split() for line in lines[2 + count:])
    return [pathlib.Path(names[int(w[1])]) for w in words if w[:1] == ["COV"] and len(w) > 2]


def main():
    programs, found, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    for name in names:
        corpus = pathlib.Path("fuzz/corpus", name)
        known = {p.read_bytes() for p in corpus.iterdir()}
        kept = [p for p in reaching(f"{programs}/fuzz_{name}", [corpus, found / name]) if p.read_bytes() not in known]
        for path in kept:
            shutil.copy(path, corpus / path.name[:12])
        size = sum(p.stat().st_size for p in corpus.iterdir())
        print(f"{name}: {len(kept)} more, {len(list(corpus.iterdir()))} files of {size} bytes")


main()
