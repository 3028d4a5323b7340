"""How is the user told that an input is wrong?"""

MOST_CHARACTERS = 200  # of what an input or a library says


class BadInput(Exception):
    """One sentence for the user."""


def shortened(text, most=MOST_CHARACTERS):
    """On one line, with its end left out where it is longer."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 3] + "..."


def first_line(error):
    text = str(error).strip()
    line = text.partition("\n")[0].rstrip(".")
    if line.endswith(":"):  # the next lines say why
        line = text
    return shortened(line) or type(error).__name__


def quoted(words, most=5):
    """Names of an input, as in: "a", "b"."""
    shown = ", ".join(f'"{shortened(str(word), 40)}"' for word in words[:most])
    return shown + (", ..." if len(words) > most else "")
