"""The training benchmark: what is measured on which device, ratios, files, the page, and the peer that is always there."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from zxml import bench_command, bench_train, cli, data
from zxml.bench_page import render, render_folder
from zxml.bench_steps import (
    PARTS,
    POPULATION_PARTS,
    POPULATION_REST,
    REST,
    PopulationTimes,
    StepBench,
    StepTimes,
    measure_population,
    read_steps,
)
from zxml.bench_train import (
    ENGINES,
    NETS,
    PRODUCT,
    Bench,
    Row,
    average_to_16,
    bench_data,
    list_jobs,
    list_versions,
    read_bench,
    run_jobs,
)
from zxml.data import Dataset
from zxml.errors import DataError
from zxml.gpu.device import choose
from zxml.gpu.nets.shape import NetShape
from zxml.peers import PEERS, BenchData, Peer, Report, Score

ROOT = Path(__file__).parents[1]
NUMPY = next(peer for peer in PEERS if peer.name == "numpy")


def few_pictures() -> Dataset:
    whole = data.load("mnist")
    train, validation, test = slice(0, 600), slice(0, 60), slice(0, 500)
    return replace(
        whole,
        train_images=whole.train_images[train],
        train_labels=whole.train_labels[train],
        validation_images=whole.validation_images[validation],
        validation_labels=whole.validation_labels[validation],
        test_images=whole.test_images[test],
        test_labels=whole.test_labels[test],
    )


@pytest.fixture(scope="module")
def pictures() -> Dataset:
    return few_pictures()


def bench_of(rows: list[Row]) -> Bench:
    return Bench("Some GPU 9000", "gpu", 99, 5, ["zxml 1"], rows, ["784-64-10, numpy: does not run on a gpu"])


def test_each_net_is_measured_by_ours_and_numpy_in_one_run(pictures: Dataset) -> None:
    jobs, _ = list_jobs("cpu", [*NETS, PRODUCT], ["zxml", "numpy", "zxml-float", "zxml-integer"])
    epochs: list[int] = []
    seen: list[Row] = []
    rows, failed = run_jobs(jobs, pictures, choose(), 2, epochs.append, seen.append)
    assert rows == seen
    assert not failed
    assert [(row.net, row.engine) for row in rows] == [
        *((net, engine) for net in NETS for engine in ("zxml", "numpy")),
        *((PRODUCT, engine) for engine in ("zxml-float", "zxml-integer")),
    ]
    assert epochs == [0, 1] * len(rows)
    assert all(row.ms_per_epoch > 0 and row.accuracy > 0.05 for row in rows)
    for ours, other in zip(rows[::2], rows[1::2], strict=True):
        assert ours.ratio == 1
        assert other.ratio == pytest.approx(other.ms_per_epoch / ours.ms_per_epoch, rel=0.01)
    assert list_versions(jobs)[1] == f"numpy {np.__version__}"


def test_an_engine_alone_has_no_ratio(pictures: Dataset) -> None:
    jobs, _ = list_jobs("cpu", ["256-64-10"], ["numpy"])
    (row,), _ = run_jobs(jobs, pictures, choose(), 1, lambda epoch: None, lambda row: None)
    assert row.ratio is None


def test_another_engine_that_fails_does_not_lose_the_rows_of_the_rest(
    pictures: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zxml.peers.numpy_peer.train", None)
    jobs, _ = list_jobs("cpu", ["256-64-10"], ["zxml", "numpy"])
    rows, failed = run_jobs(jobs, pictures, choose(), 1, lambda epoch: None, lambda row: None)
    assert [row.engine for row in rows] == ["zxml"]
    assert failed == ["256-64-10, numpy: TypeError(\"'NoneType' object is not callable\")"]


def test_a_gpu_has_populations_and_graphs_and_a_cpu_has_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    on_gpu, _ = list_jobs("gpu", list(NETS), list(ENGINES))
    on_cpu, left_out = list_jobs("cpu", list(NETS), list(ENGINES))
    many = {(job.net, job.engine) for job in on_gpu if job.models == 1024}
    assert many == {(net, engine) for net in ("784-64-10", "256-64-10") for engine in ("zxml-population", "jax-vmap")}
    assert {job.engine for job in on_gpu} == {"zxml", "zxml-population", "pytorch", "pytorch-graph", "jax-scan", "jax-vmap"}
    assert {job.engine for job in on_cpu} == {"zxml", "pytorch", "jax-scan", "numpy", "scikit-learn"}
    assert "conv3x3x12-pool-10, scikit-learn: has no convolutions" in left_out
    assert "784-64-10, pytorch-graph: does not run on a cpu" in left_out


def test_an_engine_that_is_not_installed_is_left_out_and_said_so() -> None:
    missing = Peer("other", "no_such_package", "other_peer")
    assert missing.reason(NETS["784-64-10"], "cpu") == "no_such_package is not installed"


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_peer_has_a_module_here(peer: Peer) -> None:
    source = (Path(bench_train.__file__).parent / "peers" / f"{peer.module}.py").read_text(encoding="utf-8")
    assert f"def {peer.function}(" in source


def test_all_training_pictures_are_used_and_16_by_16_ones_have_ink_where_half_is_ink() -> None:
    whole = data.load("mnist")
    assert bench_data(whole, NETS["784-64-10"]).pixels.shape == (60_000, 784)
    picture = np.zeros((1, 28, 28), np.uint8)
    picture[0, 2:4, 2:4] = 1  # the first new pixel whole, half of each next to it, a quarter of that on the diagonal
    picture[0, 25, 25] = 1  # 4 of 9 parts of the last
    small = average_to_16(picture)
    assert small.shape == (1, 16, 16)
    assert np.argwhere(small).tolist() == [[0, 0, 0]]


def test_runs_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    bench = bench_of([Row("784-64-10", "numpy", 1, 2.5, 0.9712, None), Row("784-64-10", "zxml", 1, 0.5, 0.97, 1.0)])
    path = tmp_path / bench.file_name
    path.write_text(bench.to_json(), encoding="utf-8")
    assert path.name == "train-some-gpu-9000.json"
    assert replace(bench, kind="cpu", units=2).file_name == "train-2-cpu-cores.json"
    assert read_bench(path) == bench
    page = render_folder(tmp_path)
    assert page == render([bench], [])
    assert "## Some GPU 9000\n" in page
    assert "| 784-64-10 | numpy | 1 | 2.50 |  | 97.12 % |" in page
    assert "Left out: 784-64-10, numpy: does not run on a gpu." in page


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [{"net": 1}]}'])
def test_a_file_that_is_no_run_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "train-x.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"train-x\.json: wanted a training benchmark"):
        render_folder(tmp_path)


def test_times_of_steps_are_read_back_and_told_part_by_part(tmp_path: Path) -> None:
    alone = StepTimes("784-64-10", 6.0, [1.0, 0.5, 0.5, 0.25, 0.25, 0.5], 0.125)
    bench = StepBench("Some GPU 9000", [alone], [PopulationTimes("256-64-10", 1024, 70.0, [12.0, 9.5, 8.5, 20.0])])
    (tmp_path / "steps-some-gpu-9000.json").write_text(json.dumps(asdict(bench)), encoding="utf-8")
    assert read_steps(tmp_path / "steps-some-gpu-9000.json") == bench
    page = render_folder(tmp_path)
    assert page == render([], [bench])
    assert "## Where a step's time goes: Some GPU 9000\n" in page
    assert f"| {PARTS[0]} | 1.00 |" in page
    assert f"| {REST} | 3.00 |\n| a whole step | 6.00 |" in page
    assert "with 1,024 nets at once" in page
    assert f"| part | 256-64-10 |\n|---|--:|\n| {POPULATION_PARTS[0]} | 12.00 |" in page
    assert f"| {POPULATION_REST} | 20.00 |\n| a whole epoch of a net | 70.00 |" in page


@pytest.mark.parametrize("text", ['{"device": "x", "nets": [{}], "populations": []}', '{"device": "x", "nets": []}'])
def test_a_file_that_is_no_times_of_steps_or_lacks_populations_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "steps-x.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"steps-x\.json: wanted times of steps"):
        render_folder(tmp_path)


@pytest.mark.slow
def test_a_population_can_be_timed_without_each_part_of_its_step(pictures: Dataset) -> None:
    times = measure_population("small", 2, NetShape(16, 16, (3,), batch=32), pictures, choose(), epochs=1)
    assert len(times.parts) == len(POPULATION_PARTS)
    assert times.models == 2
    assert times.whole > 0


def test_the_page_is_what_the_runs_that_are_kept_render_to() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == render_folder(ROOT / "bench")


def test_the_command_writes_the_rows_and_prints_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, pictures: Dataset
) -> None:
    monkeypatch.setattr(bench_command, "load", lambda task, folder: pictures)
    options = ["--nets", "256-64-10", "--engines", "zxml", "numpy", "zxml-population", "--epochs", "1", "--out", str(tmp_path)]
    assert cli.main(["bench-train", *options]) == 0
    out = capsys.readouterr().out
    (path,) = tmp_path.iterdir()
    assert {row.engine for row in read_bench(path).rows} >= {"zxml"}
    assert "| 256-64-10 | **zxml** | 1 |" in out
    assert bench_command.main([*options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epochs"] == 1


def test_the_command_renders_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bench = bench_of([Row("784-64-10", "zxml", 1, 0.5, 0.97, 1.0)])
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / bench.file_name).write_text(bench.to_json(), encoding="utf-8")
    assert cli.main(["bench-train", "--docs"]) == 0
    assert (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8") == render([bench], [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nets", "1-2-3"], "unknown net '1-2-3'; there are: 784-64-10"),
        (["--engines", "abacus"], "unknown engine 'abacus'; there are: zxml"),
        (["--epochs", "0"], "--epochs: wanted at least 1, got 0"),
    ],
)
def test_what_nobody_knows_is_an_error(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench-train", *options]) == 1
    assert message in capsys.readouterr().err


def test_numpy_learns_like_the_others(pictures: Dataset) -> None:
    shape = NetShape(28, 28, (32, 16), batch=32)
    seen: list[int] = []
    score = train_numpy(shape, bench_data(pictures, shape), 3, seen.append)
    assert seen == [0, 1, 2]
    assert score.accuracy > 0.3


def train_numpy(shape: NetShape, pictures: BenchData, epochs: int, report: Report) -> Score:
    score: Score = NUMPY.load()(shape, pictures, epochs, 1, False, report)
    return score
