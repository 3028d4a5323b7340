"""The built programs and the scripts of validation/."""

import os
import pathlib
import subprocess

PROGRAMS = pathlib.Path(os.environ["SLUICE_PROGRAMS"])
TOP = pathlib.Path(__file__).resolve().parents[2]
VALIDATION = TOP / "validation"


def run(*words, **environment):
    """Runs a command to its end, without input; standard output and standard error are kept as text."""
    return subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
