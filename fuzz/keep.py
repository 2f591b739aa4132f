#!/usr/bin/env python3
"""Adds inputs to, and thins out, the corpus archive fuzz/corpus/NAME.tar.gz of a fuzz target. The archive depends on the
inputs alone: sorted, without times and owners.

usage: fuzz/keep.py add NAME FILE ...
       fuzz/keep.py found PROGRAMS FOUND NAME ...

`add` adds the files as they are: seeds, and inputs that once broke a target. `found` adds what a search found, and then keeps
only inputs that reach code that no smaller input reaches, and the files that were named by hand; PROGRAMS holds fuzz_NAME,
FOUND the found inputs in folders NAME. libFuzzer's own merge also keeps an input for each count of a loop, more than twice
as many files."""
import gzip
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile


HASH = re.compile("[0-9a-f]{12}")  # the name of an input that was found


def read(archive):
    """Returns the inputs of an archive by their names; none if there is no archive yet."""
    if not archive.exists():
        return {}
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def write(archive, inputs):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(inputs):
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            tar.addfile(member, io.BytesIO(inputs[name]))
    archive.write_bytes(gzip.compress(raw.getvalue(), mtime=0))


def add(name, paths):
    archive = pathlib.Path("fuzz/corpus", name + ".tar.gz")
    inputs = read(archive)
    known = set(inputs.values())
    # libFuzzer names an input by its SHA-1, of which the beginning is enough.
    more = {p.name[:12] if len(p.name) == 40 else p.name: p.read_bytes() for p in paths if p.read_bytes() not in known}
    if inputs.keys() & more.keys():
        sys.exit(f"{archive} already has other inputs of these names: {', '.join(sorted(inputs.keys() & more.keys()))}")
    inputs.update(more)
    write(archive, inputs)
    print(f"{name}: {len(more)} more, {len(inputs)} inputs of {sum(map(len, inputs.values()))} bytes")


def reaching(program, folders):
    """Returns the inputs, smallest first, each of which reaches code that those before it do not."""
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


def add_found(programs, found, names):
    for name in names:
        with tempfile.TemporaryDirectory() as seeds:
            archive = pathlib.Path("fuzz/corpus", name + ".tar.gz")
            before = read(archive)
            for seed, data in before.items():
                pathlib.Path(seeds, seed).write_bytes(data)
            chosen = reaching(f"{programs}/fuzz_{name}", [seeds, pathlib.Path(found, name)])
            inputs = {seed: data for seed, data in before.items() if not HASH.fullmatch(seed)}
            for path in chosen:
                data = path.read_bytes()
                if data not in inputs.values():
                    inputs[path.name[:12] if len(path.name) == 40 else path.name] = data
            write(archive, inputs)
            print(f"{name}: {len(before)} before, {len(inputs)} inputs of {sum(map(len, inputs.values()))} bytes")


if sys.argv[1:2] == ["add"] and len(sys.argv) > 3:
    add(sys.argv[2], [pathlib.Path(p) for p in sys.argv[3:]])
elif sys.argv[1:2] == ["found"] and len(sys.argv) > 4:
    add_found(sys.argv[2], sys.argv[3], sys.argv[4:])
else:
    sys.exit(__doc__)
