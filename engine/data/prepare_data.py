"""How do texts and chats become tokens to train on? Writes a token file and its mask for
sluice-train: ./dev data --help."""

import argparse
import array
import json
import os
import pathlib
import signal
import sys

from bad_input import BadInput, first_line, shortened
from conversation import COLUMNS, conversation
from held_out import HeldOut
from jobs import MOST_JOBS, in_order, usual_jobs
from lengths import lengths_words
from packing import LONG, Packing
from records import records
from shown import shown
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
count = number_of(int, lambda value: value >= 0, "whole number from 0 on")
jobs = number_of(int, lambda value: 1 <= value <= 1024, "whole number from 1 to 1024")


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
        "JSON lines or an array, Parquet, .csv or .tsv, whose records have a text, messages (with "
        "tools), conversations (ShareGPT), prompt and completion, or instruction and output "
        "(Alpaca); any other is one text"
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=lines, **path)
    model = "model with the tokenizer and its chat template: a folder, or a downloaded one of the Hub"
    parser.add_argument("--model", required=True, metavar="MODEL", help=model, **path)
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
        "--long",
        choices=LONG,
        help="with --seq, documents that are longer than a sequence are cut into parts, left out, or "
        "lose what follows (default: cut)",
    )
    parser.add_argument(
        "--skip-bad",
        type=count,
        default=0,
        metavar="N",
        help="leaves out as many records that are wrong, and lists them (default: 0)",
    )
    parser.add_argument(
        "--show",
        type=count,
        default=0,
        metavar="N",
        help="prints the first N documents, what is learned in green",
    )
    parser.add_argument(
        "--resize-vocabulary",
        type=length,
        metavar="N",
        help="tokens of the model, as for training, where the tokenizer has got new ones",
    )
    parser.add_argument(
        "--jobs",
        type=jobs,
        metavar="N",
        help=f"processes that tokenize (default: one a CPU, at most {MOST_JOBS})",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, help="draws the documents that are held out (default: 0)"
    )
    given = parser.parse_args(words)
    if given.long and not given.seq:
        parser.error("--long is given without --seq, the tokens of a sequence")
    return given


def reason(error, record):
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair is no character"
    except Exception:  # of what a table holds beside JSON's types
        pass
    return first_line(error)


class Skipped:
    """The records that are left out since they are wrong, as sentences."""

    def __init__(self, most):
        self.most, self.sentences = most, []

    def add(self, error):
        if len(self.sentences) >= self.most:
            before = f"; {self.most} before it were wrong, too" if self.most else ""
            raise BadInput(f"{error}{before}") from None
        self.sentences.append(f"left out: {error}")


def document_tokens(place, record, tokenizer):
    """Or the BadInput that says why there are none."""
    if isinstance(record, BadInput):
        return record
    try:
        return tokenizer.document(conversation(record))
    except BadInput as error:
        return BadInput(f"{place}: {error}")
    except MemoryError:
        raise
    except Exception as error:  # a template is a program, which may fail in any way
        return BadInput(f"{place}: cannot be tokenized ({reason(error, record)})")


def all_records(files):
    """(place, record) of each record of the files."""
    for path in files:
        is_empty = True
        for place, record in records(path, COLUMNS):
            is_empty = False
            yield place, record
        if is_empty:
            raise BadInput(f"{path}: holds no documents; write it again, or leave it out")


def documents(given, tokenizer, skipped):
    """(place, Tokens) of each document of the files."""

    def work(item):
        place, record = item
        return place, document_tokens(place, record, tokenizer)

    for place, tokens in in_order(work, all_records(given.files), given.jobs or usual_jobs()):
        if isinstance(tokens, BadInput):
            skipped.add(tokens)
        else:
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
            raise BadInput(f"{path}: is no file; name .jsonl, .json, .csv, .parquet or text files")
    if not given.out.parent.is_dir():
        raise BadInput(f"--out {given.out}: {given.out.parent} is no folder; make it first")
    written = [file for name in names for part in parts_of(name) for file in (part, partial(part))]
    for file in written:
        if any(os.path.exists(file) and file.samefile(path) for path in given.files):
            raise BadInput(f"{file}: is an input, which would be replaced; give another --out")
    for name in names:
        check_free(name)


def prepare(given):
    """Sentences on the files that were written and the records that were left out."""
    names = output_names(given)
    check_files(given, names)
    tokenizer = Tokenizer(given.model, given.resize_vocabulary)
    held_out = HeldOut(given.held_out, given.seed)
    skipped, lengths = Skipped(given.skip_bad), array.array("q")
    outputs = []
    try:
        with signals_held():  # so that each file that is made is known to the end
            for name in names:
                outputs.append(TokenFile(name, tokenizer.vocabulary, given.seq))
        packings = [
            Packing(output, given.seq, tokenizer.padding(), given.long or LONG[0])
            for output in outputs
        ]
        for place, tokens in documents(given, tokenizer, skipped):
            if len(lengths) < given.show:
                print(shown(place, tokens, tokenizer.used.decode, sys.stdout.isatty()))
            lengths.append(len(tokens.ids))
            packings[held_out.takes_next()].add(place, tokens)
        outputs[0].left_out += len(skipped.sentences)
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
    return [*skipped.sentences, *map(str, outputs), *lengths_words(lengths, given.seq)]


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
