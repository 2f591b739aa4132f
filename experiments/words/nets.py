#!/usr/bin/env python3
"""Trains networks of different shapes on words for the same time each and measures them on lines kept out of the training.

usage: experiments/words/nets.py [--seconds N] [--device cuda] [--nets 'A;B;...'] [--out DIR]

Data: the lines of train.txt.xz and windows of 2 to 20 words from the first 300,000 sentences of featured_good.txt.xz. Held out: lines
120,001 to 126,000, and the first 8 words of 4,000 paragraphs whose sentences are not among these. One table row per network.
"""

import argparse
import lzma
import subprocess
import time
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "ordernet"
# Encoder blocks, H, O, decoder blocks, C, pool, batch, learning rate
NETS = {
    "wide": (8, 512, 64, 8, 64, "mean", 512, 2e-3),
    "wide, batch 1536": (8, 512, 64, 8, 64, "mean", 1536, 3e-3),
    "wide, max pool": (8, 512, 64, 8, 64, "max", 512, 2e-3),
    "16 encoder blocks": (16, 384, 32, 8, 64, "mean", 768, 2.4e-3),
    "12 and 12 blocks": (12, 256, 48, 12, 48, "mean", 768, 2.4e-3),
    "16 decoder blocks": (8, 384, 48, 16, 48, "mean", 768, 2.4e-3),
}
COMMON = """--preset words --no-standardise --schedule cosine --warmup 0.05 --weight-decay 0.05 --clip 1 --average 0.998 --batches one-size
    --statistics measured --train-vectors --forget 0.1 --epochs 1000 --checkpoint-seconds 0 --resume --quiet""".split()
LENGTHS = "2:0.5,3-8:3,9-12:1.5,13-20:0.4"


def run(*arguments, **options):
    return subprocess.run([str(a) for a in arguments], check=True, text=True, capture_output=True, **options).stdout


def prepare(out, shared):
    """The training sets, articles.txt and first8.txt in `out`."""
    with lzma.open(shared / "sentences/featured_good.txt.xz", "rt") as file:
        (out / "sentences.txt").write_text("".join(islice(file, 300_000)))
        held_out = list(islice(file, 33_000, 33_000 + 41_200))
    openings = [line.split()[1:9] for line in held_out if line.startswith("^ ")]
    openings = [words for words in openings if len(words) == 8][:4000]
    (out / "first8.txt").write_text("".join(" ".join(words) + "\n" for words in openings))
    with lzma.open(shared / "words/train.txt.xz", "rt") as file:
        lines = file.readlines()
    (out / "articles.txt").write_text("".join(lines[120_000:126_000]))
    run(PROGRAM, "words", "prepare", "--text", out / "sentences.txt", "--lines", out / "windows.txt", "--length", LENGTHS,
        "--windows", "paragraph:3,sentence:0.7,anywhere:0.4,whole:0.3")
    text = "".join(lines[:120_000] + lines[132_000:]) + (out / "windows.txt").read_text()
    run(PROGRAM, "words", "prepare", "--text", "-", "--vectors", shared / "words/glove.6B.50d.subset.txt.xz", "--own-row", 30,
        "--limit-words", 115000, "--windows", "whole", "--length", "2-20", "--out", out / "data.safetensors", input=text)


def train(out, name, net, device, seconds):
    """Trains for about `seconds`: two short runs tell the speed, the third has as many steps as the time allows."""
    blocks, hidden, encoder_out, decoder_blocks, decoder_out, pool, batch, rate = net
    model = out / (name.replace(" ", "-").replace(",", "") + ".safetensors")
    command = [PROGRAM, "train", "--data", out / "data.safetensors", "--model", model, *COMMON, "--device", device,
               "--precision", "float32" if device == "cpu" else "tf32", "--encoder-blocks", blocks, "--hidden", hidden,
               "--encoder-out", encoder_out, "--decoder-blocks", decoder_blocks, "--decoder-out", decoder_out, "--pool", pool,
               "--batch", batch, "--learning-rate", rate]
    start, took = time.time(), []
    for steps in (30, 230):
        before = time.time()
        run(*command, "--max-steps", steps)
        took.append(time.time() - before)
    rate = 200 / max(took[1] - took[0], 0.2)
    steps = 230 + max(5, int(rate * (seconds - (time.time() - start) - took[0])))
    run(*command, "--max-steps", steps)
    return model, steps * batch, time.time() - start


def measures(model, text):
    report = run(PROGRAM, "eval", "--format", "text", "--model", model, "--quiet", text)
    found = {line[:26].strip(): line[26:].split()[0] for line in report.splitlines()}
    return f"{found['exact match']} / {found['log-likelihood per step']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=50)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--nets", default=";".join(NETS), help="their names, separated by ;")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments/words/out-nets")
    options = parser.parse_args()
    names = [name.strip() for name in options.nets.split(";")]
    unknown = [n for n in names if n not in NETS]
    if unknown:
        parser.error(f"no network is called {unknown[0]!r}: there are {'; '.join(NETS)}")
    shared = ROOT / run("make", "-s", "print-shared", cwd=ROOT).strip() / "data"
    options.out.mkdir(parents=True, exist_ok=True)
    if not (options.out / "data.safetensors").exists():
        prepare(options.out, shared)
    print("| network | million sets, seconds | five words | eight words |\n| --- | --- | --- | --- |")
    for name in names:
        model, sets, seconds = train(options.out, name, NETS[name], options.device, options.seconds)
        five, eight = (measures(model, options.out / file) for file in ("articles.txt", "first8.txt"))
        print(f"| {name} | {sets / 1e6:.1f}, {seconds:.0f} | {five} | {eight} |", flush=True)


if __name__ == "__main__":
    main()
