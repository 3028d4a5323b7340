"""Which text, completion or chat does a record hold? Records come in the forms of OpenAI, TRL,
ShareGPT and Alpaca; a chat leaves here in the form that chat templates take."""

import dataclasses
import json

from bad_input import BadInput, quoted, shortened
from records import without_nulls

FORMS = (
    'expected an object with "text", "messages", "conversations", "prompt" and "completion", or '
    '"instruction" and "output"'
)
PAIRS = {"instruction": ("instruction", "output"), "prompt": ("prompt", "completion")}
SHAREGPT_ROLES = {"human": "user", "gpt": "assistant"}
# Keys that change what the model sees, and that no form here has a place for.
UNUSED = (
    "functions",
    "documents",
    "image",
    "images",
    "audio",
    "audios",
    "video",
    "videos",
)
COLUMNS = {
    "text",
    "messages",
    "conversations",
    "prompt",
    "completion",
    "chosen",
    "rejected",
    "instruction",
    "input",
    "output",
    "history",
    "system",
    "tools",
    "chat_template_kwargs",
    *UNUSED,
}
# Values of a message that say that it is not learned; axolotl's and ms-swift's beside OpenAI's.
MARKS = {"weight": (0, 1), "train": (False, True), "loss": (False, True)}


@dataclasses.dataclass
class Chat:
    messages: list
    tools: list | None
    learned: list  # for each message whether it is an answer to learn
    arguments: dict = dataclasses.field(default_factory=dict)  # of the template, as enable_thinking

    @property
    def more(self):
        """That a template takes beside the messages."""
        return {"tools": self.tools, **self.arguments}


@dataclasses.dataclass
class Completion:
    """A text whose second part alone is learned."""

    prompt: str
    completion: str


def conversation(record):
    """The text, as a string, or the Completion or Chat."""
    if not isinstance(record, dict):
        raise BadInput(FORMS)
    record = {key: value for key, value in record.items() if value is not None}
    if "chosen" in record and "rejected" in record:
        raise BadInput(preference_words(record))
    forms = [key for key in ("text", "messages", "conversations") if key in record]
    forms += [first for first, pair in PAIRS.items() if all(key in record for key in pair)]
    if not forms:
        raise BadInput(f"{FORMS}; it has {quoted(list(record)) or 'nothing'}{converted(record)}")
    if len(forms) > 1:
        raise BadInput(f"has both {quoted(forms[:1])} and {quoted(forms[1:])}; keep one of them")
    unused = [key for key in UNUSED if record.get(key)]
    if unused:
        raise BadInput(f"has {quoted(unused)}, which cannot become tokens; remove it")
    if forms == ["text"]:
        return text_of(record)
    more = record.get("system"), tools_of(record.get("tools"))
    arguments = record.get("chat_template_kwargs", {})
    if not isinstance(arguments, dict):
        raise BadInput('"chat_template_kwargs" is no object')
    if forms == ["prompt"]:
        made = completion(record, *more)
    else:
        messages = alpaca_messages(record) if forms == ["instruction"] else record[forms[0]]
        made = chat(messages, forms[0], *more)
    if arguments and isinstance(made, Completion):
        raise BadInput('has "chat_template_kwargs" beside texts; write it as "messages"')
    return dataclasses.replace(made, arguments=arguments) if arguments else made


def converted(record):
    """The command that makes a form of two texts under other names."""
    texts = [key for key, value in record.items() if isinstance(value, str)]
    if len(texts) != 2 or not all(key.isidentifier() and key.isascii() for key in texts):
        return ""
    return f"; if these are question and answer: jq -c '{{prompt: .{texts[0]}, completion: .{texts[1]}}}'"


def preference_words(record):
    kept = "messages: .chosen"
    if isinstance(record["chosen"], str):
        kept = "prompt, completion: .chosen" if "prompt" in record else "text: .chosen"
    elif isinstance(record.get("prompt"), list):
        kept = "messages: (.prompt + .chosen)"
    return (
        'has a pair of answers, "chosen" and "rejected", which only preference training takes; to '
        f"learn the chosen one: jq -c '{{{kept}}}'"
    )


def completion(record, system, tools):
    """As TRL has it: two texts, or two lists of messages, of which the second is learned."""
    prompt, answer = record["prompt"], record["completion"]
    if isinstance(prompt, str) and isinstance(answer, str):
        if not answer:
            raise BadInput("the completion is empty; give some text, or remove the record")
        if system or tools:
            raise BadInput('has "system" or "tools" beside texts; write it as "messages"')
        return Completion(prompt, answer)
    if not isinstance(prompt, list) or not isinstance(answer, list):
        raise BadInput('"prompt" and "completion" are neither two strings nor two lists of messages')
    made = chat([*prompt, *answer], "prompt", system, tools)
    given = len(made.messages) - len(answer)
    made.learned[:given] = [False] * given
    if not any(made.learned):
        raise BadInput("the completion has no answer of the assistant; remove the record")
    return made


def text_of(record):
    if not isinstance(record["text"], str) or not record["text"]:
        raise BadInput("the text is empty or no string; give some, or remove it")
    return record["text"]


