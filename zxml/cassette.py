"""From a model to a cassette: plan, assembly, program, tape. Everything lands in one folder, build/NAME/."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from zxml import ir
from zxml.data import Dataset
from zxml.errors import PlanError, SpecError
from zxml.files import product_folder, write_whole
from zxml.ir import IntegerModel
from zxml.reference import run
from zxml.spectrum import Spectrum
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.loading_screen import loading_screen
from zxml.z80gen.plan import Plan, plan
from zxml.z80gen.program import PICTURE_NBYTES, Facts, gallery
from zxml.z80gen.snapshot import REGISTERS, sna_bytes, z80_bytes
from zxml.z80gen.tape import tape_bytes
from zxml.z80gen.tzx import tzx_bytes
from zxml.z80gen.wav import wav_bytes

BUILD = Path("build")
FORMATS = ("tap", "tzx", "wav", "sna", "z80")
SAMPLE_PICTURES = 1000  # validation pictures on which the planner compares kernels


@dataclass(frozen=True, eq=False)
class Cassette:
    """A net as the machine gets it: its plan, the assembled image, and the folder that holds both and the tape."""

    model: IntegerModel
    plan: Plan
    assembly: Assembly
    folder: Path

    @property
    def tap(self) -> Path:
        """Where the tape lies."""
        return self.folder / f"{self.model.name}.tap"


def find_model(text: str) -> Path:
    """Return the model's file for a name or a path: the one built here, else the shipped one; raise SpecError if neither is."""
    built, shipped = BUILD / text / "model.npz", product_folder("models") / f"{text}.npz"
    for path in (Path(text), built, shipped):
        if path.is_file():
            return path
    raise SpecError(f"no model {text!r}: neither {built} nor {shipped}; train one with `python -m zxml.train {text}`")


def choose_plan(model: IntegerModel, dataset: Dataset) -> Plan:
    """Return the plan that is fastest on validation pictures; its program tells what the net reaches on the test pictures.

    Those figures are the reference's and the cost model's; verify shows that the machine gives the same. A net that leaves
    little room gets a program with fewer pictures. Raises PlanError if even then it does not fit.
    """
    sample, tests, labels = dataset.validation_images[:SAMPLE_PICTURES], dataset.test_images, dataset.test_labels
    for nbytes in PICTURE_NBYTES:
        try:
            chosen = plan(model, sample, gallery(model, tests, labels, nbytes=nbytes))
            break
        except PlanError:
            if nbytes == PICTURE_NBYTES[-1]:
                raise
    accuracy = float((run(model, tests).digits == labels).mean())
    facts = Facts(accuracy, float(chosen.tstates(tests).mean()), chosen.nbytes)
    return replace(chosen, program=gallery(model, tests, labels, facts, nbytes))


def emit_cassette(model: IntegerModel, dataset: Dataset, folder: Path) -> Cassette:
    """Write folder/model.npz and folder/asm/, assembled without an error."""
    chosen = choose_plan(model, dataset)
    ir.save(model, folder / "model.npz")
    return Cassette(model, chosen, build(chosen, folder / "asm"), folder)


def export_as(cassette: Cassette, form: str) -> Path:
    """Write the tape, or the machine that has loaded it, in one of FORMATS beside the tape and return the path."""
    path = cassette.tap.with_suffix(f".{form}")
    if form == "tap":
        return path
    if form in ("tzx", "wav"):
        write_whole(path, {"tzx": tzx_bytes, "wav": wav_bytes}[form](cassette.tap.read_bytes()))
        return path
    machine = Spectrum(cassette.tap)
    registers = {name: machine.register(name) for name in REGISTERS}
    write_whole(path, {"sna": sna_bytes, "z80": z80_bytes}[form](machine.memory, registers, machine.border))
    return path


def record(model: IntegerModel, dataset: Dataset, folder: Path) -> Cassette:
    """Write the model, its assembly and its tape to the folder."""
    cassette = emit_cassette(model, dataset, folder)
    screen = loading_screen(dataset.test_images[:16], model.name)
    assembly = cassette.assembly
    tape = tape_bytes(model.name[:10], assembly.image, assembly.org, assembly.symbols["app_start"], screen)
    write_whole(cassette.tap, tape)
    return cassette
