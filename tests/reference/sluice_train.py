"""How do the tests run sluice-train, and read what it writes?"""

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import numpy
import torch
from safetensors.torch import load_file

PROGRAM = os.environ["SLUICE_TRAIN"]


@dataclass
class TrainRun:
    log: list  # an object a step
    batches: list  # (inputs, targets) a step, each (sequences, seq) ids

    def field(self, name):
        return [line[name] for line in self.log]


def write_tokens(path, count, vocabulary, seed=3):
    """A shard of uint16 ids. Each mostly follows from the one before, so that there is something to
    learn and losses show whether updates are right."""
    random = numpy.random.default_rng(seed)
    surprise = random.integers(0, vocabulary, count) * (random.random(count) < 0.3)
    ids = numpy.zeros(count, "<u2")
    for i in range(1, count):
        ids[i] = (3 * int(ids[i - 1]) + 7 + int(surprise[i])) % vocabulary
    ids.tofile(path)
    return path


def command(**options):
    """sluice-train's command line: micro_batch=2 is --micro-batch 2, resume=True is --resume."""
    words = [PROGRAM]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        words += [flag] if value is True else [flag, str(value)]
    return words


def train(folder, **options):
    """Runs sluice-train, in `folder`, to its end and returns what it logged and trained on."""
    folder = pathlib.Path(folder)
    log, dump = folder / "log.jsonl", folder / "batches.bin"
    words = command(log=log, dump_batches=dump, **options)
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout}")
    batches = read_batches(dump, options["batch"], options["seq"])
    return TrainRun(read_log(log), batches)


def read_log(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def read_batches(path, sequences, seq):
    """Of a --dump-batches file: for each step the int32 ids of its inputs, then of its targets."""
    ids = numpy.fromfile(path, "<i4").reshape(-1, 2, sequences, seq)
    return [tuple(torch.from_numpy(part.astype("i8")) for part in step) for step in ids]


def checkpoint_folder(out, step):
    return pathlib.Path(out) / f"step-{step:08d}"


def read_masters(checkpoint):
    """fp32 masters by name: the bf16 weights are their upper halves, to which the lower ones are
    added as signed numbers."""
    high = load_file(checkpoint / "model.safetensors")
    low = load_file(checkpoint / "optimizer.safetensors")
    masters = {}
    for name, weight in high.items():
        bits = weight.view(torch.int16).int() << 16
        bits += low[name + ".low"].view(torch.int16).int().view(weight.shape)
        masters[name] = bits.view(torch.float32)
    return masters
