"""Does the report of a measured step say what its prediction needs to know of data and clipping?"""

import json
import pathlib
import tempfile
import unittest

from programs import PROGRAMS, TOP, run

MODEL = "dense:layers=1,hidden=64,heads=2,kv_heads=1,head_dim=32,intermediate=64,vocabulary=256,tied=1"
PROFILE = TOP / "hwprofiles" / "h200-pcie5-16vcpu-128gib.json"
OPTIONS = {"batch": 2, "seq": 32, "clipping": "exact"}


class MeasuredReport(unittest.TestCase):
    def report_of(self, folder, text):
        data, report = folder / "text.txt", folder / "report.json"
        data.write_text(text)
        words = [word for name, value in OPTIONS.items() for word in (f"--{name}", value)]
        done = run(PROGRAMS / "sluice-train", "--model", MODEL, "--data", data, *words, "--steps", 6,
                   "--device", "cpu", "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text())

    def test_it_keeps_the_number_of_different_tokens(self):
        # Any 32 bytes of each text have so many different ones.
        for text, distinct in (("ab" * 2000, 2), ("abcde" * 800, 5)):
            with tempfile.TemporaryDirectory() as folder:
                report = self.report_of(pathlib.Path(folder), text)
                self.assertTrue(report["measured"])
                self.assertEqual(report["training"]["distinct_tokens"], distinct)
                self.assertEqual(report["precision"], "fp32")  # the processor's
                self.assertEqual(report["steps_measured"], 1)  # steps 3 to 5 are timed, the later half counts
                for name, value in OPTIONS.items():
                    self.assertEqual(report["training"][name], value)

    def compared(self, folder, plan, max_norm):
        """A run by the plan in a file, as `sluice validate` reads it."""
        data, report = folder / "text.txt", folder / f"norm-{max_norm}.json"
        data.write_text("abcde" * 800)
        done = run(PROGRAMS / "sluice-train", "--model", MODEL, "--data", data, "--plan", plan, "--steps", 14,
                   "--max-norm", max_norm, "--device", "cpu", "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(PROGRAMS / "sluice", "validate", report, "--machine", PROFILE, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runs"][0]

    def test_both_kinds_of_steps_are_compared_with_their_own_prediction(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = run(PROGRAMS / "sluice", "predict", "--model", MODEL, "--machine", PROFILE, "--batch", 2, "--seq", 32,
                       "--plan", "given", "--optimizer-threads", 1, "--clipping", "auto", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            plan = json.loads(done.stdout)
            # So large a gain that steps which clip nothing update early.
            plan["step_if_nothing_is_clipped_s"] = plan["step_s"] / 2
            (folder / "plan.json").write_text(json.dumps(plan))
            clips = self.compared(folder, folder / "plan.json", 1e-3)
            calm = self.compared(folder, folder / "plan.json", 1000)
        self.assertFalse(clips["measured"]["updates_ahead"])
        self.assertTrue(calm["measured"]["updates_ahead"])
        self.assertLess(calm["predicted"]["step_s"], clips["predicted"]["step_s"])


if __name__ == "__main__":
    unittest.main()
