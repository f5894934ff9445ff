"""The quick form of precision.py: fewer models and draws."""

import precision
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # of fits; they are not the subject here


def test_written_models_score_as_50_digits_do():
    found = precision.random_models(60, rows=2)
    assert len(found) == 5 and sum(map(len, found.values())) == 60
    assert max(max(errors) for errors in found.values())[0] < precision.BOUND


def test_fitted_models_score_as_50_digits_do():
    assert max(precision.fitted_models(12))[0] < precision.BOUND


def test_the_student_t_is_scipys():
    precision.against_scipy()


def test_samples_follow_their_cdfs():
    precision.samplers(50_000)
