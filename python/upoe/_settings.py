"""The estimators' parameters in the words of the Rust settings, and back."""

from __future__ import annotations

import json
import numbers
from typing import Any, Sequence

import numpy as np

from . import _upoe, _validate

# The words that parameters take.
CHOICES: dict[str, list[str]] = _upoe.choices()
CHOICES["family"].insert(0, "auto")
# What a fit does that is asked for nothing.
DEFAULTS: dict[str, Any] = json.loads(_upoe.defaults())


def settings(params: dict[str, Any]) -> dict[str, Any]:
    """What a fit is asked to do by these parameters, checked."""
    for name, choices in CHOICES.items():
        value = params.get(name)
        if value is not None and not (isinstance(value, str) and value in choices):
            raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, choices))}")
    start = params.get("parallel_start", DEFAULTS["parallel_start"])
    if params.get("learner") != "parallel" and start != DEFAULTS["parallel_start"]:
        raise ValueError(f"parallel_start = {start!r}: set learner='parallel', which alone uses it")
    return {
        "experts": _count(params, "n_experts", 0),
        "dims": _dims(params.get("n_dims")),
        "family": None if params.get("family", "auto") == "auto" else params["family"],
        "mixture_size": _count(params, "mixture_size", 1) or DEFAULTS["mixture_size"],
        "fix_mu": _locations(params.get("fix_mu")),
        "fix_beta": _real(params, "fix_beta"),
        "learner": params.get("learner", DEFAULTS["learner"]),
        "parallel_start": start,
        "stop": params.get("stop"),
        "starts": _count(params, "n_starts", 1),
        "max_iter": _count(params, "max_iter", 1) or DEFAULTS["max_iter"],
        "tol": _real(params, "tol"),
        "seed": _validate.seed(params.get("random_state")),
        "recipe": params.get("recipe", DEFAULTS["recipe"]),
        "precision": params.get("precision", DEFAULTS["precision"]),
        "threads": _validate.threads(params.get("n_jobs")),
        # What has no such dial has one layer.
        "quality": params.get("quality", "fast"),
        "depth": _depth(params.get("depth")),
    }


def parameters(settings: dict[str, Any]) -> dict[str, Any]:
    """The estimators' parameters of a fit's settings."""
    dims = settings["dims"]
    quality, depth = _upoe.dials(json.dumps(settings))
    return {
        "quality": quality,
        "depth": None if depth is None or quality == "fast" else depth,
        "n_experts": "auto" if settings["experts"] is None else settings["experts"],
        "n_components": settings["experts"],
        "n_dims": None if dims == "all" else next(iter(dims.values())),
        "family": settings["family"] or "auto",
        "mixture_size": settings["mixture_size"],
        "fix_mu": settings["fix_mu"],
        "fix_beta": settings["fix_beta"],
        "learner": settings["learner"],
        "parallel_start": settings["parallel_start"],
        "stop": settings["stop"],
        "n_starts": settings["starts"] or "auto",
        "max_iter": settings["max_iter"],
        "tol": settings["tol"],
        "random_state": settings["seed"],
        "recipe": settings["recipe"],
        "precision": settings["precision"],
        "n_jobs": settings["threads"],
    }


def _count(params: dict[str, Any], name: str, least: int) -> int | None:
    value = params.get(name)
    return None if value is None or value == "auto" else _validate.whole(name, value, least)


def _depth(depth: Any) -> str | None:
    if depth is None:
        return None
    if isinstance(depth, str) and depth == "auto":
        return "auto"
    if isinstance(depth, numbers.Integral) and not isinstance(depth, bool):
        return str(_validate.whole("depth", depth, 1))
    raise ValueError(f"depth = {depth!r}: give a number of layers from 1, 'auto' or None")


def _real(params: dict[str, Any], name: str) -> float | None:
    value = params.get(name)
    if value is None and name != "tol":
        return None
    if not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        raise ValueError(f"{name} = {value!r}: must be a finite number")
    return float(value)


def _dims(n_dims: Any) -> Any:
    if n_dims is None or n_dims == "auto":
        return "all"
    if isinstance(n_dims, numbers.Integral) and not isinstance(n_dims, bool):
        return {"count": _validate.whole("n_dims", n_dims, 1)}
    if isinstance(n_dims, numbers.Real) and 0.0 < float(n_dims) <= 1.0:
        return {"share": float(n_dims)}
    raise ValueError(
        f"n_dims = {n_dims!r}: give a number of dimensions, a share of variance in (0, 1], or None"
    )


def _locations(fix_mu: Any) -> list[float] | None:
    if fix_mu is None:
        return None
    given: Sequence[Any] = [fix_mu] if isinstance(fix_mu, numbers.Real) else list(fix_mu)
    if not all(isinstance(mu, numbers.Real) and np.isfinite(float(mu)) for mu in given):
        raise ValueError(f"fix_mu = {fix_mu!r}: give one finite number, or one per component")
    return [float(mu) for mu in given]
