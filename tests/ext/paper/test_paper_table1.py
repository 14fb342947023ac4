"""Table 1's counts, fits and paths equal formulas, cases worked out by hand, and the layers."""

import pytest

from headway.ext.paper.experiments import table1
from headway.ext.paper.measuring.costs import (
    count_operations,
)
from headway.ext.paper.measuring.fitting import find_crossing, fit_exponents, fit_sum
from headway.ext.paper.measuring.layer_types import BY_NAME, LAYER_TYPES
from headway.ext.paper.measuring.paths import (
    layers_by_formula,
    layers_by_gradient,
    states_by_gradient,
)
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.results import Claim, Findings, Table
from headway.ext.paper.running.study import Study


def test_counted_operations_equal_the_formulas():
    n, d, k = 11, 26, 5
    attention = count_operations(BY_NAME["self-attention"], n, d)
    assert attention.mixing == 2 * n * n * d + n * d  # and Q is scaled
    assert attention.projections == 4 * n * d * d
    lstm = count_operations(BY_NAME["recurrent"], n, d)
    assert lstm.mixing == 2 * n * d * d + 3 * n * d  # two directions, four gates, half the width
    assert lstm.projections == 4 * n * d * d
    assert count_operations(BY_NAME["convolution"], n, d, k=k).mixing == k * n * d * d
    separable = count_operations(BY_NAME["separable"], n, d, k=k)
    assert (separable.elementwise, separable.mixing) == (k * n * d, k * n * d + n * d * d)
    # Long: a block of 64 queries and the 31 positions around it; keys and values alike.
    assert count_operations(BY_NAME["restricted"], 320, d, r=32).mixing == 2 * 320 * (64 + 31) * d


def test_sequential_steps_are_constant_or_n():
    for n in (5, 13):
        assert count_operations(BY_NAME["recurrent"], n, 6, depths=True).depth == n
        assert count_operations(BY_NAME["self-attention"], n, 6, depths=True).depth == 4
        assert count_operations(BY_NAME["convolution"], n, 6, depths=True).depth == 1


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "layer",
    [layer for layer in LAYER_TYPES if layer.name != "recurrent"],
    ids=lambda layer: layer.name,
)
def test_path_lengths_equal_the_formulas(layer, causal):
    for n, k in ((7, 3), (17, 5)):
        found = layers_by_gradient(layer, n, k=k, r=k, causal=causal)
        assert found == layers_by_formula(layer, n, k=k, r=k, causal=causal)


def test_centered_dilated_layers_may_never_connect_the_ends_of_a_sentence():
    dilated = BY_NAME["dilated"]
    assert layers_by_gradient(dilated, 7, k=3, alone=True) is None  # 6 = 9 - 3 goes outside
    assert layers_by_gradient(dilated, 5, k=3, alone=True) == 2  # 4 = 3 + 1 does not


def test_a_path_is_judged_inside_one_sentence():
    table, *claims = table1.find_paths((9,))
    assert isinstance(table, Table)
    [dilated] = [row for row in table.rows if row[0] == "dilated" and "centered" in str(row[1])]
    assert dilated[3:] == (2, 2, "never")  # found beside other positions, by formula, and alone
    verdicts = {claim.text: claim.verdict for claim in claims if isinstance(claim, Claim)}
    failing = [text for text, verdict in verdicts.items() if verdict != "shown"]
    assert failing == ["Longest path of dilated, centered: O(log_k(n))."]
    assert len(verdicts) == 2 * len(LAYER_TYPES) - 1  # a recurrence has one direction


def test_a_path_through_a_recurrence_passes_all_states():
    assert [states_by_gradient(n) for n in (2, 7)] == [2, 7]


def test_fits_recover_known_exponents_and_sums():
    sizes = [(n, d) for n in (3, 7, 19) for d in (5, 11, 23)]
    ns, ds = zip(*sizes, strict=True)
    found = fit_exponents([2.5 * n**1.5 * d**0.5 for n, d in sizes], {"n": ns, "d": ds})
    assert found == pytest.approx({"n": 1.5, "d": 0.5})
    terms = [[n * d * 3.0 for n, d in sizes], [n * d * d * 1.0 for n, d in sizes]]
    total = fit_sum([2 * a + 5 * b for a, b in zip(*terms, strict=True)], terms)
    assert total.coefficients == pytest.approx((2, 5))
    assert total.error < 1e-12
    one = fit_sum(terms[1], terms)
    assert one.coefficients == pytest.approx((0, 1), abs=1e-9)


def test_the_crossing_is_the_point_where_two_curves_meet():
    sizes = [2, 4, 8, 16, 32]
    assert find_crossing(sizes, [n * n for n in sizes], [11 * n for n in sizes]) == pytest.approx(
        11
    )
    assert find_crossing(sizes, [1] * 5, [2] * 5) is None


@pytest.mark.usefixtures("copied_trainings")
def test_table_1_runs_at_toy_size(tmp_path):
    result = reproduce("table1", Study(tmp_path, "toy", seeds=(1,)))
    assert Findings.from_json(result.to_json()) == result
    verdicts = {claim.text: claim.verdict for claim in result.claims}
    counted = [v for t, v in verdicts.items() if "mixes positions" in t]
    assert len(counted) == 7
    # At toy size only the LSTM's terms of lower order change its exponents.
    assert counted.count("holds") >= 6
    assert all(v == "shown" for t, v in verdicts.items() if "path" in t or "Sequential" in t)
    assert "<svg" in result.figures[0].svg
