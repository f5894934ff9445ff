"""Progress of a fit: tqdm where it is installed, text otherwise."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator

Show = Callable[[int, int, float], None]


@contextlib.contextmanager
def progress(verbose: int, experts: int | None) -> Iterator[Show | None]:
    """A function to call with (expert, passes, value), or None where nothing is to be shown."""
    if verbose <= 0:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _text
        sys.stderr.write("\n")
        return
    with tqdm(total=experts, unit="expert", desc="upoe") as bar:
        yield lambda expert, passes, gain: _update(bar, expert, passes, gain)
        bar.total = None if experts is None else max(experts, bar.n)


def _update(bar: Any, expert: int, passes: int, gain: float) -> None:
    bar.n = expert
    bar.set_postfix_str(f"{passes} passes, gain {gain:.4f} nats")


def _text(expert: int, passes: int, gain: float) -> None:
    sys.stderr.write(f"\rexpert {expert + 1}: {passes} passes, gain {gain:.4f} nats   ")
    sys.stderr.flush()
