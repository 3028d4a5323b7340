"""How do texts and chats become tokens to train on? Writes a token file and its mask for
sluice-train: ./dev data --help."""

import argparse
import json
import os
import pathlib
import random
import signal
import sys

from bad_input import BadInput, first_line, shortened
from conversation import COLUMNS, conversation
from packing import Packing
from records import records
from token_file import STOPPING, TokenFile, check_free, give_names, partial, parts_of, signals_held
from tokenizer import Tokenizer

LONGEST_SEQUENCE = 2**24


def number_of(make, fits, expected):
    """The type of an option whose value is a number."""

    def read(text):
        try:
            value = make(text)
            if fits(value):
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"{shortened(text, 40)} is no {expected}")

    return read


share = number_of(float, lambda value: 0 < value < 1, "number between 0 and 1")
length = number_of(
    int,
    lambda value: 1 <= value <= LONGEST_SEQUENCE,
    f"number of tokens from 1 to {LONGEST_SEQUENCE}",
)
seed = number_of(int, lambda value: True, "whole number")


class Parser(argparse.ArgumentParser):
    """A mistake is one sentence, without the usage before it."""

    def error(self, message):
        self.exit(2, f"dev data: {message.removeprefix('argument ')}; see {self.prog} --help\n")


def arguments(words=None):
    parser = Parser(
        prog="./dev data",
        description="Writes the tokens of texts and chats to a file, and beside it where documents "
        "begin and a mask that says which tokens are learned: all of a text, the assistant's of a "
        "chat.",
    )
    path = dict(type=pathlib.Path)
    lines = (
        ".jsonl, .ndjson, .json or .parquet, whose lines, array or rows have a text, messages "
        "(with tools), conversations (ShareGPT), or instruction and output (Alpaca); any other is "
        "one text"
    )
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
        "--seed", type=seed, default=0, help="draws the documents that are held out (default: 0)"
    )
    return parser.parse_args(words)


def document_tokens(record, tokenizer):
    found = conversation(record)
    return tokenizer.text(found) if isinstance(found, str) else tokenizer.chat(found)


def reason(error, record):
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair is no character"
    except Exception:  # of what a table holds beside JSON's types
        pass
    return first_line(error)


def documents(path, tokenizer):
    """(place, Tokens) of each document of the file."""
    for place, record in records(path, COLUMNS):
        try:
            tokens = document_tokens(record, tokenizer)
        except BadInput as error:
            raise BadInput(f"{place}: {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # a template is a program, which may fail in any way
            raise BadInput(f"{place}: cannot be tokenized ({reason(error, record)})") from None
        yield place, tokens


def output_names(given):
    if given.out.suffix != ".bin":
        raise BadInput(f"--out {given.out}: expected a name that ends in .bin")
    names = [given.out]
    if given.held_out:
        names.append(given.out.with_name(given.out.stem + "-validation.bin"))
    return names


def check_files(given, names):
    for path in given.files:
        if not path.is_file():
            raise BadInput(f"{path}: is no file; name .jsonl, .json, .parquet or text files")
    if not given.out.parent.is_dir():
        raise BadInput(f"--out {given.out}: {given.out.parent} is no folder; make it first")
    written = [file for name in names for part in parts_of(name) for file in (part, partial(part))]
    for file in written:
        if any(os.path.exists(file) and file.samefile(path) for path in given.files):
            raise BadInput(f"{file}: is an input, which would be replaced; give another --out")
    for name in names:
        check_free(name)


def prepare(given):
    """The files that were written, as sentences."""
    names = output_names(given)
    check_files(given, names)
    tokenizer = Tokenizer(given.model)
    chosen = random.Random(given.seed)
    outputs = []
    try:
        with signals_held():  # so that each file that is made is known to the end
            for name in names:
                outputs.append(TokenFile(name, tokenizer.vocabulary))
        packings = [Packing(output, given.seq, tokenizer.padding()) for output in outputs]
        for path in given.files:
            place = None
            for place, tokens in documents(path, tokenizer):
                held_out = bool(given.held_out) and chosen.random() < given.held_out
                packings[held_out].add(place, tokens)
            if place is None:
                raise BadInput(f"{path}: holds no documents; write it again, or leave it out")
        for packing in packings:
            packing.finish()
        for output in outputs:
            if output.learned == 0:
                raise BadInput(f"{output.path}: gets nothing to learn; give more documents")
            output.complete()
        give_names(outputs)
    finally:
        with signals_held():
            for output in outputs:
                output.remove_partial()
    return [str(output) for output in outputs]


def stop(number, frame):
    raise KeyboardInterrupt


def main():
    """The exit status, after a sentence if it is not 0."""
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup asks
            signal.signal(number, stop)
    if sys.stdout:  # closed by: >&-
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be no text
    given = arguments()
    try:
        written = prepare(given)
    except KeyboardInterrupt:
        print("dev data: stopped; nothing was written", file=sys.stderr)
        return 130
    except BadInput as error:
        print(f"dev data: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("dev data: the memory is full; split the longest text or record", file=sys.stderr)
        return 2
    except OSError as error:  # of an output: those of inputs are BadInput
        where, why = error.filename or given.out, error.strerror or first_line(error)
        print(f"dev data: {where}: {why}; check its permissions and the disk", file=sys.stderr)
        return 2
    try:
        print("\n".join(written), flush=True)
    except OSError:  # nobody reads it, and the files are there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
