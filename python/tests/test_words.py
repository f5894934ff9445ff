"""What a model says: summary, page, tables with names; sources for MNE-Python."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from upoe import UPoE, UPoEICA, UPoEWarning


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    data = rng.normal(size=(300, 3))
    data[:, 0] += np.where(rng.random(300) < 0.4, -4.0, 3.0)
    return pd.DataFrame(data, columns=["wide", "b", "c"], index=[f"row{i}" for i in range(300)])


@pytest.fixture(scope="module")
def model(frame):
    return UPoE().fit(frame)


def test_summary_says_what_the_experts_are(model):
    text = model.summary()
    assert "300 rows × 3 columns" in text and "two groups" in text
    assert re.search(r"z1 +wide [+-](0\.99|1\.00)", text), text
    assert f"2 groups\n     1  {100 * model.groups_[0].share:.0f} % of the rows" in text
    assert f"Stopped because {model.stop_message_}"[:60] in text.replace("\n", " ")
    assert "nothing was found beyond a Gaussian" in UPoE(n_experts=0).fit(np.eye(9)[:, :2]).summary()


def test_report_is_a_page_for_notebooks_and_files(model, frame, tmp_path):
    labels = pd.Series(["<b>a</b>"] * 150 + [None] * 150, name="kind")
    report = model.report(frame, labels=labels, title="my rows")
    report.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page == str(report) and "my rows" in page and page.lower().startswith("<!doctype html")
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown
    with pytest.raises(ValueError, match="'kind' has 150 labels for 300 rows"):
        model.report(frame, labels=labels[:150])


def test_loadings_are_named(model, frame):
    pattern, weights = model.loadings(), model.loadings("filter")
    assert list(pattern.index) == list(frame.columns) and pattern.columns[0] == "z1"
    assert_array_equal(pattern, model.mixing_)
    assert_allclose((frame - model.mean_).to_numpy() @ weights.to_numpy(), model.transform(frame), atol=1e-12)
    z = model.transform(frame)[:, 0]
    correlation = [np.corrcoef(z, frame[name])[0, 1] for name in frame]
    assert_allclose(model.loadings("correlation")["z1"], correlation, atol=1e-10)
    with pytest.raises(ValueError, match="must be one of 'pattern'"):
        model.loadings("other")


def test_columns_come_by_name(model, frame):
    turned = frame[["c", "wide", "b"]]
    assert_array_equal(model.score_samples(turned), model.score_samples(frame))
    assert_array_equal(model.transform(turned), model.transform(frame))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- d"):
        model.transform(frame.rename(columns={"c": "d"}))


def test_frames_keep_their_index_and_samples_are_frames(model, frame):
    assert list(model.explain(frame[:5]).to_frame().index) == list(frame.index[:5])
    assert list(model.surprises(frame[:5]).to_frame().index) == list(frame.index[:5])
    asked = UPoE(n_experts=1).set_output(transform="pandas").fit(frame)
    assert list(asked.sample(4).columns) == ["wide", "b", "c"]
    assert list(asked.set_output(transform="polars").sample(4).columns) == ["wide", "b", "c"]
    assert isinstance(model.sample(4), np.ndarray)
    assert_array_equal(asked.sample(4), pl.DataFrame(asked.sample(4)).to_numpy())


def test_parameters_as_scale_and_degrees_of_freedom():
    x = np.random.default_rng(0).standard_t(3, size=(3000, 1))
    expert = UPoE(n_experts=1, family="student-t").fit(x).experts_[0]
    (scale,), (nu,) = expert.scale, expert.degrees_of_freedom
    assert_allclose([nu, scale * np.std(x)], [3.0, 1.0], rtol=0.25)
    mixture = UPoE(n_experts=1, family="mixture").fit(x).experts_[0]
    assert len(mixture.scale) == len(mixture.degrees_of_freedom) == 2
    assert UPoE(n_experts=1, family="tilt").fit(x).experts_[0].scale is None
    assert "degrees of freedom" in expert.says


def test_text_columns_are_named_together(frame):
    bad = frame.assign(sp="B", day=pd.Timestamp("2024-01-31"))
    with pytest.raises(ValueError, match=r"Columns 'sp' .*; 'day' .*are not numeric.*drop\(columns=\['sp', 'day'\]\)"):
        UPoE().fit(bad)
    with pytest.raises(ValueError, match=r"Column 'sp' .* is not numeric.*X.drop\(\['sp'\]\)"):
        UPoE().fit(pl.DataFrame({"sp": ["a", "b"], "x": [1.0, 2.0]}))


def test_columns_that_may_not_be_measurements_are_named(frame):
    odd = frame.assign(id=np.random.default_rng(0).permutation(300) + 1000, flag=np.arange(300) % 3 // 2)
    with pytest.warns(UPoEWarning, match="'id' numbers the rows, 'flag' has two values: .* leave"):
        UPoE(n_experts=0).fit(odd)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UPoE(n_experts=0).fit(frame)


def test_one_warning_for_all_experts_that_did_not_converge():
    x = np.random.default_rng(0).laplace(size=(500, 8))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        UPoE(n_experts=8, family="tilt", max_iter=1, n_starts=1, tol=1e-12).fit(x)
    said = [str(w.message) for w in caught if "ran out of iterations" in str(w.message)]
    assert len(said) == 1 and "1, 2, 3" in said[0], said


def test_there_are_as_many_sources_as_asked_for():
    rng = np.random.default_rng(1)
    x = np.c_[rng.laplace(size=4000), rng.normal(size=(4000, 3))] @ rng.normal(size=(4, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ica = UPoEICA(n_components=4, family="tilt", random_state=0).fit(x)
    s = ica.transform(x)
    assert s.shape == (4000, 4) and ica.components_.shape == (4, 4) and ica.mixing_.shape == (4, 4)
    assert_allclose(np.cov(s.T), np.eye(4), atol=0.01)
    assert_allclose(ica.inverse_transform(s), x, atol=1e-8)
    assert_allclose(s, (x - ica.mean_) @ ica.components_.T, atol=1e-8)
    assert list(ica.get_feature_names_out()) == ["z1", "z2", "z3", "z4"]
    correlation = np.corrcoef(np.c_[s, x].T)[:4, 4:]
    assert_allclose(ica.loadings("correlation").T, correlation, atol=1e-6)


@pytest.mark.parametrize("count", [None, 2])
def test_mne_has_the_same_sources(count, tmp_path):
    mne = pytest.importorskip("mne")
    rng = np.random.default_rng(2)
    data = 1e-5 * rng.normal(size=(5, 5)) @ rng.laplace(size=(5, 4000)) + 3e-5
    info = mne.create_info([f"EEG{i}" for i in range(5)], 250.0, "eeg")
    raw = mne.io.RawArray(data, info, verbose=False)
    ica = UPoEICA(n_components=count, random_state=0).fit(raw.get_data().T)
    theirs = ica.to_mne(raw.info)
    sources = theirs.get_sources(raw).get_data()
    ours = ica.transform(data.T).T
    assert_allclose(sources[: ica.n_components_], ours, atol=1e-8)
    # without a source, the rest is what this package makes of it
    cleaned = theirs.apply(raw.copy(), exclude=[0], verbose=False).get_data()
    assert_allclose(cleaned, data - np.outer(ica.mixing_[:, 0], ours[0]), atol=1e-13)
    theirs.save(tmp_path / "sources-ica.fif", verbose=False)
    again = mne.preprocessing.read_ica(tmp_path / "sources-ica.fif", verbose=False)
    assert_allclose(again.get_sources(raw).get_data(), sources, atol=1e-8)
    with pytest.raises(ValueError, match="4 channels"):
        ica.to_mne(mne.create_info(4, 250.0, "eeg"))
