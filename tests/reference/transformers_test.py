"""Do sluice-train and transformers read each other's models? The same loss on the same tokens, in
fp32."""

import json
import pathlib
import tempfile
import unittest

import torch
import transformers

from model_folders import TINY, save_model
from reference_model import read_shape
from sluice_train import checkpoint_folder, train, write_tokens

MODELS = (
    "qwen2-tied",
    "qwen2-window",
    "qwen3",
    "qwen3-listed",
    "llama",
    "mistral",
    "qwen3-moe",
    "qwen3-moe-many",
    "mixtral",
)
STEPS = 4
SEQ = 40
# fp32 rounds to 6e-8; the loss is a mean of 160 tokens' over three layers.
TOLERANCE = 1e-5


def loss_by_transformers(folder, batch):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    inputs, targets = batch
    with torch.no_grad():
        logits = model(inputs).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()


class TransformersTest(unittest.TestCase):
    def first_loss(self, folder, weights, data, steps):
        """sluice-train's of a run from these weights, and that of transformers on its batch."""
        folder.mkdir()
        run = train(
            folder,
            model=weights,
            load=weights,
            data=data,
            out=folder / "out",
            device="cpu",
            precision="fp32",
            batch=4,
            seq=SEQ,
            steps=steps,
            learning_rate=1e-2,
            warmup_steps=0,
            beta2=0.95,
            weight_decay=0.1,
        )
        self.assertLess(abs(run.log[-1]["loss"]), 10)
        return run.log[0]["loss"], loss_by_transformers(weights, run.batches[0])

    def check_model(self, name, scratch):
        theirs = save_model(name, scratch / "theirs", max_shard_size="100KB")
        self.assertGreater(len(list(theirs.glob("*.safetensors"))), 1)
        data = write_tokens(scratch / "tokens.bin", 40 * SEQ, read_shape(theirs).vocabulary)
        actual, start = self.first_loss(scratch / "theirs-run", theirs, data, STEPS)
        self.assertLess(abs(actual / start - 1), TOLERANCE, "from transformers' files")

        ours = checkpoint_folder(scratch / "theirs-run" / "out", STEPS)
        actual, trained = self.first_loss(scratch / "ours-run", ours, data, 1)
        self.assertLess(abs(actual / trained - 1), TOLERANCE, "from sluice-train's files")
        # The same batch, since the seed is the same: it was trained on.
        self.assertLess(trained, start - 0.05)

    def test_both_compute_the_same_loss_from_each_others_files(self):
        for name in MODELS:
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                self.check_model(name, pathlib.Path(scratch))

    def test_a_model_of_fewer_layers_is_loaded(self):
        """Its config.json lists the type of each layer, as transformers writes it."""
        for name in ("qwen2-window", "qwen3", "qwen3-listed"):
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                scratch = pathlib.Path(scratch)
                theirs = save_model(name, scratch / "theirs")
                listed = read_config(theirs)["layer_types"]
                data = write_tokens(scratch / "tokens.bin", 40 * SEQ, TINY["vocab_size"])
                out = scratch / "out"
                train(
                    scratch,
                    model=theirs,
                    random_weights=True,
                    layers=2,
                    data=data,
                    out=out,
                    device="cpu",
                    batch=1,
                    seq=SEQ,
                    steps=1,
                )
                ours = checkpoint_folder(out, 1)
                self.assertEqual(read_config(ours)["layer_types"], listed[:2])
                model = transformers.AutoModelForCausalLM.from_pretrained(ours)
                self.assertEqual(len(model.model.layers), 2)


def read_config(folder):
    return json.loads((folder / "config.json").read_text())


if __name__ == "__main__":
    unittest.main()
