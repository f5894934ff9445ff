"""Figures as Markdown."""


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def seconds(timing):
    """A median with its spread, or a single run."""
    median, low, high = (digits(timing[name]) for name in ("median", "least", "most"))
    return f"{median} s" if timing["runs"] == 1 else f"{median} s ({low}–{high})"


def digits(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def verdict(met):
    return "met" if met else "**missed**"
