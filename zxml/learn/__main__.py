"""`python -m zxml.learn`: make the tape that learns, prove it, film it, and tell what was found."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zxml import data
from zxml.console import guard, track
from zxml.files import write_whole
from zxml.film import film_png
from zxml.learn.command import PASSES
from zxml.learn.machine import Learner
from zxml.learn.proof import Proof, prove, write_evidence
from zxml.learn.seed.evidence import measure
from zxml.learn.tape import BUILD, record
from zxml.learn.teach_evidence import teach_evidence
from zxml.learn.tour import tour

FILM_MS = 700


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m zxml.learn", description="make the tape that learns, and prove it")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of four IDX files to use instead")
    parser.add_argument("--out", type=Path, default=BUILD, metavar="FOLDER", help=f"where it all goes (default: {BUILD})")
    options = parser.parse_args(arguments)
    return guard(lambda: run(options.out, options.data))


def run(folder: Path, files: Path | None) -> int:
    """Write the tape and its evidence to a folder; raise ZxmlError for whatever is not as it should be."""
    dataset = data.load("mnist", files)
    tape = record(dataset, folder)
    print(f"{tape.tap}: {len(tape.train):,} pictures to learn from, {len(tape.test)} to read")
    proof = prove(tape, dataset, PASSES, track)
    print(table(proof), flush=True)
    write_whole(folder / "film.png", film_png(tour(Learner(tape)), FILM_MS))
    write_evidence(tape, proof, {"teach": teach_evidence(dataset), "seed_network": measure()})
    return 0


def table(proof: Proof) -> str:
    """Return the stages as lines, with a title."""
    title = f"{'stage':<8}  {'exact pictures':>14}  {'T-states':>13}  {'seconds':>7}  {'10,000 test pictures':>20}"
    lines = [
        f"{row.stage:<8}  {row.exact_pictures:>5,} of {row.pictures:>5,}  {row.tstates_total:>13,}  {row.seconds:>7.2f}  "
        f"{row.accuracy_10000:>20.2%}"
        for row in proof.rows
    ]
    return "\n".join([title, *lines])


if __name__ == "__main__":
    sys.exit(main())
