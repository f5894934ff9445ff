"""Which groups there are, and how they differ."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """How far the mean of a group lies from that of the other rows, in the column's own units."""

    column: str
    """The column."""
    given: str | None
    """The column that it is given: what that one explains by linear regression does not count."""
    mean: float
    """The mean of the group."""
    difference: float
    """That less the mean of the other rows."""
    interval: tuple[float, float]
    """The interval of the difference; all intervals of all groups hold together with a chance of 95 %."""


class Group(NamedTuple):
    """A group of rows."""

    name: str
    """Such as "CW high for its FL"."""
    training_rows: float
    """The weight of its training rows; how many there are, where rows have no weights."""
    share: float
    """Its share of the training rows."""
    named_by: list[Difference]
    """What can name it, the clearest first."""
    profile: list[Difference]
    """The columns in which its mean differs from that of the other rows, the clearest first."""


def groups_of(text: str | None) -> tuple[list[Group], int] | None:
    """The groups of the compiled part's JSON, and how many were merged."""
    if text is None:
        return None
    found = json.loads(text)
    return [_group(**group) for group in found["groups"]], found["merged"]


def _group(named_by: Any, profile: Any, **rest: Any) -> Group:
    def told(differences: Any) -> list[Difference]:
        return [Difference(**{**d, "interval": tuple(d["interval"])}) for d in differences]

    return Group(named_by=told(named_by), profile=told(profile), **rest)
