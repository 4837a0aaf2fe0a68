"""The proof itself: it passes what is right, and it must be able to fail."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.feature_nets import with_looks
from tests.nets import extreme_pictures, random_model, random_pictures
from zxml.cassette import Cassette, record
from zxml.classify import classify_all, course_of
from zxml.data import Dataset
from zxml.errors import VerifyError, ZxmlError
from zxml.reference import run
from zxml.report import report
from zxml.verify import Evidence, interval95, read_evidence, verify

PICTURES = np.concatenate([extreme_pictures(), random_pictures(5, 26)])


@pytest.fixture
def dataset() -> Dataset:
    labels = run(random_model(1, units=12), PICTURES).digits.astype(np.uint8)  # so that the net is always right
    return Dataset("test", PICTURES, labels, PICTURES, labels, PICTURES, labels)


@pytest.fixture
def cassette(dataset: Dataset, tmp_path: Path) -> Cassette:
    return record(random_model(1, units=12), dataset, tmp_path)


def patched(cassette: Cassette, addr: int, flip: int) -> None:
    """Flip bits of one byte of the code on the tape, and put the block's parity right."""
    tape = bytearray(cassette.tap.read_bytes())
    image = cassette.assembly.image
    block = len(tape) - len(image) - 1  # the last block: data, then parity
    tape[block + addr - cassette.assembly.org] ^= flip
    tape[-1] ^= flip
    cassette.tap.write_bytes(tape)


def test_a_right_tape_is_proved_and_leaves_evidence_and_a_picture(cassette: Cassette, dataset: Dataset) -> None:
    evidence = verify(cassette, dataset)
    assert evidence.differences == ()
    assert evidence.exact_images == evidence.images == evidence.correct == len(PICTURES)
    assert evidence.loads_through_rom
    assert evidence.returns_to_basic
    written = json.loads((cassette.folder / "evidence.json").read_text())
    assert written["tstates_mean"] == evidence.tstates_mean == cassette.plan.tstates(PICTURES).mean()
    assert sum(layer["tstates"] for layer in written["layers"]) == pytest.approx(evidence.tstates_mean)
    assert [row["on_time_images"] for row in written["emulators"]] == [len(PICTURES)] * 2
    assert (cassette.folder / "screen.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_tells_what_the_evidence_says(cassette: Cassette, dataset: Dataset) -> None:
    evidence = verify(cassette, dataset)
    assert read_evidence(cassette.folder / "evidence.json") == evidence
    page = report(evidence, cassette.plan)
    for words in ("40, of which 40 exact", "100.00 %", "edge_sum_4", "0x8000", "T-states slower", evidence.tap_sha256):
        assert words in page


def test_missing_or_foreign_evidence_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match=r"no evidence yet; prove the tape"):
        read_evidence(tmp_path / "evidence.json")
    (tmp_path / "evidence.json").write_text('{"layers": [], "emulators": []}')
    with pytest.raises(VerifyError, match=r"not the evidence of this version"):
        read_evidence(tmp_path / "evidence.json")


def fails(cassette: Cassette, dataset: Dataset) -> Evidence:
    evidence = verify(cassette, dataset)
    assert not evidence.loads_through_rom
    assert evidence.exact_images < evidence.images
    return evidence


def test_a_flipped_bit_in_a_weight_is_found_and_the_layer_named(cassette: Cassette, dataset: Dataset) -> None:
    patched(cassette, cassette.assembly.symbols["edge_weight_page"] + 100, 0x40)
    evidence = fails(cassette, dataset)
    assert "in layer levels, unit 0: " in " ".join(evidence.differences)


def test_a_flipped_bit_in_a_product_is_found_and_the_layer_named(cassette: Cassette, dataset: Dataset) -> None:
    symbols = cassette.assembly.symbols
    patched(cassette, symbols["dense_product_page"] + symbols["DENSE_BIAS"], 1)
    evidence = fails(cassette, dataset)
    assert "in layer scores, unit 0: " in " ".join(evidence.differences)


