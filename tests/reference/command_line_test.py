"""Does sluice-train refuse wrong command lines before any work, in one sentence, and end well where
nobody reads what it prints?"""

import json
import pathlib
import resource
import subprocess
import tempfile
import time
import unittest

from sluice_train import PROGRAM, command, write_tokens

MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = write_tokens(self.folder / "data.bin", 10_000, 256)

    def words(self, **options):
        usual = dict(model=MODEL, data=self.data, device="cpu", batch=2, seq=32, steps=2)
        return command(**{**usual, **options})

    def refusal(self, **options):
        done = subprocess.run(self.words(**options), capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def wait_for_lines(self, run, log, lines):
        while not log.exists() or log.read_bytes().count(b"\n") < lines:
            self.assertIsNone(run.poll())
            time.sleep(0.01)

    def test_help_fits_on_two_screens_and_names_each_value(self):
        for flag in ("--help", "--help-all"):
            done = subprocess.run([PROGRAM, flag], capture_output=True, text=True, check=True)
            lines = done.stdout.splitlines()
            if flag == "--help":
                self.assertLessEqual(len(lines), 100, done.stdout)
                self.assertNotIn("checkpoint-interval", done.stdout)
            self.assertLessEqual(max(map(len, lines)), 100, done.stdout)
            for word in ("TEXT", "INT", "FLOAT"):
                self.assertNotIn(word, done.stdout)
            for option in ("--data FILE", "--steps N", "--resident-layers N", "--watch FOLDER"):
                self.assertIn(option, done.stdout)

    def test_odd_numbers_are_refused(self):
        for name, value in (
            ("seed", "-1"),
            ("seed", "9" * 120),
            ("seed", "1.5"),
            ("cpu_threads", "-1"),
            ("cpu_threads", "5000"),
            ("init_deviation", "nan"),
            ("learning_rate", "nan"),
            ("max_norm", "inf"),
            ("weight_decay", "nan"),
            ("save_every", "-1"),
            ("learning_rate", "0"),
            ("learning_rate", "1e300"),
            ("epsilon", "1e-300"),
            ("weight_decay", "-0.1"),
            ("weight_decay", "1e40"),
            ("out", ""),
            ("load", ""),
        ):
            with self.subTest(name=name, value=value):
                said = self.refusal(**{name: value})
                self.assertIn("--" + name.replace("_", "-"), said)
                self.assertLess(len(said), 250)

    def test_outputs_do_not_replace_inputs(self):
        before = self.data.read_bytes()
        for name in ("log", "report", "trace", "timeline", "dump_batches"):
            with self.subTest(name=name):
                self.assertIn("also reads that file", self.refusal(**{name: self.data}))
                lost = self.folder / "no" / "file"
                self.assertIn("cannot be written", self.refusal(**{name: lost}))
        self.assertEqual(self.data.read_bytes(), before)

    def test_inputs_are_checked_before_a_plan_is_searched(self):
        """The planner says on standard output which plan it chose, and --out is made after."""
        planner = dict(machine="h200-sxm-pcie5", out=self.folder / "out")
        locked = self.folder / "a-file"
        locked.write_text("")
        for options, words in (
            (dict(data=self.folder / "dat.bin"), "dat.bin"),
            (dict(validation=self.folder / "held.bin"), "held.bin"),
            (dict(load=self.folder / "weights"), "weights"),
            (dict(validation=self.data), "data.bin: is trained on, too"),
            (dict(random_weights=True, load=self.folder / "w"), "--random-weights is given with"),
            (dict(discard=True), "--discard is given with --out"),
            (dict(epochs=1), "--epochs"),
            (dict(seq=20_000), "expected at least 20001"),
            (dict(model=MODEL.replace("=256", "=200")), "expected less than the vocabulary of 200"),
            (dict(report=self.folder / "no" / "report.json"), "cannot be written"),
            (dict(out=locked / "out"), "a-file"),
            (dict(watch=locked / "page"), "--watch"),
            (dict(weight_decay=0.5, learning_rate=2), "--learning-rate, 0.5"),
            (dict(device="gpu"), "--device"),
            (dict(precision="half"), "--precision"),
            (dict(host_memory="much"), "--host-memory"),
            (dict(on_spike="skip", clipping="off"), "--clipping auto"),
            (dict(plan="given"), "--plan may be auto"),
            (dict(save_memory="much"), "--save-memory"),
        ):
            with self.subTest(**options):
                done = subprocess.run(
                    self.words(**{**planner, **options}), capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertFalse((self.folder / "out").exists())

    def test_a_run_says_what_it_will_do(self):
        held_out = write_tokens(self.folder / "held-out.bin", 200, 256, seed=8)
        words = command(
            model=MODEL, data=self.data, device="cpu", batch=2, seq=32, epochs=0.1,
            validation=held_out, out=self.folder / "out", save_every=5,
        )
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        first_step = said.index("\nstep 1/16  ")
        for line in (
            "weights     random, of seed 0",
            f"data        312 sequences of 32 tokens from {self.data}; 100% of the tokens are learned",
            "left out    15 tokens at the end of files",
            "steps       16 of 2 sequences: 0.103 epochs of the data",
            "optimizer   AdamW, learning rate 0.0003, cosine to 3e-05; betas 0.9 and 0.95, weight decay "
            "0.1, norm at most 1",
            f"validation  6 sequences of 32 tokens from {held_out}; 100% of the tokens are learned; "
            "every 100 steps",
            f"saved to    {self.folder}/out, every 5 steps and at the end",
            "precision   activations in fp32, 12 bytes of state a parameter",
        ):
            self.assertLess(said.index(f"\n  {line}\n"), first_step)
        again = subprocess.run(
            [*words, "--resume"], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn(f"weights     continue from {self.folder}/out/step-00000016, with its", again)
        said = subprocess.run(self.words(), capture_output=True, text=True, check=True).stdout
        self.assertIn("saved to    NOT SAVED: the weights are lost at the end; give --out", said)

    def test_weights_are_neither_ignored_nor_trained_and_lost(self):
        self.assertEqual(subprocess.run(self.words(out=self.folder / "out")).returncode, 0)
        weights = self.folder / "out" / "step-00000002"
        said = self.refusal(model=weights)
        self.assertIn(f"--model {weights}: holds weights, {weights}/model.safetensors, which", said)
        said = self.refusal(model=weights, load=weights)
        self.assertIn(f"--load {weights} is given without --out", said)
        for options, start in (
            (dict(random_weights=True), "random, of seed 0"),
            (dict(load=weights, discard=True), f"loaded from {weights}"),
        ):
            words = self.words(model=weights, **options)
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            self.assertIn(f"weights     {start}\n", said)
        self.assertIn("learning rate 2e-05 after 1 step of warm-up, cosine to 2e-06; betas 0.9", said)

    def test_held_out_data_is_not_a_copy_of_what_is_trained_on(self):
        copy = self.folder / "copy.bin"
        copy.write_bytes(self.data.read_bytes())
        self.assertIn(f"--validation {copy}: holds the tokens of --data", self.refusal(validation=copy))

    def test_a_budget_that_is_too_small_is_named(self):
        out = self.folder / "new" / "out"
        said = self.refusal(device_budget_bytes="1MB", out=out)
        self.assertIn("does not fit: the budget of device memory needs", said)
        self.assertFalse(out.parent.exists())

    def test_what_cannot_be_continued_is_named(self):
        out, other = self.folder / "out", write_tokens(self.folder / "other.bin", 9_000, 256)
        run = lambda **options: subprocess.run(
            self.words(out=out, **options), capture_output=True, text=True
        )
        self.assertEqual(run().returncode, 0)
        first = out / "step-00000002"
        for options, words in (
            (dict(data=other), f"--data {other}: holds other tokens than {first} was trained on"),
            (dict(seed=7), f"--seed is 7, but {first} was trained with 0,"),
            (dict(seq=16), f"--seq is 16, but {first} was trained with 32,"),
        ):
            with self.subTest(**options):
                self.assertIn(words, self.refusal(out=out, resume=True, **options))
        for name in ("model", "load"):
            said = self.refusal(**{name: out / "latest"})
            self.assertIn(f"--{name} {out}/latest: is a file that names the newest checkpoint", said)
        said = run(resume=True, steps=4, compute="fp8").stdout
        self.assertIn('compute is "fp8" instead of "bf16"', said)
        self.assertIn("steps is 4 instead of 2, which the learning rates from here on follow", said)

    def test_a_checkpoint_without_its_record_is_not_passed_over(self):
        out = self.folder / "out"
        run = lambda **options: subprocess.run(
            self.words(out=out, **options), capture_output=True, text=True
        )
        self.assertEqual(run(save_every=1).returncode, 0)
        last = out / "step-00000002"
        (last / "training.json").unlink()
        done = run(resume=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"warning: {last} holds no training.json", done.stderr)
        self.assertIn(f"continuing from {out}/step-00000001", done.stdout)
        for number in (1, 2):
            (out / f"step-0000000{number}" / "training.json").unlink()
        for options in (dict(resume=True), {}):
            said = self.refusal(out=out, **options)
            self.assertIn(f"{last} holds no training.json, so no run can continue from it", said)
        self.assertTrue((last / "model.safetensors").exists())

    def test_a_limit_of_file_sizes_is_said(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        done = subprocess.run(
            self.words(out=self.folder / "out", log=self.folder / "log"),
            capture_output=True, text=True, preexec_fn=limit,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("File too large", done.stderr)

    def test_data_that_is_written_over_ends_the_run(self):
        out, log = self.folder / "out", self.folder / "log"
        run = subprocess.Popen(
            self.words(out=out, log=log, steps=100_000),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.wait_for_lines(run, log, 2)
        bytes_now = self.data.read_bytes()
        self.data.touch()  # the same tokens: the run goes on
        self.wait_for_lines(run, log, len(log.read_bytes().splitlines()) + 3)
        with self.data.open("r+b") as data:
            data.write(bytes_now[200:])  # valid ids
        self.assertIn(f"{self.data}: holds other tokens than at the start", run.communicate()[1])
        self.assertEqual(run.returncode, 2)
        self.data.write_bytes(bytes_now)
        steps = len(log.read_bytes().splitlines()) + 1
        done = subprocess.run(
            self.words(out=out, log=log, steps=steps, resume=True), capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_grace_is_said_at_the_start(self):
        large = MODEL.replace("=64", "=256")  # no memory takes its checkpoint in 2 ms
        grace = lambda seconds, **options: subprocess.run(
            self.words(model=large, out=self.folder / str(seconds), grace=seconds, **options),
            capture_output=True, text=True, check=True,
        ).stdout
        self.assertRegex(grace(1000), "note: a checkpoint takes about .*, within --grace 1000 s if")
        self.assertIn("longer than --grace 0.001 s: after a signal it is tried,", grace(0.001))
        self.assertIn("after a signal up to 2 steps are done", grace(0.002, save_every=2))
        said = self.refusal(grace=0, out=self.folder / "out")
        self.assertIn("--grace: 0 is no number of seconds from 0.001 to 1,000,000;", said)

    def planner(self):
        planner = pathlib.Path(PROGRAM).parent / "sluice"
        if not planner.exists():
            self.skipTest("built without the planner")
        return planner

    def test_a_plan_is_chosen_for_a_machine(self):
        report = self.folder / "report.json"
        machine = dict(machine="h200-sxm-pcie5", clipping="off")
        said = subprocess.run(
            self.words(**machine, steps=6, report=report),
            capture_output=True, text=True, check=True,
        ).stdout
        self.assertRegex(said, "(?m)^plan for h200-sxm-pcie5: --recompute none")
        self.assertRegex(said, "(?m)^expected: .* a step$")
        self.assertIn("against the prediction", said)
        self.assertIn("note: the prediction is for a GPU and this run is on the CPU", said)
        ran = json.loads(report.read_text())["training"]
        asked = command(model=MODEL, batch=2, seq=32, json=True, host_memory="8GB", **machine)
        done = subprocess.run(
            [self.planner(), "predict", *asked[1:]], capture_output=True, text=True, check=True
        )
        predicted = json.loads(done.stdout)["training"]
        for chosen in ("batch", "clipping", "recompute", "keep_last_layers", "resident_layers"):
            self.assertEqual(ran[chosen], predicted[chosen])

    def test_a_machine_that_is_not_known_is_refused(self):
        self.assertIn("h200-sxm-pcie", self.refusal(machine="h200-sxm-pcie"))

    def test_many_small_layers_train(self):
        tiny = "dense:layers=500,hidden=16,heads=1,head_dim=16,vocabulary=256"
        subprocess.run(self.words(model=tiny, seq=16, steps=1), check=True, stdout=subprocess.DEVNULL)

    def test_training_goes_on_when_nobody_reads(self):
        out = self.folder / "out"
        run = subprocess.Popen(
            self.words(out=out), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        run.stdout.close()
        self.assertEqual(run.wait(), 2)  # for the output that was lost
        self.assertEqual((out / "latest").read_text(), "step-00000002\n")

    def test_the_version_is_said(self):
        said = subprocess.run(command(version=True), capture_output=True, text=True, check=True)
        self.assertRegex(said.stdout, r"^sluice-train \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
