"""What changed between two tables."""

import numpy as np
import pytest
from upoe import UPoE, compare


def table(seed, n=300):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    return np.column_stack([size + 0.2 * rng.normal(size=n), 3 * size + rng.normal(size=n), rng.normal(size=n)])


def test_a_shift_is_named_with_its_size_and_rows():
    a, b = table(0), table(1)
    b[:, 2] += 0.6
    b[7, 2] += 9
    found = compare(a, b)
    assert found.p_value < 0.01 and found.answer.startswith("B differs from A")
    change = found.changes[0]
    assert (change.kind, change.columns, change.rows[0]) == ("shift", ["c3"], 7)
    assert change.interval[0] < 0.6 < change.interval[1]
    assert found.drop.nats > 2 * found.drop.standard_error
    assert str(found).splitlines()[1].startswith("1. c3 is 0.")


def test_nothing_is_found_where_nothing_changed_and_threads_do_not_matter():
    a, b = table(0), table(1)
    found = compare(a, b, n_jobs=1)
    assert found.p_value > 0.05 and not found.changes
    assert compare(a, b, n_jobs=3) == found
    assert compare(a.astype(np.float32), b.astype(np.float32)).p_value > 0.05


def test_names_are_matched_and_a_model_stands_for_its_rows():
    pd = pytest.importorskip("pandas")
    a, b = (pd.DataFrame(table(k), columns=["x", "y", "z"]) for k in (0, 1))
    b["x"] += 0.3
    found = compare(a, b[["z", "y", "x"]])
    assert found.changes[0].columns == ["x", "y"]
    assert " higher for its y" in found.changes[0].sentence
    model = UPoE().fit(a)
    assert compare(model, b).changes[0].columns[0] == "x"
    assert compare(model, model.sample(200, random_state=1)).p_value > 0.05


def test_bad_input_has_clear_messages():
    pd = pytest.importorskip("pandas")
    a, b = table(0), table(1)
    with pytest.raises(ValueError, match="columns of the second table: expected 3, got 2"):
        compare(a, b[:, :2])
    with pytest.raises(ValueError, match="B lacks columns that A has: 'y'"):
        compare(pd.DataFrame({"x": a[:, 0], "y": a[:, 1]}), pd.DataFrame({"x": b[:, 0]}))
    with pytest.raises(ValueError, match="at least 2"):
        compare(a, b[:1])
    constant = b.copy()
    constant[:, 1] = 4
    with pytest.raises(ValueError, match='column "c2" is 4 in every row of B'):
        compare(a, constant)
    hole = b.copy()
    hole[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN: row 3"):
        compare(a, hole)
    few = compare(a, b[:8])
    assert few.p_value is None and "cannot tell" in few.answer
    for middle in (0, 20):
        units = compare(a + middle, (b + middle) * [1, 1000, 1])
        assert units.notes == ["c2 seems to be in other units: its values are about 1000 times as large"]
        assert str(units).endswith(f"note: {units.notes[0]}")
