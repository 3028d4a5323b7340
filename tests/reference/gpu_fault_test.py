"""How does a run end when its GPU fails? Needs a GPU: statuses of the driver are injected by
driver_fault.c, and once a kernel does what it must not."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
TEXT = b"The quick brown fox jumps over the lazy dog. " * 400
MODEL = "dense:layers=2,hidden=128,heads=2,kv_heads=1,head_dim=64,intermediate=256,vocabulary=256"
# Uncorrectable ECC, contained, unknown: cudaErrorECCUncorrectable and others.
FAULTS = {214: "its memory has an error", 226: "it stopped this program", 999: "it no longer answers"}
WAITS = 600  # of the runtime, before the fault: some dozens of steps


class GpuFaultTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("nvidia-smi") or subprocess.run(["nvidia-smi", "-L"]).returncode != 0:
            self.skipTest("no GPU")
        if not shutil.which("cc"):
            self.skipTest("no compiler for the library that fails")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "text.txt").write_bytes(TEXT)
        self.library = self.folder / "driver_fault.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", self.library, HERE / "driver_fault.c", "-ldl"],
            check=True,
        )

    def train(self, out, steps, **environment):
        words = [os.environ["SLUICE_TRAIN"], "--model", MODEL, "--data", self.folder / "text.txt"]
        words += ["--batch", "2", "--seq", "64", "--steps", str(steps), "--save-every", "5"]
        words += ["--clipping", "exact", "--out", self.folder / out, "--resume"]
        environment = {**os.environ, **{k: str(v) for k, v in environment.items()}}
        return subprocess.run(
            words, env=environment, capture_output=True, text=True
        )

    def run_with(self, status):
        """The failed run, and the newest checkpoint, from which another run goes on."""
        out = f"out-{status}"
        failed = self.train(
            out, 5000, LD_PRELOAD=self.library, FAIL_AFTER=WAITS, FAIL_WITH=status
        )
        newest = max(folder.name for folder in (self.folder / out).glob("step-*"))
        after = int(newest.removeprefix("step-")) + 5
        again = self.train(out, after)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(f"continuing from {self.folder / out}/{newest}", again.stdout)
        return failed, newest

    def test_the_fault_is_named_and_the_newest_checkpoint_is_whole(self):
        for status, words in FAULTS.items():
            with self.subTest(status):
                failed, newest = self.run_with(status)
                self.assertEqual(failed.returncode, 3, failed.stderr)
                self.assertIn(f"the GPU failed: {words}", failed.stderr)
                self.assertIn(f"{newest} is whole, and --resume continues", failed.stderr)

    def test_a_wrong_kernel_is_told_with_its_xid(self):
        failed, _ = self.run_with(0)
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("an illegal memory access was encountered", failed.stderr)


if __name__ == "__main__":
    unittest.main()
