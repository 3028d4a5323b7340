"""Does a chat become the tokens that transformers gives, and are its answers learned, whichever
template and form it has?"""

import json
import pathlib
import random
import re
import tempfile
import unittest
import unittest.mock

from byte_tokenizer import CALLS, CHATML, THINKING, byte_tokenizer

from bad_input import BadInput
from chat_template import ChatTemplate
from conversation import conversation
from tokenizer import Tokenizer

WEATHER = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [WEATHER]}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
# As DeepSeek V3's: a call has no text, and its arguments are a string.
STRINGS = (
    "{% for m in messages %}<|im_start|>{{ m.role + '\n' }}{% if m['content'] is none %}"
    "{{ m.tool_calls[0].function.name + m.tool_calls[0].function.arguments }}"
    "{% else %}{{ '' + m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As GLM's: the next turn's first token ends an answer.
WITHOUT_ENDS = (
    "{% for m in messages %}{{ '<|im_start|>' if m.role == 'user' else '<|endoftext|>' }}"
    "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|endoftext|>{% endif %}"
)
MARKED = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
    "{% endgeneration %}{% else %}{{ '<|im_start|>' + m.content }}{% endif %}{% endfor %}"
)
# As Gemma 4's: a call, its result and its text are one.
RESULT_INSIDE = (
    "{% for m in messages if m.role != 'tool' %}<|im_start|>{{ m.role }}\n{% if m.tool_calls %}"
    "{{ m.tool_calls[0].function.name }}:{{ messages[loop.index].content }}:{% endif %}"
    "{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Llama 3.1's: a call stands for its message, and results are JSON.
CALL_ALONE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.tool_calls %}"
    "{{ m.tool_calls[0].function | tojson }}{% elif m.role == 'tool' %}{{ m.content | tojson }}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Qwen3's: earlier answers lose their thoughts.
FORGETS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if loop.last %}{{ m.content }}{% else %}"
    "{{ m.content.split('</think>')[-1].lstrip() }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# The prompt for an answer, and so what is learned of it, depends on the system message.
SYSTEM_DECIDES = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}<think>\n\n"
    "</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
    "<|im_start|>assistant\n{% if messages[0].content == 'Be brief.' %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}"
)
SHORTENS = CHATML.replace("m.content", "m.content[:9]")
# A text that is a list of parts, as of models that see.
PARTS = "{% for m in messages %}{% for p in m.content if p.type == 'text' %}{{ p.text }}{% endfor %}{% endfor %}"


def user(text, **more):
    return {"role": "user", "content": text, **more}


def answer(text, **more):
    return {"role": "assistant", "content": text, **more}


