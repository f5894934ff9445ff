"""The report page of a model, in a notebook or as a file."""

from __future__ import annotations

import html
import os
from pathlib import Path


class Report:
    """The page that the command `upoe report` writes: one HTML file that needs no network.

    A notebook shows it; `save` writes it, and `str` gives its text.
    """

    def __init__(self, page: str, height: int = 700) -> None:
        self._page = page
        self.height = height
        """How high a notebook shows it, in pixels."""

    def __str__(self) -> str:
        return self._page

    def __repr__(self) -> str:
        return f"<upoe report of {len(self._page.encode()) / 1e6:.1f} MB: save(path) writes it>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page.

        Parameters
        ----------
        path : str or path-like
            Where to; a browser shows it.
        """
        Path(path).write_text(self._page, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame of its own: the page has styles and a script.
        return (
            f'<iframe srcdoc="{html.escape(self._page)}" title="upoe report" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
