"""Pictures, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLUE, _GREY, _RED = "#2a6fbb", "#9a9a9a", "#c2403a"

# A legend of more names does not help beside a picture.
_MOST_NAMES = 20


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: install it") from error
    return plt


def _empty(text: str) -> Any:
    figure, ax = _pyplot().subplots(figsize=(5, 2))
    ax.axis("off")
    ax.text(0.5, 0.5, text, ha="center", va="center")
    return figure


def _span(expert: Any, z: Floats | None) -> Floats:
    low, high = expert.quantile(np.array([0.002, 0.998]))
    if z is not None and len(z):
        low, high = min(low, np.quantile(z, 0.002)), max(high, np.quantile(z, 0.998))
    margin = 0.08 * (high - low)
    return np.linspace(min(low - margin, -3.0), max(high + margin, 3.0), 400)


def _density(ax: Any, expert: Any, z: Floats | None) -> None:
    """One expert's density, the Gaussian it replaces, and the projections."""
    t = _span(expert, z)
    if z is not None:
        ax.hist(
            z, bins=60, range=(t[0], t[-1]), density=True, color=_BLUE, alpha=0.3, label="rows"
        )
    normal = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
    ax.plot(t, normal, color=_GREY, lw=1, ls="--", label="Gaussian")
    ax.plot(t, np.exp(expert.log_density(t)), color=_RED, lw=1.5, label="expert")
    ax.set_xlim(t[0], t[-1])
    ax.set_yticks([])


def experts(model: Any, z: Floats | None, axes: Any) -> Any:
    """One panel per expert."""
    count = model.n_experts_
    if count == 0:
        return _empty("no experts: the model is Gaussian")
    if axes is None:
        columns = min(count, 4)
        rows = -(-count // columns)
        _, grid = _pyplot().subplots(
            rows, columns, figsize=(3.2 * columns, 2.6 * rows), squeeze=False, layout="constrained"
        )
        axes = grid.ravel()
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    for j, expert in enumerate(model.experts_[: len(axes)]):
        _density(axes[j], expert, None if z is None else z[:, j])
        axes[j].set_title(f"z{j + 1}: {expert.family}, {expert.gain:.3f} nats", fontsize=10)
    for ax in axes[count:]:
        ax.axis("off")
    axes[0].legend(frameon=False, fontsize=8)
    return axes[0].figure


def gain(model: Any, ax: Any) -> Any:
    """Mean ln p against the number of experts."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(5, 3.4), layout="constrained")
    count = np.arange(len(model.path_))
    ax.plot(count, model.path_[:, 0], "o-", color=_BLUE, ms=4, label="training rows")
    if np.isfinite(model.path_[:, 1]).any():
        ax.plot(count, model.path_[:, 1], "s-", color=_RED, ms=4, label="held-out rows")
    ax.set_xlabel("experts")
    ax.set_ylabel("mean ln p of sphered rows (nats)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    return ax.figure


def pairs(model: Any, z: Floats, color: Any, most: int) -> Any:
    """Each projection against each, the experts on the diagonal."""
    count = min(model.n_experts_, most)
    if count == 0:
        return _empty("no experts: the model is Gaussian")
    figure, axes = _pyplot().subplots(
        count, count, figsize=(2.4 * count + 0.4,) * 2, squeeze=False, layout="constrained"
    )
    names, colors = _colors(color, len(z))
    spans = [_span(model.experts_[j], z[:, j]) for j in range(count)]
    for i in range(count):
        for j in range(count):
            ax = axes[i, j]
            if i == j:
                _density(ax, model.experts_[j], z[:, j])
            else:
                points = ax.scatter(z[:, j], z[:, i], c=colors, s=6, lw=0, alpha=0.7)
                ax.set_xlim(spans[j][0], spans[j][-1])
                ax.set_ylim(spans[i][0], spans[i][-1])
            if i == count - 1:
                ax.set_xlabel(f"z{j + 1}")
            if j == 0:
                ax.set_ylabel(f"z{i + 1}")
    if count > 1 and colors.ndim == 1:
        figure.colorbar(points, ax=list(axes.flat), shrink=0.6)
    elif count > 1 and 1 < len(names) <= _MOST_NAMES:
        corner = axes[0, count - 1]
        handles = [corner.scatter([], [], color=_palette(len(names))[k], s=12) for k in range(len(names))]
        # Beside the panels: over them it would hide rows.
        figure.legend(handles, names, fontsize=7, frameon=False, loc="outside right upper")
    return figure


def _palette(count: int) -> Floats:
    """A colour for each of so many groups."""
    colors = _pyplot().get_cmap("tab10" if count <= 10 else "turbo")
    return colors(np.arange(count) if count <= 10 else np.linspace(0.05, 0.95, count))  # type: ignore[no-any-return]


def _colors(color: Any, rows: int) -> tuple[list[str], Floats]:
    """The names of the groups and the colour of each row; or no names, and a number for each row.
    Words and a few whole numbers are groups."""
    if color is None:
        return [], np.tile(_pyplot().matplotlib.colors.to_rgba(_BLUE), (rows, 1))
    values = np.asarray(color)
    if values.shape != (rows,):
        raise ValueError(f"color.shape == {values.shape}, expected {(rows,)}!")
    names, group = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f" or (values.dtype.kind in "iu" and len(names) > _MOST_NAMES):
        return [], values.astype(float)
    return [str(name) for name in names], _palette(len(names))[group]
