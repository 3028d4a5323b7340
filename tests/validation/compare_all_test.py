"""Are all measured steps that the project keeps compared, and is a large error an exit status?"""

import pathlib
import shutil
import tempfile
import unittest

from programs import PROGRAMS, TOP, VALIDATION, run

MACHINE = "h200-pcie5-16vcpu-128gib"
MEASURED = TOP / "engine" / "measurements"


def compare(*folder):
    return run(VALIDATION / "compare_all.sh", PROGRAMS / "sluice", *folder)


class CompareAll(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def add(self, machine, group, report):
        to = self.folder / machine / group
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy(MEASURED / f"{report}.json", to)

    def limit(self, text):
        (self.folder / MACHINE / "limit.txt").write_text(text + "\n")

    def test_what_the_project_keeps_is_within_its_limits(self):
        done = compare()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"predictions for {MACHINE}\n", done.stdout)
        for folder in VALIDATION.glob("*/"):
            for report in [file for group in ("look", "held-out", "steps") for file in folder.glob(f"{group}/*.json")]:
                self.assertIn(f"\n{report.stem} ", done.stdout)

    def test_both_groups_are_compared(self):
        self.add(MACHINE, "look", "7b-batch-8")
        self.add(MACHINE, "held-out", "8-layers-batch-32")
        done = compare(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nlook\n7b-batch-8 ", done.stdout)
        self.assertIn("\nheld-out\n8-layers-batch-32 ", done.stdout)

    def test_an_error_beyond_the_limit_is_an_exit_status(self):
        self.add(MACHINE, "look", "8-layers-batch-32")
        self.limit("tokens_per_s_worst 0.01%")
        done = compare(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("off by more than 0.01%: 8-layers-batch-32", done.stderr)
        self.limit("tokens_per_s_worst 90%\n\ntokens_per_s_mean 90%\nmemory_worst 90%")
        self.assertEqual(compare(self.folder).returncode, 0)

    def test_each_limit_is_an_exit_status(self):
        self.add(MACHINE, "look", "8-layers-batch-32")
        for line, message in [
            ("tokens_per_s_mean 0.01%", "the mean error of tokens/s is more than 0.01%"),
            ("memory_worst 0.01%", "memory is off by more than 0.01%: 8-layers-batch-32 (device "),
        ]:
            self.limit("tokens_per_s_worst 90%\n" + line)
            done = compare(self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def test_a_wrong_line_of_limits_is_refused(self):
        self.add(MACHINE, "look", "8-layers-batch-32")
        for line in ("9%", "tokens_per_s 9%", "tokens_per_s_worst 9", "memory_worst", "memory_worst 1% 2%"):
            self.limit("tokens_per_s_mean 90%\n" + line)
            done = compare(self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f'{MACHINE}/limit.txt: line "{line}", expected tokens_per_s_worst, ', done.stderr)

    def test_a_wrong_file_does_not_hide_the_others(self):
        self.add("a-machine-nobody-has", "look", "7b-batch-8")
        self.add(MACHINE, "look", "8-layers-batch-32")
        done = compare(self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a-machine-nobody-has", done.stderr)
        self.assertIn("\n8-layers-batch-32 ", done.stdout)

    def test_no_measurements_are_no_mistake(self):
        done = compare(self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
