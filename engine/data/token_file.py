"""How are documents packed into sequences, and how do their tokens lie in a file?"""

import contextlib
import os
import pathlib

# llm.c's headers, which engine/data/token_source.cpp reads: 256 int32.
HEADER_INTS = 256
UINT16 = dict(magic=20240520, version=1, dtype="<u2")
UINT32 = dict(magic=20240801, version=7, dtype="<u4")
MOST_TOKENS = 2**31 - 1  # of the header's int32


class BadInput(Exception):
    """One sentence for the user."""


class Tokens:
    """A document's ids, for each id 1 if it is learned, else 0, and where documents begin in it."""

    def __init__(self, ids, learned):
        # What comes before is another document, from which nothing is to be predicted.
        self.ids, self.learned, self.starts = list(ids), [0, *learned[1:]], [0]

    def append(self, other):
        """Another document after this one."""
        self.starts += [len(self.ids) + start for start in other.starts]
        self.ids += other.ids
        self.learned += other.learned


class TokenFile:
    """A token file, its mask and its documents, which get their names when all are whole.
    FILE.bin.documents holds a little-endian int64 a document, ascending from 0: the index of its
    first token. Tokens that fill a gap count as a document."""

    def __init__(self, path, vocabulary):
        self.path, self.vocabulary = path, vocabulary
        self.format = UINT16 if vocabulary <= 2**16 else UINT32
        self.parts = [path.with_name(path.name + end) for end in ("", ".mask", ".documents")]
        self.files = [open(f"{part}.partial", "wb") for part in self.parts]
        self.documents = self.tokens = self.learned = 0
        self._write_header()

    def _write_header(self):
        import numpy

        header = numpy.zeros(HEADER_INTS, "<i4")
        header[:3] = self.format["magic"], self.format["version"], self.tokens
        self.files[0].seek(0)
        self.files[0].write(header.tobytes())

    def add(self, place, tokens):
        import numpy

        starts = numpy.array(tokens.starts, "<i8") + self.tokens
        largest = max(tokens.ids)
        if largest >= self.vocabulary:
            raise BadInput(
                f"{place}: a token id is {largest}, expected less than the model's vocabulary of "
                f"{self.vocabulary}; take the tokenizer of this model"
            )
        self.tokens += len(tokens.ids)
        self.learned += sum(tokens.learned)
        if self.tokens > MOST_TOKENS:
            raise BadInput(
                f"{place}: brings the tokens to {self.tokens}, and {self.path} can hold "
                f"{MOST_TOKENS}; split the input and write several files"
            )
        arrays = numpy.array(tokens.ids, self.format["dtype"]), numpy.array(tokens.learned, "u1")
        for file, array in zip(self.files, (*arrays, starts)):
            file.write(array.tobytes())  # unlike tofile(), it says why it fails

    def finish(self):
        self._write_header()
        for part, file in zip(self.parts, self.files):
            file.close()
            os.replace(f"{part}.partial", part)
        print(
            f"{self.path}: {self.documents:,} documents, {self.tokens:,} tokens, "
            f"{self.learned:,} of them learned"
        )

    def remove_partial(self):
        for part, file in zip(self.parts, self.files):
            with contextlib.suppress(OSError):  # what a full disk does not take
                file.close()
            pathlib.Path(f"{part}.partial").unlink(missing_ok=True)


class Packing:
    """Fills sequences with documents, each best where the least is left; longer ones are cut."""

    MOST_OPEN = 256  # sequences that wait for a document that fits

    def __init__(self, out, seq, padding):
        """Without `seq`, documents follow each other."""
        self.out, self.seq, self.padding, self.open = out, seq, padding, []

    def add(self, place, tokens):
        self.out.documents += 1
        if self.seq is None:
            self.out.add(place, tokens)
            return
        for begin in range(0, len(tokens.ids), self.seq):
            end = begin + self.seq
            self._add_piece(place, Tokens(tokens.ids[begin:end], tokens.learned[begin:end]))

    def _add_piece(self, place, piece):
        fitting = [s for s in self.open if len(s.ids) + len(piece.ids) <= self.seq]
        if fitting:
            fullest = max(fitting, key=lambda s: len(s.ids))
            fullest.append(piece)
        else:
            self.open.append(piece)
        if len(self.open) > self.MOST_OPEN:
            fullest = max(self.open, key=lambda s: len(s.ids))
            self.open.remove(fullest)
            self._write(place, fullest)

    def _write(self, place, sequence):
        gap = self.seq - len(sequence.ids)
        if gap > 0:
            sequence.append(Tokens([self.padding] * gap, [0] * gap))
        self.out.add(place, sequence)

    def finish(self):
        for sequence in self.open:
            self._write(self.out.path, sequence)
        # The last input has a next token, too.
        if self.seq is not None and self.out.tokens > 0:
            self.out.add(self.out.path, Tokens([self.padding], [0]))
