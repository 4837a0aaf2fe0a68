"""What proves the trainer: the Z80 in an emulator against the reference, its time, and how well the net reads."""

from __future__ import annotations

from zxml.console import track
from zxml.data import seed8
from zxml.errors import VerifyError
from zxml.learn.seed.arithmetic import CHOSEN
from zxml.learn.seed.command import EPOCHS, SEED_PICTURES, measure_test, train
from zxml.learn.seed.cost import CLOCK_HZ
from zxml.learn.seed.machine import Machine
from zxml.learn.seed.net import BATCH, Net, see_windows

SEEDS = 8


def measure(seeds: int = SEEDS) -> dict[str, int | float | str]:
    """Return what the evidence says; raise VerifyError where the Z80 computes something else than the reference.

    exact_pictures: pictures after which all weights, velocities, lessons and scores were the reference's;
    tstates_per_picture, epoch_minutes: averages over all epochs and seeds, on the emulated Z80;
    tstates_forward: of reading a test picture; accuracies: averages over the seeds.
    """
    parts = seed8.load()
    exact = prove_epoch(parts.train)
    net = Net(CHOSEN, list(range(1, seeds + 1)))
    for _ in train(net, parts, EPOCHS, test=False):
        pass
    machine = Machine()
    machine.put_pictures(parts.train)
    tstates = sum(train_machine(machine, seed, len(parts.train.labels)) for seed in range(1, seeds + 1))
    if machine.differences(net, seeds - 1):
        raise VerifyError(
            f"seed {seeds}: the Z80 has learned something else than the reference; run the tests of asm/learn/seed.asm"
        )
    machine.put_pictures(parts.test.first(SEED_PICTURES))
    forward = sum(machine.call("seed_read", hl=machine.picture_addr(i)) for i in range(SEED_PICTURES)) / SEED_PICTURES
    first, all_of_them = measure_test(net, parts.test, see_windows(parts.test.images))
    each = tstates / (seeds * EPOCHS * len(parts.train.labels))
    return {
        "arithmetic": CHOSEN.name,
        "seeds": seeds,
        "exact_pictures": exact,
        "tstates_per_picture": round(each),
        "tstates_forward": round(forward),
        "epoch_minutes": round(each * len(parts.train.labels) / CLOCK_HZ / 60, 3),
        "accuracy_640_mean": first,
        "accuracy_10000_mean": all_of_them,
    }


def prove_epoch(pictures: seed8.Pictures) -> int:
    """Learn from pictures once, on the Z80 and in the reference, and return after how many both were the same.

    Raises VerifyError after the first where they were not.
    """
    machine, net = Machine(), Net(CHOSEN, [1])
    machine.put_pictures(pictures)
    machine.call("seed_begin", hl=1)
    windows = see_windows(pictures.images)
    for number in track(range(len(windows)), "proving"):
        digit = int(pictures.labels[number])
        machine.call("seed_learn", bc=digit, hl=machine.picture_addr(number))
        scores = net.learn(windows[number], digit).scores[0, 0].tolist()
        if (number + 1) % BATCH == 0:
            machine.call("seed_step")
            net.step(slow=False)
        wrong = machine.differences(net) + ["scores"] * (machine.scores() != scores)
        if wrong:
            raise VerifyError(
                f"picture {number}: the Z80 has other {wrong[0]} than the reference; run the tests of asm/learn/seed.asm"
            )
    return len(windows)


def train_machine(machine: Machine, seed: int, pictures: int) -> int:
    """Train on the pictures in a machine's memory, from first weights on, and return the T-states of all epochs."""
    machine.call("seed_begin", hl=seed)
    return sum(machine.learn_epoch(pictures, slow=epoch == EPOCHS) for epoch in range(1, EPOCHS + 1))
