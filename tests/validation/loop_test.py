"""Does the loop (calibrate, predict, train, compare) complete on this processor, with a whole comparison? How
large the errors are is not asserted: the machine may be busy."""

import json
import math
import pathlib
import tempfile
import unittest

from programs import PROGRAMS, VALIDATION, run

RUNS = {"batch-2", "depth-1"}  # of --quick


class Loop(unittest.TestCase):
    def test_quick_loop_compares_all_its_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            done = run(VALIDATION / "loop.sh", "--quick", "--cpu", PROGRAMS, out)
            if "no profile yet: " in done.stderr and "other programs took" in done.stderr:
                self.skipTest("the machine is too busy to calibrate: " + done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in RUNS:
                self.assertIn(f"\n{name} ", done.stdout)
                self.assertRegex(done.stderr, rf"loop: {name}: predicted .* tokens/s\n")
                self.assertRegex(done.stderr, rf"loop: {name}: measured .* tokens/s\n")
            comparison = json.loads((out / "validation.json").read_text())
            self.assertEqual({run["name"] for run in comparison["runs"]}, RUNS)
            for compared in comparison["runs"]:
                self.check(compared, json.loads((out / "reports" / f"{compared['name']}.json").read_text()))

    def check(self, compared, report):
        self.assertTrue(report["measured"])
        self.assertEqual(compared["measured"]["step_s"], report["step_s"])
        self.assertGreater(compared["predicted"]["step_s"], 0)
        for error in ("step_error", "throughput_error", "device_error", "host_error"):
            self.assertTrue(math.isfinite(compared[error]), f"{compared['name']}: {error}")
        expected = compared["predicted"]["step_s"] / report["step_s"] - 1
        self.assertAlmostEqual(compared["step_error"], expected, places=9)

    def test_a_folder_without_programs_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(VALIDATION / "loop.sh", folder, f"{folder}/out")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"no sluice in {folder}; ./dev loop builds it", done.stderr)

    def test_wrong_arguments_are_refused(self):
        for words in (["--quick"], ["--fast", "bin", "out"], ["bin", "out", "more"]):
            done = run(VALIDATION / "loop.sh", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: loop.sh [--quick] [--cpu] PROGRAM_FOLDER OUT_FOLDER", done.stderr)

    def test_a_failing_calibration_ends_it(self):
        done, calls = self.loop_with_calibration("echo no such disk")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such disk\nloop: calibrate failed; all of it is in ", done.stderr)
        self.assertEqual(len(calls), 1)

    def test_a_disturbed_case_is_measured_again(self):
        done, calls = self.loop_with_calibration(
            'echo "adam: too far; measure it again with: sluice-calibrate --only adam --out FILE"'
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual([call.split()[3] for call in calls], ["gemm,adam", "adam", "adam"])

    def loop_with_calibration(self, failing):
        """The loop with a calibration that knows two cases and fails, and what that was called with."""
        with tempfile.TemporaryDirectory() as folder:
            programs, notes = pathlib.Path(folder) / "bin", pathlib.Path(folder) / "notes"
            programs.mkdir()
            text = f"""#!/bin/sh
[ "$1" != --list ] || {{ printf 'case seconds\\ngemm 1\\nstorage 1\\nadam 1\\nall 3\\n'; exit 0; }}
echo "$*" >>{notes}
{failing}
exit 2
"""
            for name in ("sluice", "sluice-train", "sluice-calibrate"):
                (programs / name).write_text(text)
                (programs / name).chmod(0o755)
            done = run(VALIDATION / "loop.sh", "--cpu", programs, f"{folder}/out")
            return done, notes.read_text().splitlines()


if __name__ == "__main__":
    unittest.main()
