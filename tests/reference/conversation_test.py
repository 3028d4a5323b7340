"""Does a record of each form become the same chat, and is a wrong one told?"""

import datetime
import unittest

import byte_tokenizer  # noqa: F401  (finds the modules of engine/data)
from bad_input import BadInput
from conversation import Completion, conversation

TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
SYSTEM = {"role": "system", "content": "be brief"}
SHAREGPT = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]
USER, ANSWER = TURNS
QUESTION = {"role": "user", "content": "add\n1 2"}


def call(**more):
    return {"role": "assistant", "tool_calls": [{"function": {"name": "a", **more}}]}


class ConversationTest(unittest.TestCase):
    def test_forms_give_the_same_chat(self):
        for record in (
            {"messages": TURNS},
            {"messages": TURNS, "text": None, "id": 7, "tools": []},
            {"conversations": TURNS},
            {"conversations": SHAREGPT, "system": ""},
            {"instruction": "hi", "output": "yo"},
            {"instruction": "hi", "input": "", "output": "yo", "history": []},
        ):
            chat = conversation(record)
            self.assertEqual(
                (chat.messages, chat.tools, chat.learned), (TURNS, None, [False, True])
            )
        self.assertEqual(conversation({"text": "hi"}), "hi")

    def test_a_system_text_comes_first(self):
        for record in ({"messages": TURNS}, {"conversations": SHAREGPT}):
            chat = conversation({**record, "system": "be brief"})
            self.assertEqual(chat.messages, [SYSTEM, *TURNS])
            self.assertEqual(chat.learned, [False, False, True])

    def test_alpaca_has_input_and_history(self):
        record = {"instruction": "add", "input": "1 2", "output": "3", "history": [["hi", "yo"]]}
        chat = conversation(record)
        self.assertEqual(chat.messages, [*TURNS, QUESTION, {"role": "assistant", "content": "3"}])
        self.assertEqual(chat.learned, [False, True, False, True])

    def test_the_completion_alone_is_learned(self):
        found = conversation({"prompt": "hi", "completion": "yo"})
        self.assertEqual(found, Completion("hi", "yo"))
        chat = conversation({"prompt": [*TURNS, USER], "completion": [ANSWER]})
        self.assertEqual(chat.messages, TURNS * 2)
        self.assertEqual(chat.learned, [False, False, False, True])
        chat = conversation({"prompt": [USER], "completion": [ANSWER], "system": "be brief"})
        self.assertEqual(chat.messages, [SYSTEM, *TURNS])
        self.assertEqual(chat.learned, [False, False, True])

    def test_nulls_are_left_out_but_for_those_of_arguments(self):
        given = {**call(arguments={"unit": None}), "content": None, "name": None}
        chat = conversation({"messages": [USER, given]})
        self.assertEqual(chat.messages[1], call(arguments={"unit": None}))

    def test_a_call_may_have_no_arguments(self):
        chat = conversation({"messages": [USER, call()]})
        self.assertEqual(chat.messages[1], call(arguments={}))

    def test_other_keys_may_hold_anything(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        self.assertEqual(conversation({"messages": TURNS, "more": deep}).messages, TURNS)

    def test_a_wrong_record_is_told(self):
        for said, record in (
            ("expected an object with", [1]),
            ("expected an object with", "text"),
            ('; it has "prompt"', {"prompt": "a"}),
            (
                "jq -c '{prompt: .question, completion: .answer}'",
                {"question": "a", "answer": "b", "id": 7},
            ),
            ("the completion is empty", {"prompt": "a", "completion": ""}),
            ("are neither two strings nor", {"prompt": "a", "completion": TURNS}),
            ("the completion has no answer", {"prompt": TURNS, "completion": [USER]}),
            ('has "system" or "tools" beside', {"prompt": "a", "completion": "b", "system": "c"}),
            ("jq -c '{prompt, completion: .chosen}'", {"prompt": "a", "chosen": "b", "rejected": "c"}),
            ("jq -c '{messages: .chosen}'", {"chosen": TURNS, "rejected": TURNS}),
            (
                "jq -c '{messages: (.prompt + .chosen)}'",
                {"prompt": [USER], "chosen": [ANSWER], "rejected": [ANSWER]},
            ),
            ("; it has nothing", {}),
            ('has both "text" and "messages"', {"text": "a", "messages": TURNS}),
            ('has both "text" and "instruction"', {"text": "a", "instruction": "", "output": ""}),
            ('has "images", which cannot', {"messages": TURNS, "images": ["a.png"]}),
            ("the text is empty or no string", {"text": ""}),
            ("the text is empty or no string", {"text": 1}),
            ('"messages" is no list of objects', {"messages": {"role": "user"}}),
            ('"messages" is no list of objects', {"messages": "[]"}),
            ('"conversations" is no list of objects', {"conversations": ["hi"]}),
            ('"input" is no string', {"instruction": "a", "input": 1, "output": "b"}),
            ('"history" is no list', {"instruction": "a", "output": "b", "history": [["a"]]}),
            ("no message is the assistant's", {"messages": []}),
            ("no message is the assistant's", {"messages": [USER]}),
            ('"tools" is a string, but no JSON', {"messages": TURNS, "tools": "{"}),
            ('"tools" is no list of objects', {"messages": TURNS, "tools": {"a": 1}}),
            ('has both "system" and', {"messages": [SYSTEM, *TURNS], "system": "a"}),
            ('"system" is no string', {"messages": TURNS, "system": 1}),
            ("kwargs\" is no object", {"messages": TURNS, "chat_template_kwargs": [1]}),
            (
                'has "chat_template_kwargs" beside texts',
                {"prompt": "a", "completion": "b", "chat_template_kwargs": {"a": 1}},
            ),
        ):
            with self.subTest(record=record):
                self.refused(said, record)

    def test_a_wrong_message_is_told_with_its_number(self):
        image = [{"type": "image_url", "image_url": {"url": "a"}}]
        for said, message in (
            ('has no "role" that is a string', {}),
            ('has no "role" that is a string', {"role": 7, "content": "a"}),
            ('has no "content"', {"role": "assistant", "content": None}),
            ('"content" is neither a string nor', {"role": "assistant", "content": 7}),
            ('"content" is neither a string nor', {"role": "assistant", "content": ["a"]}),
            ('"content" has a part of type "image_url"', {"role": "assistant", "content": image}),
            (
                '"content" has a part of type null',
                {"role": "assistant", "content": [{"text": "a"}]},
            ),
            (
                '"content" has a part of type "text"',
                {"role": "assistant", "content": [{"type": "text"}]},
            ),
            (
                'has "function_call", an older',
                {"role": "assistant", "function_call": {"name": "a"}},
            ),
            ('"tool_calls" is no list of objects', {"role": "assistant", "tool_calls": "a"}),
            ('"tool_calls" is no list of objects', {"role": "assistant", "tool_calls": [1]}),
            ('"tool_calls" is no list of objects', {"role": "assistant", "tool_calls": [{}]}),
            ('"weight" is 0.5, expected 0 or 1', {**ANSWER, "weight": 0.5}),
            ('"weight" is "0", expected 0 or 1', {**ANSWER, "weight": "0"}),
            ('"train" is "no", expected false or true', {**ANSWER, "train": "no"}),
            ('"train" is set, but only answers', {**USER, "train": True}),
            ('"from" is "bing", expected "human"', {"from": "bing", "value": "a"}),
            ('"from" is [1], expected "human"', {"from": [1], "value": "a"}),
        ):
            with self.subTest(message=message):
                self.refused("message 3: " + said, {"messages": [*TURNS, message]})

    def test_a_value_that_is_not_jsons_is_told(self):
        now = datetime.datetime(2026, 1, 1)
        self.refused("message 1: ", {"messages": [{"role": "user", "content": now}]})

    def refused(self, said, record):
        with self.assertRaises(BadInput) as raised:
            conversation(record)
        self.assertIn(said, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
