"""What was found, in words: as the command `upoe fit` prints it."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

_WIDTH = 80


def summary(model: Any, most: int) -> str:
    """A fitted model's experts, columns, groups and likelihood."""
    from ._validate import harmless

    names = [harmless(name) for name in model._names()]
    training = model.training_
    lines = [f"{training['rows']:,} rows × {len(names)} columns in {model.whitening_.shape[0]} dimensions", ""]
    if model.n_experts_ == 0:
        lines.append("No experts: nothing was found beyond a Gaussian.")
    else:
        lines += _experts(model, most)
        lines += ["", "columns that move with z (correlation)"]
        for j, row in enumerate(model._model.correlations[:most]):
            lines.append(f"{f'z{j + 1}':>6}  {_strongest(names, row)}")
        if model.n_experts_ > most:
            lines.append(f"… and {model.n_experts_ - most} more: summary(most={model.n_experts_})")
    lines += _groups(model)
    lines += _layers(model)
    lines += ["", f"mean ln p: {_likelihood(training['log_density'])} nats per row"]
    lines += textwrap.wrap(f"Stopped because {model.stop_message_}.", _WIDTH)
    for notice in model.notices_:
        lines += textwrap.wrap(f"Note: {notice}.", _WIDTH)
    return "\n".join(lines)


def _experts(model: Any, most: int) -> list[str]:
    lines = [f"{'expert':>6}  {'gain':>6}  {'p':>6}  {'family':<9}  what it found"]
    for j, expert in enumerate(model.experts_[:most]):
        p = "–" if expert.p_value is None else "<0.001" if expert.p_value < 1e-3 else f"{expert.p_value:.3f}"
        lines.append(f"{f'z{j + 1}':>6}  {expert.gain:6.4f}  {p:>6}  {expert.family:<9}  {expert.says}")
    return lines + ["gain: what the expert adds to the mean ln p, in nats per row"]


def _strongest(names: list[str], row: Any, width: int = _WIDTH - 10) -> str:
    text = ""
    for i in np.argsort(-np.abs(row), kind="stable")[:8]:
        item = f"{textwrap.shorten(names[i], 20, placeholder='…')} {row[i]:+.2f}"
        if len(text) + len(item) + 3 > width:
            break
        text += ("   " if text else "") + item
    return text


def _groups(model: Any) -> list[str]:
    groups = getattr(model, "groups_", [])
    if len(groups) < 2:
        return []
    lines = ["", f"{len(groups)} groups"]
    for number, group in enumerate(groups, 1):
        lines.append(f"{number:>6}  {int(100 * group.share + 0.5)} % of the rows: {group.name}")
    return lines


def _layers(model: Any) -> list[str]:
    lines = []
    for j, layer in enumerate(getattr(model, "layers_", [])):
        lines.append(f"layer {j + 1}: {layer.kind}, gain {layer.gain:.4f} nats per row")
    lines += [f"{100 * share:.1f} % {kind}" for kind, share in getattr(model, "members_", [])]
    return ["", *lines] if lines else []


def _likelihood(told: Any) -> str:
    def shown(value: Any) -> str:
        return "-inf" if value is None else f"{value:.4f}"

    if not isinstance(told, dict):
        return shown(told)
    held = told.get("holdout")
    return shown(told.get("train")) + (f", held out {shown(held)}" if held is not None else "")
