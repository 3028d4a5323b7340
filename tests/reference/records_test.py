"""Are the records of each kind of file read, in pieces, and damaged files told as such?"""

import importlib.util
import json
import pathlib
import tempfile
import unittest
import unittest.mock

import byte_tokenizer  # noqa: F401  (finds the modules of engine/data)
import records
from bad_input import BadInput
from conversation import COLUMNS

ROWS = [{"text": "one"}, {"text": "two, é"}, {"text": "three\n" * 50}]
needs_pyarrow = unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")


class RecordsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def read(self, name, content=None):
        path = self.folder / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [record for _, record in records.records(path, COLUMNS)]

    def refused(self, said, name, content=None):
        with self.assertRaises(BadInput) as raised:
            self.read(name, content)
        self.assertIn(said, str(raised.exception).replace(str(self.folder), ""))
        self.assertLess(len(str(raised.exception)), 500)

    def test_lines(self):
        lines = "\r\n\n".join(map(json.dumps, ROWS))
        for name in ("a.jsonl", "A.JSONL", "a.ndjson"):
            self.assertEqual(self.read(name, lines), ROWS)
            self.assertEqual(self.read(name, "\ufeff" + lines + "\n"), ROWS)

    def test_an_array_and_objects_one_after_the_other(self):
        records.BLOCK_CHARACTERS, block = 7, records.BLOCK_CHARACTERS
        self.addCleanup(setattr, records, "BLOCK_CHARACTERS", block)
        for text in (
            json.dumps(ROWS),
            json.dumps(ROWS, indent=2),
            "\ufeff\r\n" + json.dumps(ROWS) + "\n\n",
            "\n".join(map(json.dumps, ROWS)),
        ):
            self.assertEqual(self.read("a.json", text), ROWS)
        self.assertEqual(self.read("a.json", "[ ]"), [])

    def test_an_array_is_read_in_pieces(self):
        path = self.folder / "a.json"
        with path.open("w") as file:
            file.write("[" + ",".join([json.dumps({"text": "x" * 1000})] * 10_000) + "]")
        with path.open(encoding="utf-8") as file:
            text, largest = records.JsonText(file), 0
            text.take("[", "")
            for number in range(10_000):
                if number:
                    text.take(",", "")
                self.assertEqual(len(text.record("")["text"]), 1000)
                largest = max(largest, len(text.text))
        self.assertLess(largest, 3 * records.BLOCK_CHARACTERS)

    def test_a_damaged_array_is_told_with_its_record(self):
        for said, text in (
            ("a.json record 2: is no JSON (", '[{"a": 1}, {"a": '),
            ("a.json record 2: is no JSON (", '[{"a": 1}, {a: 1}]'),
            ('a.json after record 1: expected ",", found the end of the file', '[{"a": 1}'),
            ("a.json after record 1: expected \",\", found '{'", '[{"a": 1} {"a": 1}]'),
            ("a.json record 2: expected an object, found ']'", '[{"a": 1},]'),
            ("a.json record 1: expected an object, found '['", "[[1]]"),
            ("a.json record 1: expected an object, found '7'", "7"),
            ('a.json: "{" follows the array', '[{"a": 1}] {"a": 1}'),
            ("a.json record 1: is no JSON (", '{"a":' * 100_000),
            ("a.json record 1: is no JSON (", f'[{{"a": {"1" * 5000}}}]'),
            ('names occur twice: "text"', '[{"text": "a", "text": "b"}]'),
            ("a.json: is not UTF-8", b'[{"text": "\xff"}]'),
        ):
            with self.subTest(text[:30]):
                self.refused(said, "a.json", text)

    def test_a_damaged_line_is_told_with_its_number(self):
        for said, line in (
            ("a.jsonl line 2: is no JSON (", b'{"text": '),
            ("a.jsonl line 2: is no JSON (", b"[" * 100_000),
            ("a.jsonl line 2: byte 9 is not UTF-8", b'{"text": \xff\xfe}'),
            ('line 2: is no JSON (names occur twice: "a"', b'{"a": 1, "a": 2}'),
        ):
            with self.subTest(line[:30]):
                found = self.read("a.jsonl", b'{"text": "a"}\n' + line + b'\n{"text": "b"}')
                self.assertEqual([found[0], found[2]], [{"text": "a"}, {"text": "b"}])
                self.assertIn(said, str(found[1]))

    def test_the_form_is_that_of_the_content(self):
        lines, array = "\n".join(map(json.dumps, ROWS)), json.dumps(ROWS)
        for name in ("a", "a.txt", "a.json", "a.jsonl", "a.ndjson"):
            for content in (lines, array, json.dumps(ROWS, indent=1), "\ufeff\n" + array):
                with self.subTest(name=name, content=content[:4]):
                    self.assertEqual(self.read(name, content), ROWS)
        pretty = "\n".join(json.dumps(row, indent=1) for row in ROWS)
        self.assertEqual(self.read("a.jsonl", pretty), ROWS)
        for text in ("{ brace", "[edit] a page", "{}{}", "a,b\n1,2\n"):
            self.assertEqual(self.read("a.txt", text), [{"text": text}])

    def test_tables_have_a_record_a_row(self):
        rows = [{"prompt": "a, b", "completion": "c\nd"}, {"prompt": "e"}]
        for name, between in (("a.csv", ","), ("a.TSV", "\t")):
            quoted = f'prompt{between}completion\r\n"a, b"{between}"c\nd"\r\ne{between}\r\n'
            self.assertEqual(self.read(name, "\ufeff" + quoted), rows)
        turns = [{"role": "user", "content": "hi"}]
        cell = json.dumps(turns).replace('"', '""')
        self.assertEqual(self.read("a.csv", f'id,messages\n7,"{cell}"\n'), [{"id": "7", "messages": turns}])
        self.refused('a.csv: its first line names "a", "b", expected columns as', "a.csv", "a,b\n1,2\n")
        self.refused("a.csv: its first line names nothing", "a.csv", "")
        self.refused("a.csv: cannot be read after row 1 (", "a.csv", 'text\na\n"b')
        found = self.read("a.csv", "text,id\na\nb,2,3\nc,4\n")
        self.assertRegex(str(found[0]), r"a.csv row 1: has fewer cells than the first line names")
        self.assertRegex(str(found[1]), r"a.csv row 2: has more cells")
        self.assertEqual(found[2], {"text": "c", "id": "4"})

    def test_other_kinds_are_refused_with_the_command_that_converts_them(self):
        for name, start, said in (
            ("a.XLSX", b"PK\x03\x04", "/a.XLSX: is a table of another kind; convert it: python -c"),
            ("a", b"ARROW1", "pandas.read_feather('"),
            ("a.jsonl", b"\x1f\x8b\x08", "/a.jsonl: is compressed; unpack it first: gunzip -k '"),
            ("a.jsonl.zst", b"\x28\xb5\x2f\xfd", "is compressed; unpack it first: unzstd '"),
            ("a.zip", b"PK\x03\x04", "is compressed; unpack it first: unzip '"),
        ):
            self.refused(said, name, start)
        self.refused("/a: byte 2 is zero, so this is no text", "a", b"ab\0c")
        self.refused("/a.txt: byte 0 is not UTF-8", "a.txt", b"\xff\xfea")
        self.assertEqual(self.read("a.txt", "\ufeffone\r\n"), [{"text": "one\r\n"}])

    def write_parquet(self, columns, **more):
        import pyarrow
        import pyarrow.parquet

        path = self.folder / "a.parquet"
        pyarrow.parquet.write_table(pyarrow.table(columns), path, **more)
        return path

    @needs_pyarrow
    def test_parquet_reads_the_columns_that_it_knows(self):
        import pyarrow

        late = pyarrow.array([1, 2**62 + 1], pyarrow.timestamp("ns"))  # no Python date holds these
        self.write_parquet({"text": ["one", "two"], "when": late})
        self.assertEqual(self.read("a.parquet"), [{"text": "one"}, {"text": "two"}])
        self.write_parquet({"text": late})
        self.refused("/a.parquet: cannot be read after row 0 (", "a.parquet")

    @needs_pyarrow
    def test_parquet_leaves_out_keys_that_are_null(self):
        call = {"function": {"name": "a", "arguments": {"city": "Rome"}}}
        other = {"function": {"name": "a", "arguments": {"town": "Rome"}}}
        turns = [
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [call, other]},
        ]
        self.write_parquet({"messages": [turns], "text": [None]})
        self.assertEqual(self.read("a.parquet"), [{"messages": turns}])

    @needs_pyarrow
    def test_a_full_memory_is_not_the_fault_of_the_file(self):
        import pyarrow.parquet

        self.write_parquet({"text": ["one"]})
        for name in ("__init__", "iter_batches"):
            with (
                unittest.mock.patch.object(
                    pyarrow.parquet.ParquetFile, name, side_effect=pyarrow.ArrowMemoryError
                ),
                self.assertRaises(MemoryError),
            ):
                self.read("a.parquet")

    @needs_pyarrow
    def test_a_damaged_page_is_the_fault_of_its_file(self):
        path = self.write_parquet(
            {"text": [f"text {i}" for i in range(5000)]}, compression="snappy"
        )
        raw = bytearray(path.read_bytes())
        raw[200:1200] = bytes(1000)
        self.refused("/a.parquet: cannot be read after row ", "a.parquet", bytes(raw))
        self.refused("/a.parquet: is no Parquet file (", "a.parquet", bytes(raw[:2000]))


if __name__ == "__main__":
    unittest.main()
