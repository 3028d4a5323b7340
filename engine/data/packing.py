"""How are documents packed into sequences?"""

import array


class Tokens:
    """A document's ids, for each id 1 if it is learned, else 0, and where documents begin in it."""

    def __init__(self, ids, learned):
        self.ids, self.learned = array.array("I", ids), bytearray(learned)
        # Another document comes before, from which nothing is to be predicted.
        self.learned[:1] = b"\0"
        self.starts = array.array("q", [0])

    def append(self, other):
        """Another document after this one."""
        self.starts.extend(len(self.ids) + start for start in other.starts)
        self.ids += other.ids
        self.learned += other.learned


LONG = ("cut", "drop", "truncate")  # of a document that is longer than a sequence


class Packing:
    """Fills sequences with documents, each best where the least is left. Longer ones are cut into
    parts, left out, or lose what follows their first sequence, as `long` says."""

    MOST_OPEN = 256  # sequences that wait for a document that fits
    MOST_OPEN_TOKENS = 2**25  # in them, of 5 bytes

    def __init__(self, out, seq, padding, long="cut"):
        """Without `seq`, documents follow each other."""
        self.out, self.seq, self.padding, self.long, self.open = out, seq, padding, long, []
        self.most_open = min(self.MOST_OPEN, self.MOST_OPEN_TOKENS // (seq or 1))

    def add(self, place, tokens):
        is_long = self.seq is not None and len(tokens.ids) > self.seq
        if is_long and self.long == "drop":
            self.out.left_out += 1
            self.out.lost += len(tokens.ids)
            return
        self.out.documents += 1
        self.out.cut += is_long
        if self.seq is None:
            self.out.add(place, tokens)
            return
        kept = self.seq if is_long and self.long == "truncate" else len(tokens.ids)
        self.out.lost += len(tokens.ids) - kept
        for begin in range(0, kept, self.seq):
            end = begin + self.seq
            self._add_piece(place, Tokens(tokens.ids[begin:end], tokens.learned[begin:end]))

    def _add_piece(self, place, piece):
        fitting = [s for s in self.open if len(s.ids) + len(piece.ids) <= self.seq]
        if fitting:
            fullest = max(fitting, key=lambda s: len(s.ids))
            fullest.append(piece)
        else:
            self.open.append(piece)
        if len(self.open) > self.most_open:
            fullest = max(self.open, key=lambda s: len(s.ids))
            self.open.remove(fullest)
            self._write(place, fullest)

    def _write(self, place, sequence):
        gap = self.seq - len(sequence.ids)
        if gap > 0:
            sequence.append(Tokens([self.padding] * gap, bytes(gap)))
        self.out.add(place, sequence)

    def finish(self):
        for sequence in self.open:
            self._write(self.out.path, sequence)
        # The last input has a next token, too.
        if self.seq is not None and self.out.tokens > 0:
            self.out.add(self.out.path, Tokens([self.padding], [0]))
