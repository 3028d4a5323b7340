"""Which records does a file of documents hold? They are read one after the other, so that a file
may be larger than the memory."""

import codecs
import csv
import json
import sys

from bad_input import BadInput, first_line, quoted

MOST_CHARACTERS = 2**28  # of a record in a .json file
BLOCK_CHARACTERS = 2**20
ROWS_AT_ONCE = 1024  # of Parquet


def records(path, columns):
    """(place, record) of each document; a text file is one record. A record that cannot be read,
    while those after it can, is a BadInput. `columns` are the names that are read of a table. Throws
    BadInput with the place."""
    try:
        yield from reader_of(path)(path, columns)
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8; convert the file to UTF-8") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or first_line(error)})") from None


def reader_of(path):
    """By the first bytes of the file, since names say little: .json files hold lines and arrays. Its
    name counts where these could be of several forms."""
    ending = path.suffix.lower()
    with path.open("rb") as file:
        start = file.read(FIRST_BYTES)
    for magic, what_to_do in OTHER_KINDS.items():
        if start.startswith(magic):
            raise BadInput(f"{path}: {what_to_do.format(path)}")
    if ending in REFUSED:
        raise BadInput(f"{path}: {REFUSED[ending].format(path)}")
    if start.startswith(b"PAR1") or ending == ".parquet":
        return parquet_rows
    if ending in TABLES:
        return table_rows
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    line = text.partition(b"\n")[0].strip()
    if ending in JSON_ENDINGS:
        return json_records if ending == ".json" or line in (b"[", b"{") or line[:1] == b"[" else json_lines
    if text[:1] == b"{" and is_object(line):
        return json_lines
    if text[:1] == b"[" and text[1:].lstrip()[:1] == b"{":
        return json_records
    return whole_text


def is_object(line):
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def whole_text(path, columns):
    raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    zero = raw.find(0)
    if zero >= 0:
        raise BadInput(
            f"{path}: byte {zero} is zero, so this is no text; name .jsonl, .json, "
            ".parquet or text files"
        )
    yield str(path), {"text": decoded(raw, path)}


def json_lines(path, columns):
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            place = f"{path} line {number}"
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            if not raw.strip():
                continue
            try:
                record = json.loads(decoded(raw, place), object_pairs_hook=object_of)
            except (ValueError, RecursionError) as error:
                record = BadInput(
                    f"{place}: is no JSON ({first_line(error)}); expected an object a line"
                )
            except BadInput as error:
                record = error
            yield place, record


def decoded(raw, place):
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        message = f"{place}: byte {error.start} is not UTF-8; convert the file to UTF-8"
        raise BadInput(message) from None


