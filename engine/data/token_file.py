"""How do tokens lie in files, and how are these written so that they always belong together?"""

import contextlib
import fcntl
import os
import signal
import stat

from bad_input import BadInput

# llm.c's headers, which engine/data/token_source.cpp reads: 256 int32. The first three are magic
# number, version and tokens. llm.c leaves the rest 0. Here the next two say how many tokens the
# mask learns and how many documents begin, so that neither can be lost or another's. Then come the
# tokens of a sequence (0: documents are not packed), documents that are longer and were cut,
# documents that were left out, and tokens that these and the cut ones lost.
HEADER_INTS = 256
UINT16 = dict(magic=20240520, version=1, dtype="<u2")
UINT32 = dict(magic=20240801, version=7, dtype="<u4")
MOST_TOKENS = 2**31 - 1  # of the header's int32
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def signals_held():
    """A signal that stops the run does so after the block. A mask would not do: it holds for one
    thread, and the libraries have others, any of which may take the signal."""
    came = []
    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def parts_of(path):
    """A token file, its mask and its documents."""
    return [path.with_name(path.name + end) for end in ("", ".mask", ".documents")]


def partial(part):
    """Its name while it is written."""
    return part.with_name(part.name + ".partial")


def is_written_here(part, found):
    """Whether `found`, a part or its partial, is such a file by its first bytes, so that it may be
    replaced."""
    with found.open("rb") as file:
        first = file.read(2**16)
    if not first:
        return True
    if part.suffix == ".mask":
        return set(first) <= {0, 1}
    if part.suffix == ".documents":
        is_cut = found.stat().st_size % 8 != 0
        return not any(first[:8]) and (not is_cut or found == partial(part))
    magic = int.from_bytes(first[:4], "little")
    return magic in (UINT16["magic"], UINT32["magic"])


def check_free(path):
    """Throws BadInput unless a token file may be written there."""
    for part, found in [(part, name) for part in parts_of(path) for name in (part, partial(part))]:
        if not os.path.lexists(found) or found.is_symlink() and not found.exists():
            continue
        if not found.is_file():
            kind = "folder" if found.is_dir() else "device"
            raise BadInput(f"--out {path}: {found} is a {kind}; give another name")
        if not is_written_here(part, found):
            raise BadInput(
                f"--out {path}: {found} exists and is no file of ./dev data; remove it, or give "
                "another name"
            )


def opened(part):
    """The file to write, locked: two runs must not write one file, and what a killed run left is
    written again."""
    name = partial(part)
    if name.is_symlink():
        raise BadInput(f"{name}: is a link, through which nothing is written; remove it")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = open(os.open(name, flags, 0o666), "wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(file.fileno())
        if not os.path.lexists(name) or not os.path.samestat(status, os.lstat(name)):
            raise BlockingIOError  # another run has just given it its name
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise BadInput(f"{name}: has another name, too, or is no file; remove it")
        file.truncate(0)
    except BlockingIOError:
        file.close()
        raise BadInput(
            f"{name}: another run writes it; wait for it, or give another --out"
        ) from None
    except BaseException:
        file.close()
        raise
    return file


class TokenFile:
    """A token file, its mask and its documents. FILE.bin.documents holds a little-endian int64 a
    document, ascending from 0: the index of its first token. Tokens that fill a gap count as a
    document."""

    def __init__(self, path, vocabulary, seq=None):
        self.path, self.vocabulary, self.seq = path, vocabulary, seq or 0
        self.cut = self.left_out = self.lost = 0  # documents, documents, tokens
        self.format = UINT16 if vocabulary <= 2**16 else UINT32
        self.parts, self.files = parts_of(path), []
        self.documents = self.begins = self.tokens = self.learned = 0
        try:
            for part in self.parts:
                self.files.append(opened(part))
            self._write_header()
        except BaseException:
            self.remove_partial()
            raise

    def _write_header(self):
        import numpy

        header = numpy.zeros(HEADER_INTS, "<i4")
        header[:2] = self.format["magic"], self.format["version"]
        header[2:5] = self.tokens, self.learned, self.begins
        counts = self.cut, self.left_out, self.lost
        header[5:9] = self.seq, *(min(count, MOST_TOKENS) for count in counts)
        self.files[0].seek(0)
        self.files[0].write(header.tobytes())

    def add(self, place, tokens):
        import numpy

        starts = numpy.array(tokens.starts, "<i8") + self.tokens
        largest = max(tokens.ids)
        if largest >= self.vocabulary:
            raise BadInput(
                f"{place}: a token id is {largest}, expected less than the model's vocabulary of "
                f"{self.vocabulary}; take the tokenizer of this model, or, if it has got new tokens, "
                "give their number as --resize-vocabulary here and for training"
            )
        self.tokens += len(tokens.ids)
        self.learned += sum(tokens.learned)
        self.begins += len(starts)
        if self.tokens > MOST_TOKENS:
            raise BadInput(
                f"{place}: brings the tokens to {self.tokens}, and {self.path} can hold "
                f"{MOST_TOKENS}; split the input and write several files"
            )
        arrays = numpy.array(tokens.ids, self.format["dtype"]), tokens.learned, starts
        for file, array in zip(self.files, arrays):
            file.write(bytes(array))  # unlike tofile(), it says why it fails

    def complete(self):
        """All bytes are on the disk."""
        self._write_header()
        for file in self.files:
            file.flush()
            os.fsync(file.fileno())

    def remove_partial(self):
        for part, file in zip(self.parts, self.files):
            with contextlib.suppress(OSError):  # while it is locked, so that it is this run's
                if os.path.samestat(os.fstat(file.fileno()), os.lstat(partial(part))):
                    os.unlink(partial(part))
            with contextlib.suppress(OSError):  # what a full disk does not take
                file.close()

    def __str__(self):
        more = f"; {self.cut:,} longer than {self.seq:,} tokens and cut" if self.cut else ""
        more += f"; {self.left_out:,} left out" if self.left_out else ""
        more += f"; {self.lost:,} tokens lost so" if self.lost else ""
        return (
            f"{self.path}: {self.documents:,} documents, {self.tokens:,} tokens, "
            f"{self.learned:,} of them learned{more}"
        )


def give_names(files):
    """To complete TokenFiles. Token files go first and come last: a run that is killed meanwhile
    leaves no token file with the mask of another, nor new tokens beside an old held-out share.
    From here on no signal stops the run: it has done its work."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    for file in files:
        file.path.unlink(missing_ok=True)
    for part in [part for file in files for part in file.parts[1:]] + [f.path for f in files]:
        os.replace(partial(part), part)
    folder = os.open(files[0].path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
