"""The tape of a net that needs a 128K: how it loads, what machines without banks say, and the proof."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skoolkit import ROM48, tap2sna
from skoolkit.basic import BasicLister
from skoolkit.snapshot import Snapshot
from skoolkit.tape import parse_tap

from tests.contracts import read_contracts
from tests.feature_nets import hidden_cascade
from tests.nets import extreme_pictures, random_pictures
from zxml.cassette import Cassette, choose_plan, export_as, record, target_of
from zxml.classify import processors
from zxml.cli import main
from zxml.data import Dataset
from zxml.emulator import call
from zxml.errors import PlanError, SpecError
from zxml.player import DIGITS, Player
from zxml.reference import run
from zxml.report import report
from zxml.spec import MACHINES, read_spec
from zxml.spectrum import Spectrum, read_text
from zxml.verify import verify
from zxml.z80gen.paging import BANKM_ADDR, ROM_48K
from zxml.z80gen.tape import NO_BANKS, tape_bytes
from zxml.z80gen.target import BANK_ADDR, SPECTRUM_48K, SPECTRUM_128K, TARGETS

PICTURES = np.concatenate([extreme_pictures(), random_pictures(5, 12)])
MODEL = hidden_cascade(1, gap=300, units=60)
BASIC_ADDR, DRAWING_ADDR, EDITING_NBYTES = 0x5CCB, 0x5E00, 48
SHOWN_WITHIN = 250  # T-states of a net that takes a frame: in some frames the ROM looks for a keypad
REPORT_ADDR = 0x1303  # of the 48K ROM: BASIC has a report
ERR_NR_ADDR, TAPE_ERROR = 23610, 26  # one less than the number of R Tape loading error
LOAD = "j SS+p SS+p ENTER PC=1541"  # LOAD "", up to the ROM's routine for it
USR_0 = f"DOWN ENTER u s r SPACE 0 ENTER {LOAD}"  # in 128 BASIC
DATASET = Dataset("test", *((PICTURES, run(MODEL, PICTURES).digits.astype(np.uint8)) * 3))


@pytest.fixture(scope="module")
def cassette(tmp_path_factory: pytest.TempPathFactory) -> Cassette:
    return record(MODEL, DATASET, tmp_path_factory.mktemp("tape"), SPECTRUM_128K)


def loaded(tap: Path, keys: str, start: int) -> Any:
    """Return SkoolKit's snapshot of a 128K that has come to `start` after these keys in its menu."""
    snapshot = tap.with_suffix(".szx")
    settings = ["machine=128", f"load={keys}", "timeout=900"]
    options = [word for setting in settings for word in ("-c", setting)]
    with contextlib.redirect_stdout(io.StringIO()):
        tap2sna.main([*options, "--start", str(start), str(tap), str(snapshot)])
    found = Snapshot.get(str(snapshot))
    assert found.pc == start
    return found


def test_a_net_that_needs_banks_is_proved_through_the_rom_of_a_128k(cassette: Cassette) -> None:
    assert len(cassette.plan.banks) > 1
    evidence = verify(cassette, DATASET)
    assert evidence.differences == ()
    assert evidence.machine == "128K Spectrum"
    assert evidence.exact_images == len(PICTURES)
    assert evidence.loads_through_rom
    assert evidence.returns_to_basic
    assert [row.on_time_images for row in evidence.emulators] == [len(PICTURES)] * 2
    assert evidence.frames_mean == pytest.approx(evidence.tstates_mean / 70_908)
    page = report(evidence, cassette.plan)
    assert "on a 128K Spectrum" in page
    assert "bank  first" in page


def test_a_flipped_bit_in_a_bank_is_found(cassette: Cassette, tmp_path: Path) -> None:
    tape = bytearray(cassette.tap.read_bytes())
    for position in (-2, -1):  # the last byte of the last bank, and the parity
        tape[position] ^= 1
    other = replace(cassette, folder=tmp_path)
    other.tap.write_bytes(tape)
    evidence = verify(other, DATASET)
    assert not evidence.loads_through_rom
    last = BANK_ADDR + len(cassette.assembly.banks[max(cassette.assembly.banks)]) - 1
    assert f"another byte than was assembled at {last:#06x}" in evidence.differences[0]


def test_it_loads_after_usr_0_and_leaves_the_home_bank(cassette: Cassette) -> None:
    snapshot = loaded(cassette.tap, USR_0, SPECTRUM_128K.program_addr)
    assert snapshot.out7ffd == ROM_48K
    ram = snapshot.ram(-1)
    for bank, values in cassette.assembly.banks.items():
        assert bytes(ram[0x4000 * bank :][: len(values)]) == values
    assert ram[0x4000 * 5 + BANKM_ADDR - 0x4000] == ROM_48K


def test_a_128k_whose_banks_are_locked_says_so(cassette: Cassette) -> None:
    ram = loaded(cassette.tap, f"DOWN DOWN DOWN ENTER {LOAD}", REPORT_ADDR).ram(-1)
    screen = bytes(ram[0x4000 * 5 : 0x4000 * 6])
    assert read_text((Path(ROM48).read_bytes() + screen).ljust(0x10000, b"\0"))[0].startswith(NO_BANKS)


def test_a_48k_says_so(cassette: Cassette) -> None:
    machine = Spectrum(cassette.tap, start=REPORT_ADDR)
    machine.run(20)
    assert machine.text()[0].startswith(NO_BANKS)
    assert machine.has_report_ok()


