"""How does a model's chat template render a chat, and where in that text are the answers?"""

import inspect
import json
import re

from bad_input import BadInput, quoted, shortened
from conversation import as_openai_writes

REASONING = ("reasoning_content", "reasoning", "thinking")
END_OF_THOUGHTS = "</think>"
MOST_REMEMBERED = 1000
MARKED_TEMPLATE = re.compile(r"\{%[-+]?\s*generation\b")


class ChatTemplate:
    def __init__(self, tokenizer):
        self.used = tokenizer  # of transformers
        added = tokenizer.added_tokens_decoder.values()
        self.special = [token.content for token in added if token.special]
        self.rendered_roles = set()  # whose text is known to be rendered
        self.around_answers = {}  # of earlier chats: _found_as_before()

    def answers(self, chat):
        """The text of the chat, and where in it each answer to learn begins and ends."""
        if chat.arguments:
            self._check_arguments(chat.arguments)
        chat, whole = self._in_the_form_that_renders(chat)
        template = self.used.get_chat_template(None, chat.tools)
        if MARKED_TEMPLATE.search(template):
            return whole, self._marked_answers(template, chat)
        turns = [turn for turn, is_learned in enumerate(chat.learned) if is_learned]
        found = self._found_as_before(whole, chat, turns)
        if found is None:
            found = self._found_answers(whole, chat, turns)
            self._remember_around(whole, chat, turns, found)
        for turn, (_, end) in zip(turns, found, strict=True):
            self._check_that_no_result_is_inside(whole, chat, turn, end)
        return whole, found

    def _check_arguments(self, arguments):
        ours = inspect.signature(self.used.apply_chat_template).parameters
        wrong = [name for name in arguments if name in ours]
        if wrong:
            raise BadInput(
                f'"chat_template_kwargs" has {quoted(wrong)}, which is no argument of a template; '
                "remove it"
            )

    def _render(self, messages, more, prompts=False):
        """`more`: Chat.more."""
        return self.used.apply_chat_template(
            messages, **more, tokenize=False, add_generation_prompt=prompts
        )

    def _try(self, messages, more, prompts=False):
        """None for a part of a chat that the template refuses."""
        try:
            return self._render(messages, more, prompts)
        except MemoryError:
            raise
        except Exception:  # a template is a program, which may fail in any way
            return None

    def _in_the_form_that_renders(self, chat):
        try:
            return chat, self._whole(chat)
        except MemoryError:
            raise
        except Exception as error:
            other = as_openai_writes(chat)
            if other == chat:
                raise
            try:
                return other, self._whole(other)
            except (BadInput, MemoryError):
                raise
            except Exception:
                raise error from None

    def _whole(self, chat):
        whole = self._render(chat.messages, chat.more)
        self._check_that_nothing_is_left_out(chat, whole)
        return whole

    def _check_that_nothing_is_left_out(self, chat, whole):
        messages, more = chat.messages, chat.more
        if chat.tools and self._try(messages, {**more, "tools": None}) == whole:
            raise BadInput(
                'has "tools", which the chat template does not render; take the tokenizer of a model '
                "that uses tools, or remove them"
            )
        for key in ("tool_calls", *REASONING):
            turns = [turn for turn, message in enumerate(messages) if message.get(key)]
            # Templates may leave out the reasoning of earlier turns, but not that of the last one.
            shown = messages[: turns[-1] + 1] if turns else []
            without = [{k: v for k, v in message.items() if k != key} for message in shown]
            if turns and self._try(without, more) == self._try(shown, more) is not None:
                raise BadInput(
                    f'message {turns[-1] + 1}: has "{key}", which the chat template does not render; '
                    "write it as text or remove it"
                )
        place = 0
        for turn, message in enumerate(messages):
            text, role = message.get("content"), message["role"]
            if not isinstance(text, str) or not text.strip():
                continue
            begin, end = place_in(whole, text, place)
            # A short text may occur by chance, so that a role shows once that it is rendered.
            if begin >= place and role in self.rendered_roles:
                place = end
                continue
            if self._is_left_out(whole, chat, turn):
                raise BadInput(f"message {turn + 1}: the chat template leaves out its text; {remedy(role)}")
            if begin < 0:
                raise BadInput(
                    f"message {turn + 1}: its text does not occur in what the chat template renders, "
                    f"so that a part of it would be lost; {remedy(role)}"
                )
            self.rendered_roles.add(role)

    def _is_left_out(self, whole, chat, turn):
        """Whether another text in its place changes nothing."""
        marked = {**chat.messages[turn], "content": mark_beside(whole)}
        return self._try(replaced(chat.messages, turn, marked), chat.more) == whole

    def _marked_answers(self, template, chat):
        # Not return_assistant_tokens_mask: if an answer's last token is the first of all, that
        # marks all tokens that follow (transformers 5.17.0).
        from transformers.utils.chat_template_utils import render_jinja_template

        _, found = render_jinja_template(
            conversations=[chat.messages],
            tools=chat.tools,
            chat_template=template,
            return_assistant_tokens_mask=True,
            **self.used.special_tokens_map,
            **chat.arguments,
        )
        turns = [turn for turn, m in enumerate(chat.messages) if m["role"] == "assistant"]
        if all(chat.learned[turn] for turn in turns):
            return found[0]
        if len(found[0]) != len(turns):
            raise BadInput(
                f"the chat template marks {len(found[0])} answers for {len(turns)} messages of the "
                "assistant, so that those that are not to be learned cannot be told apart"
            )
        return [span for span, turn in zip(found[0], turns) if chat.learned[turn]]

    def _found_as_before(self, whole, chat, turns):
        """Where an earlier chat of texts alone had the same system message, its answers say which
        texts stand around those of this one, so that it is rendered once. None if there was no such
        chat, or an answer is not found so."""
        if not all(is_plain(message) for message in chat.messages):
            return None
        place, found, answers = 0, [], set(turns)
        for turn, message in enumerate(chat.messages):
            if turn not in answers:
                place = max(place, place_in(whole, message["content"], place)[1])
                continue
            before, inside, after = self.around_answers.get(kind_of_answer(chat, turn), ("", "", ""))
            # A text with an end of its own has no other, perhaps.
            if not before or message["content"].rstrip().endswith(tuple(self.special)):
                return None
            span = span_between(whole, before, inside, message["content"], after, place)
            if span is None:
                return None
            place = span[1]
            found.append(span)
        return found

    def _remember_around(self, whole, chat, turns, found):
        if not all(is_plain(message) for message in chat.messages):
            return
        place, spans = 0, dict(zip(turns, found, strict=True))
        for turn, message in enumerate(chat.messages):
            text = message["content"]
            if turn not in spans:
                place = max(place, place_in(whole, text, place)[1])
                continue
            begin, end = spans[turn]
            at = whole.find(text, begin, end)
            before, inside, after = whole[place:begin], whole[begin:at], whole[at + len(text) : end]
            place = end
            # Blanks around a text may be lost, so that those of the template cannot be told.
            is_clear = at >= 0 and turn > 0 and text == text.strip()
            if not is_clear or not before.strip() or not after.strip():
                continue
            if len(self.around_answers) >= MOST_REMEMBERED:
                self.around_answers.clear()
            self.around_answers[kind_of_answer(chat, turn)] = before.lstrip(), inside, after

    def _found_answers(self, whole, chat, turns):
        """As _answer() finds them, which renders all that is before an answer: a chat of 400
        exchanges would take a minute. Most are found as texts between what begins and what ends the
        first one."""
        found = {turn: self._answer(whole, chat, turn) for turn in {turns[0], turns[-1]}}
        around = self._around_answers(whole, chat, turns[0], *found[turns[0]])
        place, inner = found[turns[0]][1], set(turns[1:-1])
        for turn in range(turns[0] + 1, turns[-1]) if inner else ():
            message = chat.messages[turn]
            text = message.get("content") or ""
            if turn not in inner:
                place = max(place, place_in(whole, text, place)[1])
                continue
            span = None
            if around and is_plain(message):
                before, after = around
                span = span_between(whole, before, "", text, after, place)
            found[turn] = span or self._answer(whole, chat, turn)
            place = max(place, found[turn][1])
        return [found[turn] for turn in turns]

    def _around_answers(self, whole, chat, turn, begin, end):
        """The texts that begin and end this answer, if it is alone between them, and nothing else
        could be taken for them."""
        message = chat.messages[turn]
        if turn == 0 or not is_plain(message):
            return None
        without = self._try(chat.messages[:turn], chat.more)
        text = message["content"].strip()
        if without is None or not whole.startswith(without) or begin <= len(without):
            return None
        before, after = whole[len(without) : begin], whole[begin + len(text) : end]
        if whole[begin : begin + len(text)] != text or not before.strip() or not after.strip():
            return None
        return before, after

    def _answer(self, whole, chat, turn):
        """An answer is what its message adds to the prompt for it."""
        messages, more = chat.messages, chat.more
        prompt = self._try(messages[:turn], more, prompts=True) if turn > 0 else None
        begin = len(prompt) if prompt is not None and whole.startswith(prompt) else None
        is_last = turn + 1 == len(messages)
        answered = whole if is_last else self._try(messages[: turn + 1], more)
        if None not in (begin, answered) and whole.startswith(answered) and begin <= len(answered):
            has_end = answered.rstrip().endswith(tuple(self.special))
            after = "" if has_end else whole[len(answered) :]
            return begin, len(answered) + self._length_of_end(after, "")
        return self._answer_by_its_place(whole, chat, turn, begin, answered or "")

    def _check_that_no_result_is_inside(self, whole, chat, turn, end):
        """Some templates print the result of a call between the call and its text."""
        mark = mark_beside(whole)
        for after, message in enumerate(chat.messages[turn + 1 :], turn + 1):
            if message["role"] != "tool":
                return
            marked = replaced(chat.messages, after, {**message, "content": mark})
            rendered = self._try(marked, chat.more)
            if rendered is not None and rendered[:end] != whole[:end]:
                raise BadInput(
                    f"the chat template prints message {after + 1} inside the answer of message "
                    f"{turn + 1}; mark answers in the template with {{% generation %}}"
                )

    def _answer_by_its_place(self, whole, chat, turn, begin, answered):
        """For templates that render an answer otherwise when more follows."""
        mark = mark_beside(whole)
        for rendered, marked in self._with_marks(chat, turn, mark):
            if rendered is None or marked is None:
                continue
            before, found, after = marked.partition(mark)
            first = len(before) if begin is None else begin
            end = len(rendered) - len(after)
            if (
                found
                and first <= len(before)
                and first <= end
                and rendered.endswith(after)
                and whole.startswith(rendered[:end])
                and whole.startswith(before[:first])
            ):
                return first, end + self._length_of_end(after, answered)
        raise BadInput(
            f"the chat template changes message {turn + 1} when more follows, so that the answer "
            "cannot be found; mark answers in the template with {% generation %}"
        )

    def _with_marks(self, chat, turn, mark):
        """Pairs of renders that differ in the answer alone, which is the mark in the second."""
        messages, more = chat.messages, chat.more
        answer = {"role": "assistant", "content": mark}
        yield self._try(messages, more), self._try(replaced(messages, turn, answer), more)
        if "tool_calls" not in messages[turn]:  # which may follow the text
            marked = {**messages[turn], "content": mark}
            yield self._try(messages, more), self._try(replaced(messages, turn, marked), more)
        question = {"role": "user", "content": "?"}
        yield (
            self._try([*messages[: turn + 1], question], more),
            self._try([*messages[:turn], answer, question], more),
        )

    def _length_of_end(self, after, answered):
        """The special token that ends an answer, and the blanks that the template adds."""
        blank = len(after) - len(after.lstrip())
        tokens = [len(token) for token in self.special if after.startswith(token, blank)]
        end = blank + max(tokens) if tokens else 0
        blanks = answered[len(answered.rstrip()) :]
        return end + (len(blanks) if after.startswith(blanks, end) else 0)


