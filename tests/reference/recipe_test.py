"""Does a recipe give the options of a run, and does a checkpoint continue with the recipe that it
keeps?"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from sluice_train import PROGRAM, command, read_log, write_tokens

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/fine-tuning-recipes"
MODEL = "dense:layers=2,hidden=64,head_dim=32,vocabulary=256"
RECIPE = """# as another program might write it
[model]
model = "{model}"
device = "cpu"

[data]
data = ["data.bin", "more.bin"]
validation = "held out.bin"
validate_every = 2
batch = 2
seq = 32

[optimizer]
epochs = 0.01
learning-rate = 1e-3  # the peak
lr-schedule = "constant"

[output]
out = "out"
log = "log.jsonl"
save-every = 2
save-best = true
"""


class RecipeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_tokens(self.folder / "data.bin", 20_000, 256)
        write_tokens(self.folder / "more.bin", 5_000, 256, seed=4)
        write_tokens(self.folder / "held out.bin", 2_000, 256, seed=8)
        self.recipe = self.folder / "recipe.toml"
        self.recipe.write_text(RECIPE.format(model=MODEL))

    def run_here(self, *words):
        return subprocess.run(
            [PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True
        )

    def done(self, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, said, *words):
        done = self.run_here(*words)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn(said, done.stderr)

    def losses(self):
        return [line["loss"] for line in read_log(self.folder / "log.jsonl")]

    def test_a_recipe_gives_what_flags_give(self):
        said = self.done("--recipe", self.recipe)
        self.assertIn("steps       4 of 2 sequences", said)
        self.assertIn("saved out/step-00000002", said)
        by_recipe = self.losses()
        for left in ("log.jsonl", "out"):
            path = self.folder / left
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        words = command(
            model=MODEL, device="cpu", validation="held out.bin", validate_every=2, batch=2, seq=32,
            epochs=0.01, learning_rate=1e-3, lr_schedule="constant", out="out", log="log.jsonl",
        )[1:]
        self.done(*words, "--data", "data.bin", "more.bin")
        self.assertEqual(self.losses(), by_recipe)

    def test_the_command_line_goes_first(self):
        said = self.done("--recipe", self.recipe, "--steps", 3, "--data", "more.bin", "--save-every", 0)
        self.assertIn("steps       3 of 2 sequences", said)
        self.assertIn("tokens from more.bin;", said)
        self.assertEqual(len(self.losses()), 3)

    def test_every_flag_has_its_key(self):
        text = self.done("--help-all")
        flags = set(re.findall(r"(?m)^  --([a-z0-9-]+)", text))
        self.assertGreater(len(flags), 80)
        keys = sorted(flags - {"help", "help-all", "version", "recipe", "resume"})
        self.recipe.write_text("".join(f"{key} = 1\n" for key in [*keys, "no-flag"]))
        self.refused('unknown key "no-flag"', "--recipe", self.recipe)  # the first that is none

    def test_a_wrong_recipe_is_told(self):
        text = self.recipe.read_text()
        for line, said in (
            ("lerning-rate = 1", 'recipe.toml: unknown key "lerning-rate"; did you mean "learning-r'),
            ("resume = true", 'recipe.toml: unknown key "resume"'),
            ("seq = 64", 'recipe.toml: key "seq" is given twice, expected once'),
            ("steps = x", "x"),
        ):
            with self.subTest(line):
                kept = text.replace("epochs = 0.01", "") if "steps" in line else text
                self.recipe.write_text(f"{kept}\n[more]\n{line}\n")
                self.refused(said, "--recipe", self.recipe)
        self.refused("no.toml", "--recipe", "no.toml")

    def test_a_checkpoint_continues_with_its_recipe_alone(self):
        self.done("--recipe", self.recipe, "--plan", "given", "--steps", 7)
        whole = self.losses()
        shutil.rmtree(self.folder / "out")
        (self.folder / "log.jsonl").unlink()
        self.done("--recipe", self.recipe, "--plan", "given", "--steps", 4)
        kept = (self.folder / "out/step-00000004/recipe.toml").read_text()
        self.assertIn('data = ["data.bin", "more.bin"]\n', kept)
        self.assertIn('validation = "held out.bin"\nvalidate-every = 2\n', kept)
        self.assertNotIn("epochs", kept)  # --steps was given in its place
        self.assertTrue(kept.startswith(f"# {PROGRAM} --recipe "), kept)
        self.recipe.unlink()
        said = self.done("--resume", "out", "--steps", 7)
        self.assertIn("plan of out/step-00000004: ", said)
        self.assertIn("note: steps is 7 instead of 4\n", said)
        self.assertEqual(self.losses(), whole)
        self.assertTrue((self.folder / "out/step-00000007").is_dir())
        (self.folder / "out").rename(self.folder / "moved")
        said = self.done("--out", "moved", "--resume", "--steps", 8)
        self.assertIn("continuing from moved/step-00000007", said)
        self.assertTrue((self.folder / "moved/step-00000008").is_dir())

    def test_a_fine_tune_goes_on_as_one(self):
        self.done("--recipe", self.recipe, "--save-every", 0)
        base = "out/step-00000004"
        words = ["--model", base, "--load", base, "--data", "more.bin", "--device", "cpu"]
        words += ["--batch", 2, "--seq", 32, "--out", "tuned"]
        self.done(*words, "--steps", 3)
        settings = json.loads((self.folder / "tuned/step-00000003/training.json").read_text())
        self.assertEqual(settings["settings"]["learning_rate"], 2e-5)
        said = self.done("--resume", "tuned", "--steps", 4)
        self.assertIn("optimizer   AdamW, learning rate 2e-05 after 1 step of warm-up", said)
        said = "--resume: tuned/step-00000004 is a checkpoint itself; give the folder of the run"
        self.refused(said, "--resume", "tuned/step-00000004")
        self.assertNotIn("learning_rate is", said)

    def test_options_are_missed_where_no_checkpoint_has_them(self):
        self.refused("--resume: nowhere holds no checkpoint with recipe.toml", "--resume", "nowhere")
        self.refused("--data is missing; name token shards", "--steps", 3)
        self.refused("--data is missing; name token shards", "--resume")

    def test_the_recipes_that_ship_have_right_keys(self):
        recipes = sorted(EXAMPLES.glob("*.toml"))
        self.assertEqual(len(recipes), 3)
        for recipe in recipes:
            hub = re.search('load = "(.*)"', recipe.read_text())[1]
            # All that is missing is the model.
            self.refused(f"download it with: hf download {hub}", "--recipe", recipe)


if __name__ == "__main__":
    unittest.main()
