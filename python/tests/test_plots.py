"""Pictures draw, with and without experts."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from upoe import UPoE


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_experts(model, X):
    figure = model.plot_experts()
    assert len(figure.axes) == 2 and "mixture" in figure.axes[0].get_title()
    assert len(model.plot_experts(X).axes[0].patches) == 60
    _, axes = plt.subplots(1, 2)
    assert model.plot_experts(axes=axes) is axes[0].figure


def test_gain(X):
    model = UPoE(n_experts=2, holdout=0.3).fit(X)
    (ax,) = model.plot_gain().axes
    assert [len(line.get_xdata()) for line in ax.lines] == [3, 3]


def test_pairs(model, X):
    labels = np.where(np.arange(len(X)) % 2, "odd", "even")
    figure = model.plot_pairs(X, color=labels)
    assert len(figure.axes) == 4
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["even", "odd"]
    model.plot_pairs(X, color=np.linspace(0, 1, len(X)), n_experts=1)
    with pytest.raises(ValueError, match="color.shape"):
        model.plot_pairs(X, color=[1, 2])


def test_every_group_has_its_own_legend_entry_and_numbers_have_a_colour_bar(model, X):
    labels = np.arange(len(X)) % 12
    figure = model.plot_pairs(X, color=labels)
    corner, (legend,) = figure.axes[1], figure.legends
    entries = {t.get_text(): tuple(h.get_facecolor()[0]) for h, t in zip(
        legend.legend_handles, legend.get_texts()
    )}
    assert list(entries) == sorted(map(str, range(12)), key=int) and len(set(entries.values())) == 12
    drawn = corner.collections[0].get_facecolor()
    assert all(tuple(drawn[i, :3]) == entries[str(labels[i])][:3] for i in range(len(X)))
    numbers = model.plot_pairs(X, color=np.linspace(0, 1, len(X)))
    assert len(numbers.axes) == 5 and not numbers.legends
    assert numbers.axes[1].collections[0].get_cmap().name == "viridis"
    assert not model.plot_pairs(X, color=np.arange(len(X))).legends
    assert not model.plot_pairs(X, color=[f"id {i}" for i in range(len(X))]).legends


def test_a_gaussian_has_pictures_too(X):
    model = UPoE(n_experts=0).fit(X)
    for figure in (model.plot_experts(), model.plot_gain(), model.plot_pairs(X)):
        figure.canvas.draw()