def test_a_flipped_byte_in_the_code_is_found(cassette: Cassette, dataset: Dataset) -> None:
    patched(cassette, cassette.assembly.symbols["edge_sum_unit"] - 3, 0x02)  # another last page
    fails(cassette, dataset)


def test_code_that_never_returns_is_found(cassette: Cassette, monkeypatch: pytest.MonkeyPatch) -> None:
    end = cassette.assembly.symbols["classify_3"]
    image = bytearray(cassette.assembly.image)
    image[end - cassette.assembly.org] ^= 0xC9 ^ 0x76  # halt for ret
    course = course_of(cassette.plan, dataclasses.replace(cassette.assembly, image=bytes(image)))
    with pytest.raises(VerifyError, match="the code never reached"):
        classify_all(course, PICTURES[:1])
    monkeypatch.setattr("zxml.classify.PART", 20)  # more than one part: in processes of their own
    with pytest.raises(VerifyError, match="the code never reached"):
        classify_all(course, PICTURES)


def test_many_pictures_are_classified_in_several_processes_to_the_same_end(
    cassette: Cassette, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []

    def track(numbers: Iterable[int], title: str) -> Iterator[int]:
        for number in numbers:
            shown.append(number)
            yield number

    course = course_of(cassette.plan, cassette.assembly)
    here = classify_all(course, PICTURES, track)
    assert not shown
    monkeypatch.setattr("zxml.classify.PART", 15)
    there = classify_all(course, PICTURES, track)
    assert shown == [*range(2 * len(PICTURES))]
    for one, other in zip(here, there, strict=True):
        for name, values in vars(one).items():
            np.testing.assert_array_equal(vars(other)[name], values)


class Deadly(int):
    """A number that kills the process that it is sent to."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


def test_a_killed_process_is_one_line(cassette: Cassette, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zxml.classify.PART", 15)
    course = dataclasses.replace(course_of(cassette.plan, cassette.assembly), classes=Deadly(10))
    with pytest.raises(VerifyError, match="a process that classifies pictures was killed"):
        classify_all(course, PICTURES)


def test_slower_code_with_right_scores_is_found(cassette: Cassette, dataset: Dataset) -> None:
    first = cassette.plan.steps[-1]
    cost = dataclasses.replace(first.cost, fixed=first.cost.fixed - 4)
    steps = (*cassette.plan.steps[:-1], dataclasses.replace(first, cost=cost))
    other = dataclasses.replace(cassette, plan=dataclasses.replace(cassette.plan, steps=steps))
    evidence = verify(other, dataset)
    assert evidence.exact_images == evidence.images
    assert "T-states, planned were" in evidence.differences[0]


def test_the_row_of_further_looks_holds_their_time_and_a_fault_in_a_first_look_is_found_there(
    dataset: Dataset, tmp_path: Path
) -> None:
    made = record(with_looks(random_model(1, units=12)), dataset, tmp_path)
    evidence = verify(made, dataset)
    assert evidence.differences == ()
    times = {row.name: row.tstates for row in evidence.layers}
    assert list(times) == ["hidden", "scores", "looks", "digit"]
    assert sum(times.values()) == pytest.approx(evidence.tstates_mean)
    assert times["looks"] > 3 * (times["hidden"] + times["scores"])
    symbols = made.assembly.symbols
    patched(made, symbols["dense_product_page"] + symbols["DENSE_BIAS"], 1)
    assert "in layer scores, unit 0: " in " ".join(fails(made, dataset).differences)


def test_a_damaged_tape_does_not_load(cassette: Cassette, dataset: Dataset) -> None:
    cassette.tap.write_bytes(cassette.tap.read_bytes()[:2000])
    with pytest.raises(ZxmlError, match=r"random1.tap"):
        verify(cassette, dataset)


def test_the_same_model_gives_the_same_tape(cassette: Cassette, dataset: Dataset, tmp_path: Path) -> None:
    again = record(cassette.model, dataset, tmp_path / "again")
    assert again.tap.read_bytes() == cassette.tap.read_bytes()


def test_the_interval_of_9850_right_of_10000() -> None:
    low, high = interval95(9850, 10000)
    assert (round(low, 4), round(high, 4)) == (0.9824, 0.9872)
