"""The quick form of changes.py: two cells of each kind."""

import changes


def test_tables_of_one_distribution_rarely_differ():
    cells = {
        ("few", 50, 2): [(50, 2, changes.KINDS[0], k) for k in range(30)],
        ("wide", 60, 20): [(60, 20, changes.KINDS[1], k) for k in range(15)],
        ("model", 100, 3): [(100, 3, changes.KINDS[2], k) for k in range(15)],
    }
    counts = changes.study(cells, 2)
    # 30 draws at 5 % give more than 6 in 1 of 1,000 cases, 15 more than 4.
    for key, most in zip(cells, (6, 4, 4)):
        change, drop, _ = counts[key]
        assert change <= most and drop <= most, counts
