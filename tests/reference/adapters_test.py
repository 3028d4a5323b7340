"""Does sluice-train train adapters as PyTorch does? Ten steps of tiny models from the same frozen
weights and adapters on the same batches; and does its checkpoint hold what peft expects?"""

import json
import pathlib
import subprocess
import tempfile
import unittest
from dataclasses import replace

import torch
import transformers
from safetensors.torch import load_file

from model_folders import MODELS, save_model
from nf4 import decoded
from reference_model import read_shape
from reference_step import ReferenceTrainer, TrainingSettings, rounded_to_bf16
from sluice_train import PROGRAM, checkpoint_folder, train_from, write_tokens
from whole_model_test import BATCH, BF16, FP32, change_errors, relative_errors

RANK, ALPHA = 8, 24.0
PREFIX = "base_model.model."
MODULES = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}


def adapters_in(checkpoint):
    """fp32 masters by name: the upper halves, to which the lower ones are added."""
    high = load_file(checkpoint / "adapter_model.safetensors")
    sections = [name for name in load_file(checkpoint / "optimizer" / "optimizer.safetensors") if "low" in name]
    low = load_file(checkpoint / "optimizer" / "optimizer.safetensors")[sections[0]].view(torch.int16)
    masters, at = {}, 0
    for name in ordered(high):
        bits = high[name].view(torch.int16).int().flatten() << 16
        bits += low[at : at + bits.numel()].int()
        masters[name] = bits.view(torch.float32).view(high[name].shape)
        at += bits.numel()
    assert at == low.numel()
    return masters


def ordered(names):
    """As the trainer keeps them: A of the modules that share an input, then B of each."""
    groups = [["q_proj", "k_proj", "v_proj"], ["o_proj"], ["gate_proj", "up_proj"], ["down_proj"]]

    def place(name):
        parts = name.split(".")
        module, part = parts[-3], parts[-2]
        group = next(i for i, g in enumerate(groups) if module in g)
        return int(parts[4]), group, part, groups[group].index(module)

    return sorted(names, key=place)


def is_linear(name):
    return name.split(".")[-2] in MODULES


class AdaptedTrainer(ReferenceTrainer):
    """The same with frozen weights: W + scale B A in place of each W."""

    def __init__(self, shape, weights, adapters, settings, dtype, bf16_activations, scale):
        super().__init__(shape, adapters, settings, dtype, bf16_activations)
        self.scale = scale
        self.frozen = {name: w.float() for name, w in weights.items()}

    def _backward(self, inputs, targets):
        leaves = {
            k: rounded_to_bf16(m.detach()).to(self.dtype).requires_grad_()
            for k, m in self.masters.items()
        }
        weights = {k: rounded_to_bf16(w).to(self.dtype) for k, w in self.frozen.items()}
        if self.shape.tied:
            weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
        for name in leaves:
            if ".lora_A." in name:
                b = leaves[name.replace(".lora_A.", ".lora_B.")]
                base = name.removeprefix(PREFIX).replace(".lora_A.weight", ".weight")
                weights[base] = weights[base] + self.scale * (b @ leaves[name])
        loss = 0.0
        parts = self.settings.micro_batches
        for few_inputs, few_targets in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            part = self.model.loss_sum(weights, few_inputs, few_targets) / targets.numel()
            part.backward(retain_graph=True)
            loss += part.item()
        for name, master in self.masters.items():
            master.grad = leaves[name].grad.bfloat16().float()
        return loss


CASES = {
    "untied": ("qwen2", 1, {}),
    "tied, resident": ("qwen2-tied", 1, dict(resident_layers=2, resident_tables="both")),
    "micro-batches": ("qwen3", 3, dict(recompute="none", max_norm=0.5)),
    "chunks": ("llama", 1, dict(feed_forward_chunk_tokens=50, loss_chunk_tokens=31)),
    "bf16": ("qwen2", 1, dict(precision="bf16", resident_layers=3)),
    "some layers, rsLoRA": ("qwen3", 1, dict(adapter_targets="q,v,down", adapter_rslora=True)),
    "NF4": ("llama", 1, dict(frozen_weights="nf4", resident_layers=1)),
}


class AdaptersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.weights = {name: save_model(name, cls.scratch / name) for name in MODELS}

    def run_engine(self, folder, model, settings, options):
        return train_from(
            folder,
            self.weights[model],
            settings,
            **{
                "data": self.scratch / "tokens.bin",
                "batch": BATCH,
                "seq": 32,
                "adapter_rank": RANK,
                "adapter_alpha": ALPHA,
                **options,
            },
        )

    def first_adapters(self, model, options):
        """Those of a step that changes nothing."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        still = TrainingSettings(steps=1, warmup_steps=0, learning_rate=1e-30, weight_decay=0)
        self.run_engine(folder, model, still, options)
        return adapters_in(checkpoint_folder(folder / "out", 1))

    def test_ten_steps_are_those_of_pytorch(self):
        write_tokens(self.scratch / "tokens.bin", 71 * 32 - 5, 300)
        for name, (model, micro_batches, options) in CASES.items():
            with self.subTest(name):
                settings = replace(
                    TrainingSettings(epsilon=1e-3, weight_decay=0.5, max_norm=100.0),
                    micro_batches=micro_batches,
                    max_norm=options.get("max_norm", 100.0),
                )
                kept = {k: v for k, v in options.items() if k.startswith("adapter_")}
                first = self.first_adapters(model, kept)
                folder = self.scratch / name.replace(" ", "-")
                folder.mkdir()
                run = self.run_engine(folder, model, settings, options)
                bf16 = options.get("precision") == "bf16"
                weights = load_file(self.weights[model] / "model.safetensors")
                if "frozen_weights" in options:
                    weights = {k: decoded(w) if is_linear(k) else w for k, w in weights.items()}
                expected = AdaptedTrainer(
                    read_shape(self.weights[model]),
                    weights,
                    first,
                    settings,
                    torch.float32 if bf16 else torch.float64,
                    bf16,
                    ALPHA / (RANK**0.5 if "adapter_rslora" in options else RANK),
                ).run(run.batches)
                limit = BF16 if bf16 else FP32
                losses = relative_errors(run.field("loss"), expected.losses)
                norms = relative_errors(run.field("gradient_norm"), expected.gradient_norms)
                after = adapters_in(checkpoint_folder(folder / "out", settings.steps))
                changes = change_errors(first, after, expected.masters)
                worst = max(changes, key=changes.get)
                print(
                    f"{name:20} losses {max(losses):.1e} norms {max(norms):.1e} "
                    f"changes {changes[worst]:.1e} {worst}",
                    flush=True,
                )
                self.assertLess(losses[0], limit.first_loss)
                self.assertLess(max(losses), limit.loss)
                self.assertLess(max(norms), limit.norm)
                self.assertLess(changes[worst], limit.change)

    def test_checkpoint_is_what_peft_loads(self):
        """adapter_config.json by the fields of peft's LoraConfig; tensors by its names."""
        write_tokens(self.scratch / "tokens.bin", 71 * 32 - 5, 300)
        folder = self.scratch / "files"
        folder.mkdir()
        self.run_engine(folder, "qwen3", TrainingSettings(steps=2, warmup_steps=0), {})
        checkpoint = checkpoint_folder(folder / "out", 2)
        config = json.loads((checkpoint / "adapter_config.json").read_text())
        self.assertEqual(
            (config["peft_type"], config["task_type"], config["r"], config["lora_alpha"]),
            ("LORA", "CAUSAL_LM", RANK, ALPHA),
        )
        self.assertEqual(set(config["target_modules"]), MODULES)
        self.assertEqual(config["base_model_name_or_path"], str(self.weights["qwen3"]))
        self.assertFalse((checkpoint / "config.json").exists())
        tensors = load_file(checkpoint / "adapter_model.safetensors")
        base = load_file(self.weights["qwen3"] / "model.safetensors")
        layers = read_shape(self.weights["qwen3"]).windows
        self.assertEqual(len(tensors), 2 * len(MODULES) * len(layers))
        for name, tensor in tensors.items():
            part = "A" if ".lora_A." in name else "B"
            weight = name.removeprefix(PREFIX).replace(f".lora_{part}.weight", ".weight")
            rows, columns = base[weight].shape
            self.assertEqual(tensor.shape, (RANK, columns) if part == "A" else (rows, RANK))

    def exported(self, *words):
        done = subprocess.run([PROGRAM, "export", *map(str, words)], capture_output=True, text=True)
        return done.returncode, done.stderr

    def test_an_export_has_the_adapters_merged(self):
        """W + alpha / rank B A, as peft's merge_and_unload() has it, of all families."""
        write_tokens(self.scratch / "tokens.bin", 71 * 32 - 5, 300)
        for model in ("qwen3", "qwen2-tied"):
            folder = self.scratch / f"merged-{model}"
            folder.mkdir()
            settings = TrainingSettings(steps=3, warmup_steps=0, learning_rate=1e-2)
            self.run_engine(folder, model, settings, {})
            checkpoint = checkpoint_folder(folder / "out", 3)
            adapters = load_file(checkpoint / "adapter_model.safetensors")
            base = load_file(self.weights[model] / "model.safetensors")
            for precision, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
                made = folder / precision
                words = (folder / "out", "--out", made, "--precision", precision)
                self.assertEqual(self.exported(*words), (0, ""))
                merged = transformers.AutoModelForCausalLM.from_pretrained(made, dtype="auto")
                changed = 0
                for name, tensor in merged.named_parameters():
                    expected = base[name].float()
                    key = PREFIX + name.removesuffix(".weight") + ".lora_{}.weight"
                    if key.format("A") in adapters:
                        a, b = (adapters[key.format(part)].double() for part in "AB")
                        expected = (expected + ALPHA / RANK * (b @ a)).float()
                        changed += not torch.equal(expected, base[name].float())
                    self.assertEqual(tensor.dtype, dtype)
                    limit = 1e-6 if dtype == torch.float32 else 2**-8
                    error = (tensor.float() - expected).abs().max() / expected.abs().max()
                    self.assertLess(error, limit, name)
                self.assertEqual(changed, len(adapters) // 2)

    def test_an_export_needs_the_weights_of_the_adapters(self):
        write_tokens(self.scratch / "tokens.bin", 71 * 32 - 5, 300)
        folder = self.scratch / "moved"
        folder.mkdir()
        self.run_engine(folder, "qwen3", TrainingSettings(steps=1, warmup_steps=0), {})
        weights, away = self.weights["qwen3"], self.scratch / "away"
        made = folder / "made"
        weights.rename(away)
        self.addCleanup(away.rename, weights)
        status, said = self.exported(folder / "out", "--out", made)
        self.assertEqual(status, 2)
        self.assertIn(f"belong to {weights}, which is not there; give these weights with", said)
        other = self.weights["qwen2-tied"]
        status, said = self.exported(folder / "out", "--out", made, "--base", other)
        self.assertEqual((status, said.count("\n")), (2, 1))
        self.assertFalse(made.exists())
        self.assertEqual(self.exported(folder / "out", "--out", made, "--base", away), (0, ""))
        self.assertTrue((made / "model.safetensors").exists())
    def test_training_goes_on_from_adapters(self):
        """A folder of peft's has nothing but the two files. peft 0.18 adds
        (B @ A) * scaling in fp32 to the weights (tuners/lora/layer.py, get_delta_weight)."""
        write_tokens(self.scratch / "tokens.bin", 71 * 32 - 5, 300)
        folder = self.scratch / "first"
        folder.mkdir()
        options = dict(adapter_targets="q,v,up,down", adapter_rslora=True)
        settings = TrainingSettings(steps=6, warmup_steps=0)
        self.run_engine(folder, "qwen3", settings, options)
        checkpoint, of_peft = checkpoint_folder(folder / "out", 6), self.scratch / "peft"
        of_peft.mkdir()
        for name in ["adapter_config.json", "adapter_model.safetensors"]:
            (of_peft / name).write_bytes((checkpoint / name).read_bytes())
        second = self.scratch / "second"
        second.mkdir()
        still = TrainingSettings(steps=1, warmup_steps=0, learning_rate=1e-30, weight_decay=0)
        run = train_from(
            second, of_peft, still, data=self.scratch / "tokens.bin", batch=BATCH, seq=32,
            model=self.weights["qwen3"],
        )
        before = load_file(of_peft / "adapter_model.safetensors")
        after = load_file(checkpoint_folder(second / "out", 1) / "adapter_model.safetensors")
        self.assertEqual(before.keys(), after.keys())
        for name, tensor in before.items():
            self.assertTrue(torch.equal(tensor, after[name]), name)
        config = json.loads((checkpoint_folder(second / "out", 1) / "adapter_config.json").read_text())
        self.assertEqual((config["use_rslora"], config["lora_alpha"]), (True, ALPHA))
        self.assertEqual(set(config["target_modules"]), {"q_proj", "v_proj", "up_proj", "down_proj"})

        merged = self.scratch / "merged"
        self.assertEqual(self.exported(folder / "out", "--out", merged), (0, ""))
        self.check_merged(merged, before)
        third = self.scratch / "third"
        third.mkdir()
        whole = train_from(
            third, merged, still, data=self.scratch / "tokens.bin", batch=BATCH, seq=32,
        )
        # The merged weights are rounded to bf16, W and B A x are not.
        self.assertLess(relative_errors(whole.field("loss"), run.field("loss"))[0], 1e-3)

    def check_merged(self, merged, adapters):
        weights = load_file(merged / "model.safetensors")
        base = load_file(self.weights["qwen3"] / "model.safetensors")
        self.assertEqual(weights.keys(), base.keys())
        changed = 0
        for name, weight in base.items():
            a = adapters.get(PREFIX + name.replace(".weight", ".lora_A.weight"))
            expected = weight.bfloat16()
            if a is not None:
                b = adapters[PREFIX + name.replace(".weight", ".lora_B.weight")]
                expected = (weight.float() + (b.float() @ a.float()) * (ALPHA / RANK**0.5)).bfloat16()
                changed += int(not torch.equal(expected, weight.bfloat16()))
            # Sums of 8 numbers in another order may round to the neighbour.
            self.assertGreater((weights[name] == expected).float().mean().item(), 0.999, name)
            self.assertTrue(torch.allclose(weights[name].float(), expected.float(), rtol=2**-7), name)
        self.assertEqual(changed, 4 * len(read_shape(self.weights["qwen3"]).windows))


if __name__ == "__main__":
    unittest.main()
