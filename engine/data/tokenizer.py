"""Which tokens do a text and a chat become, and which of them are learned?"""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import sys

from bad_input import BadInput, first_line, shortened
from chat_template import ChatTemplate
from conversation import Chat, Completion
from packing import Tokens


HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def downloaded(name):
    """The folder of a model of the Hugging Face Hub."""
    if not HUB_NAME.fullmatch(name) or name.startswith("."):
        raise BadInput(f"--model {name}: is no folder; name one with a tokenizer.json")
    import huggingface_hub

    try:
        return pathlib.Path(huggingface_hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError):
        raise BadInput(
            f"--model {name}: is neither a folder nor downloaded to "
            f"{huggingface_hub.constants.HF_HUB_CACHE}; download it with: hf download {name}"
        ) from None


@contextlib.contextmanager
def without_torch():
    """Inside, transformers finds no torch, which tokenizers do not need: importing it takes 2.4 of
    3.4 s of processor time."""
    find = importlib.util.find_spec

    def find_others(name, package=None):
        return None if name == "torch" else find(name, package)

    importlib.util.find_spec = find if "torch" in sys.modules else find_others
    try:
        yield
    finally:
        importlib.util.find_spec = find


class Tokenizer:
    def __init__(self, model, resized=None):
        """`model`: a folder, or a name of the Hub that was downloaded. `resized`: tokens of the
        model that will be trained, where they are more than its own."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # jobs.py has the processes
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        folder = model if model.is_dir() else downloaded(str(model))
        vocabulary = self._vocabulary(folder / "config.json")
        if resized is not None and vocabulary is not None and resized < vocabulary:
            raise BadInput(
                f"--resize-vocabulary is {resized}, expected at least {vocabulary}, the tokens of "
                f"{model}"
            )
        with without_torch():
            import transformers

            auto = transformers.AutoTokenizer
        try:
            self.used = auto.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except MemoryError:
            raise
        except Exception as error:  # of several libraries, each with its own kinds
            raise BadInput(
                f"--model {folder}: its tokenizer cannot be read ({first_line(error)}); "
                "copy tokenizer.json and tokenizer_config.json there"
            ) from None
        self.folder = folder
        self.vocabulary = resized or vocabulary or len(self.used)
        self.template = ChatTemplate(self.used)

    @staticmethod
    def _vocabulary(path):
        """The model's; None where there is no config.json."""
        if not path.exists():
            return None
        try:
            size = json.loads(path.read_text())["vocab_size"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"{path}: vocab_size cannot be read ({first_line(error)})") from None
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            shown = shortened(json.dumps(size), 40)
            raise BadInput(f"{path}: vocab_size is {shown}, expected a positive whole number")
        return size

    def padding(self):
        """Fills gaps; any token would do, since it is not learned and nothing follows it."""
        return self.used.eos_token_id or 0

    def document(self, found):
        """The tokens of what conversation() found."""
        if isinstance(found, Chat):
            return self.chat(found)
        if isinstance(found, Completion):
            return self.text(found.prompt + found.completion, len(found.prompt))
        return self.text(found)

    def text(self, text, prompt=0):
        """All of its tokens are learned but those that begin in the first `prompt` characters."""
        begin, end = self.used.bos_token_id, self.used.eos_token_id
        if end is None:
            raise BadInput(
                f"--model {self.folder}: the tokenizer has no eos_token, which must end each text; "
                "set it in tokenizer_config.json"
            )
        coded = self.used(text, return_offsets_mapping=prompt > 0, verbose=False)
        ids = coded["input_ids"]
        learned = [1] * len(ids)
        if prompt > 0:
            learned = [int(first >= prompt) for first, _ in coded["offset_mapping"]]
            if learned[-1:] == [0] and ids[-1] == end:  # one that is added has no place
                learned[-1] = 1
        # A text may be a chat that is rendered already: then it begins and ends as one.
        if begin is not None and ids[:2] == [begin, begin]:
            ids, learned = ids[1:], learned[1:]
        if ids[-2:] == [end, end]:
            ids, learned = ids[:-1], learned[:-1]
        if ids[-1:] != [end] and not text.rstrip().endswith(self.used.eos_token):
            ids, learned = [*ids, end], [*learned, 1]
        return Tokens(ids, learned)

    def chat(self, chat):
        if self.used.chat_template is None:
            raise BadInput(
                f"--model {self.folder}: the tokenizer has no chat template, which messages need; "
                "take the tokenizer of the model's chat version"
            )
        whole, answers = self.template.answers(chat)
        coded = self.used(
            whole, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        learned = bytearray(len(whole) + 1)
        for begin, end in answers:
            learned[begin:end] = b"\1" * (end - begin)
        tokens = Tokens(
            coded["input_ids"], [learned[begin] for begin, _ in coded["offset_mapping"]]
        )
        if not any(tokens.learned):
            raise BadInput(
                "no token of an answer is learned, since the answer is empty or its first token is "
                "the first of all; remove the record"
            )
        return tokens
