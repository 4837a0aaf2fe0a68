"""python -m zxml bench-train: measure, print a table, keep the rows as JSON; or render the page of what was kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from zxml.console import guard
from zxml.data import load
from zxml.errors import SpecError
from zxml.files import check_writable, write_whole
from zxml.gpu.device import choose

if TYPE_CHECKING:
    from zxml.bench_train import Bench, Row

PAGE = Path("docs") / "benchmarks.md"
TASK = "mnist"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("--device", metavar="D", help="a number or name from `devices` (default: the first)")
    parser.add_argument("--nets", nargs="+", metavar="NET", help="only these (default: all)")
    parser.add_argument("--engines", nargs="+", metavar="ENGINE", help="only these (default: all that are installed)")
    parser.add_argument(
        "--epochs", type=int, default=5, metavar="N", help="of each training; the first counts not (default: 5)"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="four IDX files to use instead of the package's MNIST")
    parser.add_argument("--out", type=Path, default=Path("bench"), metavar="DIR", help="where runs are kept (default: bench)")
    parser.add_argument("--docs", action="store_true", help=f"measure nothing; write {PAGE} from the runs that are kept")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command where only NumPy, pyopencl and tqdm are installed: python -m zxml.bench_command."""
    parser = argparse.ArgumentParser(prog="python -m zxml.bench_command", description="Measure training beside other engines.")
    add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON on standard output, for programs")
    options = parser.parse_args(arguments)
    return guard(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Do what the options say and return the exit code."""
    from zxml.bench_page import render_folder, table  # they need OpenCL, which other commands do without
    from zxml.bench_train import ENGINES, NETS, PRODUCT

    if options.docs:
        write_whole(PAGE, render_folder(options.out))
        print(f"{PAGE}: what {options.out} holds")
        return 0
    nets = _pick(options.nets, (*NETS, PRODUCT), "net")
    engines = _pick(options.engines, ENGINES, "engine")
    if options.epochs < 1:
        raise SpecError(f"--epochs: wanted at least 1, got {options.epochs}")
    check_writable(options.out)
    bench = _measure(choose(options.device), nets, engines, options.epochs, options.data)
    path = options.out / bench.file_name
    write_whole(path, bench.to_json())
    if options.json:
        print(bench.to_json(), end="")
    else:
        print(*table(bench.rows), *(f"left out: {line}" for line in bench.left_out), sep="\n")
        print(f"{path}: written; next: python -m zxml bench-train --docs")
    return 0


def _measure(device: Any, nets: list[str], engines: list[str], epochs: int, folder: Path | None) -> Bench:
    from zxml.bench_train import Bench, is_gpu, list_jobs, list_versions, run_jobs

    kind = "gpu" if is_gpu(device) else "cpu"
    jobs, left_out = list_jobs(kind, nets, engines)
    dataset = load(TASK, folder)
    with tqdm(total=len(jobs) * epochs, unit=" epochs", leave=False, disable=None) as bar:

        def show(row: Row) -> None:
            line = f"{row.net}, {row.engine}: {row.ms_per_epoch:.2f} ms an epoch, {100 * row.accuracy:.2f} % right"
            tqdm.write(line, file=sys.stderr)

        rows, failed = run_jobs(jobs, dataset, device, epochs, lambda epoch: bar.update(), show)
    name, units = device.name.strip(), device.max_compute_units
    return Bench(name, kind, units, epochs, list_versions(jobs), rows, left_out + failed)


def _pick(wanted: list[str] | None, known: tuple[str, ...], what: str) -> list[str]:
    """Return the names wanted, or all; raise SpecError for one nobody knows."""
    for name in wanted or ():
        if name not in known:
            raise SpecError(f"unknown {what} {name!r}; there are: {', '.join(known)}")
    return list(wanted or known)


if __name__ == "__main__":
    sys.exit(main())
