"""Is the loss on held-out data that of PyTorch, and does finding it leave the training alone?"""

import pathlib
import tempfile
import unittest

import numpy
import torch
import transformers
from safetensors.torch import load_file

from model_folders import save_model
from reference_model import read_shape
from sluice_train import checkpoint_folder, train, write_mask, write_tokens

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


if __name__ == "__main__":
    unittest.main()
