"""What each command does, from parsed options to exit code."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

from zxml import bench as benchmark
from zxml import ir, lessons, plots, published
from zxml.browser import FOLDER_VARIABLE, serve
from zxml.cassette import BUILD, Cassette, choose_plan, emit_cassette, export_as, find_model, record, target_of
from zxml.console import track
from zxml.data import Dataset, load
from zxml.files import write_whole
from zxml.film import film_png
from zxml.gpu.device import devices as list_devices
from zxml.ir import IntegerModel
from zxml.player import Player, tour
from zxml.report import report as make_report
from zxml.verify import Evidence, read_evidence
from zxml.verify import verify as prove
from zxml.z80gen.target import Target

TASK = "mnist"
FUSE_OPTIONS = ("--graphics-filter", "2x")
MOST_REJECTED = 30  # choices that lost, as `show` prints them


def devices(options: argparse.Namespace) -> int:
    """List the OpenCL devices."""
    found = list_devices()
    if options.json:
        _print_json([asdict(device) for device in found])
    else:
        print("\n".join(map(str, found)))
    return 0


def show(options: argparse.Namespace) -> int:
    """Show a model, its plan and its memory map."""
    model, dataset, _, target = _subject(options)
    plan = choose_plan(model, dataset, target)
    if options.json:
        layers = [asdict(row) for row in model.ranges()]
        steps = [{"name": step.name, "kernel": step.kernel.name, "cost": formula} for step, formula, _ in plan.costs]
        memory = [{"bank": p.bank, "addr": p.addr, "nbytes": p.section.nbytes, "what": p.section.source} for p in plan.placed]
        rejected = [asdict(choice) for choice in plan.rejected]
        totals = {"tstates_mean": plan.tstates_mean, "tstates_worst": plan.tstates_worst, "nbytes": plan.nbytes}
        _print_json({"name": model.name, "layers": layers, "steps": steps, **totals, "memory": memory, "rejected": rejected})
        return 0
    print(model.show(), "", sep="\n")
    for step, formula, _ in plan.costs:
        print(f"{step.name}: {step.kernel.name}, {step.cost.nbytes:,} bytes, T-states {formula}")
    print(f"mean {plan.tstates_mean:,.0f} T-states on validation pictures, never over {plan.tstates_worst:,}", "", sep="\n")
    print(plan.memory_map(), "", sep="\n")
    print(*(f"not {choice.name}: {choice.reason}" for choice in plan.rejected[:MOST_REJECTED]), sep="\n")
    if len(plan.rejected) > MOST_REJECTED:
        print(f"and {len(plan.rejected) - MOST_REJECTED} more choices that lost: --json lists all")
    return 0


def emit(options: argparse.Namespace) -> int:
    """Write the assembly."""
    cassette = emit_cassette(*_subject(options))
    nbytes = sum(map(len, (cassette.assembly.image, *cassette.assembly.banks.values())))
    return _done(options, cassette.folder / "asm" / "main.asm", f"{nbytes:,} bytes of code and tables")


def tape(options: argparse.Namespace) -> int:
    """Write the tape, in each format asked for."""
    cassette = record(*_subject(options))
    _done_all(options, [export_as(cassette, form) for form in options.format])
    if not options.json:
        print(f"next: python -m zxml verify {cassette.model.name}")
    return 0


def film(options: argparse.Namespace) -> int:
    """Write an animated picture of the program."""
    cassette = record(*_subject(options))
    path = cassette.folder / "film.png"
    write_whole(path, film_png(tour(Player(cassette.tap, cassette.assembly.symbols, target=cassette.plan.target))))
    return _done(options, path, "an animated PNG; a browser shows it")


def verify(options: argparse.Namespace) -> int:
    """Prove the tape; 1 if anything differs."""
    model, dataset, folder, target = _subject(options)
    cassette = emit_cassette(model, dataset, folder, target)
    evidence = prove(cassette, dataset, track)
    if options.json:
        _print_json(asdict(evidence))
    else:
        print(_summary(evidence, cassette))
    return 1 if evidence.differences else 0


def report(options: argparse.Namespace) -> int:
    """Write the evidence and the plan as a page."""
    model, dataset, folder, target = _subject(options)
    evidence = read_evidence(folder / "evidence.json")
    if options.json:
        _print_json(asdict(evidence))
        return 0
    page = make_report(evidence, choose_plan(model, dataset, target))
    write_whole(folder / "report.md", page)
    print(page)
    return 0


def run(options: argparse.Namespace) -> int:
    """Open the tape in Fuse, or in a browser if JSSpeccy is there, or say how to load it."""
    model, dataset, folder, target = _subject(options)
    tap = folder / f"{model.name}.tap"
    if not tap.is_file():
        tap = record(model, dataset, folder, target).tap
    fuse = next(filter(None, map(shutil.which, ("fuse", "fuse-sdl", "fuse-gtk"))), None)
    if options.jsspeccy or (fuse is None and os.environ.get(FOLDER_VARIABLE)):
        serve(tap, options.jsspeccy, machine=128 if target.banks else 48)
    elif fuse:
        return subprocess.run(
            [fuse, "--machine", "128" if target.banks else "48", *FUSE_OPTIONS, str(tap)], check=False
        ).returncode
    else:
        print(f'{tap}: open it in any Spectrum emulator, or type LOAD "" and play it to a real one (CAPS SHIFT + SPACE stops).')
        print("Fuse is not installed; with it (Debian: apt install fuse-emulator-gtk) this command starts the tape at once.")
    return 0


def bench(options: argparse.Namespace) -> int:
    """Tell how fast the shipped nets are beside what others have published; with --plot, draw it."""
    dataset, build = load(TASK, options.data), options.out or BUILD
    files = [find_model(name) for name in options.nets] or benchmark.shipped_models()
    rows = [benchmark.measure(path, build, dataset, options.anew, track) for path in files]
    others, evidence = published.load(), build / "learn" / "evidence.json"
    learned = lessons.read_lessons(evidence) if options.plot or evidence.is_file() else ()
    if options.plot:
        return _done_all(options, plots.write_plots(options.plot, rows, learned, others))
    if options.json:
        ours = {"nets": list(map(asdict, rows)), "lessons": list(map(asdict, learned))}
        _print_json({**ours, "published": asdict(others)})
        return 0
    print(benchmark.page(rows, others.readers))
    print(benchmark.table(lessons.HEADS, lessons.lesson_rows(learned, others.learners)))
    if not learned:
        print("`make learn` adds what a Spectrum learns by itself")
    return 0


def _subject(options: argparse.Namespace) -> tuple[IntegerModel, Dataset, Path, Target]:
    """Return the model, its dataset, the folder to write to, and the machine."""
    model = ir.load(find_model(options.model))
    return model, load(TASK, options.data), options.out or BUILD / model.name, target_of(model.name, options.machine)


def _summary(evidence: Evidence, cassette: Cassette) -> str:
    low, high = (100 * share for share in evidence.interval95)
    frames, worst, folder = evidence.frames_mean, evidence.tstates_worst, cassette.folder
    name, kernel = (max(len(getattr(row, what)) for row in evidence.layers) for what in ("name", "kernel"))
    lines = [
        f"{evidence.exact_images:,} of {evidence.images:,} pictures exact, every score, in {len(evidence.emulators)} emulators",
        f"{evidence.correct:,} right: {100 * evidence.accuracy:.2f} % ({low:.2f} to {high:.2f} at 95 %)",
        f"{evidence.tstates_mean:,.0f} T-states on average ({frames:.2f} TV frames), at most {worst:,}",
        *(
            f"    {row.name:{name}}  {row.kernel:{kernel}}{row.tstates:11,.0f} T-states{row.nbytes:8,} bytes"
            for row in evidence.layers
        ),
        f"evidence in {folder / 'evidence.json'}, the program's screen in {folder / 'screen.png'}",
        *(f"DIFFERS: {difference}" for difference in evidence.differences),
    ]
    return "\n".join(lines)


def _done(options: argparse.Namespace, path: Path, note: str) -> int:
    if options.json:
        _print_json({"path": str(path)})
    else:
        print(f"{path}: {note}")
    return 0


def _done_all(options: argparse.Namespace, paths: list[Path]) -> int:
    if options.json:
        _print_json({"paths": [str(path) for path in paths]})
    else:
        print(*paths, sep="\n")
    return 0


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2))
