"""What the Spectrum learned and how long it took, from the evidence of `make learn`, beside the net of 2019 as published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zxml.errors import VerifyError
from zxml.learn.seed.command import EPOCHS, SEED_PICTURES
from zxml.published import Learner

COUNTING = "count and correct"
SEED_NET = "the net of 2019 by tables"
HEADS = ("what learns", "learning takes", "accuracy", "of pictures", "source")


@dataclass(frozen=True)
class Lesson:
    """A moment in learning on the machine: so many seconds after it began, this share of so many pictures is read right.

    course: which way of learning; stage: what has been done by then.
    """

    course: str
    stage: str
    seconds: float
    accuracy: float
    pictures: int


def read_lessons(path: Path) -> tuple[Lesson, ...]:
    """Return the lessons in the evidence that `make learn` wrote; raise VerifyError if it is missing or not whole."""
    try:
        evidence = json.loads(path.read_text(encoding="utf-8"))
        counting = [
            Lesson(COUNTING, row["stage"], row["seconds"], row["accuracy_10000"], 10_000)
            for row in evidence["count_and_correct"]
        ]
        net = evidence["seed_network"]
        seconds, stage = EPOCHS * 60 * net["epoch_minutes"], f"{EPOCHS} epochs, mean of {net['seeds']} seeds"
        return (
            *counting,
            Lesson(SEED_NET, stage, seconds, net["accuracy_640_mean"], SEED_PICTURES),
            Lesson(SEED_NET, stage, seconds, net["accuracy_10000_mean"], 10_000),
        )
    except FileNotFoundError:
        raise VerifyError(f"{path}: no evidence yet; make the tape that learns with `make learn`") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VerifyError(f"{path}: not the evidence of this version ({error}); `make learn` makes it anew") from error


def milestones(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return the first and the last moment of counting and correcting, and all of the other courses."""
    counting = [lesson for lesson in lessons if lesson.course == COUNTING]
    return [*counting[:1], *counting[1:][-1:], *(lesson for lesson in lessons if lesson.course != COUNTING)]


def lesson_rows(lessons: Sequence[Lesson], learners: Sequence[Learner]) -> list[Sequence[str]]:
    """Return the rows under HEADS: the versions of 2019 as published, then what learns here."""
    published = [
        (
            f"2019, {learner.name}, {learner.digits} digits",
            f"{spell(learner.training_s)} ({learner.epochs} epochs)",
            "not said" if learner.accuracy is None else f"{100 * learner.accuracy:.1f} %",
            f"{learner.pictures:,}" if learner.pictures else "",
            f"[times.txt]({learner.source}): {learner.published}; {learner.caveat}",
        )
        for learner in learners
    ]
    ours = [
        (
            f"{lesson.course}: {lesson.stage}",
            spell(lesson.seconds),
            f"{100 * lesson.accuracy:.{1 if lesson.course == SEED_NET else 2}f} %",
            f"{lesson.pictures:,}",
            "`make learn`: " + ("the whole tape" if lesson.course == COUNTING else "the routines alone"),
        )
        for lesson in milestones(lessons)
    ]
    return [*published, *ours]


def spell(seconds: float) -> str:
    """Return a time as people say it: 8.6 s, 3 min 13 s, 3 h 27 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
