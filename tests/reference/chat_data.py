"""Which chats do the tests tokenize? Forty short ones, for a tiny Llama and its tokenizer made
here."""

import contextlib
import io
import json
import pathlib
import signal
import sys
import tempfile
import unittest

import numpy
import tokenizers
import torch
import transformers

SCRIPT = pathlib.Path(__file__).parents[2] / "engine/data/prepare_data.py"
sys.path.append(str(SCRIPT.parent))
import prepare_data  # noqa: E402
import token_file  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
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


def keep_signals(test):
    """A run that is complete ignores signals; the tests after `test` must not."""
    for number in token_file.STOPPING:
        test.addCleanup(signal.signal, number, signal.getsignal(number))


def chat(i):
    turns = []
    for turn in range(1 + i % 3):
        turns.append({"role": "user", "content": f"Is {i} plus {turn} even?"})
        turns.append({"role": "assistant", "content": "yes" if (i + turn) % 2 == 0 else "no, é"})
    return turns


def chat_line(i):
    return json.dumps({"messages": chat(i)}) + "\n"


def read(path):
    """(ids, mask) of a token file."""
    header = numpy.fromfile(path, "<i4", 3)
    ids = numpy.fromfile(path, "<u2", offset=HEADER_BYTES)
    assert list(header) == [20240520, 1, len(ids)]
    return ids, numpy.fromfile(f"{path}.mask", "u1")


def read_documents(path):
    """The ids of each document of a token file."""
    ids = read(path)[0]
    starts = numpy.fromfile(f"{path}.documents", "<i8")
    assert starts[0] == 0 and all(numpy.diff(starts) > 0) and starts[-1] < len(ids)
    return numpy.split(ids, starts[1:])


class ChatTest(unittest.TestCase):
    """With a model, its tokenizer and chats in a folder."""

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
        keep_signals(self)
        out = self.folder / f"{self._testMethodName}.bin"
        given = map(str, (*words, "--out", out, "--model", self.model))
        with contextlib.redirect_stdout(io.StringIO()):
            prepare_data.prepare(prepare_data.arguments(list(given)))
        return out
