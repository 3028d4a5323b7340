"""Does a run save and end as signals and nohup ask, and does it tell held-out losses without
training?"""

import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from model_folders import save_model
from reference_model import read_shape
from sluice_train import PROGRAM, command, read_log, write_mask, write_tokens
from validation_test import SEQ, WINDOWS, held_out_loss

MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"


class SignalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = write_tokens(self.folder / "data.bin", 20_000, 256)
        self.log = self.folder / "log.jsonl"

    def start(self, *before, **options):
        usual = dict(model=MODEL, data=self.data, device="cpu", batch=2, seq=32, log=self.log)
        words = command(**{**usual, "steps": 1_000_000, **options})
        run = subprocess.Popen(
            [*before, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.kill)
        self.wait_until(run, lambda: self.lines() >= 2)
        return run

    def lines(self):
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def wait_until(self, run, is_so):
        while not is_so():
            self.assertIsNone(run.poll())
            time.sleep(0.005)

    def ended(self, run, number):
        run.send_signal(number)
        said = run.communicate()[0]
        self.assertEqual(run.returncode, 128 + number, said)
        return said

    def test_sigusr1_saves_and_the_run_goes_on(self):
        out = self.folder / "out"
        run = self.start(out=out)
        run.send_signal(signal.SIGUSR1)
        self.wait_until(run, lambda: (out / "latest").exists())
        name = (out / "latest").read_text().strip()
        lines = self.lines()
        self.wait_until(run, lambda: self.lines() > lines + 1)
        said = self.ended(run, signal.SIGTERM)
        self.assertRegex(said, rf"(?m)^saved {out}/{name}, in \d")
        self.assertIn("interrupted after step", said)

    def test_sigusr1_without_a_place_is_said(self):
        run = self.start()
        run.send_signal(signal.SIGUSR1)
        lines = self.lines()
        self.wait_until(run, lambda: self.lines() > lines + 2)
        said = self.ended(run, signal.SIGTERM)
        self.assertIn("SIGUSR1 came, but nothing is saved without --out", said)

    def test_nohup_protects_a_run(self):
        run = self.start("nohup", out=self.folder / "out")
        run.send_signal(signal.SIGHUP)
        lines = self.lines()
        self.wait_until(run, lambda: self.lines() > lines + 2)
        self.ended(run, signal.SIGTERM)
        self.log.unlink()
        run = self.start(out=self.folder / "other")
        self.ended(run, signal.SIGHUP)
        self.assertTrue((self.folder / "other" / "latest").exists())

    def test_a_held_out_loss_needs_no_step(self):
        weights = save_model("qwen2-tied", self.folder / "model")
        vocabulary = read_shape(weights).vocabulary
        held_out = write_tokens(self.folder / "held.bin", WINDOWS * SEQ + 1, vocabulary, seed=9)
        write_mask(held_out, WINDOWS * SEQ + 1)
        data = write_tokens(self.folder / "train.bin", 40 * SEQ, vocabulary)
        words = command(
            model=weights, load=weights, validation=held_out, device="cpu", precision="fp32",
            batch=2, seq=SEQ, log=self.log,
        )
        expected = held_out_loss(weights, held_out)
        for more in (
            ["--evaluate-only"],
            ["--data", data, "--evaluate-only"],
            ["--data", data, "--validate-first", "--steps", "2", "--discard"],
        ):
            with self.subTest(more=more):
                self.log.unlink(missing_ok=True)
                done = subprocess.run([*words, *map(str, more)], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                log = read_log(self.log)
                self.assertEqual(log[0]["step"], 0)
                self.assertLess(abs(log[0]["validation_loss"] / expected - 1), 1e-5)
                self.assertIn(f"after step 0  validation {log[0]['validation_loss']:.4f}\n", done.stdout)
                self.assertEqual([line["step"] for line in log[1:]], [1, 2] * ("--discard" in more))
        self.assertEqual(len(log[1:]), 2)
        self.assertIn("loss", log[1])
        missing = subprocess.run([PROGRAM, "--evaluate-only"], capture_output=True, text=True)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("--validation", missing.stderr)


if __name__ == "__main__":
    unittest.main()
