"""Settings of every test, and the program with the fake net, loaded from its tape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.gpu_cases import open_queue

settings.register_profile("same_examples_each_time", derandomize=True, deadline=None)
settings.load_profile("same_examples_each_time")


@pytest.fixture(scope="module")
def queue() -> Any:
    return open_queue()


# The emulators are imported where they are needed: tests of training run on a machine without them.


@pytest.fixture(scope="module")
def symbols(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    from tests.app_player import SHOWS
    from tests.fake_gallery import build

    return build(tmp_path_factory.mktemp("app"), SHOWS).symbols


@pytest.fixture(scope="module")
def tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.app_player import SHOWS
    from tests.fake_gallery import write_tape

    return write_tape(tmp_path_factory.mktemp("tape"), SHOWS)


@pytest.fixture
def player(tap: Path, symbols: dict[str, int]) -> Any:
    from tests.app_player import FakePlayer

    loaded = FakePlayer(tap, symbols, contention=True)
    loaded.run(20)
    return loaded
