"""Which tokenizer do the tests of chat templates use? A token a byte, with the special tokens of
ChatML."""

import sys
import pathlib

import tokenizers
import transformers

sys.path.append(str(pathlib.Path(__file__).parents[2] / "engine/data"))

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|bos|>"]
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Qwen3's: the last answer alone has a place for thoughts, and texts must be strings.
THINKING = """
{%- if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}
{%- for m in messages %}
{%- set text = m.content if m.content is string else '' %}
{%- if m.role == 'assistant' %}<|im_start|>assistant
{% if loop.last %}<think>

</think>

{% endif %}{{ text }}
{%- for c in m.tool_calls or [] %}{{ '\\n' if text or not loop.first else '' -}}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}<|im_end|>
{% else %}<|im_start|>{{ m.role }}
{{ text }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
# As Llama 3.1's: the key alone says that there are calls.
CALLS = (
    "{{ bos_token }}{% for m in messages %}{% if 'tool_calls' in m %}"
    "{% if m.tool_calls | length != 1 %}{{ raise_exception('one call at a time') }}{% endif %}"
    "<|im_start|>assistant\n<call>{{ m.tool_calls[0].function.name }}</call><|im_end|>\n"
    "{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_tokenizer(template, begin=None):
    """`begin`: the special token that begins each text, or none."""
    words = [*SPECIAL, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    ids = {word: number for number, word in enumerate(words)}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(ids, []))
    model.add_special_tokens(SPECIAL)
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    if begin:
        model.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{begin} $A", special_tokens=[(begin, ids[begin])]
        )
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, eos_token="<|im_end|>", bos_token=begin
    )
    made.chat_template = template
    return made
