"""Do texts and chats become the right tokens, mask and documents?"""

import contextlib
import importlib.util
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest
import unittest.mock

import numpy
import transformers

from chat_data import (
    SCRIPT,
    ChatTest,
    chat,
    chat_line,
    keep_signals,
    prepare_data,
    read,
    read_documents,
    token_file,
)
from held_out import HeldOut
from packing import Tokens
from shown import shown

MARKED = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|end|>{% endgeneration %}{% else %}{{ m.content }}<|end|>{% endif %}{% endfor %}"
)
# Only the last answer begins with a word for thinking, as Qwen3's.
THINKING = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' and loop.last %}think:"
    "{% endif %}{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
# An earlier answer gets shorter when more follows.
REWRITING = (
    "{% for m in messages %}{% if m.role == 'assistant' and not loop.last %}{{ m.content[:1] }}"
    "{% else %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


class PrepareDataTest(ChatTest):
    def use_template(self, text):
        template = self.model / "chat_template.jinja"
        self.addCleanup(template.write_text, template.read_text())
        template.write_text(text)

    def check_chats(self, out):
        ids, mask = read(out)
        text = "".join(f"<|{m['role']}|>{m['content']}<|end|>" for i in range(40) for m in chat(i))
        self.assertEqual(self.tokenizer.decode(ids), text)
        answers = [m["content"] for i in range(40) for m in chat(i) if m["role"] == "assistant"]
        learned = self.tokenizer.decode(ids[mask == 1]).split("<|end|>")
        self.assertEqual(learned, [*answers, ""])

    def test_only_answers_are_learned(self):
        self.check_chats(self.prepared(self.chats))

    def test_a_template_may_mark_answers(self):
        self.use_template(MARKED)
        self.check_chats(self.prepared(self.chats))

    def test_texts_end_and_are_learned_but_for_their_first_token(self):
        lines, whole = self.folder / "texts.jsonl", self.folder / "whole.txt"
        lines.write_text('{"text": "One two."}\n\n{"text": "Three."}\n')
        whole.write_text("Four\nfive.")
        ids, mask = read(self.prepared(lines, whole))
        self.assertEqual(
            self.tokenizer.decode(ids), "One two.<|end|>Three.<|end|>Four\nfive.<|end|>"
        )
        end = self.tokenizer.eos_token_id
        first = numpy.concatenate(([True], ids[:-1] == end))
        self.assertEqual(list(mask == 0), list(first))

    def test_documents_stay_whole_in_their_sequences(self):
        seq = 64
        ids, mask = read(self.prepared(self.chats, "--seq", seq))
        self.assertEqual(len(ids) % seq, 1)
        self.assertEqual(mask[-1], 0)
        lines = {self.tokenizer.apply_chat_template(chat(i), tokenize=False) for i in range(40)}
        for begin in range(0, len(ids) - 1, seq):
            rest = self.tokenizer.decode(ids[begin : begin + seq])
            while rest.strip("<|end|>"):
                line = max((x for x in lines if rest.startswith(x)), key=len, default=None)
                self.assertIsNotNone(line, rest)
                rest = rest[len(line) :]
        plain, learned = read(self.prepared(self.chats))
        self.assertEqual(mask.sum(), learned.sum())
        self.assertLess(len(ids), 1.5 * len(plain))

    def test_documents_are_told_apart(self):
        chats = [self.tokenizer.apply_chat_template(chat(i), tokenize=False) for i in range(40)]
        said = [self.tokenizer.decode(one) for one in read_documents(self.prepared(self.chats))]
        self.assertEqual(said, chats)
        packed = read_documents(self.prepared(self.chats, "--seq", 64))
        said = [self.tokenizer.decode(one) for one in packed]
        gaps = [one for one in said if not one.replace("<|end|>", "")]
        self.assertEqual(sorted(one for one in said if one not in gaps), sorted(chats))
        self.assertGreater(len(gaps), 1)

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_parquet_gives_the_tokens_of_the_same_lines(self):
        import pyarrow
        import pyarrow.parquet

        rows = [json.loads(line) for line in self.chats.read_text().splitlines()]
        path = self.folder / "chats.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        expected = [part.tobytes() for part in read(self.prepared(self.chats))]
        self.assertEqual([part.tobytes() for part in read(self.prepared(path))], expected)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([*rows, {"messages": None}]), path)
        with self.assertRaisesRegex(prepare_data.BadInput, "chats.parquet row 41: "):
            self.prepared(path)
        path.write_bytes(b"PAR1 no")
        with self.assertRaisesRegex(prepare_data.BadInput, "chats.parquet: is no Parquet file"):
            self.prepared(path)

    def test_parquet_without_pyarrow_is_told(self):
        path = self.folder / "some.parquet"
        path.write_bytes(b"PAR1")
        with unittest.mock.patch.dict(sys.modules, {"pyarrow": None}):
            with self.assertRaisesRegex(prepare_data.BadInput, "pip install pyarrow$"):
                self.prepared(path)

    def test_a_document_that_is_longer_than_a_sequence_is_cut(self):
        text = self.folder / "long.txt"
        text.write_text("word " * 100)
        whole = read(self.prepared(text))[0]
        ids, mask = read(self.prepared(text, "--seq", 16))
        self.assertEqual(list(ids[: len(whole)]), list(whole))
        self.assertEqual(list(mask[: len(whole)]), [int(i % 16 > 0) for i in range(len(whole))])
        self.assertEqual(list(mask[len(whole) :]), [0] * (len(ids) - len(whole)))

    def header(self, path):
        """Tokens, learned, documents that begin, tokens of a sequence, cut and left-out documents,
        and tokens that were lost."""
        return list(numpy.fromfile(path, "<i4", 9)[2:])

    def test_long_documents_are_cut_dropped_or_truncated_and_counted(self):
        texts = self.folder / "lengths.jsonl"
        lines = [json.dumps({"text": "x " * n}) + "\n" for n in (3, 40, 5, 20)]
        texts.write_text("".join(lines))
        self.assertEqual(self.header(self.prepared(texts))[3:], [0, 0, 0, 0])
        found = {}
        sizes = [len(self.tokenizer("x " * n)["input_ids"]) + 1 for n in (40, 20)]
        for long, counts in (
            ("cut", [2, 0, 0]),
            ("truncate", [2, 0, sum(sizes) - 2 * 16]),
            ("drop", [0, 2, sum(sizes)]),
        ):
            out = self.prepared(texts, "--seq", 16, "--long", long)
            ids, mask = read(out)
            self.assertEqual(self.header(out)[3:], [16, *counts])
            found[long] = self.tokenizer.decode(ids).count("x"), len(ids)
        self.assertEqual(found["cut"][0], 68)
        self.assertEqual(found["drop"][0], 8)
        self.assertLess(found["truncate"][1], found["cut"][1])
        self.assertGreater(found["truncate"][0], 8)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
            prepare_data.arguments(["a", "--model", "b", "--out", "c.bin", "--long", "drop"])
        self.assertIn("--long is given without --seq", said.getvalue())

    def test_bad_records_are_left_out_as_far_as_it_is_allowed(self):
        lines = self.folder / "some-bad.jsonl"
        bad = ["{", '{"text": 1}', '{"messages": [1]}']
        lines.write_text("\n".join([chat_line(0), bad[0], chat_line(1), *bad[1:], chat_line(2)]))
        with self.assertRaisesRegex(prepare_data.BadInput, "line 7: .*list of obj.*; 2 before it were"):
            self.prepared(lines, "--skip-bad", 2)
        out = self.prepared(lines, "--skip-bad", 3)
        self.assertEqual(self.header(out)[5], 3)
        good = self.folder / "good.jsonl"
        good.write_text("".join(chat_line(i) for i in range(3)))
        expected = read(out)[0].tobytes()
        self.assertEqual(read(self.prepared(good))[0].tobytes(), expected)
        keep_signals(self)
        words = [lines, "--model", self.model, "--out", out, "--skip-bad", "3"]
        said = prepare_data.prepare(prepare_data.arguments(list(map(str, words))))
        self.assertEqual([line[:9] for line in said[:3]], ["left out:"] * 3)
        self.assertRegex(said[1], "some-bad.jsonl line 6: the text is empty or no string")
        self.assertRegex(said[3], r"3 documents, .* learned; 3 left out$")
        self.assertRegex(said[4], r"a document has \d+ tokens in the median, \d+ at 90%, \d+ at most")

    def test_documents_are_shown_with_what_is_learned(self):
        keep_signals(self)
        words = [self.chats, "--model", self.model, "--out", self.folder / "s.bin", "--show", "2"]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            prepare_data.prepare(prepare_data.arguments(list(map(str, words))))
        text = said.getvalue()
        self.assertIn("<|user|>Is 0 plus 0 even?<|end|><|assistant|>[[yes<|end|>]]\n", text)
        self.assertEqual(text.count("--- "), 2)
        self.assertRegex(text, r"chats.jsonl line 2: \d+ tokens, \d+ learned\n")
        tokens = Tokens([1, 2], [0, 1])
        decode = lambda ids: str(list(ids))
        self.assertEqual(shown("a", tokens, decode, True).splitlines()[1], "[1]\033[32m[2]\033[0m")

    def test_forms_of_the_cases_become_chats(self):
        turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
        expected = None
        for name, text in (
            ("chats.json", json.dumps([{"messages": turns}])),
            ("CHATS.JSONL", json.dumps({"messages": turns})),
            ("chats.ndjson", json.dumps({"messages": turns})),
            ("lines.txt", json.dumps({"messages": turns}) + "\n"),
            ("s.json", '[{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]}]'),
            ("alpaca.json", '[{"instruction": "hi", "input": "", "output": "yo"}]'),
            ("alpaca.csv", "instruction,input,output\nhi,,yo\n"),
        ):
            (self.folder / name).write_text(text)
            found = [part.tobytes() for part in read(self.prepared(self.folder / name))]
            expected = expected or found
            self.assertEqual(found, expected, name)
        pairs = self.folder / "pairs.csv"
        pairs.write_text('prompt,completion\n"a","b"\n')
        ids, mask = read(self.prepared(pairs))
        self.assertEqual(self.tokenizer.decode(ids), "ab<|end|>")
        self.assertEqual(list(mask), [0, 1, 1])

    def test_held_out_is_the_exact_share(self):
        for share, documents, taken in ((0.1, 40, 4), (0.05, 40, 2), (0.3, 40, 12), (0.7, 40, 28)):
            for seed in range(5):
                held_out = HeldOut(share, seed)
                self.assertEqual(sum(held_out.takes_next() for _ in range(documents)), taken)

    def test_held_out_documents_are_a_share_that_the_seed_draws(self):
        out = self.prepared(self.chats, "--held-out", 0.3, "--seed", 5)
        held_out = out.with_name(out.stem + "-validation.bin")
        first = [read(path)[0].tobytes() for path in (out, held_out)]
        whole = read(self.prepared(self.chats))[0]
        self.assertEqual(len(first[0]) + len(first[1]), whole.nbytes)
        self.assertLess(len(first[1]), len(first[0]))
        for seed, same in ((5, True), (6, False)):
            self.prepared(self.chats, "--held-out", 0.3, "--seed", seed)
            self.assertEqual(read(held_out)[0].tobytes() == first[1], same)

    def test_bad_input_is_told_with_its_place(self):
        lines = self.folder / "bad.jsonl"
        good = b'{"text": "a"}\n'
        for bad, said in (
            (b"{", "bad.jsonl line 2: is no JSON ("),
            (b"[1]", 'line 2: expected an object with "text", "messages", '),
            (b'{"text": 1}', "line 2: the text is empty or no string"),
            (b'{"text": "\xff"}', "line 2: byte 10 is not UTF-8"),
            (
                b'{"text": "\\ud800"}',
                "line 2: cannot be tokenized (half of a surrogate pair is no ",
            ),
            (b'{"messages": [1]}', 'line 2: "messages" is no list of objects'),
            (chat_line(0).replace("assistant", "user").encode(), "line 2: no message is the assis"),
        ):
            with self.subTest(said):
                lines.write_bytes(good + bad)
                with self.assertRaises(prepare_data.BadInput) as raised:
                    self.prepared(lines)
                self.assertIn(said, str(raised.exception))
                self.assertEqual(list(self.folder.glob(f"{self._testMethodName}*")), [])

    def test_answers_are_found_where_the_last_is_rendered_otherwise(self):
        self.use_template(THINKING)
        ids, mask = read(self.prepared(self.chats))
        answers = [
            ("think:" if m is turns[-1] else "") + m["content"]
            for turns in map(chat, range(40))
            for m in turns
            if m["role"] == "assistant"
        ]
        learned = self.tokenizer.decode(ids[mask == 1]).split("<|end|>")
        self.assertEqual(learned, [*answers, ""])

    def test_a_template_that_rewrites_answers_is_refused(self):
        self.use_template(REWRITING)
        said = "line 2: message 2: its text does not occur in what the chat template renders"
        with self.assertRaisesRegex(prepare_data.BadInput, said):
            self.prepared(self.chats)

    def run_program(self, *words, out="a.bin", model=None, **more):
        words = [*words, "--model", model or self.model, "--out", self.folder / out]
        return subprocess.run(
            [sys.executable, SCRIPT, *words], capture_output=True, text=True, **more
        )

    def expect_sentence(self, done, expected):
        self.assertEqual(done.stderr, f"dev data: {expected.format(self.folder)}\n")
        self.assertEqual(done.returncode, 2)

    def test_the_program_ends_with_one_sentence(self):
        self.expect_sentence(
            self.run_program(self.chats, model=self.folder / "no"),
            "--model {}/no: is no folder; name one with a tokenizer.json",
        )
        self.expect_sentence(
            self.run_program(self.chats, out="no/a.bin"),
            "--out {0}/no/a.bin: {0}/no is no folder; make it first",
        )
        done = self.run_program(
            self.chats,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        )
        self.expect_sentence(done, "{}/a.bin: File too large; check its permissions and the disk")
        self.assertEqual(list(self.folder.glob("a.bin*")), [])

    def test_a_length_that_no_memory_holds_is_refused(self):
        for seq in ("0", str(2**24 + 1), "1" * 30, "1" * 10_000):
            done = self.run_program(self.chats, "--seq", seq)
            self.assertEqual(done.returncode, 2)
            self.expect_sentence(
                done,
                f"--seq: {seq if len(seq) <= 40 else seq[:37] + '...'} is no number of tokens from "
                "1 to 16777216; see ./dev data --help",
            )

    def test_a_file_without_documents_is_named(self):
        for name, text in (("empty.jsonl", ""), ("lines.jsonl", "\n\n"), ("none.json", "[]")):
            file = self.folder / name
            file.write_text(text)
            for done in (self.run_program(file), self.run_program(self.chats, file)):
                self.expect_sentence(
                    done, f"{file}: holds no documents; write it again, or leave it out"
                )
            self.assertEqual(list(self.folder.glob("a.bin*")), [])

    def test_a_downloaded_model_of_the_hub_has_a_name(self):
        cache = self.folder / "hub"
        version = cache / "models--Tiny--Llama/snapshots/abc"
        (cache / "models--Tiny--Llama/refs").mkdir(parents=True)
        (cache / "models--Tiny--Llama/refs/main").write_text("abc")
        version.parent.mkdir()
        version.symlink_to(self.model)
        hub = {**os.environ, "HF_HUB_CACHE": str(cache)}
        done = self.run_program(self.chats, out="hub.bin", model="Tiny/Llama", env=hub)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = self.run_program(self.chats, out="folder.bin")
        self.assertEqual(expected.returncode, 0)
        for end in ("", ".mask", ".documents"):
            found = [(self.folder / f"{name}.bin{end}").read_bytes() for name in ("hub", "folder")]
            self.assertEqual(*found)
        done = self.run_program(self.chats, out="none.bin", model="Tiny/Other", env=hub)
        self.expect_sentence(
            done,
            f"--model Tiny/Other: is neither a folder nor downloaded to {cache}; download it with: "
            "hf download Tiny/Other",
        )

    def test_a_larger_vocabulary_takes_new_tokens(self):
        grown = self.folder / "grown"
        shutil.copytree(self.model, grown)
        tokenizer = transformers.AutoTokenizer.from_pretrained(grown)
        tokenizer.add_tokens(["<new>"])
        tokenizer.save_pretrained(grown)
        texts = self.folder / "new.jsonl"
        texts.write_text('{"text": "a <new> word"}\n')
        done = self.run_program(texts, out="new.bin", model=grown)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a token id is 300, expected less than", done.stderr)
        self.assertIn("--resize-vocabulary", done.stderr)
        done = self.run_program(texts, "--resize-vocabulary", "301", out="new.bin", model=grown)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(300, read(self.folder / "new.bin")[0])
        done = self.run_program(texts, "--resize-vocabulary", "299", out="new.bin", model=grown)
        self.expect_sentence(
            done, f"--resize-vocabulary is 299, expected at least 300, the tokens of {grown}"
        )

    def test_an_input_is_not_replaced(self):
        for end in ("", ".partial", ".mask", ".documents", ".mask.partial"):
            given = self.folder / f"given.bin{end}"
            given.write_text("some text")
            done = self.run_program(given, out="given.bin")
            self.expect_sentence(
                done, f"{given}: is an input, which would be replaced; give another --out"
            )
            self.assertEqual(given.read_text(), "some text")
            given.unlink()

    def test_a_run_that_is_stopped_leaves_nothing(self):
        moments = [
            [(os, "open")],  # a file is made
            [(token_file.TokenFile, "_write_header")],  # all three are
            [(prepare_data.Packing, "add")],
            [(os, "fsync")],
            [(prepare_data.Packing, "add"), (os, "unlink")],  # a second signal, while files go
        ]
        for moment in moments:
            for number in token_file.STOPPING:
                with self.subTest(moment=moment, number=number):
                    done = self.signalled("stopped.bin", moment, number)
                    self.assertEqual(done, (130, "", "dev data: stopped; nothing was written\n"))
                    self.assertEqual(list(self.folder.glob("stopped*")), [])

    def test_a_run_that_is_complete_is_not_stopped(self):
        for number in token_file.STOPPING:
            for moment in ((os, "replace"), (token_file.TokenFile, "remove_partial")):
                with self.subTest(moment=moment, number=number):
                    status, said, errors = self.signalled("complete.bin", [moment], number)
                    self.assertEqual((status, errors), (0, ""))
                    self.assertRegex(said, "complete.bin: 28 documents.*\n.*complete-validation.bin: 12 d")
                    self.assertEqual(len(list(self.folder.glob("complete*"))), 6)

    def signalled(self, out, moments, number):
        """Status, output and errors of a run that gets the signal after each call of functions."""
        for one, handler in zip(token_file.STOPPING, (signal.default_int_handler, 0, 0)):
            keep_signals(self)
            signal.signal(one, handler)

        def then_signal(function):
            def call(*words, **more):
                result = function(*words, **more)
                if function is not real_open or str(words[0]).endswith(".partial"):
                    os.kill(os.getpid(), number)
                return result

            return call

        real_open = os.open
        words = [self.chats, "--model", self.model, "--out", self.folder / out]
        words += ["--held-out", "0.3"]
        output, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.ExitStack() as stack:
            patch = unittest.mock.patch.object
            stack.enter_context(patch(sys, "argv", [str(SCRIPT), *map(str, words)]))
            for owner, name in moments:
                stack.enter_context(patch(owner, name, then_signal(getattr(owner, name))))
            stack.enter_context(contextlib.redirect_stdout(output))
            stack.enter_context(contextlib.redirect_stderr(errors))
            status = prepare_data.main()
        output.seek(0)
        return status, output.read(), errors.getvalue()

    def test_a_full_memory_is_told(self):
        render = transformers.PreTrainedTokenizerBase, "apply_chat_template"
        for (owner, name), effect in (
            ((transformers.AutoTokenizer, "from_pretrained"), MemoryError),
            ((prepare_data.Tokenizer, "chat"), MemoryError),
            (render, ["a chat", MemoryError]),
        ):
            with (
                self.subTest(name),
                unittest.mock.patch.object(owner, name, side_effect=effect),
                self.assertRaises(MemoryError),
            ):
                self.prepared(self.chats)

    def test_a_file_with_the_name_of_a_partial_is_not_replaced(self):
        mine = self.folder / "own.bin.partial"
        mine.write_text("my notes")
        done = self.run_program(self.chats, out="own.bin")
        self.assertEqual(done.returncode, 2)
        self.assertIn("own.bin.partial exists and is no file of ./dev data", done.stderr)
        self.assertEqual(mine.read_text(), "my notes")

    def test_files_are_written_where_nobody_reads_the_output(self):
        for close in (lambda: os.close(1), lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1)):
            done = self.run_program(self.chats, out="unread.bin", preexec_fn=close)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(list(self.folder.glob("unread.bin*"))), 3)

    def test_a_name_that_is_no_text_is_printed(self):
        out = os.fsdecode(os.fsencode(self.folder) + b"/\xff.bin")
        done = self.run_program(self.chats, out=out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("40 documents", done.stdout)


if __name__ == "__main__":
    unittest.main()
