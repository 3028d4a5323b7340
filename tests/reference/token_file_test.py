"""Do the files of a run belong together whenever it is killed, and is no other file lost?"""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

import numpy

import byte_tokenizer  # noqa: F401  (finds the modules of engine/data)
import token_file
from bad_input import BadInput
from chat_data import keep_signals
from packing import Packing, Tokens


class TokenFileTest(unittest.TestCase):
    def setUp(self):
        keep_signals(self)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out, self.held_out = self.folder / "o.bin", self.folder / "o-validation.bin"

    def written(self, *documents):
        """Both files, complete but without their names."""
        files = [token_file.TokenFile(path, 300) for path in (self.out, self.held_out)]
        for file in files:
            for ids in documents:
                file.add("here", Tokens(ids, [1] * len(ids)))
            file.complete()
        return files

    def finish(self, files):
        token_file.give_names(files)
        for file in files:
            file.remove_partial()

    def content(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_the_header_says_what_belongs_to_the_tokens(self):
        self.finish(self.written([7, 8, 9], [7, 8]))
        header = numpy.fromfile(self.out, "<i4", 256)
        self.assertEqual(list(header[:6]), [20240520, 1, 5, 3, 2, 0])
        self.assertEqual((self.folder / "o.bin.mask").read_bytes(), b"\0\1\1\0\1")
        starts = numpy.fromfile(self.folder / "o.bin.documents", "<i8")
        self.assertEqual(list(starts), [0, 3])
        self.assertEqual(len(self.content()), 6)

    def test_a_killed_run_leaves_no_mixed_set(self):
        self.finish(self.written([1, 2, 3, 4]))
        old = self.content()
        self.finish(self.written([5, 6], [7, 8]))
        new = self.content()
        calls = 2 + 6  # two names are removed, six are given
        for last in range(calls + 1):
            for path in self.folder.iterdir():
                path.unlink()
            for name, content in old.items():
                (self.folder / name).write_bytes(content)
            self.run_and_kill(last)
            found = self.content()
            sets = [
                {end: found[name + end] for end in ("", ".mask", ".documents")}
                for name in ("o.bin", "o-validation.bin")
                if name in found
            ]
            whole = [
                {end: content[name + end] for end in ("", ".mask", ".documents")}
                for content in (old, new)
                for name in ("o.bin", "o-validation.bin")
            ]
            self.assertTrue(all(one in whole for one in sets), last)
            self.assertTrue(len(sets) < 2 or sets[0] == sets[1], last)
            self.finish(self.written([5, 6], [7, 8]))  # the next run is not hindered
            self.assertEqual(self.content(), new)

    def run_and_kill(self, last):
        """Ends the process before the given call that changes a name."""
        child = os.fork()
        if child == 0:
            calls = 0

            def counted(function):
                def call(*words, **more):
                    nonlocal calls
                    if calls == last:
                        os._exit(0)
                    calls += 1
                    return function(*words, **more)

                return call

            files = self.written([5, 6], [7, 8])
            with (
                unittest.mock.patch.object(os, "replace", counted(os.replace)),
                unittest.mock.patch.object(pathlib.Path, "unlink", counted(pathlib.Path.unlink)),
            ):
                token_file.give_names(files)
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_link_is_not_written_through(self):
        for make, said in ((os.symlink, "is a link"), (os.link, "has another name, too")):
            other = self.folder / "other"
            other.write_text("mine")
            make(other, self.folder / "o.bin.mask.partial")
            with self.assertRaisesRegex(BadInput, f"o.bin.mask.partial: {said}"):
                self.written([1])
            self.assertEqual(other.read_text(), "mine")
            self.assertEqual(sorted(self.content()), ["o.bin.mask.partial", "other"])
            (self.folder / "o.bin.mask.partial").unlink()

    def test_two_runs_do_not_write_one_file(self):
        files = self.written([1, 2])
        with self.assertRaisesRegex(BadInput, "o.bin.partial: another run writes it"):
            self.written([3, 4])
        self.finish(files)
        self.assertEqual(len(self.content()), 6)

    def test_files_of_others_are_not_replaced(self):
        token_file.check_free(self.out)
        self.finish(self.written([1, 2]))
        token_file.check_free(self.out)
        for end in ("", ".mask", ".documents"):
            part = self.folder / f"o.bin{end}"
            before = part.read_bytes()
            part.write_text("my notes")
            with self.assertRaisesRegex(
                BadInput, f"o.bin{end} exists and is no file of ./dev data"
            ):
                token_file.check_free(self.out)
            part.write_bytes(before)
            other = token_file.partial(part)
            other.write_text("my notes")
            with self.assertRaisesRegex(
                BadInput, f"o.bin{end}.partial exists and is no file of ./dev data"
            ):
                token_file.check_free(self.out)
            self.assertEqual(other.read_text(), "my notes")
            for length in (0, 3, len(before) - 1):  # as a run that was killed leaves it
                other.write_bytes(before[:length] if length != 3 or end else b"")
                token_file.check_free(self.out)
            other.unlink()
        (self.folder / "o.bin.mask").unlink()
        (self.folder / "o.bin.mask").mkdir()
        with self.assertRaisesRegex(BadInput, "o.bin.mask is a folder"):
            token_file.check_free(self.out)

    def test_open_sequences_are_bounded(self):
        self.assertEqual(Packing(None, 1024, 0).most_open, 256)
        self.assertEqual(Packing(None, 2**24, 0).most_open, 2)


if __name__ == "__main__":
    unittest.main()
