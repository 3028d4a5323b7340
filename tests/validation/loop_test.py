"""Does the loop (calibrate, predict, train, compare) complete on this processor, with a whole comparison? How
large the errors are is not asserted: the machine may be busy."""

import json
import math
import pathlib
import tempfile
import unittest

from programs import PROGRAMS, TOP, VALIDATION, run

RUNS = {"batch-2", "depth-1"}  # of --quick
PROFILE = TOP / "hwprofiles" / "h200-pcie5-16vcpu-128gib.json"
# Its --out is a kept profile.
CALIBRATED = """#!/bin/sh
[ "$1" != --list ] || { printf 'case seconds\\ngemm 1\\nall 1\\n'; exit 0; }
while [ $# -gt 0 ]; do
    case $1 in --out) cp "$PROFILE" "$2" ;; esac
    shift
done
echo "all held out: 1 shape"
"""


def add_program(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


class Loop(unittest.TestCase):
    def test_quick_loop_compares_all_its_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            done = run(VALIDATION / "loop.sh", "--quick", "--cpu", PROGRAMS, out)
            busy = "no profile yet: " in done.stderr and "other programs took" in done.stderr
            if done.returncode != 0 and busy:
                self.check_end_without_profile(done, out)
            else:
                self.check_comparison(done, out)

    def test_all_after_the_calibration(self):
        with tempfile.TemporaryDirectory() as folder:
            programs, out = pathlib.Path(folder) / "bin", pathlib.Path(folder) / "out"
            add_program(programs, "sluice-calibrate", CALIBRATED)
            for name in ("sluice", "sluice-train"):
                (programs / name).symlink_to(PROGRAMS / name)
            done = run(VALIDATION / "loop.sh", "--quick", "--cpu", programs, out, PROFILE=str(PROFILE))
            self.check_comparison(done, out)

    def check_end_without_profile(self, done, out):
        """Other programs may make times so wrong that there is no profile: then nothing is trained."""
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("loop: calibrating (cpu): ", done.stderr)
        self.assertIn(f"loop: calibrate failed; all of it is in {out}/calibrate.log", done.stderr)
        self.assertEqual(list((out / "reports").iterdir()), [])
        self.assertFalse((out / "validation.json").exists())

    def check_comparison(self, done, out):
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
        self.assertEqual(compared["measured"]["updates_ahead"], report.get("updates_ahead", False))
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

    def test_processor_time_has_all_its_digits(self):
        # user, nice, system, idle, iowait, irq, softirq, steal: a machine of 255 CPUs that is up for a year.
        with tempfile.TemporaryDirectory() as folder:
            stat = pathlib.Path(folder) / "stat"
            stat.write_text("cpu  3000000000 1 2 80000000000 4 5 6 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
            ticks = f"eval \"$(sed -n '/^ticks() {{/,/^}}/p' '{VALIDATION}/loop.sh')\"; ticks '{stat}'"
            others, of_all = run("bash", "-c", ticks).stdout.split()
        self.assertEqual(of_all, "83000000025")
        self.assertRegex(others, "^[0-9]+$")
        # Less what this shell took.
        self.assertLessEqual(int(others), 3000000021)
        self.assertGreater(int(others), 3000000021 - 1000)

    def loop_with_calibration(self, failing):
        """The loop with a calibration that knows two cases and fails, and what that was called with."""
        with tempfile.TemporaryDirectory() as folder:
            programs, notes = pathlib.Path(folder) / "bin", pathlib.Path(folder) / "notes"
            text = f"""#!/bin/sh
[ "$1" != --list ] || {{ printf 'case seconds\\ngemm 1\\nstorage 1\\nadam 1\\nall 3\\n'; exit 0; }}
echo "$*" >>{notes}
{failing}
exit 2
"""
            for name in ("sluice", "sluice-train", "sluice-calibrate"):
                add_program(programs, name, text)
            done = run(VALIDATION / "loop.sh", "--cpu", programs, f"{folder}/out")
            return done, notes.read_text().splitlines()


if __name__ == "__main__":
    unittest.main()
