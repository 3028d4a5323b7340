"""Does a run that diverges leave a good checkpoint, name it, and end with exit status 1, also where it
diverges in the first step after --resume?"""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from sluice_train import command, write_tokens

MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"
GOOD = 40  # steps


class DivergenceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.data = write_tokens(cls.folder / "data.bin", 20_000, 256)
        done = cls.run_in("good", steps=GOOD, save_every=10, learning_rate=4e-3)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def run_in(cls, out, **options):
        usual = dict(model=MODEL, data=cls.data, device="cpu", cpu_threads=1, batch=4, seq=32)
        usual |= dict(lr_schedule="constant", clipping="exact", out=cls.folder / out)
        return subprocess.run(
            command(**{**usual, **options}), capture_output=True, text=True
        )

    def go_on(self, name, **options):
        """From a copy of the good run, and what it left."""
        shutil.copytree(self.folder / "good", self.folder / name)
        done = self.run_in(name, resume=True, save_every=1, **options)
        return done, sorted(path.name for path in (self.folder / name).glob("step-*"))

    def step(self, name, number):
        return str(self.folder / name / f"step-{number:08d}")

    def test_a_run_that_gets_worse_keeps_and_names_the_good_checkpoint(self):
        steps = GOOD + 12
        done, left = self.go_on("worse", steps=steps, learning_rate=1)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(left, [f"step-{n:08d}" for n in (GOOD, steps - 1, steps)])
        self.assertRegex(done.stdout, "note: the run has diverged: the loss is ")
        self.assertRegex(done.stderr, "^sluice-train: the run has diverged: the loss is ")
        self.assertIn(f"do not trust {self.step('worse', steps)}, ", done.stderr)
        self.assertIn(f"--resume continues from {self.step('worse', GOOD)}", done.stderr)
        # As advised. The checkpoint after the first bad step is gone with the others.
        for number in (steps - 1, steps):
            shutil.rmtree(self.step("worse", number))
        done = self.run_in("worse", resume=True, steps=GOOD + 3, learning_rate=4e-3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"continuing from {self.step('worse', GOOD)}\n", done.stdout)

    def test_a_run_that_goes_on_from_a_bad_checkpoint_says_so(self):
        self.go_on("again", steps=GOOD + 4, learning_rate=1)
        done = self.run_in("again", resume=True, steps=GOOD + 5, learning_rate=1)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, "note: loss or gradients are worse from step 4[12] on")

    def test_the_step_that_spoilt_the_weights_is_not_recommended(self):
        done, left = self.go_on("spoilt", steps=GOOD + 12, learning_rate=1e10, weight_decay=0)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("-nan", done.stdout)
        self.assertIn(f"--resume continues from {self.step('spoilt', GOOD)}", done.stderr)
        self.assertIn(f"step-{GOOD:08d}", left)


if __name__ == "__main__":
    unittest.main()
