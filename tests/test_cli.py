"""The command line: help that teaches, one line for each error, exit codes, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.nets import random_model
from zxml import commands, ir
from zxml.cli import main, parser
from zxml.train import main as train_main


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("zxml: ")
    return captured.err


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "given.npz"
    ir.save(random_model(1, units=20), path)
    return path


def test_help_names_every_command_and_the_whole_path(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for word in ("devices", "show", "emit", "tape", "verify", "run", "python -m zxml.train mnist"):
        assert word in text


def test_wrong_usage_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["frobnicate"], ["tape"], ["tape", "mnist", "--frobnicate"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    capsys.readouterr()


def test_devices_lists_at_least_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"]


def test_show_prints_layers_kernels_and_memory(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(model_file)]) == 0
    text = capsys.readouterr().out
    for word in ("PatchSum", "edge_sum_4", "0x8000", "not edge_sum_3"):
        assert word in text
    assert main(["show", str(model_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["kernel"] == "edge_sum_4"


def test_show_tells_how_many_more_choices_lost(
    model_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_REJECTED", 1)
    assert main(["show", str(model_file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("not ") for line in lines) == 1
    assert main(["show", str(model_file), "--json"]) == 0
    more = len(json.loads(capsys.readouterr().out)["rejected"]) - 1
    assert lines[-1] == f"and {more} more choices that lost: --json lists all"


def test_emit_writes_assembly(model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", str(model_file), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/asm/main.asm").is_file()
    assert "main.asm" in capsys.readouterr().out


def test_unknown_model_says_how_to_train(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "nosuch"]) == 1
    assert "no model 'nosuch'" in error_line(capsys)


def test_truncated_model_is_one_line(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_file.write_bytes(model_file.read_bytes()[:100])
    assert main(["tape", str(model_file)]) == 1
    assert "not a whole zxml model" in error_line(capsys)


def test_missing_data_folder_is_one_line(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tape", str(model_file), "--data", "nowhere"]) == 1
    assert "nowhere" in error_line(capsys)


def test_net_larger_than_the_memory_says_by_how_many_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir.save(random_model(1, units=62), tmp_path / "big.npz")
    assert main(["tape", str(tmp_path / "big.npz"), "--out", str(tmp_path)]) == 1
    assert "more than are left" in error_line(capsys)


def test_unwritable_output_folder_is_one_line(model_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main(["tape", str(model_file), "--out", str(tmp_path / "file")]) == 1
    assert "cannot write" in error_line(capsys)


def test_training_tries_the_output_folder_before_it_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert train_main(["mnist", "--out", str(tmp_path / "file")]) == 1
    assert "cannot write" in error_line(capsys)


def test_training_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "bad.toml"
    spec.write_text("[hidden]\nunit = 3\n")
    for arguments, words in (
        (["nosuch"], "known tasks: mnist"),
        (["mnist", "--spec", str(spec)], "unknown key hidden.unit; known here: units, weight_bits"),
        (["mnist", "--spec", "nowhere.toml"], "no such spec"),
        (["mnist", "--device", "nosuch"], "no OpenCL device 'nosuch'; there are: 0: "),
        (["mnist", "--data", "nowhere"], "nowhere"),
    ):
        assert train_main([*arguments, "--out", str(tmp_path / "out")]) == 1
        assert words in error_line(capsys)
    assert not (tmp_path / "out").exists()


def test_no_opencl_platform_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("pyopencl.get_platforms", list)
    assert train_main(["mnist"]) == 1
    assert 'pip install "pyopencl[pocl]"' in error_line(capsys)


def test_missing_c_simulator_is_one_line(
    model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tape", str(model_file), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    monkeypatch.setattr("skoolkit.CSimulator", None)
    monkeypatch.setattr("zxml.spectrum.CSimulator", None)
    assert main(["verify", str(model_file), "--out", str(tmp_path / "out")]) == 1
    assert "C simulator" in error_line(capsys)


def test_every_command_has_help() -> None:
    assert all(option.help for action in parser()._actions for option in getattr(action, "_choices_actions", []))
