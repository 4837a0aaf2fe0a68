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
from zxml.spec import MACHINES, read_spec
from zxml.spectrum import Spectrum
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.loading_screen import loading_screen
from zxml.z80gen.plan import Plan, plan
from zxml.z80gen.program import PICTURE_NBYTES, Facts, gallery
from zxml.z80gen.snapshot import REGISTERS, Paged, sna_bytes, z80_bytes
from zxml.z80gen.tape import tape_bytes
from zxml.z80gen.target import SPECTRUM_48K, SPECTRUM_128K, TARGETS, Target
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


def target_of(name: str, machine: str | None = None) -> Target:
    """Return the machine asked for, a key of TARGETS, else that of the shipped spec of a net's name, else a 48K."""
    spec = product_folder("models") / f"{name}.toml"
    return TARGETS[machine or (read_spec(spec).machine if spec.is_file() else MACHINES[0])]


def choose_plan(model: IntegerModel, dataset: Dataset, target: Target = SPECTRUM_48K) -> Plan:
    """Return the plan that is fastest on validation pictures; its program tells what the net reaches on the test pictures.

    Those figures are the reference's and the cost model's; verify shows that the machine gives the same. A net that leaves
    little room gets a program with fewer pictures. Raises PlanError if even then it does not fit, and says so if it would fit a
    128K.
    """
    tests, labels = dataset.test_images, dataset.test_labels
    try:
        chosen, nbytes = _fit(model, dataset, target)
    except PlanError as error:
        if target is SPECTRUM_48K and _fits_128k(model, dataset):
            raise PlanError(f'{error}; it fits a 128K: --machine 128K, or machine = "128K" in its spec') from None
        raise
    accuracy = float((run(model, tests).digits == labels).mean())
    facts = Facts(accuracy, float(chosen.tstates(tests).mean()), chosen.nbytes)
    return replace(chosen, program=gallery(model, tests, labels, facts, nbytes, target))


def _fit(model: IntegerModel, dataset: Dataset, target: Target) -> tuple[Plan, tuple[int, int]]:
    """Return a plan with as many pictures as fit, and the room for these."""
    for nbytes in PICTURE_NBYTES:
        program = gallery(model, dataset.test_images, dataset.test_labels, nbytes=nbytes, target=target)
        try:
            return plan(model, dataset.validation_images[:SAMPLE_PICTURES], program, target), nbytes
        except PlanError as error:
            missing = error
    raise missing


def _fits_128k(model: IntegerModel, dataset: Dataset) -> bool:
    try:
        _fit(model, dataset, SPECTRUM_128K)
    except PlanError:
        return False
    return True


def emit_cassette(model: IntegerModel, dataset: Dataset, folder: Path, target: Target = SPECTRUM_48K) -> Cassette:
    """Write folder/model.npz and folder/asm/, assembled without an error."""
    chosen = choose_plan(model, dataset, target)
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
    machine = Spectrum(cassette.tap, target=cassette.plan.target)
    registers = {name: machine.register(name) for name in REGISTERS}
    paged = Paged([machine.bank(bank) for bank in range(8)], machine.paging) if cassette.plan.target.banks else None
    write_whole(path, {"sna": sna_bytes, "z80": z80_bytes}[form](bytes(machine.memory), registers, machine.border, paged))
    return path


def record(model: IntegerModel, dataset: Dataset, folder: Path, target: Target = SPECTRUM_48K) -> Cassette:
    """Write the model, its assembly and its tape to the folder."""
    cassette = emit_cassette(model, dataset, folder, target)
    screen = loading_screen(dataset.test_images[:16], model.name)
    assembly = cassette.assembly
    start = assembly.symbols["app_start"]
    tape = tape_bytes(model.name[:10], assembly.image, assembly.org, start, screen, assembly.banks, assembly.symbols)
    write_whole(cassette.tap, tape)
    return cassette
