"""Does the report of a measured step say what its prediction needs to know of the data?"""

import json
import pathlib
import tempfile
import unittest

from programs import PROGRAMS, run

MODEL = "dense:layers=1,hidden=64,heads=2,kv_heads=1,head_dim=32,intermediate=64,vocabulary=256,tied=1"
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


if __name__ == "__main__":
    unittest.main()
