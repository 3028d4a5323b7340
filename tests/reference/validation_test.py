"""Is the loss on held-out data that of PyTorch, and does finding it leave the training alone?"""

import pathlib
import subprocess
import tempfile
import unittest

import numpy
import torch
import transformers
from safetensors.torch import load_file

from model_folders import save_model
from reference_model import read_shape
from sluice_train import checkpoint_folder, command, read_log, train, write_mask, write_tokens

SEQ = 24
STEPS = 7
EVERY = 3
WINDOWS = 10  # of held-out data: two and a half batches


def held_out_loss(folder, data):
    """By transformers, of the weights of a checkpoint folder: a mean over the learned targets."""
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    ids = torch.from_numpy(numpy.fromfile(data, "<u2").astype("i8"))
    learned = torch.from_numpy(numpy.fromfile(f"{data}.mask", "u1").astype("i8"))
    windows = ids[:-1].view(WINDOWS, SEQ)
    targets = ids.where(learned == 1, -1)[1:]
    with torch.no_grad():
        logits = model(windows).logits.flatten(0, 1)
    return torch.nn.functional.cross_entropy(logits, targets, ignore_index=-1).item()


class ValidationTest(unittest.TestCase):
    def test_the_held_out_loss_is_that_of_transformers(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            weights = save_model("qwen2-tied", scratch / "model")
            vocabulary = read_shape(weights).vocabulary
            data = write_tokens(scratch / "data.bin", 40 * SEQ, vocabulary)
            held_out = write_tokens(scratch / "other.bin", WINDOWS * SEQ + 1, vocabulary, seed=9)
            write_mask(held_out, WINDOWS * SEQ + 1)
            runs = []
            for watched in (True, False):
                folder = scratch / str(watched)
                folder.mkdir()
                extra = dict(validation=held_out, validate_every=EVERY) if watched else {}
                runs.append(
                    train(
                        folder,
                        model=weights,
                        load=weights,
                        data=data,
                        out=folder / "out",
                        save_every=1,
                        keep=STEPS,
                        device="cpu",
                        precision="fp32",
                        batch=4,
                        micro_batch=2,
                        seq=SEQ,
                        steps=STEPS,
                        learning_rate=1e-2,
                        warmup_steps=0,
                        **extra,
                    )
                )
            watched, plain = runs
            self.assertEqual(watched.field("loss"), plain.field("loss"))
            validated = [line["step"] for line in watched.log if "validation_loss" in line]
            self.assertEqual(validated, [3, 6, 7])
            for line in watched.log:
                if line["step"] not in validated:
                    continue
                checkpoint = checkpoint_folder(scratch / "True" / "out", line["step"])
                expected = held_out_loss(checkpoint, held_out)
                self.assertLess(abs(line["validation_loss"] / expected - 1), 1e-5)
            last = [checkpoint_folder(scratch / w / "out", STEPS) for w in ("True", "False")]
            ours, theirs = (load_file(folder / "model.safetensors") for folder in last)
            for tensor, values in theirs.items():
                self.assertTrue(torch.equal(ours[tensor], values), tensor)

    def test_the_best_checkpoint_stays_and_loads_as_a_model(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            weights = save_model("qwen2-tied", scratch / "model")
            vocabulary = read_shape(weights).vocabulary
            data = write_tokens(scratch / "data.bin", 40 * SEQ, vocabulary)
            held_out = write_tokens(scratch / "other.bin", WINDOWS * SEQ + 1, vocabulary, seed=9)
            write_mask(held_out, WINDOWS * SEQ + 1)
            run = train(
                scratch,
                model=weights,
                load=weights,
                data=data,
                validation=held_out,
                validate_every=1,
                out=scratch / "out",
                save_best=True,
                keep=1,
                device="cpu",
                precision="fp32",
                batch=4,
                seq=SEQ,
                steps=12,
                warmup_steps=0,
                beta2=0.95,
                weight_decay=0.1,
                learning_rate=0.3,  # too high, so that the last step is not the best
                lr_schedule="constant",
            )
            losses = run.field("validation_loss")
            self.assertNotEqual(min(losses), losses[-1])
            best = scratch / "out" / "best"
            step = losses.index(min(losses)) + 1
            self.assertEqual(best.resolve().name, f"step-{step:08d}")
            kept = sorted(path.name for path in (scratch / "out").glob("step-*"))
            self.assertEqual(kept, [f"step-{step:08d}", "step-00000012"])
            self.assertLess(abs(min(losses) / held_out_loss(best, held_out) - 1), 1e-5)

    def tiny(self, **more):
        """Options of a tiny run in self.folder whose rate is too high to learn for long."""
        return dict(
            model="dense:layers=1,hidden=64,head_dim=32,vocabulary=256",
            data=write_tokens(self.folder / "data.bin", 40 * SEQ, 256),
            device="cpu",
            batch=4,
            seq=SEQ,
            learning_rate=0.05,
            lr_schedule="constant",
            **more,
        )

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_words(self, options, *words):
        done = subprocess.run([*command(**options), *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_each_named_set_has_the_loss_that_it_has_alone(self):
        sets = {}
        for name, windows in (("chats", 10), ("code", 3)):
            count = windows * SEQ + 1
            sets[name] = write_tokens(self.folder / f"{name}.bin", count, 256, seed=windows)
            write_mask(sets[name], count)
        log = self.folder / "log"
        shared = self.tiny(steps=1, log=log, validate_first=True)
        alone = {}
        for name, file in sets.items():
            self.run_words(shared, "--validation", str(file))
            alone[name] = [line["validation_loss"] for line in read_log(log)]
            log.unlink()
        named = [f"{name}={file}" for name, file in sets.items()]
        said = self.run_words(shared, "--validation", *named)
        lines = read_log(log)
        for i, line in enumerate(lines):
            self.assertEqual(line["validation_losses"], {n: alone[n][i] for n in sets})
        self.assertRegex(said, r"validation \d\.\d+ \(chats \d\.\d+, code \d\.\d+\)")
        log.unlink()
        self.run_words(shared, "--validation", *map(str, sets.values()))
        for apart, together in zip(lines, read_log(log), strict=True):
            self.assertAlmostEqual(
                apart["validation_loss"], together["validation_loss"], delta=1e-6
            )

    def test_a_run_ends_when_the_loss_falls_no_more(self):
        held_out = write_tokens(self.folder / "other.bin", WINDOWS * SEQ + 1, 256, seed=9)
        log, out = self.folder / "log", self.folder / "out"
        options = self.tiny(
            steps=500, log=log, out=out, validation=held_out, validate_every=2, patience=3
        )
        said = self.run_words(options)
        losses = [line["validation_loss"] for line in read_log(log) if "validation_loss" in line]
        lowest = losses.index(min(losses))
        self.assertEqual(len(losses), lowest + 1 + 3)
        last = 2 * len(losses)
        self.assertLess(last, 500)
        self.assertIn(f"stopped after step {last} of 500: the last 3 evaluations had no", said)
        self.assertTrue(checkpoint_folder(out, last).is_dir())
        # A run that goes on remembers.
        self.assertIn("give more --patience to continue", self.run_words({"resume": out}))
        said = self.run_words({"resume": out, "patience": 5})
        losses = [line["validation_loss"] for line in read_log(log) if "validation_loss" in line]
        self.assertEqual(len(losses), losses.index(min(losses)) + 1 + 5)
        self.assertIn("the last 5 evaluations had no", said)


if __name__ == "__main__":
    unittest.main()
