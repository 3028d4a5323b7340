"""How do texts and chats become tokens to train on? Writes a token file and its mask for
sluice-train: ./dev data --help."""

import argparse
import json
import os
import pathlib
import random
import re
import sys

from token_file import BadInput, Packing, TokenFile, Tokens


def share(text):
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number between 0 and 1")
    return value


def length(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of tokens")
    return value


def arguments(words=None):
    parser = argparse.ArgumentParser(
        prog="./dev data",
        description="Writes the tokens of texts and chats to a file, and beside it where documents "
        "begin and a mask that says which tokens are learned: all of a text, the assistant's of a "
        "chat.",
    )
    path = dict(type=pathlib.Path)
    lines = ".jsonl or .parquet, whose lines or rows have a text or messages; any other is one text"
    parser.add_argument("files", nargs="+", metavar="FILE", help=lines, **path)
    model = "model folder with the tokenizer and its chat template"
    parser.add_argument("--model", required=True, metavar="FOLDER", help=model, **path)
    out = "token file to write"
    parser.add_argument("--out", required=True, metavar="FILE.bin", help=out, **path)
    parser.add_argument(
        "--held-out",
        type=share,
        metavar="SHARE",
        help="this share of the documents goes to FILE-validation.bin instead, as in 0.05",
    )
    parser.add_argument(
        "--seq",
        type=length,
        metavar="N",
        help="tokens of a sequence, as for training: no document that fits in one crosses its end; "
        "gaps are filled with tokens that are not learned (default: documents follow each other)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="draws the documents that are held out (default: 0)"
    )
    return parser.parse_args(words)


class Tokenizer:
    def __init__(self, folder):
        if not folder.is_dir():
            raise BadInput(f"--model {folder}: is no folder; name one with a tokenizer.json")
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        import transformers

        try:
            self.used = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # of several libraries, each with its own kinds
            raise BadInput(
                f"--model {folder}: its tokenizer cannot be read ({first_line(error)}); "
                "copy tokenizer.json and tokenizer_config.json there"
            ) from None
        self.folder = folder
        self.vocabulary = self._vocabulary()

    def _vocabulary(self):
        """The model's, or the tokenizer's where there is no config.json."""
        path = self.folder / "config.json"
        try:
            size = json.loads(path.read_text())["vocab_size"] if path.exists() else len(self.used)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}: vocab_size cannot be read ({first_line(error)})") from None
        if not isinstance(size, int) or size < 1:
            raise BadInput(f"{path}: vocab_size is {size}, expected a positive whole number")
        return size

    def padding(self):
        """Fills gaps; any token would do, since it is not learned and nothing follows it."""
        return self.used.eos_token_id or 0

    def text(self, text):
        end = self.used.eos_token_id
        if end is None:
            raise BadInput(
                f"--model {self.folder}: the tokenizer has no eos_token, which must end each text; "
                "set it in tokenizer_config.json"
            )
        ids = self.used(text, verbose=False)["input_ids"]
        if ids[-1:] != [end]:
            ids = [*ids, end]
        return Tokens(ids, [1] * len(ids))

    def chat(self, messages):
        template = self.used.chat_template
        if template is None:
            raise BadInput(
                f"--model {self.folder}: the tokenizer has no chat template, which messages need; "
                "take the tokenizer of the model's chat version"
            )
        if isinstance(template, str) and re.search(r"\{%[-+]?\s*generation\b", template):
            chat = self.used.apply_chat_template(
                messages, return_dict=True, return_assistant_tokens_mask=True
            )
            return Tokens(chat["input_ids"], chat["assistant_masks"])
        return self._chat_by_prefixes(messages)

    def _render(self, messages, prompts=False):
        return self.used.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=prompts
        )

    def _chat_by_prefixes(self, messages):
        """An answer is what its message adds to the prompt for it."""
        whole = self._render(messages)
        answers = []
        for turn, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            prompt = self._render(messages[:turn], prompts=True)
            answered = self._render(messages[: turn + 1])
            if whole.startswith(answered) and answered.startswith(prompt):
                answers.append((len(prompt), len(answered)))
            else:
                answers.append(self._answer_by_its_place(whole, messages, turn))
        coded = self.used(
            whole, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        learned = [
            int(any(begin <= start < end for begin, end in answers))
            for start, _ in coded["offset_mapping"]
        ]
        return Tokens(coded["input_ids"], learned)

    def _answer_by_its_place(self, whole, messages, turn):
        """For templates that render earlier messages otherwise: the content, and the special token
        that ends it."""
        mark = "@answer-of-the-assistant@"
        marked = [*messages[:turn], {**messages[turn], "content": mark}, *messages[turn + 1 :]]
        before, found, after = self._render(marked).partition(mark)
        end = len(whole) - len(after)
        if not (found and whole.startswith(before) and whole.endswith(after) and len(before) <= end):
            raise BadInput(
                f"the chat template changes message {turn + 1} when more follows, so that the "
                "answer cannot be found; mark answers in the template with {% generation %}"
            )
        ends = [len(t) for t in self.used.all_special_tokens if after.startswith(t)]
        return len(before), end + max(ends, default=0)


def first_line(error):
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def document_tokens(record, tokenizer):
    """Of one line's object."""
    if not isinstance(record, dict) or ("text" in record) == ("messages" in record):
        raise BadInput('expected an object with either "text" or "messages"')
    if "text" in record:
        if not isinstance(record["text"], str) or not record["text"]:
            raise BadInput("the text is empty or no string; give some, or remove it")
        return tokenizer.text(record["text"])
    messages = record["messages"]
    if not isinstance(messages, list) or not all(
        isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages
    ):
        raise BadInput('"messages" is no list of objects that each have a "role"')
    tokens = tokenizer.chat(messages)
    if not any(tokens.learned):
        raise BadInput("no token is the assistant's, so nothing is learned; remove the line")
    return tokens


def read_record(raw, is_line):
    """The object of a line, or that of a whole text."""
    try:
        text = raw.decode()
        return json.loads(text) if is_line else {"text": text}
    except UnicodeDecodeError as error:
        raise BadInput(f"byte {error.start} is not UTF-8; convert the file to UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is no JSON ({first_line(error)}); expected an object a line") from None


def parquet_rows(path):
    """As records()."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            f"{path}: Parquet is read by pyarrow, which is not installed; install it with: "
            f"{sys.executable} -m pip install pyarrow"
        ) from None
    number = 0
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield f"{path} row {number}", lambda row=row: row
    except pyarrow.ArrowException as error:
        raise BadInput(f"{path}: is no Parquet file ({first_line(error)})") from None


def records(path):
    """For each document of the file its place, and a function that reads its object."""
    if path.suffix == ".parquet":
        yield from parquet_rows(path)
        return
    is_lines = path.suffix == ".jsonl"
    with path.open("rb") as file:
        for number, raw in enumerate(file if is_lines else [file.read()], 1):
            if not is_lines or raw.strip():
                place = f"{path} line {number}" if is_lines else str(path)
                yield place, lambda raw=raw: read_record(raw, is_lines)


def documents(path, tokenizer):
    """(place, Tokens) of each document of the file."""
    for place, read in records(path):
        try:
            tokens = document_tokens(read(), tokenizer)
        except BadInput as error:
            raise BadInput(f"{place}: {error}") from None
        except Exception as error:  # a template is a program, which may fail in any way
            raise BadInput(f"{place}: cannot be tokenized ({first_line(error)})") from None
        yield place, tokens


def prepare(given):
    if given.out.suffix != ".bin":
        raise BadInput(f"--out {given.out}: expected a name that ends in .bin")
    for path in given.files:
        if not path.is_file():
            raise BadInput(f"{path}: is no file; name .jsonl, .parquet or text files")
    names = [given.out]
    if given.held_out:
        names.append(given.out.with_name(given.out.stem + "-validation.bin"))
    if not given.out.parent.is_dir():
        raise BadInput(f"--out {given.out}: {given.out.parent} is no folder; make it first")
    for name in names:
        if name.is_dir():
            raise BadInput(f"--out {name}: is a folder; name a file in it")
        if any(name.resolve() == path.resolve() for path in given.files):
            raise BadInput(f"{name}: would replace an input; give another --out")
    tokenizer = Tokenizer(given.model)
    chosen = random.Random(given.seed)
    outputs = []
    try:
        outputs += [TokenFile(name, tokenizer.vocabulary) for name in names]
        packings = [Packing(output, given.seq, tokenizer.padding()) for output in outputs]
        for path in given.files:
            for place, tokens in documents(path, tokenizer):
                held_out = bool(given.held_out) and chosen.random() < given.held_out
                packings[held_out].add(place, tokens)
        for packing in packings:
            packing.finish()
        for output in outputs:
            if output.learned == 0:
                raise BadInput(f"{output.path}: gets nothing to learn; give more documents")
        for output in outputs:
            output.finish()
    finally:
        for output in outputs:
            output.remove_partial()


if __name__ == "__main__":
    given = arguments()
    try:
        prepare(given)
    except BadInput as error:
        print(f"dev data: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        reason = error.strerror or first_line(error)
        where = error.filename or given.out
        print(f"dev data: {where}: {reason}; check its permissions and the disk", file=sys.stderr)
        sys.exit(2)
