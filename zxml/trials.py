"""Training one net or many and keeping the best: seeds and specs, at once where the device and the specs allow it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from zxml import ir
from zxml.data import Dataset
from zxml.errors import SpecError
from zxml.spec import ModelSpec

if TYPE_CHECKING:
    from zxml.gpu.backends import Choice
    from zxml.gpu.population_trainer import PopulationProgress
    from zxml.gpu.tower_trainer import CascadeProgress
    from zxml.gpu.trainer import Progress, Trained

PLAIN_LINES = 10  # lines of progress where there is no terminal
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} epochs{postfix}"


def train_best(
    specs: Sequence[ModelSpec], dataset: Dataset, device: Any, path: Path, wanted: str | None
) -> tuple[ModelSpec, Trained]:
    """Train every spec, save the model that is best on validation to path, and return its spec and how it came to be.

    wanted: the name of a back end that overrides the choice. Progress goes to standard error; Ctrl-C ends all and keeps the
    best.

    Raises SpecError for a spec that cannot be trained, DeviceError for a device that cannot train it.
    """
    best: tuple[ModelSpec, Trained] | None = None
    for choice, group in plan_trials(specs, device, wanted):
        results = _train(choice, group, dataset, device, path.with_name("checkpoint.npz"))
        for spec, trained in zip(group, results, strict=True):
            if len(specs) > 1:
                _say(f"{spec.name}, seed {spec.seed}: validation {trained.accuracy:.2%}")
            if best is None or trained.accuracy > best[1].accuracy:
                best = spec, trained
                ir.save(trained.model, path)
        if any(trained.stopped for trained in results):
            break
    assert best is not None
    return best


def plan_trials(
    specs: Sequence[ModelSpec], device: Any, wanted: str | None = None
) -> Iterator[tuple[Choice, Sequence[ModelSpec]]]:
    """Yield which specs are trained at once and on what back end, and say so; raise SpecError for a cascade with a back end."""
    from zxml.gpu.backends import Choice, choose_backend  # not before a missing pyopencl was told in one line
    from zxml.gpu.population import sort_together

    for spec in specs:
        if spec.towers and wanted:
            raise SpecError(f"{spec.name}: a cascade is trained by operations of its own; leave --backend {wanted} out")
        if spec.towers:
            _say(f"training {spec.name}, a cascade of {len(spec.towers)} nets, on {device.name.strip()}")
            yield Choice("operations"), [spec]
    for group in sort_together([spec for spec in specs if not spec.towers]):
        choice = choose_backend(device, group, wanted)
        at_once = choice.name == "population"
        names = ", ".join(dict.fromkeys(spec.name for spec in group))
        nets = f", {len(group)} nets {'at once' if at_once else 'one after another'}" if len(group) > 1 else ""
        _say(f"training {names} on {device.name.strip()}, kernels in {choice}{nets}")
        for part in [group] if at_once else [[spec] for spec in group]:
            yield choice, part


def _train(choice: Choice, specs: Sequence[ModelSpec], dataset: Dataset, device: Any, checkpoint: Path) -> Sequence[Trained]:
    """Train specs at once, or the only one, with a bar on stderr if that is a terminal, and a few plain lines if not."""
    from zxml.gpu import population_trainer, tower_trainer, trainer

    def run(report: Callable[[Any], None]) -> Sequence[Trained]:
        if specs[0].towers:
            return [tower_trainer.train_cascade(specs[0], dataset, device, report, checkpoint)]
        if choice.name == "population":
            return population_trainer.train_population(specs, dataset, device, report, checkpoint)
        return [trainer.train(specs[0], dataset, device, report, checkpoint, choice)]

    epochs = specs[0].epochs
    if not sys.stderr.isatty():
        every = max(1, epochs // PLAIN_LINES)
        return run(lambda at: _say(f"epoch {at.epoch}/{at.epochs}: {describe(at)}") if at.epoch % every == 0 else None)
    with tqdm(total=epochs, desc=specs[0].name, file=sys.stderr, bar_format=BAR, leave=False) as bar:

        def report(at: Progress | PopulationProgress | CascadeProgress) -> None:
            bar.set_postfix_str(describe(at), refresh=False)
            bar.update(at.epoch - bar.n)

        return run(report)


def describe(at: Progress | PopulationProgress | CascadeProgress) -> str:
    """Return where training stands, in words."""
    from zxml.gpu.tower_trainer import CascadeProgress
    from zxml.gpu.trainer import Progress

    left = f"{int(at.seconds_left) // 60}:{int(at.seconds_left) % 60:02d} left"
    if isinstance(at, CascadeProgress):
        return f"net {at.tower}: loss {at.loss:.3f}, validation {at.accuracy:.2%} alone, {left}"
    if isinstance(at, Progress):
        return f"loss {at.loss:.3f}, validation {at.accuracy:.2%} (best {at.best:.2%}), {left}"
    return f"loss {at.loss:.3f}, validation mean {at.mean:.2%}, greatest {at.best:.2%} (best {at.ever:.2%}), {left}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
