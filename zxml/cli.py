"""python -m zxml COMMAND: what there is to do with a trained net."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from zxml import __version__, bench_command, commands
from zxml.cassette import FORMATS
from zxml.console import guard
from zxml.spec import MACHINES

EPILOG = """\
the whole path:
  python -m zxml.train mnist       train a net; writes build/mnist/model.npz
  python -m zxml tape mnist        compile it and make a tape; writes build/mnist/mnist.tap
  python -m zxml verify mnist      prove the tape on all 10,000 test pictures; writes build/mnist/evidence.json
  python -m zxml report mnist      read what was proved
  python -m zxml run mnist         load it in an emulator

MODEL is a name (build/NAME/model.npz, else a shipped net) or the path of a model file.
"""


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser; each command carries its function in `run`."""
    top = argparse.ArgumentParser(
        prog="python -m zxml",
        description="Machine learning for the ZX Spectrum: compile a trained net to Z80 code, and prove it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"zxml {__version__}")
    subs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str, model: bool = True) -> argparse.ArgumentParser:
        sub = subs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if model:
            sub.add_argument("model", metavar="MODEL", help="a name, such as mnist, or the path of a model.npz")
            sub.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: build/NAME)")
            sub.add_argument("--machine", choices=MACHINES, help="a 48K or a 128K Spectrum (default: as models/NAME.toml says)")
            sub.add_argument("--data", type=Path, metavar="DIR", help="four IDX files to use instead of the package's MNIST")
        sub.add_argument("--json", action="store_true", help="print JSON on standard output, for programs")
        sub.set_defaults(run=run)
        return sub

    command("devices", commands.devices, "list the OpenCL devices that can train", model=False)
    command("show", commands.show, "show a net's layers, its kernels, what lost, and where everything lies in memory")
    command("emit", commands.emit, "write the net as Z80 assembly to build/NAME/asm/")
    tape = command("tape", commands.tape, "make a tape that a Spectrum loads: build/NAME/NAME.tap")
    tape.add_argument(
        "--format",
        nargs="+",
        choices=FORMATS,
        default=["tap"],
        help="also as TZX, as sound for a real machine (wav), or as a snapshot (sna, z80)",
    )
    command("verify", commands.verify, "prove the tape on every test picture in two emulators; writes evidence.json")
    run = command("run", commands.run, "open the tape in the Fuse emulator or in a browser, or say how to load it elsewhere")
    run.add_argument("--jsspeccy", type=Path, metavar="DIR", help="a JSSpeccy you have built, to play in a browser with")
    command("report", commands.report, "print the evidence, the costs, the memory map and what lost; writes report.md")
    command("film", commands.film, "make an animated picture of the program at work: build/NAME/film.png")
    _add_bench(
        command("bench", commands.bench, "compare the shipped nets with each other and with what others published", False)
    )
    bench = command(
        "bench-train", bench_command.run, "measure training beside PyTorch, JAX, NumPy and scikit-learn", model=False
    )
    bench_command.add_options(bench)
    return top


def _add_bench(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("nets", nargs="*", metavar="MODEL", help="names or paths of models (default: every shipped net)")
    sub.add_argument("--anew", action="store_true", help="prove each tape again, even where its evidence is there")
    sub.add_argument("--plot", type=Path, metavar="DIR", help="write accuracy.svg and learning_time.svg there instead")
    sub.add_argument("--out", type=Path, metavar="DIR", help="where the nets are built (default: build)")
    sub.add_argument("--data", type=Path, metavar="DIR", help="four IDX files to use instead of the package's MNIST")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for an error, 2 for wrong usage."""
    options = parser().parse_args(arguments)
    return guard(lambda: options.run(options))
