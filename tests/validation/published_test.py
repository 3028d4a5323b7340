"""Are published results kept beside their predictions, with a reason for each large error?"""

import json
import pathlib
import re
import tempfile
import unittest

from programs import PROGRAMS, TOP, VALIDATION, run

SLUICE = PROGRAMS / "sluice"
PUBLISHED = VALIDATION / "published"
ROW = {
    "id": "row",
    "system": "ours",
    "machine": "h200-sxm-pcie5",
    "model": "qwen2.5-0.5b",
    "training": {"schedule": "streamed", "batch": 1},
    "published": {"step_s": 1000},
    "source": "made up",
}


class Published(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def validate(self, *rows, **maps):
        file = self.folder / "rows.json"
        file.write_text(json.dumps({**maps, "published_rows": rows}))
        return run(SLUICE, "validate", file)

    def test_the_kept_table_is_what_is_printed(self):
        done = run(SLUICE, "validate", PUBLISHED)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout,
            (PUBLISHED / "table.txt").read_text(),
            "table.txt differs; if what is printed is right: validation/published/update.sh SLUICE",
        )

    def test_the_page_has_the_numbers_of_the_table(self):
        table = (PUBLISHED / "table.txt").read_text()
        near, inside, width = re.search(
            r"of the speeds (\d+) lie within 10%, (\d+) in the predicted 5 to 95%, whose median width is (\d+)%", table
        ).groups()
        page = " ".join((TOP / "docs" / "published-results.md").read_text().split())
        self.assertRegex(page, rf"{near} of \d+ published speeds \(\d+%\) lie within 10% and {inside} \(\d+%\) in the "
                               rf"predicted 5 to 95%, whose median width is {width}% of the step")

    def test_a_large_error_without_a_reason_is_an_exit_status(self):
        done = self.validate(ROW)
        self.assertEqual(done.returncode, 1)
        self.assertIn("rows.json: row is off by", done.stderr)
        self.assertIn("has no explanation; add one", done.stderr)
        self.assertEqual(self.validate({**ROW, "explanation": "made up"}).returncode, 0)
        shared = self.validate({**ROW, "explanation": "why"}, explanations={"why": "made up"})
        self.assertEqual(shared.returncode, 0)
        self.assertIn("    made up\n", shared.stdout)

    def test_a_wrong_fit_is_one_too(self):
        fit = {**ROW, "published": {"fits": False}}
        done = self.validate(fit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("row is predicted to fit and published not to", done.stderr)
        self.assertEqual(self.validate({**ROW, "published": {"fits": True}}).returncode, 0)

    def test_sources_that_contradict_themselves_are_listed_apart(self):
        row = {"id": "two", "system": "theirs", "published": "2 s", "not_compared": "two times",
               "source": "made up"}
        fit = {**ROW, "published": {"fits": True}}
        done = self.validate(fit, {**row, "contradicts_itself": True})
        self.assertIn("since the source contradicts itself\ntwo (1)\n    two times\n", done.stdout)
        self.assertNotIn("not compared, with reasons", done.stdout)
        self.assertIn("not compared, with reasons\ntwo (1)", self.validate(fit, row).stdout)

    def test_what_is_not_compared_is_listed_with_its_reason(self):
        other = {
            "id": "other",
            "system": "theirs",
            "published": "12 tokens/s",
            "not_compared": "no",
            "source": "made up",
        }
        done = self.validate(other, reasons={"no": "Nobody knows."})
        self.assertEqual(done.returncode, 0)
        self.assertIn("other (1)\n    Nobody knows.\n", done.stdout)

    def test_json_has_each_row(self):
        file = self.folder / "rows.json"
        file.write_text(json.dumps({"published_rows": [{**ROW, "explanation": "made up"}]}))
        out = json.loads(run(SLUICE, "validate", file, "--json").stdout)
        row = out["rows"][0]
        self.assertEqual(row["speed"]["quantity"], "step_s")
        error = row["speed"]["published"] / row["speed"]["predicted"] - 1
        self.assertAlmostEqual(row["speed"]["error"], error)
        self.assertEqual(out["speed"]["rows"], 1)

    def test_mistakes_are_one_sentence(self):
        for change, message in [
            ({"published": {"step_s": 1, "tokens_per_s": 1}}, "is a second speed of the row"),
            ({"published": {}}, "published is empty, expected a speed"),
            ({"published": {"forward_backward_s": 1}}, "defined for the schedule megatrain only"),
            ({"source": ""}, "source is missing; name the source"),
            ({"machine": "h300"}, 'row: --machine: unknown machine "h300"'),
            ({"training": {"batches": 1}}, 'unknown key "batches"'),
        ]:
            done = self.validate({**ROW, **change})
            self.assertEqual(done.returncode, 2, message)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        twice = self.validate(ROW, ROW)
        self.assertEqual(twice.returncode, 2)
        self.assertIn('id is "row", which is also the id of an earlier row', twice.stderr)
        machine = run(SLUICE, "validate", PUBLISHED, "--machine", "mi355x")
        self.assertEqual(machine.returncode, 2)
        self.assertIn("a published row names its own machine", machine.stderr)


if __name__ == "__main__":
    unittest.main()
