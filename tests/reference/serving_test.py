"""Do servers load the folder of a checkpoint, by the rules of their loaders? Those of vLLM
(model_executor/model_loader/default_loader.py and weight_utils.py) and SGLang are written again
here, since the packages need a GPU's libraries. An exported model is read by the same rules."""

import glob
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import torch
import transformers
from model_folders import MODELS, save_model
from reference_model import read_shape
from safetensors import safe_open
from sluice_train import PROGRAM, checkpoint_folder, read_masters, train, write_tokens

SEQ = 32


def files_that_a_server_reads(folder):
    """All *.safetensors beside the config, less those that an index does not name. Both fall back
    on *.bin and *.pt only where there are none."""
    files = glob.glob(os.path.join(folder, "*.safetensors"))
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        named = set(json.loads(index.read_text())["weight_map"].values())
        files = [file for file in files if os.path.basename(file) in named]
    return files


class ServingTest(unittest.TestCase):
    def check(self, name, scratch):
        weights = save_model(name, scratch / "model")
        vocabulary = read_shape(weights).vocabulary
        train(
            scratch,
            model=weights,
            load=weights,
            data=write_tokens(scratch / "data.bin", 40 * SEQ, vocabulary),
            out=scratch / "out",
            device="cpu",
            batch=2,
            seq=SEQ,
            steps=1,
        )
        folder = checkpoint_folder(scratch / "out", 1)
        self.check_folder(folder, torch.bfloat16, MODELS[name][0])
        words = [PROGRAM, "export", scratch / "out", "--out", scratch / "served"]
        words += ["--precision", "fp32", "--shard-size", "50KB"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        self.assertGreater(len(files_that_a_server_reads(scratch / "served")), 2)
        exact = self.check_folder(scratch / "served", torch.float32, MODELS[name][0])
        masters = read_masters(folder, read_shape(weights))
        self.assertEqual(exact.keys(), masters.keys())
        for key, master in masters.items():
            self.assertTrue(torch.equal(exact[key], master), key)

    def check_folder(self, folder, dtype, family):
        """The tensors, by name."""
        found = {}
        for file in files_that_a_server_reads(folder):
            with safe_open(file, framework="pt") as tensors:
                for key in tensors.keys():
                    self.assertNotIn(key, found)
                    found[key] = tensors.get_tensor(key)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
        self.assertEqual(model.dtype, dtype)
        expected = dict(model.named_parameters())  # without the second name of a tied tensor
        self.assertEqual(found.keys(), expected.keys())
        for key, tensor in expected.items():
            self.assertTrue(torch.equal(found[key], tensor), key)
        inside = [path.name for path in folder.iterdir()]
        self.assertEqual([n for n in inside if n.endswith((".bin", ".pt", ".pth"))], [])
        config = json.loads((folder / "config.json").read_text())
        self.assertEqual(config["architectures"], [family + "ForCausalLM"])
        return found

    def test_a_checkpoint_has_the_models_tensors_and_no_others(self):
        for name in ("qwen2-tied", "qwen3", "llama", "mistral"):
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                self.check(name, pathlib.Path(scratch))


if __name__ == "__main__":
    unittest.main()
