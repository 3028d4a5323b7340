"""How long are documents? Lines for people: a few numbers, and a histogram."""

import statistics

MOST_ROWS = 10
WIDTH = 40


def lengths_words(lengths, seq=None):
    """`lengths`: tokens of each document, at least one; `seq`: of a sequence."""
    ordered = sorted(lengths)
    long = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    lines = [
        f"a document has {statistics.median_low(ordered):,} tokens in the median, {long:,} at 90%, "
        f"{ordered[-1]:,} at most"
    ]
    if seq is not None and ordered[-1] > seq:
        longer = sum(length > seq for length in ordered)
        lines[0] += f"; {longer:,} of {len(ordered):,} have more than a sequence of {seq:,}"
    return lines + histogram(ordered)


def histogram(ordered):
    """Rows of doubling lengths: up to 64 tokens, up to 128 and so on, those at the ends joined."""
    counts = {}
    for length in ordered:
        end = 1 << (length - 1).bit_length()
        counts[end] = counts.get(end, 0) + 1
    ends = sorted(counts)
    if len(ends) < 2:
        return []
    first = max(ends[0], ends[-1] >> (MOST_ROWS - 1))
    rows = []
    end = first
    while end <= ends[-1]:
        rows.append((end, sum(n for e, n in counts.items() if e == end or (end == first and e < end))))
        end *= 2
    most = max(number for _, number in rows)
    left, right = len(f"{rows[-1][0]:,}"), len(f"{most:,}")
    return [
        f"  up to {end:>{left},} tokens  {number:>{right},}  {bar(number / most)}".rstrip()
        for end, number in rows
    ]


def bar(share):
    """At least one mark for what is there."""
    return "#" * max(round(WIDTH * share), share > 0)
