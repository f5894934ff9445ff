"""Stacks of layers and pools from Python."""

import pickle

import numpy as np
import pytest
from upoe import UPoE


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    X[:, 1] += X[:, 0] ** 2
    return X * np.exp(rng.normal(size=(400, 1)))


@pytest.fixture(scope="module")
def good(rows):
    return UPoE(quality="good", holdout=0.2).fit(rows)


def test_a_stack_maps_rows_to_standard_normal_ones_and_back(rows, good):
    assert len(good.layers_) > 1 and good.members_ == []
    assert {layer.kind for layer in good.layers_} <= {"directions", "radial"}
    assert all(layer.holdout_gain is not None for layer in good.layers_)
    Z = good.to_normal(rows)
    assert abs(Z.std() - 1) < 0.1
    np.testing.assert_allclose(good.from_normal(Z), rows, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("quality", ["fast", "good", "best"])
def test_every_kind_scores_draws_explains_and_is_stored(quality, rows, tmp_path):
    model = UPoE(quality=quality, random_state=2).fit(rows)
    parts = model.explain(rows[:20])
    np.testing.assert_allclose(parts.baseline + parts.experts.sum(axis=1) + parts.rest, parts.log_density)
    np.testing.assert_allclose(parts.baseline + parts.columns.sum(axis=1), parts.log_density)
    assert len(parts.parts) == parts.experts.shape[1]
    model.save(tmp_path / "m.upoe")
    for other in (UPoE.load(tmp_path / "m.upoe"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.score_samples(rows), model.score_samples(rows))
        np.testing.assert_array_equal(other.sample(5), model.sample(5))
        assert other.quality == quality and other.layers_ == model.layers_
    again = UPoE.load(tmp_path / "m.upoe").fit(rows)
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    assert (model.members_ != []) == (quality == "best")
    assert model.tail(rows[:5], 200).shape == (5,)


def test_better_qualities_describe_new_rows_better(rows):
    train, held = rows[:300], rows[300:]
    scores = [UPoE(quality=q).fit(train).score(held) for q in ("fast", "good", "best")]
    assert scores[1] > scores[0] and scores[2] > scores[0], scores


def test_what_does_not_fit_together_is_refused(rows, good):
    with pytest.raises(ValueError, match="quality = 'great': must be one of"):
        UPoE(quality="great").fit(rows)
    with pytest.raises(ValueError, match="the quality fast has one layer"):
        UPoE(quality="fast", depth="auto").fit(rows)
    with pytest.raises(ValueError, match="depth = 0"):
        UPoE(depth=0).fit(rows)
    with pytest.raises(ValueError, match="has no map to standard normal rows"):
        UPoE(quality="fast").fit(rows).to_normal(rows)
    with pytest.raises(ValueError, match="one layer alone are split"):
        good.explain(rows[:2], split=True)
    assert UPoE(depth=1).fit(rows).layers_ == []
