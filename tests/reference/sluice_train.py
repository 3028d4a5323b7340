"""How do the tests run sluice-train, and read what it writes?"""

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import numpy
import torch
from safetensors.torch import load_file

from reference_model import EXPERT_NAMES

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


def write_mask(data, count, seed=4):
    """Beside the tokens: turns of 1 to 60 tokens, of which every other one is learned. So windows
    differ much in the number of their targets."""
    lengths = numpy.random.default_rng(seed).integers(1, 61, count)
    mask = numpy.repeat(numpy.arange(count) % 2, lengths)[:count].astype("u1")
    mask.tofile(data.with_name(data.name + ".mask"))


def write_documents(data, count, seed=5):
    """Beside the tokens: documents of 1 to 40 tokens, which begin with token 0; no other is 0."""
    lengths = numpy.random.default_rng(seed).integers(1, 41, count)
    begins = numpy.concatenate(([0], lengths.cumsum()))
    begins = begins[begins < count].astype("<i8")
    ids = numpy.fromfile(data, "<u2")
    ids[ids == 0] = 1
    ids[begins] = 0
    ids.tofile(data)
    begins.tofile(data.with_name(data.name + ".documents"))


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


def train_from(folder, weights, settings, **options):
    """The same on the CPU from a folder of weights, with the settings of a reference run."""
    return train(
        folder,
        **{
            "model": weights,
            "load": weights,
            "out": pathlib.Path(folder) / "out",
            "device": "cpu",
            "precision": "fp32",
            "micro_batch": options["batch"] // settings.micro_batches,
            "steps": settings.steps,
            "learning_rate": settings.learning_rate,
            "warmup_steps": settings.warmup_steps,
            "lr_schedule": settings.schedule,
            "final_fraction": settings.final_fraction,
            "beta1": settings.beta1,
            "beta2": settings.beta2,
            "epsilon": settings.epsilon,
            "weight_decay": settings.weight_decay,
            "max_norm": settings.max_norm,
            "seed": 7,
            **options,
        },
    )


def read_log(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def read_batches(path, sequences, seq):
    """A --dump-batches file holds a step's int32 ids: those of its inputs, then of its targets."""
    ids = numpy.fromfile(path, "<i4").reshape(-1, 2, sequences, seq)
    return [tuple(torch.from_numpy(part.astype("i8")) for part in step) for step in ids]


def checkpoint_folder(out, step):
    return pathlib.Path(out) / f"step-{step:08d}"


def read_masters(checkpoint, shape):
    """fp32 masters by name: the bf16 weights are their upper halves, to which the lower ones are
    added as signed numbers. Lower halves lie in sections, as the trainer keeps them in memory."""
    high = load_file(checkpoint / "model.safetensors")
    low = load_file(checkpoint / "optimizer" / "optimizer.safetensors")
    masters = {}
    for section, groups in enumerate(_section_groups(shape)):
        halves = low[f"sections.{section}.low"].view(torch.int16)
        at = 0
        for group in groups:
            for name in group:
                if name in high:
                    bits = high[name].view(torch.int16).int().flatten() << 16
                    bits += halves[at : at + bits.numel()].int()
                    masters[name] = bits.view(torch.float32).view(high[name].shape)
                    at += bits.numel()
            at = (at + 7) // 8 * 8  # each group begins at a multiple of 8 elements
    if masters.keys() != high.keys():
        raise AssertionError(f"{checkpoint}: no section holds {high.keys() - masters.keys()}")
    return masters


def _section_groups(shape):
    """Names of the tensors that lie together, for each section: the layers, head, embedding."""
    qkv = [f"self_attn.{which}_proj" for which in "qkv"]
    layer = [
        ["input_layernorm.weight"],
        ["post_attention_layernorm.weight"],
        [name + ".weight" for name in qkv],
        [name + ".bias" for name in qkv],
        ["self_attn.q_norm.weight"],
        ["self_attn.k_norm.weight"],
        ["self_attn.o_proj.weight"],
        ["mlp.gate_proj.weight", "mlp.up_proj.weight"],
        ["mlp.down_proj.weight"],
    ]
    for block, (gate, up, down) in EXPERT_NAMES.items():
        experts = [f"{block}.experts.{i}." for i in range(shape.experts)]
        layer += [
            [block + ".gate.weight"],
            [e + name + ".weight" for e in experts for name in (gate, up)],
            [e + down + ".weight" for e in experts],
        ]
    for index in range(len(shape.windows)):
        yield [[f"model.layers.{index}.{name}" for name in group] for group in layer]
    yield [["lm_head.weight"], ["model.norm.weight"]]
    yield [["model.embed_tokens.weight"]]