def alpaca_messages(record):
    """As LLaMA-Factory reads it: the input follows the instruction on a line of its own."""
    history = record.get("history", [])
    for key in ("instruction", "input", "output"):
        if not isinstance(record.get(key, ""), str):
            raise BadInput(f'"{key}" is no string')
    if not isinstance(history, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in history
    ):
        raise BadInput('"history" is no list of pairs of a question and an answer')
    question = "\n".join(filter(None, (record["instruction"], record.get("input"))))
    return [
        {"role": role, "content": text}
        for pair in (*history, (question, record["output"]))
        for role, text in zip(("user", "assistant"), pair)
    ]


def chat(messages, key, system, tools):
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise BadInput(f'"{key}" is no list of objects')
    made, learned = [], []
    if system:
        if not isinstance(system, str):
            raise BadInput('"system" is no string')
        if any("system" in (m.get("role"), m.get("from")) for m in messages):
            raise BadInput('has both "system" and a message of that role; keep one of them')
        made, learned = [{"role": "system", "content": system}], [False]
    for number, given in enumerate(messages, 1):
        try:
            one = message(given)
            learned.append(is_learned(given, one["role"]))
            made.append(one)
        except BadInput as error:
            raise BadInput(f"message {number}: {error}") from None
    if "assistant" not in (m["role"] for m in made):
        raise BadInput("no message is the assistant's, so nothing is learned; remove the record")
    if not any(learned):
        raise BadInput("no answer is to be learned; remove the record")
    return Chat(made, tools, learned)


def message(given):
    given = without_nulls(given, kept=("arguments",))
    if "from" in given and "role" not in given:
        given = from_sharegpt(given)
    if not isinstance(given.get("role"), str):
        raise BadInput('has no "role" that is a string')
    if given.get("function_call"):
        raise BadInput('has "function_call", an older form; write it as "tool_calls"')
    made = {key: value for key, value in given.items() if key not in MARKS}
    if "content" in made:
        made["content"] = joined(made["content"])
    calls = made.pop("tool_calls", None)
    if calls:
        made["tool_calls"] = tool_calls(calls)
    if "content" not in made and "tool_calls" not in made:
        raise BadInput('has no "content"')
    return made


def from_sharegpt(given):
    role = given["from"]
    if role not in (*SHAREGPT_ROLES, *SHAREGPT_ROLES.values(), "system"):
        raise BadInput(
            f'"from" is {shortened(json.dumps(role), 40)}, expected "human", "gpt" or "system"; '
            'write other roles as "messages" with "role" and "content"'
        )
    rest = {key: value for key, value in given.items() if key not in ("from", "value")}
    return {"role": SHAREGPT_ROLES.get(role, role), "content": given.get("value"), **rest}


def joined(content):
    """The text of OpenAI's parts; templates differ in whether they take parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise BadInput('"content" is neither a string nor a list of parts')
    for part in content:
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = shortened(json.dumps(part.get("type")), 40)
            raise BadInput(f'"content" has a part of type {kind}, expected "text" with a "text"')
    return "".join(part["text"] for part in content)


def tool_calls(calls):
    """With arguments as objects, as templates print them; OpenAI writes them as JSON in a string."""
    wrong = '"tool_calls" is no list of objects with a "function" that has a "name"'
    if not isinstance(calls, list):
        raise BadInput(wrong)
    made = []
    for call in calls:
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise BadInput(wrong)
        arguments = function.get("arguments", {})
        if isinstance(arguments, str):
            try:
                parsed = json.loads(arguments)
            except (ValueError, RecursionError):
                parsed = None
            if isinstance(parsed, dict):
                arguments = parsed
        function = {**function, "arguments": arguments}
        made.append({**call, "function": function} if "function" in call else function)
    return made


def as_openai_writes(chat):
    """For templates that take this form alone: a call has no text but null, and its arguments are
    JSON in a string."""

    def with_strings(function):
        arguments = function.get("arguments")
        if not isinstance(arguments, dict):
            return function
        return {**function, "arguments": json.dumps(arguments, ensure_ascii=False)}

    messages = []
    for one in chat.messages:
        if "tool_calls" in one:
            calls = [
                {**call, "function": with_strings(call["function"])}
                if "function" in call
                else with_strings(call)
                for call in one["tool_calls"]
            ]
            one = {**one, "content": one.get("content") or None, "tool_calls": calls}
        messages.append(one)
    return dataclasses.replace(chat, messages=messages)


def tools_of(tools):
    """LLaMA-Factory writes them as JSON in a string."""
    if isinstance(tools, str) and tools:
        try:
            tools = json.loads(tools)
        except (ValueError, RecursionError):
            raise BadInput('"tools" is a string, but no JSON') from None
    if not tools:
        return None
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise BadInput('"tools" is no list of objects')
    return without_nulls(tools, kept=("parameters",))


def is_learned(given, role):
    """Whether it is an answer, and no mark says that it is not to be learned."""
    for key, allowed in MARKS.items():
        mark = given.get(key)
        if mark is not None and not (isinstance(mark, (int, float)) and mark in allowed):
            shown, expected = shortened(json.dumps(mark), 40), json.dumps(allowed[0])
            raise BadInput(f'"{key}" is {shown}, expected {expected} or {json.dumps(allowed[1])}')
    for key in MARKS:
        if role != "assistant" and given.get(key):
            raise BadInput(f'"{key}" is set, but only answers of the assistant are learned')
    return role == "assistant" and all(given.get(key, True) in (None, True, 1) for key in MARKS)
