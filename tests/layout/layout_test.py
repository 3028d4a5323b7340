"""Does the tree keep its shape? Imports go one way, files stay short, links lead somewhere."""

import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".h", ".cpp", ".cu", ".cuh"}

# Each part may include itself and the parts named here.
# The first of them that a path begins with has it.
SIM = [
    "sim/base", "sim/specs", "sim/plan", "sim/simulate", "sim/answers/predict", "sim/answers",
    "sim/report", "sim/cli",
]
PLAN_LIBRARY = ["sim/base", "sim/specs", "sim/plan", "sim/report", "sim/command_line"]
ALLOWED = {part: SIM[: index + 1] for index, part in enumerate(SIM)} | {
    "sim/command_line": ["sim/base", "sim/specs", "sim/command_line"],
    "sim/cli": [*SIM, "sim/command_line"],
    "planner-gui": [*SIM[:-1], "planner-gui"],
    "engine": [*PLAN_LIBRARY, "sim/answers/predict", "engine"],
    "calibrate": [*PLAN_LIBRARY, "engine", "calibrate"],
}

# Folders of data: their files are read by programs, all of them, or are described one level up.
DATA_FOLDERS = [r"tests/fuzz/corpus", r"validation/h200[^/]*(/elsewhere)?/(held-out|look)"]

README_MAX_BYTES = 5120
FOLDER_README_MAX_LINES = 15
FILES_WITHOUT_README = 10
DOCS_PAGE_MAX_WORDS = 1000
LINE_MAX_COLUMNS = 150

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
# Options of other programs that messages name, and CLI11's own.
OTHER_OPTIONS = {"--cfg", "--cpunodebind", "--membind", "--sort", "--ulimit", "--help", "--help-all"}

# Paths of one machine: a home, a temporary folder of somebody, a work folder.
MACHINE_PATHS = re.compile(r"(?<![\w.~$}])/(home/(?!USER\b)\w+|Users/\w+|work/\w+|root/\w+)")
# Waits of a test for a time and not for the event.
CLOCKS = re.compile(
    r"\btimeout=\d|\bwait\(\d|\bwaitFor\w+\(\d|\bqWaitFor|\bQTRY_|\btimeout (-|\d)|\bqWait\(\d{2,}"
)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# A path that documents name in backticks: it holds a slash, starts with a folder of this tree.
NAMED_PATH = re.compile(r"`([\w.-]+(?:/[\w.*-]+)+/?)`")
# A sentence that begins without its subject: in a comment, a page, or a text that a user sees.
NO_SUBJECT = re.compile(r"(?:^\W*|[.?!:|*]\s+|\")((?:Of|What)\s.{0,60})", re.MULTILINE)
# Files that quote other people's sentences.
QUOTES = {"tests/reference/chat_template_test.py", "examples/train-a-tiny-model/coriolanus.txt"}
BINARY = {".png", ".bin", ".safetensors"}


