"""Do prepared chats train as with transformers? A tiny Llama and its tokenizer, made here: the
script's tokens and mask, five steps of sluice-train, and the same steps in PyTorch."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import tokenizers
import torch
import transformers

from reference_step import TrainingSettings, learning_rate_at, rounded_to_bf16
from sluice_train import checkpoint_folder, train

SCRIPT = pathlib.Path(__file__).parents[2] / "engine/data/prepare_data.py"
sys.path.append(str(SCRIPT.parent))
import prepare_data  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKED = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|end|>{% endgeneration %}{% else %}{{ m.content }}<|end|>{% endif %}{% endfor %}"
)
SPECIAL = ["<|user|>", "<|assistant|>", "<|end|>"]
HEADER_BYTES = 1024


def save_llama(folder):
    """Config, random weights in bf16 and a byte-level tokenizer with a chat template."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIAL,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    model.train_from_iterator([chat_line(i) for i in range(40)], trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|end|>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=300,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    torch.manual_seed(1)
    transformers.LlamaForCausalLM(config).bfloat16().save_pretrained(folder)
    return fast


def chat(i):
    turns = []
    for turn in range(1 + i % 3):
        turns.append({"role": "user", "content": f"Is {i} plus {turn} even?"})
        turns.append({"role": "assistant", "content": "yes" if (i + turn) % 2 == 0 else "no, é"})
    return turns


def chat_line(i):
    return json.dumps({"messages": chat(i)}) + "\n"


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


def read(path):
    """(ids, mask) of a token file."""
    header = numpy.fromfile(path, "<i4", 3)
    ids = numpy.fromfile(path, "<u2", offset=HEADER_BYTES)
    assert list(header) == [20240520, 1, len(ids)]
    return ids, numpy.fromfile(f"{path}.mask", "u1")


def losses_by_transformers(folder, batches, settings):
    """Masters are fp32; the model computes in fp32 with masters rounded to bf16."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    masters = {n: torch.nn.Parameter(p.detach().clone()) for n, p in model.named_parameters()}
    decays = [m for n, m in masters.items() if not n.endswith("norm.weight")]
    rest = [m for n, m in masters.items() if n.endswith("norm.weight")]
    optimizer = torch.optim.AdamW(
        [{"params": decays}, {"params": rest, "weight_decay": 0.0}],
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
    )
    losses = []
    for step, (inputs, targets) in enumerate(batches, 1):
        model.zero_grad()
        for name, weight in model.named_parameters():
            weight.data.copy_(rounded_to_bf16(masters[name].detach()))
        logits = model(inputs).logits.flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, targets.flatten(), ignore_index=-1)
        loss.backward()
        losses.append(loss.item())
        for name, weight in model.named_parameters():
            masters[name].grad = weight.grad.clone()
        torch.nn.utils.clip_grad_norm_(masters.values(), settings.max_norm)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(settings, step)
        optimizer.step()
    return losses


class PrepareDataTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.model = cls.folder / "model"
        cls.tokenizer = save_llama(cls.model)
        cls.chats = cls.folder / "chats.jsonl"
        cls.chats.write_text("".join(chat_line(i) for i in range(40)))

    def prepared(self, *words):
        out = self.folder / f"{self._testMethodName}.bin"
        given = map(str, (*words, "--out", out, "--model", self.model))
        with contextlib.redirect_stdout(io.StringIO()):
            prepare_data.prepare(prepare_data.arguments(list(given)))
        return out

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

    def test_a_document_that_is_longer_than_a_sequence_is_cut(self):
        text = self.folder / "long.txt"
        text.write_text("word " * 100)
        whole = read(self.prepared(text))[0]
        ids, mask = read(self.prepared(text, "--seq", 16))
        self.assertEqual(list(ids[: len(whole)]), list(whole))
        self.assertEqual(list(mask[: len(whole)]), [int(i % 16 > 0) for i in range(len(whole))])
        self.assertEqual(list(mask[len(whole) :]), [0] * (len(ids) - len(whole)))

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
            (b"[1]", 'line 2: expected an object with either "text" or "messages"'),
            (b'{"text": 1}', "line 2: the text is empty or no string"),
            (b'{"text": "\xff"}', "line 2: byte 10 is not UTF-8"),
            (b'{"text": "\\ud800"}', "line 2: cannot be tokenized ("),
            (b'{"messages": [1]}', 'line 2: "messages" is no list of objects'),
            (chat_line(0).replace("assistant", "user").encode(), "line 2: no token is the assis"),
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
        with self.assertRaisesRegex(prepare_data.BadInput, "line 2: the chat template changes mes"):
            self.prepared(self.chats)

    def test_the_program_ends_with_one_sentence(self):
        words = [sys.executable, SCRIPT, self.chats, "--model", self.folder / "no", "--out", "a.bin"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        expected = f"--model {self.folder}/no: is no folder; name one with a tokenizer.json"
        self.assertEqual(done.stderr, f"dev data: {expected}\n")

    def test_five_steps_on_chats_are_those_of_transformers(self):
        settings = TrainingSettings(steps=5, warmup_steps=2, epsilon=1e-3)
        run = train(
            self.folder,
            model=self.model,
            load=self.model,
            data=self.prepared(self.chats),
            device="cpu",
            precision="fp32",
            batch=4,
            micro_batch=2,
            seq=24,
            steps=settings.steps,
            learning_rate=settings.learning_rate,
            warmup_steps=settings.warmup_steps,
            epsilon=settings.epsilon,
            weight_decay=settings.weight_decay,
            max_norm=settings.max_norm,
            state_bytes=12,
            clipping="exact",
        )
        for _, targets in run.batches:
            self.assertTrue(0 < (targets < 0).sum() < targets.numel())
        expected = losses_by_transformers(self.model, run.batches, settings)
        actual = run.field("loss")
        print("losses", actual, "of transformers", expected)
        for ours, theirs in zip(actual, expected, strict=True):
            self.assertLess(abs(ours - theirs), 1e-3)

    def test_a_trained_model_loads_with_its_tokenizer_and_config(self):
        run = self.folder / "run"
        run.mkdir()
        data = self.prepared(self.chats, "--seq", 64)
        words = dict(model=self.model, load=self.model, data=data, out=run / "out", device="cpu")
        train(run, batch=4, seq=64, steps=1, **words)
        folder = checkpoint_folder(run / "out", 1)
        loaded = transformers.AutoTokenizer.from_pretrained(folder)
        self.assertEqual(loaded.eos_token, self.tokenizer.eos_token)
        ids = [t.apply_chat_template(chat(2))["input_ids"] for t in (loaded, self.tokenizer)]
        self.assertEqual(*ids)
        before, after = (
            transformers.AutoModelForCausalLM.from_pretrained(path) for path in (self.model, folder)
        )
        self.assertEqual(after.config.vocab_size, before.config.vocab_size)
        inputs = torch.tensor([ids[0]])
        changes = after(inputs).logits - before(inputs).logits
        self.assertGreater(changes.abs().max().item(), 0)


if __name__ == "__main__":
    unittest.main()
