"""Do spikes of the loss pass, change nothing or end the run, as told, and does a run that was
interrupted meanwhile go on bit by bit?"""

import itertools
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from safetensors.torch import load_file

from sluice_train import checkpoint_folder, command, read_log, write_tokens

MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"
STEPS = 140


class SpikeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = write_tokens(self.folder / "data.bin", 20_000, 256)

    def words(self, name, **options):
        usual = dict(model=MODEL, data=self.data, device="cpu", cpu_threads=1, batch=2, seq=32)
        # So low that some of the later steps are spikes.
        usual |= dict(steps=STEPS, clipping="exact", spike_deviations=1.5, out=self.folder / name)
        return command(log=self.folder / f"{name}.jsonl", **{**usual, **options})

    def run_to_its_end(self, name, status=0, **options):
        done = subprocess.run(
            self.words(name, **options), capture_output=True, text=True
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def log(self, name):
        path = self.folder / f"{name}.jsonl"
        return read_log(path) if path.exists() else []

    def test_spikes_are_told_and_change_the_run_only_if_that_is_asked_for(self):
        said = self.run_to_its_end("plain").stdout
        spikes = [line["step"] for line in self.log("plain") if line.get("spike")]
        self.assertGreater(len(spikes), 1)
        self.assertGreater(spikes[0], 64)
        self.assertEqual(said.count(" is a spike: its loss of "), len(spikes))
        self.run_to_its_end("skip", on_spike="skip")
        skipped = [line["step"] for line in self.log("skip") if line.get("skipped")]
        self.assertEqual(skipped[0], spikes[0])
        same = [
            (a["loss"], a["gradient_norm"]) == (b["loss"], b["gradient_norm"])
            for a, b in zip(self.log("plain"), self.log("skip"), strict=True)
        ]
        self.assertEqual(same.index(False), spikes[0])  # the step after it

        failed = self.run_to_its_end("stop", 1, on_spike="stop", save_every=10)
        self.assertEqual(failed.stderr.count("\n"), 1)
        self.assertRegex(failed.stderr, f"^sluice-train: step {spikes[0]} is a spike: .*--on-spike")
        self.assertIn("--resume continues from", failed.stderr)
        last = spikes[0] - 1 - (spikes[0] - 1) % 10
        self.assertEqual((self.folder / "stop/latest").read_text(), f"step-{last:08d}\n")

    def test_a_run_that_skips_goes_on_bit_by_bit(self):
        self.run_to_its_end("whole", on_spike="skip")
        skipped = [line["step"] for line in self.log("whole") if line.get("skipped")]
        # A run that ends before the kill comes, as on a busy machine, is done again.
        for attempt in itertools.count():
            broken = f"broken-{attempt}"
            process = subprocess.Popen(
                self.words(broken, on_spike="skip", save_every=1), stdout=subprocess.DEVNULL
            )
            while len(self.log(broken)) < skipped[0] and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            if process.wait() != 0:
                break
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.run_to_its_end(broken, on_spike="skip", save_every=1, resume=True)
        again = [line["step"] for line in self.log(broken) if line.get("skipped")]
        self.assertEqual(sorted(set(again)), skipped)
        ours, theirs = (
            load_file(checkpoint_folder(self.folder / name, STEPS) / "model.safetensors")
            for name in (broken, "whole")
        )
        for tensor, values in theirs.items():
            self.assertTrue((ours[tensor] == values).all(), tensor)

    def test_a_batch_without_tokens_to_learn_changes_nothing(self):
        mask = bytes(((i // 32) % 4 == 0) for i in range(20_000))  # every fourth window
        (self.folder / "data.bin.mask").write_bytes(mask)
        for clipping in ("exact", "auto"):
            name = f"masked-{clipping}"
            options = dict(batch=1, steps=12, clipping=clipping, save_every=1, keep=12)
            said = self.run_to_its_end(name, **options).stdout
            log = self.log(name)
            empty = [line["step"] for line in log if line["targets"] == 0]
            self.assertGreater(len(empty), 2)
            self.assertLess(empty[-1] - len(empty), 11)  # others lie between
            self.assertEqual([line["step"] for line in log if line.get("skipped")], empty)
            self.assertIn(f"{len(empty)} steps had no token to learn and changed nothing", said)
            states = {}
            for step in range(1, 13):
                folder = checkpoint_folder(self.folder / name, step)
                states[step] = [
                    (folder / file).read_bytes()
                    for file in ("model.safetensors", "optimizer/optimizer.safetensors")
                ]
                if step > 1:
                    is_same = states[step] == states[step - 1]
                    self.assertEqual(is_same, step in empty, step)

    def test_skipping_needs_updates_that_wait_for_the_norm(self):
        for clipping in ("exact", "auto"):
            self.run_to_its_end(clipping, steps=2, on_spike="skip", clipping=clipping)
        done = self.run_to_its_end("no", 2, on_spike="skip", clipping="speculative")
        self.assertRegex(done.stderr, "^sluice-train: --on-spike skip .* give --clipping auto")
        done = self.run_to_its_end("no", 2, on_spike="often")
        self.assertTrue(re.search("expected go-on, skip or stop", done.stderr), done.stderr)


if __name__ == "__main__":
    unittest.main()
