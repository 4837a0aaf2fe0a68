"""The command line of training: what it prints, writes and returns."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zxml import ir, train
from zxml.spec import default_spec_path, read_spec

QUICK = """
name = "quick"
[hidden]
units = 8
[distort]
shift = 0
rotate = 0
scale = 0
shear = 0
warp = 0
thickness = 0
[training]
epochs = 1
"""


@pytest.fixture
def quick(tmp_path: Path) -> list[str]:
    spec = tmp_path / "quick.toml"
    spec.write_text(QUICK)
    return ["mnist", "--spec", str(spec), "--out", str(tmp_path)]


def test_a_training_writes_the_model_and_says_what_to_do_next(
    quick: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(quick) == 0
    out, err = capsys.readouterr()
    model = ir.load(tmp_path / "model.npz")
    assert model.show() in out
    assert "validation accuracy" in out
    assert f"python -m zxml tape {tmp_path / 'model.npz'}" in out
    assert "epoch 1/1: loss" in err


def test_json_tells_the_file_the_accuracy_and_the_seed(
    quick: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*quick, "--json", "--seed", "7", "--epochs", "2"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["model"] == str(tmp_path / "model.npz")
    assert result["sha256"] == ir.load(tmp_path / "model.npz").sha256()
    assert (result["seed"], result["epochs"], result["stopped"]) == (7, 2, False)
    assert result["validation_accuracy"] > 0.3


def test_epochs_of_the_command_line_are_every_tower_s(tmp_path: Path) -> None:
    spec = tmp_path / "two.toml"
    spec.write_text("second_looks = [0.1]\n[[towers]]\ncodes = 4\nepochs = 5\nseed = 6\n[[towers]]\ncodes = 4\nseed = 0\n")
    for words, epochs in (([], 805), (["--epochs", "3"], 6)):
        (chosen,) = train.choose_specs(train.make_parser().parse_args(["mnist", "--spec", str(spec), "--seed", "2", *words]))
        assert chosen.epochs == epochs
        assert [chosen.of_tower(number).seed for number in (0, 1)] == [6, 2]
        assert sum(chosen.of_tower(number).training.epochs for number in (0, 1)) == epochs


def test_an_unknown_task_is_one_line_that_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["chess"]) == 1
    assert capsys.readouterr().err == "zxml: unknown task 'chess'; known tasks: mnist\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mnist", "--device", "abacus"], "zxml: no OpenCL device 'abacus'; there are: 0: "),
        (["mnist", "--spec", "nowhere.toml"], "zxml: nowhere.toml: no such spec"),
        (["mnist", "--data", "nowhere"], "zxml: "),
    ],
)
def test_an_error_is_one_line_and_exit_1(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["mnist", "--epochs", "0"], ["mnist", "--seed", "x"], ["mnist", "--fast"]])
def test_a_wrong_command_line_is_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        train.main(arguments)
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_help_shows_an_example_and_needs_no_opencl() -> None:
    code = "import sys; sys.modules['pyopencl'] = None; from zxml import train; train.main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "python -m zxml.train mnist" in done.stdout


def test_a_missing_opencl_is_one_line_and_exit_1() -> None:
    code = "import sys; sys.modules['pyopencl'] = None; from zxml import train; sys.exit(train.main(['mnist']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("zxml: OpenCL cannot be used")
    assert done.stderr.count("\n") == 1


def test_the_shipped_spec_is_read_and_keeps_its_name() -> None:
    assert read_spec(default_spec_path("mnist")).name == "mnist"


def test_of_several_seeds_the_best_is_kept(quick: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main([*quick, "--seeds", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    found = {int(seed): float(share) for seed, share in re.findall(r"seed (\d): validation ([\d.]+)%", err)}
    assert sorted(found) == [1, 2, 3]
    assert found[json.loads(out)["seed"]] == max(found.values())
    assert ir.load(tmp_path / "model.npz").seed == json.loads(out)["seed"]
    assert not (tmp_path / "checkpoint.npz").exists()


def test_count_learns_as_a_spectrum_does_and_tells_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["count", "--pictures", "300", "--passes", "2", "--json"]) == 0
    stages = json.loads(capsys.readouterr().out)
    assert [stage["method"].split(",")[0] for stage in stages] == ["count", "correct", "correct"]
    assert all(stage["validation_accuracy"] > 0.85 for stage in stages)
    assert train.main(["count", "--pictures", "100000"]) == 1
    assert capsys.readouterr().err.startswith("zxml: ")


@pytest.mark.parametrize("backend", ["tiles", "groups"])
def test_the_backend_is_a_choice_and_is_printed(quick: list[str], capsys: pytest.CaptureFixture[str], backend: str) -> None:
    assert train.main([*quick, "--backend", backend, "--json"]) == 0
    out, err = capsys.readouterr()
    assert f"kernels in {backend}" in err.splitlines()[0]
    assert json.loads(out)["validation_accuracy"] > 0.2
