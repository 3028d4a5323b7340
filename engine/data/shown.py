"""How does a document look to people, with what is learned of it?"""

import itertools

GREEN, PLAIN = "\033[32m", "\033[0m"
MARKS = "[[", "]]"  # where there are no colours


def shown(place, tokens, decode, in_colour):
    """`decode` makes text of ids."""
    begin, end = (GREEN, PLAIN) if in_colour else MARKS
    parts = []
    pairs = zip(tokens.learned, tokens.ids, strict=True)
    for is_learned, run in itertools.groupby(pairs, key=lambda pair: pair[0]):
        text = decode([one for _, one in run])
        parts.append(f"{begin}{text}{end}" if is_learned else text)
    count = f"{len(tokens.ids):,} tokens, {sum(tokens.learned):,} learned"
    return f"--- {place}: {count}\n{''.join(parts)}\n"
