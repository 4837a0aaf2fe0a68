"""The float64 operations against numeric differences, wherever they are smooth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.ops import draw
from zxml.gpu import oracle
from zxml.quant.params import Reals

LABELS = np.array([0, 3, 1, 1, 2], np.uint8)
Loss = Callable[..., Reals | float]


def assert_differences(loss: Loss, arguments: list[Reals], gradients: tuple[Reals | float, ...]) -> None:
    """Compare the gradients of a loss with central differences, for up to 20 entries of each argument."""
    for number, (values, gradient) in enumerate(zip(arguments, gradients, strict=True)):
        for place in list(np.ndindex(values.shape))[:20]:
            ends = []
            for offset in (-1e-5, 1e-5):
                moved = values.copy()
                moved[place] += offset
                ends.append(float(loss(*arguments[:number], moved, *arguments[number + 1 :])))
            wanted = np.asarray(gradient)[place]
            assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(wanted, rel=1e-4, abs=1e-6), (number, place)


def test_the_gradients_of_a_dense_layer_are_its_numeric_differences() -> None:
    values, weight, bias, grad = draw(1, (5, 4)), draw(2, (4, 3)), draw(3, (3,)), draw(4, (5, 3))
    gradients = oracle.dense_grad(values, weight, grad)
    assert_differences(lambda *given: (oracle.dense(*given) * grad).sum(), [values, weight, bias], gradients)


@pytest.mark.parametrize(("side", "stride"), [(1, 1), (1, 2), (3, 1), (3, 2)])
def test_the_gradients_of_a_convolution_are_its_numeric_differences(side: int, stride: int) -> None:
    maps, weight = draw(1, (2, 6, 5, 3)), draw(2, (side, side, 3, 4))
    grad = draw(3, oracle.conv(maps, weight, stride).shape)
    gradients = oracle.conv_grad(maps, weight, grad, stride)
    assert_differences(lambda maps, weight: (oracle.conv(maps, weight, stride) * grad).sum(), [maps, weight], gradients)


def test_the_gradients_of_normalisation_relu_and_pooling_are_their_numeric_differences() -> None:
    sums, gain, shift, grad = draw(1, (2, 3, 5, 3)), np.array([0.7, -1.3, 0.2]), draw(3, (3,), 0.3), draw(4, (2, 2, 3, 3))

    def loss(*given: Reals) -> float:
        return float((oracle.pool(oracle.activate(oracle.normalise(*given).values, 0)) * grad).sum())

    normal = oracle.normalise(sums, gain, shift)
    active = oracle.activate(normal.values, 0)
    gradients = oracle.normalise_grad(normal, gain, oracle.activate_grad(normal.values, 0, oracle.pool_grad(active, grad)))
    assert_differences(loss, [sums, gain, shift], gradients)


def test_what_pushes_sums_back_is_the_slope_of_its_penalty() -> None:
    away = draw(1, (2, 2, 3, 2), 60.0)

    def penalty(away: Reals) -> float:
        over = np.maximum(np.abs(away) - 30.0, 0.0) / 128
        return float(0.8 * (over + over**2).sum() / 6)

    assert_differences(penalty, [away], (oracle.push_back(away, 30.0, 0.8),))
    assert not oracle.push_back(away, 0.0, 0.8).any()


def test_the_gradients_of_the_cross_entropy_are_its_numeric_differences() -> None:
    scores, temperature = draw(1, (5, 4)), np.array(0.3)
    gradients = oracle.cross_entropy_grad(scores, LABELS, 0.5, 0.3)
    assert_differences(
        lambda *given: oracle.cross_entropy(given[0], LABELS, 0.5, float(given[1])), [scores, temperature], gradients
    )


def test_the_gradient_of_the_squared_error_is_its_numeric_difference() -> None:
    scores = draw(1, (5, 4))
    gradients = (oracle.squared_error_grad(scores, LABELS, 0.5),)
    assert_differences(lambda scores: oracle.squared_error(scores, LABELS, 0.5), [scores], gradients)


def test_the_gradients_of_sums_of_rows_are_their_numeric_differences() -> None:
    picks, rows, bias, grad = np.array([[0, 1], [2, 2], [1, 0]]), draw(1, (2, 2, 3)), draw(2, (3,)), draw(3, (3, 3))
    gradients = (oracle.row_sums_grad(picks, rows, grad), grad.sum(axis=0))
    assert_differences(lambda *given: (oracle.row_sums(picks, *given) * grad).sum(), [rows, bias], gradients)


def test_the_gradient_of_a_choice_of_codes_is_that_of_its_softmax() -> None:
    octets, choice, grad = np.array([[1, 3, 0], [255, 3, 1]]), draw(1, (256, 3), 0.5), draw(2, (2, 3, 3))
    gradient = oracle.codes_grad(octets, choice, grad)[1]
    assert_differences(lambda *given: (oracle.chances(*given)[octets] * grad).sum(), [choice], (gradient,))
    sevens = np.array([[7]])
    bits = oracle.codes_grad(sevens, choice, grad[:1, :1])[0]
    table = oracle.chances(choice)
    assert bits[0, 0, 1] == pytest.approx((grad[0, 0] * (table[7] - table[5])).sum())
    assert bits[0, 0, 7] == pytest.approx((grad[0, 0] * (table[7 | 128] - table[7])).sum())


def test_the_gradient_of_a_table_reaches_its_linear_part_and_its_bias() -> None:
    linear, bias, free = draw(1, (9, 2), 0.1), draw(2, (2,), 0.1), draw(3, (512, 2), 0.1)
    patterns = np.random.default_rng(4).integers(0, 512, (2, 3, 3))
    grad = draw(5, (2, 3, 3, 2))

    def soft(*given: Reals) -> float:  # what the threshold is taken for while no entry is as large as 1
        return float((oracle.STRAIGHT * oracle.patch_table(*given)[patterns] * (patterns > 0)[..., None] * grad).sum())

    gradients = oracle.patch_conv_grad(patterns, oracle.patch_table(linear, bias, free), grad)
    assert_differences(soft, [linear, bias, free], gradients)


def test_levels_are_what_the_integer_model_says() -> None:
    values = np.array([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5, 9.0])
    assert oracle.activate(values, 3).tolist() == [0, 0, 0, 1, 1, 2, 3, 3]
    assert oracle.activate(values, 1).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert oracle.activate(values, 1, closed=True).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert oracle.activate_grad(values, 3, np.ones(8)).tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert oracle.activate_grad(values, 1, np.ones(8)).tolist() == [0, 0, 0.5, 0.5, 0.5, 0, 0, 0]


def test_equals_share_the_gradient_of_their_block() -> None:
    maps = np.array([[1.0, 1, 0], [0, 1, 2], [3, 0, 0]])[None, :, :, None]
    assert oracle.pool(maps)[0, :, :, 0].tolist() == [[1, 2], [3, 0]]
    shares = oracle.pool_grad(maps, np.array([[3.0, 1], [1, 1]])[None, :, :, None])
    assert shares[0, :, :, 0].tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
