"""Does a campaign leave whole reports by group, go on after an interruption, and keep machines apart? The trainer is
a script that notes its flags."""

import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from programs import TOP, VALIDATION, run

SCRIPT = VALIDATION / "run_campaign.sh"
TEXT = TOP / "README.md"
# Reads all of its input, as a trainer that asks something might; a model of 72B does not fit; interrupted, it ends
# well, with a report.
TRAINER = """#!/usr/bin/env bash
cat >/dev/null
arguments=$*
while [ $# -gt 0 ]; do
    case $1 in --report) report=$2 ;; --model) model=$2 ;; esac
    shift
done
trap 'echo "{}" >"$report"; exit 0' INT
echo "$arguments" >>"$NOTES"  # after the trap: who reads it may interrupt
[ "$model" != qwen2.5-72b ] || { echo "does not fit"; exit 2; }
sleep "${SECONDS_A_RUN:-0}" & wait
echo "{}" >"$report"
echo "speed        1 s a step, 2 tokens/s"
"""


def configurations():
    """{name: (group, flags)} of configurations.txt."""
    lines = (VALIDATION / "configurations.txt").read_text().splitlines()
    rows = [line.split(None, 2) for line in lines if line and not line.startswith("#")]
    return {name: (group, " ".join(flags.split())) for group, name, flags in rows}


def end(process):
    """Kills what a failed test has left of a campaign."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# An nvidia-smi with one GPU.
NVIDIA_SMI = """#!/bin/sh
case $* in *=uuid*) echo "$GPU_UUID" ;; *) echo "NVIDIA H200, 143771 MiB, 580.159.04, 700.00 W" ;; esac
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        self.notes = self.folder / "notes"
        self.trainer = self.folder / "sluice-train"
        self.trainer.write_text(TRAINER)
        self.trainer.chmod(0o755)

    def campaign(self, *group, **environment):
        self.notes.write_text("")
        return run(SCRIPT, self.trainer, TEXT, self.out, *group, NOTES=str(self.notes), **environment)

    def reports(self):
        return {f"{path.parent.name}/{path.stem}" for path in self.out.glob("*/*.json")}

    def test_every_configuration_is_trained_into_its_group(self):
        done = self.campaign()
        self.assertEqual(done.returncode, 1)
        rows = configurations()
        too_large = {name for name, (_, flags) in rows.items() if "qwen2.5-72b" in flags}
        expected = {f"{group}/{name}" for name, (group, _) in rows.items() if name not in too_large}
        self.assertEqual(self.reports(), expected)
        self.assertIn(f"{len(too_large)} configurations failed", done.stderr)
        commands = self.notes.read_text().splitlines()
        self.assertEqual(len(commands), len(rows))
        for command, (_, flags) in zip(commands, rows.values()):
            self.assertIn(flags, command)
        for name in too_large:
            self.assertIn("does not fit", (self.out / rows[name][0] / f"{name}.log").read_text())

    def test_it_goes_on_with_what_is_missing(self):
        self.campaign("look")
        self.assertEqual({report.split("/")[0] for report in self.reports()}, {"look"})
        (self.out / "look" / "0.5b-batch-8.json").unlink()
        self.campaign("look")
        again = [line for line in self.notes.read_text().splitlines() if "qwen2.5-72b" not in line]
        self.assertEqual(len(again), 1)
        self.assertIn("--model qwen2.5-0.5b --batch 8", again[0])

    def test_an_interrupted_run_leaves_no_report(self):
        self.notes.write_text("")
        campaign = subprocess.Popen(
            [SCRIPT, self.trainer, TEXT, self.out, "look"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "NOTES": str(self.notes), "SECONDS_A_RUN": "600"},
            start_new_session=True,
        )
        self.addCleanup(end, campaign)
        while not self.notes.read_text():
            self.assertIsNone(campaign.poll(), "the campaign ended before it trained")
            time.sleep(0.02)
        # As Ctrl-C does: to all processes of the terminal.
        subprocess.run(["kill", "-INT", "--", f"-{campaign.pid}"], check=True)
        self.assertEqual(campaign.wait(), 130)
        self.assertEqual(self.reports(), set())

    def test_reports_of_two_machines_are_kept_apart(self):
        self.campaign("look")
        facts = self.out / "machine.txt"
        self.assertIn("host memory: ", facts.read_text())
        facts.write_text(facts.read_text().replace("host memory: ", "host memory: 9"))
        done = self.campaign("held-out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds reports of another machine", done.stderr)
        self.assertEqual(self.notes.read_text(), "")

    def on_gpu(self, uuid):
        """The environment of a machine with that GPU."""
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "nvidia-smi").write_text(NVIDIA_SMI)
        (programs / "nvidia-smi").chmod(0o755)
        return {"PATH": f"{programs}:{os.environ['PATH']}", "GPU_UUID": uuid}

    def test_two_machines_of_one_kind_are_told_apart(self):
        self.campaign("look", **self.on_gpu("GPU-1"))
        facts = (self.out / "machine.txt").read_text()
        digits = hashlib.sha256(b"GPU-1\n").hexdigest()[:12]
        self.assertTrue(facts.endswith(f"\nGPU id: {digits}\n"), facts)
        self.assertNotIn("GPU-1", facts)
        self.assertNotEqual(self.campaign("look", **self.on_gpu("GPU-1")).returncode, 2)
        other = self.campaign("look", **self.on_gpu("GPU-2"))
        self.assertEqual(other.returncode, 2)
        self.assertIn("holds reports of another machine", other.stderr)

    def test_facts_without_a_gpu_id_stay_valid(self):
        self.campaign("look", **self.on_gpu("GPU-1"))
        facts = self.out / "machine.txt"
        lines = facts.read_text().splitlines(keepends=True)
        facts.write_text("".join(lines[:-1]))
        (self.out / "look" / "0.5b-batch-8.json").unlink()
        self.assertNotEqual(self.campaign("look", **self.on_gpu("GPU-2")).returncode, 2)
        self.assertIn("look/0.5b-batch-8", self.reports())
        self.assertEqual(facts.read_text(), "".join(lines[:-1]))

    def test_wrong_arguments_are_refused(self):
        for words, message in [
            ([self.trainer, TEXT, self.out, "lok"], 'group "lok", expected look or held-out'),
            ([self.folder / "none", TEXT, self.out], "none is no program; give the path of sluice-train"),
            ([self.trainer, self.folder / "none", self.out], "none cannot be read; give a text file"),
            ([self.trainer], "usage: run_campaign.sh SLUICE_TRAIN TEXT OUT_FOLDER"),
        ]:
            done = run(SCRIPT, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
