"""What a person sees: one line for an error, a bar for whatever takes a while."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

from tqdm import tqdm

from zxml.errors import ZxmlError


def guard(action: Callable[[], int]) -> int:
    """Run an action and return its exit code; an error prints as one line and gives 1, Ctrl-C 130.

    With ZXML_TRACEBACK=1 in the environment an error shows its traceback instead.
    """
    try:
        return action()
    except ZxmlError as error:
        if os.environ.get("ZXML_TRACEBACK"):
            raise
        print(f"zxml: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # what reads the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("zxml: stopped", file=sys.stderr)
        return 130


def track(numbers: Iterable[int], title: str) -> Iterable[int]:
    """Pass numbers on under a progress bar on standard error, drawn only on a terminal."""
    yield from tqdm(numbers, desc=title, unit=" pictures", leave=False, disable=None)