def tracked_files():
    """All files of the tree as git sees it: committed, or new and not ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, check=True, capture_output=True, text=True,
    ).stdout
    names = (pathlib.PurePosixPath(name) for name in listing.split("\0") if name)
    return sorted({name for name in names if (TOP / name).is_file()})


def part_of(path):
    """The part of the program that a path is in, or None."""
    return next((part for part in ALLOWED if str(path).startswith(part + "/")), None)


def read(path):
    return (TOP / path).read_text(encoding="utf-8", errors="replace")


@unittest.skipUnless((TOP / ".git").exists(), "the list of files is git's, and this is no checkout")
class Layout(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.files = tracked_files()
        cls.sources = [path for path in cls.files if path.suffix in SOURCES]
        cls.pages = [path for path in cls.files if path.suffix == ".md"]

    def expect_none(self, found, rule):
        self.assertFalse(found, f"{rule}:\n" + "\n".join(found))

    def test_imports_go_one_way(self):
        self.assertGreater(len(self.sources), 100)
        found = []
        for path in self.sources:
            part = part_of(path)
            if part is None:
                continue
            for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', read(path), re.MULTILINE):
                other = part_of(included)
                if other is not None and other not in ALLOWED[part]:
                    found.append(f"{path} includes {included}")
        self.expect_none(found, "a part may include only what comes before it")

    def test_messages_name_options_that_exist(self):
        """An option is declared by its flag, or by its field's name in a table."""
        declared, named = set(OTHER_OPTIONS), {}
        for path in self.sources:
            if part_of(path) is None:
                continue
            for text in LITERAL.findall(re.sub(r"//.*", "", read(path))):
                if re.fullmatch(r"(-\w,)?--[a-z0-9-]+(,--[a-z0-9-]+)?", text):
                    declared.update(OPTION.findall(text))
                elif re.fullmatch(r"[a-z][a-z0-9_]+", text):
                    declared.add("--" + text.replace("_", "-"))
                named.update({option: f"{path}: {text}" for option in OPTION.findall(text)})
        self.assertGreater(len(declared & set(named)), 50)
        found = [f"{named[option]} names {option}" for option in sorted(set(named) - declared)]
        self.expect_none(found, "a message names only options that exist")

    def test_no_test_depends_on_the_clock(self):
        """On a busy machine all takes longer: tests wait for the event, and ctest ends what hangs."""
        found = []
        for path in self.files:
            if path.parts[0] == "tests" and path.suffix in SOURCES | {".py", ".sh"}:
                found += [f"{path}: {clock[0]}" for clock in CLOCKS.finditer(read(path))]
        self.expect_none(found, "a test waits for the event, however long that takes")

    def test_sentences_begin_with_a_subject(self):
        """"Of two plans, the faster" and "What waits" are riddles: "The faster plan", "Tensors wait"."""
        found = []
        for path in self.files:
            if path.suffix not in BINARY and str(path) not in QUOTES | {"tests/layout/layout_test.py"}:
                found += [f"{path}: {text}" for text in NO_SUBJECT.findall(read(path))]
        self.expect_none(found, "no sentence begins with Of or What")

    def test_readme_is_short(self):
        self.assertLessEqual((TOP / "README.md").stat().st_size, README_MAX_BYTES)

    def test_pages_take_five_minutes(self):
        found = []
        for path in self.pages:
            text = re.sub(r"```.*?```", "", read(path), flags=re.DOTALL)
            words = sum(1 for word in text.split() if re.search(r"\w", word))
            if path.parts[0] == "docs" and words > DOCS_PAGE_MAX_WORDS:
                found.append(f"{path} has {words} words")
        self.expect_none(found, f"a page has at most {DOCS_PAGE_MAX_WORDS} words")

    def test_large_folders_have_a_short_readme(self):
        count = {}
        for path in self.files:
            count[path.parent] = count.get(path.parent, 0) + 1
        found = []
        for folder, files in sorted(count.items()):
            is_data = any(re.fullmatch(pattern, str(folder)) for pattern in DATA_FOLDERS)
            if files <= FILES_WITHOUT_README or is_data or str(folder) == ".":
                continue
            if folder / "README.md" not in self.files:
                found.append(f"{folder} has {files} files and no README.md")
                continue
            lines = read(folder / "README.md").splitlines()
            if len(lines) > FOLDER_README_MAX_LINES:
                found.append(f"{folder}/README.md has {len(lines)} lines")
            if any(len(line) > LINE_MAX_COLUMNS for line in lines):
                found.append(f"{folder}/README.md has lines beyond {LINE_MAX_COLUMNS} columns")
        self.expect_none(
            found,
            f"a folder of more than {FILES_WITHOUT_README} files has a README.md of at most "
            f"{FOLDER_README_MAX_LINES} lines",
        )

    def test_links_lead_somewhere(self):
        found = []
        for path in self.pages:
            for target in LINK.findall(read(path)):
                if re.match(r"[a-z]+:", target) or target.startswith("#"):
                    continue
                if not (TOP / path.parent / target.split("#")[0]).exists():
                    found.append(f"{path} links to {target}")
        self.expect_none(found, "a relative link leads to a file or folder of the tree")

    def test_pages_name_files_that_exist(self):
        folders = {path.parts[0] for path in self.files if len(path.parts) > 1}
        found = []
        for path in self.pages:
            for name in NAMED_PATH.findall(read(path)):
                if name.split("/")[0] not in folders or name.startswith("build/"):
                    continue
                if not any(TOP.glob(name.rstrip("/"))):
                    found.append(f"{path} names {name}")
        self.expect_none(found, "a page names only files that exist")

    def test_no_path_of_a_machine(self):
        found = []
        for path in self.files:
            if path.suffix in BINARY:
                continue
            for match in MACHINE_PATHS.finditer(read(path)):
                found.append(f"{path} has {match.group(0)}")
        self.expect_none(found, "no file names a folder of one machine")

    def test_readme_shows_what_the_example_prints(self):
        blocks = re.findall(r"```\n(.*?)```", read("README.md"), re.DOTALL)
        shown = [block for block in blocks if "tokens/s" in block and not block.startswith("$")]
        printed = read("examples/predict-14b-on-h200/expected.txt")
        self.assertTrue(shown, "README.md shows no prediction")
        for block in shown:
            self.assertIn(block, printed)


if __name__ == "__main__":
    unittest.main()