@pytest.mark.slow
def test_it_loads_pulse_by_pulse(cassette: Cassette) -> None:
    machine = Spectrum(cassette.tap, edges=True, target=SPECTRUM_128K)
    for bank, values in cassette.assembly.banks.items():
        assert machine.bank(bank)[: len(values)] == values


def test_a_damaged_bank_is_a_tape_loading_error(cassette: Cassette, tmp_path: Path) -> None:
    tape = bytearray(cassette.tap.read_bytes())
    tape[-1] ^= 1
    damaged = tmp_path / "damaged.tap"
    damaged.write_bytes(tape)
    snapshot = loaded(damaged, USR_0, REPORT_ADDR)
    assert snapshot.out7ffd == ROM_48K
    memory = bytes(snapshot.ram(-1)[0x4000 * 5 :][:0x4000])
    assert memory[BANKM_ADDR - 0x4000] == ROM_48K
    assert memory[ERR_NR_ADDR - 0x4000] == TAPE_ERROR


def test_the_tape_ends_with_a_block_without_a_header_for_each_bank(cassette: Cassette) -> None:
    blocks = [bytes(block.data) for block in parse_tap(cassette.tap.read_bytes()).blocks]
    assert [(block[0], block[1:-1]) for block in blocks[6:]] == [(255, bank) for bank in cassette.assembly.banks.values()]
    basic = blocks[1][1:-1]
    lines = BasicLister().list_basic([0] * BASIC_ADDR + [*basic, 0x80]).split("\n")
    symbols = cassette.assembly.symbols
    assert lines[3].strip() == f"35 IF NOT USR {symbols['load_banks']} THEN GO TO 50"
    assert lines[6].strip() == f'60 IF PEEK {symbols["banks_missing"]} THEN PRINT "{NO_BANKS}"'
    assert BASIC_ADDR + len(basic) + EDITING_NBYTES <= DRAWING_ADDR


def test_an_image_that_reaches_into_the_banks_is_refused() -> None:
    with pytest.raises(PlanError, match="1 past 49151"):
        tape_bytes(
            "net", bytes(0x6001), 0x6000, 0x6000, bytes(6912), {4: b"1"}, {"load_banks": 0x6000, "banks_missing": 0x6001}
        )


def test_the_routine_that_loads_banks_is_as_its_header_says(cassette: Cassette) -> None:
    contracts, symbols = read_contracts("load_banks.asm", "app"), cassette.assembly.symbols
    assert symbols["load_banks_end"] - symbols["load_banks"] == int(contracts["load_banks"]["Bytes"].split()[0])
    assert symbols["load_banks_end"] - symbols["select_bank"] == int(contracts["select_bank"]["Bytes"])
    for cpu in processors(cassette.assembly, SPECTRUM_128K):
        assert call(cpu, symbols["select_bank"]) == int(contracts["select_bank"]["T-states"])


@pytest.mark.parametrize("kind", ["sna", "z80"])
def test_a_snapshot_holds_all_banks(cassette: Cassette, kind: str) -> None:
    snapshot, machine = Snapshot.get(str(export_as(cassette, kind))), Spectrum(cassette.tap, target=SPECTRUM_128K)
    assert (snapshot.machine, snapshot.out7ffd, snapshot.pc) == ("128K", ROM_48K, SPECTRUM_128K.program_addr)
    assert snapshot.sp == machine.register("SP")
    assert bytes(snapshot.ram(-1)) == b"".join(machine.bank(bank) for bank in range(8))


def test_what_does_not_fit_a_48k_is_said_to_fit_a_128k() -> None:
    with pytest.raises(PlanError, match=r"does not fit a 48K Spectrum.*it fits a 128K: --machine 128K"):
        choose_plan(MODEL, DATASET)


def test_the_machine_is_the_options_or_the_specs_or_a_48k(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (*TARGETS,) == MACHINES
    assert target_of("mnist") is target_of("a net of one's own") is SPECTRUM_48K
    assert target_of("mnist", "128K") is SPECTRUM_128K
    spec = tmp_path / "net.toml"
    spec.write_text('machine = "128K"')
    assert read_spec(spec).machine == "128K"
    spec.write_text('machine = "64K"')
    with pytest.raises(SpecError, match="machine must be 48K or 128K, got '64K'"):
        read_spec(spec)
    with pytest.raises(SystemExit):
        main(["tape", "mnist", "--machine", "64K"])
    assert "48K" in capsys.readouterr().err


def test_the_program_reads_drawings_and_tells_the_time_of_its_own_clock(cassette: Cassette) -> None:
    machine = Player(cassette.tap, cassette.assembly.symbols, target=SPECTRUM_128K)
    machine.run(30)
    shown = re.match(r"time +([\d.]+) ms +([\d,]+) T-states", machine.text()[21])
    assert shown
    tstates = int(shown[2].replace(",", ""))
    assert abs(tstates - int(cassette.plan.tstates(PICTURES[:1])[0])) <= SHOWN_WITHIN
    assert float(shown[1]) == pytest.approx(1000 * tstates / SPECTRUM_128K.clock_hz, abs=0.1)
    machine.enter("d")
    machine.draw(DIGITS[1])
    assert machine.text()[19].startswith(("it reads", "not sure"))
    assert machine.paging == ROM_48K
