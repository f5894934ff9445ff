"""The quick form of truth.py: some of its cells."""

import reported
import truth


def test_far_values_do_not_decide():
    assert abs(truth.one_value("Gaussian", 1e15)) < 1e-3
    assert abs(truth.one_value("Laplace", 1e4)) < 0.05
    assert abs(truth.one_percent("correlated", "noise")) < 0.2
    # A group that lies across the columns' own structure.
    assert abs(truth.one_percent("Laplace", "every column", 1_000)) < 0.02
    assert abs(truth.one_percent("exponential", "both sides", 1_000)) < 0.02


def test_tails_follow_the_rows():
    assert abs(truth.cauchy(2_000, 5)) < 0.3
    fall, beyond = truth.exponential("auto")
    assert abs(fall - 10) < 1 and 1e-4 / 3 < beyond < 3e-4, (fall, beyond)


def test_standard_errors_count_groups():
    reported, true = truth.standard_error(12)
    # A deviation of 12 values is known to about 20 %.
    assert 0.5 < reported / true < 2, (reported, true)


def test_what_a_fit_says_it_could_have_found_is_found():
    # 20 draws at 80 % give fewer than 11 in 1 of 100 cases.
    assert truth.shown(300, 10, 20)[1] >= 0.55


def test_what_version_0_1_missed_is_found():
    assert reported.fitted(reported.clusters(0))[0].n_experts_ == 2
    assert reported.fitted(reported.one_column())[0].n_experts_ == 1
    assert reported.unmixed("uniform") < 0.02
    assert reported.rounded()
    found, true = reported.far_tail()
    assert abs(found / true - 1) < 1e-9