def object_of(pairs):
    """A JSON object. Its names must differ: else all but one value would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"names occur twice: {quoted(sorted({n for n in names if names.count(n) > 1}))}"
        )
    return made


class JsonText:
    """The text of a file, of which a part is in memory."""

    def __init__(self, file):
        self.file, self.text, self.begin = file, "", 0
        self.decoder = json.JSONDecoder(object_pairs_hook=object_of)

    def _more(self):
        """Twice as much, so that the time for a long record grows with its length."""
        self.text = self.text[self.begin :]
        self.begin = 0
        added = self.file.read(max(BLOCK_CHARACTERS, len(self.text)))
        self.text += added
        return bool(added)

    def next(self):
        """The next character that is not blank; "" at the end."""
        while True:
            while self.begin < len(self.text) and self.text[self.begin].isspace():
                self.begin += 1
            if self.begin < len(self.text):
                return self.text[self.begin]
            if not self._more():
                return ""

    def _shown(self):
        return repr(self.next()) if self.next() else "the end of the file"

    def take(self, expected, place):
        if self.next() != expected:
            raise BadInput(f'{place}: expected "{expected}", found {self._shown()}')
        self.begin += 1

    def record(self, place):
        if self.next() != "{":
            raise BadInput(f"{place}: expected an object, found {self._shown()}")
        while True:
            try:
                value, self.begin = self.decoder.raw_decode(self.text, self.begin)
                return value
            except (ValueError, RecursionError) as error:  # or its end is not read yet
                if len(self.text) - self.begin > MOST_CHARACTERS or not self._more():
                    raise BadInput(
                        f"{place}: is no JSON ({first_line(error)}); the file is damaged or cut"
                    ) from None


def json_records(path, columns):
    """The objects of an array, or those that follow each other."""
    with path.open(encoding="utf-8-sig") as file:
        text = JsonText(file)
        is_array = text.next() == "["
        if is_array:
            text.take("[", path)
        number = 0
        while text.next() not in ("]" if is_array else "",):
            if is_array and number > 0:
                text.take(",", f"{path} after record {number}")
            number += 1
            place = f"{path} record {number}"
            yield place, text.record(place)
        if is_array:
            text.take("]", path)
        if text.next():
            raise BadInput(f'{path}: "{text.next()}" follows the array; one array is expected')


def table_rows(path, columns):
    """The rows of comma- or tab-separated values below their names. Cells that are empty are left
    out, and those of columns that hold lists are JSON."""
    csv.field_size_limit(MOST_CHARACTERS)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, delimiter=TABLES[path.suffix.lower()], strict=True)
        if not columns.intersection(rows.fieldnames or []):
            raise BadInput(
                f"{path}: its first line names {quoted(rows.fieldnames or []) or 'nothing'}, expected "
                'columns as "text", or "prompt" and "completion"; name them there'
            )
        number = 0
        try:
            for number, row in enumerate(rows, 1):
                place = f"{path} row {number}"
                if None in row or None in row.values():
                    yield place, BadInput(
                        f"{place}: has {'more' if None in row else 'fewer'} cells than the first line "
                        "names; quote cells that hold a separator"
                    )
                    continue
                yield place, {key: listed(key, cell) for key, cell in row.items() if cell}
        except csv.Error as error:
            raise BadInput(
                f"{path}: cannot be read after row {number} ({first_line(error)}); write it again"
            ) from None


def listed(key, cell):
    if key not in LISTS:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell  # conversation() says that it is no list


def parquet_rows(path, columns):
    try:
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            f"{path}: Parquet is read by pyarrow, which is not installed; install it with: "
            f"{sys.executable} -m pip install pyarrow"
        ) from None
    number, names = 0, None
    try:
        file = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
        names = file.schema_arrow.names
        # No others: values of some types, such as times in nanoseconds, have no form in Python.
        read = [name for name in names if name in columns]
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=read):
            for row in batch.to_pylist():
                number += 1
                yield f"{path} row {number}", without_nulls(row)
    except MemoryError:
        raise
    except Exception as error:  # of a damaged file; pyarrow's and Python's own
        if names is None:
            raise BadInput(f"{path}: is no Parquet file ({first_line(error)})") from None
        raise BadInput(
            f"{path}: cannot be read after row {number} ({first_line(error)}); copy or write the "
            "file again"
        ) from None


def without_nulls(value, kept=()):
    """Arrow gives every object of a column the keys of all, with nulls. Values under the keys
    `kept` stay as they are."""
    if isinstance(value, dict):
        return {
            key: one if key in kept else without_nulls(one, kept)
            for key, one in value.items()
            if one is not None
        }
    if isinstance(value, list):
        return [without_nulls(one, kept) for one in value]
    return value


FIRST_BYTES = 2**16
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
TABLES = {".csv": ",", ".tsv": "\t"}
LISTS = ("messages", "conversations", "history", "tools", "chat_template_kwargs")
PANDAS = (
    "is a table of another kind; convert it: python -c \"import pandas; "
    "pandas.read_{}('{{}}').to_json('rows.jsonl', orient='records', lines=True)\""
)
UNPACKED = "is compressed; unpack it first: {} '{{}}'"
GZIP, ZIP = UNPACKED.format("gunzip -k"), UNPACKED.format("unzip")
ARROW, EXCEL = PANDAS.format("feather"), PANDAS.format("excel")
OTHER_KINDS = {
    b"\x1f\x8b": GZIP,
    b"BZh": UNPACKED.format("bunzip2 -k"),
    b"\xfd7zXZ\0": UNPACKED.format("unxz -k"),
    b"\x28\xb5\x2f\xfd": UNPACKED.format("unzstd"),
    b"7z\xbc\xaf": UNPACKED.format("7z x"),
    b"ARROW1": ARROW,
}
REFUSED = {
    ".xls": EXCEL,
    ".xlsx": EXCEL,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".zip": ZIP,
    ".gz": GZIP,
    ".tar": UNPACKED.format("tar xf"),
}