class ChatTemplateTest(unittest.TestCase):
    def tokens(self, record, template, begin=None):
        with tempfile.TemporaryDirectory() as folder:
            byte_tokenizer(template, begin).save_pretrained(folder)
            self.tokenizer = Tokenizer(pathlib.Path(folder))
        return self.tokenizer.document(conversation(record))

    def check(self, template, record, *learned, like=None, begin=None):
        """The learned texts in their order. Tokens are those of apply_chat_template(), of `like`
        where that would not render the record's form."""
        tokens = self.tokens(record, template, begin)
        like = like or record
        expected = self.tokenizer.used.apply_chat_template(
            like["messages"], tools=like.get("tools")
        )["input_ids"]
        self.assertEqual(list(tokens.ids), expected)
        runs, before = [], 0
        for one, is_learned in zip(tokens.ids, tokens.learned):
            if is_learned:
                runs[len(runs) - before :] = [runs[-1] + [one]] if before else [[one]]
            before = is_learned
        self.assertEqual([self.tokenizer.used.decode(run) for run in runs], list(learned))

    def refused(self, said, record, template):
        with self.assertRaises(BadInput) as raised:
            self.tokens(record, template)
        self.assertIn(said, str(raised.exception))

    def test_tools_are_rendered(self):
        record = {"messages": [user("weather?"), CALL], "tools": TOOLS}
        call = '<call>weather {"city": "Rome"}</call><|im_end|>\n'
        self.check(THINKING, record, "<think>\n\n</think>\n\n" + call)
        tokens = self.tokens(record, THINKING)
        self.assertEqual(len(tokens.ids), 263)
        self.assertIn("<|im_start|>system\nTools: [{", self.tokenizer.used.decode(tokens.ids))
        written = {**record, "tools": json.dumps(TOOLS)}
        self.assertEqual(tokens.ids, self.tokens(written, THINKING).ids)

    def test_what_a_template_does_not_render_is_told(self):
        record = {"messages": [user("weather?"), answer("no")], "tools": TOOLS}
        self.refused('has "tools", which the chat template does not render', record, CHATML)
        record = {"messages": [user("weather?"), CALL]}
        self.refused('message 2: has "tool_calls", which the chat template does', record, CHATML)
        record = {"messages": [user("why?"), answer("so", reasoning_content="hm")]}
        self.refused('message 2: has "reasoning_content", which', record, CHATML)
        record = {"messages": [user("a long question"), answer("no")]}
        self.refused("message 1: the chat template leaves out its text", record, PARTS)

    def test_every_text_occurs_in_what_is_rendered(self):
        spoken = answer("let me see", tool_calls=[WEATHER])
        record = {"messages": [user("weather?"), spoken, {"role": "tool", "content": 'so "22"'}]}
        self.refused("message 2: the chat template leaves out its text; change", record, CALL_ALONE)
        record["messages"][1] = CALL
        call = '{"name": "weather", "arguments": {"city": "Rome"}}<|im_end|>\n'
        self.check(CALL_ALONE, record, call)
        self.refused(
            "message 2: its text does not occur in what the chat template renders",
            {"messages": [user("short"), answer("an answer of some length")]},
            SHORTENS,
        )
        self.refused(
            'message 1: its text does not occur in what the chat template renders, so that a part of '
            'it would be lost; give another role than "user"',
            {"messages": [user("a question of some length"), answer("short")]},
            SHORTENS,
        )
        thoughts = [user("q"), answer("<think>\nhm\n</think>\n\nso"), user("r"), answer("yes")]
        self.check(FORGETS, {"messages": thoughts}, "so<|im_end|>\n", "yes<|im_end|>\n")

    def test_a_completion_is_learned_with_its_end(self):
        for begin, first in (("<|bos|>", 1), (None, 0)):
            tokens = self.tokens({"prompt": "one ", "completion": "two"}, CHATML, begin)
            whole = "<|bos|>" * first + "one two<|im_end|>"
            self.assertEqual(self.tokenizer.used.decode(tokens.ids), whole)
            self.assertEqual(list(tokens.learned), [0] * (first + 4) + [1] * 4)
        tokens = self.tokens({"prompt": "", "completion": "two"}, CHATML, "<|bos|>")
        self.assertEqual(list(tokens.learned), [0] + [1] * 4)

    def test_answers_of_long_chats_are_those_that_are_found_one_by_one(self):
        texts = ["yes", "no", "yes\n", " a", "<think>\nhm\n</think>\n\nso", "it is\n\n22"]
        draw = random.Random(5)
        for name, template in (
            ("chatml", CHATML), ("thinking", THINKING), ("forgets", FORGETS),
            ("without ends", WITHOUT_ENDS), ("strings", STRINGS), ("calls", CALL_ALONE),
        ):
            for _ in range(6):
                turns = []
                for _ in range(draw.randrange(3, 9)):
                    turns += [user(draw.choice(texts)), answer(draw.choice(texts))]
                    if draw.random() < 0.2:
                        turns.append(answer(draw.choice(texts), weight=0))
                    if draw.random() < 0.2 and name in ("thinking", "calls"):
                        turns += [CALL, {"role": "tool", "content": "22"}, answer("warm")]
                record = {"messages": turns[draw.randrange(2) :]}
                with self.subTest(template=name, turns=len(turns)):
                    quick, slow = (
                        self.outcome(record, template, is_quick) for is_quick in (True, False)
                    )
                    self.assertEqual(quick, slow)

    def test_answers_are_found_as_those_of_earlier_chats(self):
        """A tokenizer that has seen other chats gives what one gives that has seen none."""
        texts = ["yes", "no", "yes\n", " a", "it is\n\n22", "assistant", "a\nb c", "yes yes"]
        texts.append("<|im_start|>assistant\nyes<|im_end|>\n")
        systems = [None, "Be brief.", "yes"]
        draw = random.Random(7)
        for name, template in (
            ("chatml", CHATML), ("thinking", THINKING), ("forgets", FORGETS),
            ("without ends", WITHOUT_ENDS), ("strings", STRINGS), ("system decides", SYSTEM_DECIDES),
        ):
            seen, found_so = ChatTemplate(byte_tokenizer(template)), 0
            for _ in range(60):
                system = draw.choice(systems)
                turns = [{"role": "system", "content": system}] if system else []
                for _ in range(draw.randrange(1, 5)):
                    turns += [user(draw.choice(texts)), answer(draw.choice(texts))]
                    if draw.random() < 0.2:
                        turns.append(answer(draw.choice(texts), weight=0))
                made = conversation({"messages": turns})
                fresh = ChatTemplate(seen.used)
                with self.subTest(template=name, turns=turns):
                    try:
                        expected = fresh.answers(made)
                    except BadInput as error:
                        with self.assertRaisesRegex(BadInput, re.escape(str(error))):
                            seen.answers(made)
                        continue
                    found_so += seen._found_as_before(
                        expected[0], made, [i for i, learned in enumerate(made.learned) if learned]
                    ) is not None
                    self.assertEqual(seen.answers(made), expected)
            if name != "without ends":
                self.assertGreater(found_so, 10, name)

    def test_a_chat_like_an_earlier_one_is_rendered_once(self):
        seen, renders, render = ChatTemplate(byte_tokenizer(THINKING)), [], ChatTemplate._render
        count = lambda *words: renders.append(0) or render(*words)
        for i in range(5):
            turns = [turn for k in range(3) for turn in (user(f"is {i}{k}?"), answer(f"yes, {i}"))]
            renders.clear()
            with unittest.mock.patch.object(ChatTemplate, "_render", count):
                seen.answers(conversation({"messages": turns}))
            self.assertEqual(len(renders) == 1, i > 0, i)

    def outcome(self, record, template, is_quick):
        """Ids and what is learned, or the refusal."""
        around = ChatTemplate._around_answers if is_quick else lambda *_: None
        with unittest.mock.patch.object(ChatTemplate, "_around_answers", around):
            try:
                tokens = self.tokens(record, template)
            except BadInput as error:
                return str(error)
            return list(tokens.ids), list(tokens.learned)

    def test_a_long_chat_is_rendered_a_few_times(self):
        turns = [turn for i in range(400) for turn in (user(f"is {i}?"), answer(f"yes, {i}"))]
        renders, render = [], ChatTemplate._render
        count = lambda *words: renders.append(0) or render(*words)
        with unittest.mock.patch.object(ChatTemplate, "_render", count):
            tokens = self.tokens({"messages": turns}, THINKING)
        self.assertLess(len(renders), 12)
        learned = self.tokenizer.used.decode(
            [one for one, is_learned in zip(tokens.ids, tokens.learned) if is_learned]
        )
        expected = "".join(f"yes, {i}<|im_end|>\n" for i in range(399))
        self.assertEqual(learned, expected + "<think>\n\n</think>\n\nyes, 399<|im_end|>\n")

    def test_a_template_gets_its_arguments(self):
        polite = CHATML.replace("{% for", "{% if polite %}<|im_start|>be polite<|im_end|>{% endif %}{% for", 1)
        record = {"messages": [user("q"), answer("a")], "chat_template_kwargs": {"polite": True}}
        tokens = self.tokens(record, polite)
        text = self.tokenizer.used.decode(tokens.ids)
        self.assertTrue(text.startswith("<|im_start|>be polite<|im_end|><|im_start|>user"), text)
        self.assertEqual(sum(tokens.learned), 3)  # a, its end and the line's
        plain = self.tokens({"messages": record["messages"]}, polite)
        self.assertNotIn("polite", self.tokenizer.used.decode(plain.ids))
        wrong = {**record, "chat_template_kwargs": {"tokenize": True}}
        self.refused('"chat_template_kwargs" has "tokenize", which is no argument', wrong, polite)

    def test_parts_of_text_are_joined(self):
        strings = {"messages": [user("What is two and two?"), answer("four")]}
        parts = [
            {"role": m["role"], "content": [{"type": "text", "text": t} for t in cut]}
            for m, cut in zip(strings["messages"], (("What is ", "two and two?"), ("four",)))
        ]
        for template, learned in ((CHATML, ""), (THINKING, "<think>\n\n</think>\n\n")):
            learned += "four<|im_end|>\n"
            self.check(template, {"messages": parts}, learned, like=strings)

    def test_keys_that_are_null_are_left_out(self):
        strings = {"messages": [user("hi"), answer("yo")]}
        nulls = {"messages": [user("hi", tool_calls=None), answer("yo", tool_calls=None)]}
        self.check(CALLS, nulls, "yo<|im_end|>\n", like=strings, begin="<|bos|>")
        empty = {"messages": [user("hi", tool_calls=[]), answer("yo", tool_calls=[])]}
        self.check(CALLS, empty, "yo<|im_end|>\n", like=strings, begin="<|bos|>")

    def test_an_answer_may_come_first(self):
        record = {"messages": [answer("welcome"), user("hi"), answer("yo")]}
        self.check(CHATML, record, "welcome<|im_end|>\n", "yo<|im_end|>\n")
        alone = {"messages": [answer("welcome")]}
        self.check(CHATML, alone, "welcome<|im_end|>\n")

    def test_a_marked_answer_that_is_the_first_token_makes_no_other_learned(self):
        question = {"messages": [answer("A"), user("user message")]}
        self.refused("no token of an answer is learned", question, MARKED)
        fine = {"messages": [answer("A"), user("q"), answer("fine")]}
        self.check(MARKED, fine, "fine")

    def test_a_wrong_vocabulary_is_the_fault_of_the_config(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "config.json"
            for text, said in (
                ('{"vocab_size": true}', "vocab_size is true, expected a positive whole number"),
                ('{"vocab_size": "x"}', 'vocab_size is "x", expected a positive whole number'),
                ('{"vocab_size": 0}', "vocab_size is 0, expected a positive whole number"),
                ("{}", "vocab_size cannot be read ('vocab_size')"),
                ("[" * 100_000, "vocab_size cannot be read ("),
            ):
                config.write_text(text)
                with self.assertRaises(BadInput) as raised:
                    Tokenizer(config.parent)
                self.assertIn(f"{config}: {said}", str(raised.exception))

    def test_a_text_may_be_the_mark_that_finds_answers(self):
        mark = "@answer-of-the-assistant@"
        turns = [answer(mark), user(mark), answer(mark), user(mark)]
        self.check(THINKING, {"messages": turns}, *[mark + "<|im_end|>\n"] * 2)

    def test_a_text_has_one_begin_and_one_end(self):
        rendered = "<|bos|><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyo<|im_end|>"
        for text, whole in (
            (rendered, rendered),
            (rendered + "\n", rendered + "\n"),
            ("plain", "<|bos|>plain<|im_end|>"),
        ):
            tokens = self.tokens({"text": text}, CHATML, begin="<|bos|>")
            self.assertEqual(self.tokenizer.used.decode(tokens.ids), whole)
            self.assertEqual(list(tokens.learned), [0] + [1] * (len(tokens.ids) - 1))

    def test_answers_that_are_marked_are_not_learned(self):
        for bad, good in (
            ({"weight": 0}, {"weight": 1}),
            ({"weight": 0.0}, {"weight": None}),
            ({"train": False}, {"train": True}),
            ({"loss": False}, {}),
        ):
            turns = [user("q"), answer("bad", **bad), user("again"), answer("good", **good)]
            for template, end in ((CHATML, "<|im_end|>\n"), (MARKED, "")):
                with self.subTest(bad=bad, end=end):
                    self.check(template, {"messages": turns}, "good" + end)
        turns = [user("q"), answer("bad", weight=0)]
        self.refused("no answer is to be learned", {"messages": turns}, CHATML)

    def test_calls_are_learned_where_more_follows(self):
        turns = [user("weather?"), CALL, {"role": "tool", "content": "22"}, answer("it is 22")]
        call = '<call>weather {"city": "Rome"}</call><|im_end|>\n'
        end = "<think>\n\n</think>\n\nit is 22<|im_end|>\n"
        self.check(THINKING, {"messages": turns}, call, end)
        spoken = {**CALL, "content": "let me see"}
        turns = [turns[0], spoken, *turns[2:], user("and now?"), CALL]
        learned = ["let me see\n" + call, "it is 22<|im_end|>\n", "<think>\n\n</think>\n\n" + call]
        self.check(THINKING, {"messages": turns}, *learned)

    def test_a_result_inside_an_answer_is_not_learned(self):
        result = {"role": "tool", "content": "22"}
        turns = [user("weather?"), {**CALL, "content": "so"}, result, answer("it is 22")]
        said = "the chat template prints message 3 inside the answer of message 2; mark answers"
        self.refused(said, {"messages": turns}, RESULT_INSIDE)

    def test_arguments_in_a_string_are_printed_as_an_object(self):
        function = {"name": "weather", "arguments": '{"city":"Rome"}'}
        written = {**CALL, "content": None, "tool_calls": [{"function": function}]}
        record = {"messages": [user("weather?"), written]}
        like = {"messages": [user("weather?"), CALL]}
        call = '<call>weather {"city": "Rome"}</call><|im_end|>\n'
        self.check(THINKING, record, "<think>\n\n</think>\n\n" + call, like=like)

    def test_a_template_may_take_openais_form_alone(self):
        record = {"messages": [user("weather?"), CALL]}
        function = {"name": "weather", "arguments": '{"city": "Rome"}'}
        written = {**CALL, "content": None, "tool_calls": [{"function": function}]}
        like = {"messages": [user("weather?"), written]}
        self.check(STRINGS, record, 'weather{"city": "Rome"}<|im_end|>\n', like=like)

    def test_an_end_that_begins_the_next_turn_is_learned(self):
        record = {"messages": [user("q"), answer("a"), user("r"), answer("b")]}
        self.check(WITHOUT_ENDS, record, "a<|im_start|>", "b")


if __name__ == "__main__":
    unittest.main()
