"""Does a run that is killed at any moment, also soon after SIGTERM, go on as if nothing had
happened, also where its sections have other homes from then on, and where it trains while it saves?
Bit by bit: losses and the last checkpoint. The run without kills waits for its checkpoints."""

import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from model_folders import save_model
from reference_model import read_shape
from sluice_train import checkpoint_folder, command, read_log, write_tokens

STEPS = 20
KILLS = int(os.environ.get("SLUICE_TRIALS", 30))
RUNS_AT_ONCE = 2
STEP_SECONDS = 0.03  # about that of a step and its checkpoint
STATE_BYTES = (12, 8, 6)
SHORT_STEPS = dict(batch=2, seq=16, save_every=1)
LONG_STEPS = dict(batch=8, seq=128, save_every=2)  # so that a signal comes before the last


def random_homes(moments):
    """Flags that keep some of the two layers, and the tied tables, in device memory."""
    layers, tables = moments.randint(0, 2), moments.choice(("none", "both"))
    return ["--resident-layers", str(layers), "--resident-tables", tables]


class Training:
    """One run of sluice-train in `folder`, in as many processes as it takes."""

    def __init__(self, folder, weights, data, **options):
        folder.mkdir()
        self.folder, self.log, self.out = folder, folder / "log.jsonl", folder / "out"
        self.words = command(
            model=weights,
            load=weights,
            data=data,
            out=self.out,
            log=self.log,
            resume=True,
            device="cpu",
            precision="fp32",
            steps=STEPS,
            learning_rate=1e-2,
            warmup_steps=5,
            beta2=0.95,
            weight_decay=0.1,
            cpu_threads=1,
            **options,
        )

    def start(self, homes=()):
        with (self.folder / "output.txt").open("a") as output:
            return subprocess.Popen([*self.words, *homes], stdout=output, stderr=subprocess.STDOUT)

    def logged(self):
        """Lines in the log now."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def finish(self):
        status = self.start().wait()
        if status != 0:
            text = (self.folder / "output.txt").read_text()
            raise AssertionError(f"{' '.join(self.words)}\nended with {status}:\n{text[-2000:]}")
        return self

    def start_and_wait_for(self, lines, homes=()):
        """Until the log has that many more lines, or the process has ended."""
        wanted = self.logged() + lines
        process = self.start(homes)
        while self.logged() < wanted and process.poll() is None:
            time.sleep(0.001)
        return process

    def losses(self):
        """Loss and norm by step. A step that was done again must have given the same."""
        seen = {}
        for line in read_log(self.log):
            numbers = (line["loss"], line["gradient_norm"])
            if seen.setdefault(line["step"], numbers) != numbers:
                raise AssertionError(f"step {line['step']}: {seen[line['step']]}, then {numbers}")
        return seen

    def last_checkpoint(self):
        """Contents of its files. The plan and the command that ran are said there, and may be
        others."""
        folder = checkpoint_folder(self.out, STEPS)
        files = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        files.pop("recipe.toml")
        record = json.loads(files["training.json"])
        record.pop("plan")
        sums = files["checksums.xxh3"].splitlines()
        said = (b"training.json", b"recipe.toml")
        return files | {
            "training.json": record,
            "checksums.xxh3": [line for line in sums if not any(name in line for name in said)],
        }


class ResumeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.weights = save_model("qwen2-wide", cls.scratch / "weights")
        cls.data = write_tokens(
            cls.scratch / "tokens.bin", 20_000, read_shape(cls.weights).vocabulary
        )

    def training(self, name, **options):
        return Training(self.scratch / name, self.weights, self.data, **options)

    def assert_same(self, actual, expected):
        self.assertEqual(actual.losses(), expected.losses())
        self.assertEqual(len(actual.losses()), STEPS)
        ours, theirs = actual.last_checkpoint(), expected.last_checkpoint()
        self.assertEqual(ours.keys(), theirs.keys())
        for name, content in theirs.items():
            self.assertTrue(ours[name] == content, f"{name} differs")

    def kill_often(self, which):
        """Trains with one precision of the optimizer's state until its share of KILLS is reached;
        returns how many of them came between the first step and the last, and in how many runs."""
        state_bytes = STATE_BYTES[which]
        options = dict(SHORT_STEPS, state_bytes=state_bytes)
        unbroken = self.training(f"unbroken-{state_bytes}", save_memory=0, **options).finish()
        moments = random.Random(which)
        kills = KILLS // len(STATE_BYTES) + (which < KILLS % len(STATE_BYTES))
        runs = within = while_writing = 0
        while kills > 0:
            runs += 1
            broken = self.training(f"broken-{state_bytes}-{runs}", **options)
            while kills > 0:
                lines = moments.randint(1, 5)
                process = broken.start_and_wait_for(lines, random_homes(moments))
                if moments.random() < 0.3:  # as a provider that takes a spot machine back
                    process.terminate()
                time.sleep(moments.uniform(0, STEP_SECONDS))
                process.kill()
                status = process.wait()
                if status == 128 + signal.SIGTERM:
                    continue  # it had saved in time
                if status != -signal.SIGKILL:
                    break  # the run had ended
                kills -= 1
                within += STEPS not in broken.losses()
            self.assert_same(broken.finish(), unbroken)
            while_writing += sum("saving_step" in line for line in read_log(broken.log))
        self.assertGreater(while_writing, 0)
        return within, runs

    def test_a_run_killed_at_random_moments_goes_on_bit_by_bit(self):
        with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
            results = list(pool.map(self.kill_often, range(len(STATE_BYTES))))
        for state_bytes, (within, runs) in zip(STATE_BYTES, results):
            print(f"\n{state_bytes} bytes of state: {within} kills within {runs} runs", end=" ")
        self.assertGreater(sum(within for within, _ in results), KILLS / 2)

    def interrupted(self, name, lines, number, **options):
        """A run that a signal ended after so many lines or later. One that ended by itself before
        the signal came, as on a busy machine, is done again."""
        for attempt in itertools.count():
            broken = self.training(f"{name}-{attempt}", **options)
            process = broken.start_and_wait_for(lines)
            process.send_signal(number)
            status = process.wait()
            self.assertIn(status, (0, 128 + number))
            if len(read_log(broken.log)) < STEPS:
                return broken

    def check_signal(self, number, unbroken):
        broken = self.interrupted(f"interrupted-{number}", 3, number, **LONG_STEPS)
        done = len(read_log(broken.log))
        self.assertLess(done, STEPS)
        self.assertEqual((broken.out / "latest").read_text().strip(), f"step-{done:08d}")
        self.assert_same(broken.finish(), unbroken)
        self.assertEqual(len(read_log(broken.log)), STEPS)  # no step was lost or done again

    def test_a_run_saves_only_what_the_grace_allows(self):
        unbroken = self.training("ungraced", **LONG_STEPS).finish()
        for grace, saves in ((1000, True), (0.001, False)):
            with self.subTest(grace=grace):
                options = dict(LONG_STEPS, grace=grace)
                broken = self.interrupted(f"grace-{grace}", 5, signal.SIGTERM, **options)
                said = (broken.folder / "output.txt").read_text()
                self.assertEqual("longer than --grace" in said, not saves)
                self.assertEqual("is not saved" in said, not saves)
                done = max(broken.losses())
                newest = int((broken.out / "latest").read_text().removeprefix("step-"))
                self.assertEqual(newest, done if saves else (done - 1) // 2 * 2)
                self.assert_same(broken.finish(), unbroken)

    def test_a_resumed_run_keeps_its_plan(self):
        words = dict(LONG_STEPS, micro_batch=2, clipping="exact")
        unbroken = self.training("planned", **words).finish()
        broken = self.interrupted("interrupted-plan", 3, signal.SIGTERM, **words)
        for name in ("micro-batch", "clipping", "batch", "seq"):
            at = broken.words.index("--" + name)
            del broken.words[at : at + 2]
        for folder in broken.out.glob("step-*"):  # as earlier versions wrote it
            (folder / "recipe.toml").unlink()
            sums = folder / "checksums.xxh3"
            lines = sums.read_text().splitlines(keepends=True)
            sums.write_text("".join(line for line in lines if "recipe.toml" not in line))
        folder = broken.out / (broken.out / "latest").read_text().strip()
        self.assert_same(broken.finish(), unbroken)
        said = (broken.folder / "output.txt").read_text()
        self.assertIn(f"plan of {folder}: --micro-batch 2 --seq 128 --clipping exact;", said)

    def test_an_interrupted_run_saves_and_goes_on_bit_by_bit(self):
        unbroken = self.training("uninterrupted", **LONG_STEPS).finish()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal.Signals(number).name):
                self.check_signal(number, unbroken)


if __name__ == "__main__":
    unittest.main()