def place_in(whole, text, place):
    """Where the text begins and ends in the rendered chat, after `place` if it is there; -1: it does
    not occur. Templates may write it as JSON, and leave out the thoughts that it begins with."""
    forms = [text.strip(), *(json.dumps(text, ensure_ascii=a)[1:-1] for a in (False, True))]
    answer = text.rpartition(END_OF_THOUGHTS)[2].strip()
    if END_OF_THOUGHTS in text and answer:
        forms.append(answer)
    for form in forms:
        found = whole.find(form, place)
        if found < 0:
            found = whole.find(form)
        if found >= 0:
            return found, found + len(form)
    return -1, -1


def span_between(whole, before, inside, text, after, place):
    """Where the answer of this text begins and ends, the first from `place` on; None if it is not
    there. Templates write a text as it is, or without the blanks around it."""
    found = []
    for form in {text, text.strip()}:
        begin = whole.find(before + inside + form + after, place)
        if begin >= 0:
            begin += len(before)
            found.append((begin, begin + len(inside) + len(form) + len(after)))
    return min(found, default=None)


def kind_of_answer(chat, turn):
    """Templates treat answers alike that have this in common."""
    first = chat.messages[0]
    system = None if first["role"] in ("user", "assistant") else first["content"]
    shared = json.dumps([chat.more, system], sort_keys=True, default=str)
    return turn + 1 == len(chat.messages), shared


def is_plain(message):
    """Whether a message is a text alone, with no thoughts in it."""
    text = message.get("content")
    others = ("tool_calls", *REASONING)
    return (
        isinstance(text, str)
        and bool(text.strip())
        and END_OF_THOUGHTS not in text
        and not any(message.get(key) for key in others)
    )


def remedy(role):
    if role == "assistant":
        return "change or remove the text, or the record"
    return f'give another role than "{shortened(role, 40)}", or remove the message'


def replaced(messages, turn, message):
    return [*messages[:turn], message, *messages[turn + 1 :]]


def mark_beside(whole):
    """A text that the chat does not hold."""
    mark = "@answer-of-the-assistant@"
    while mark in whole:
        mark += "@"
    return mark
