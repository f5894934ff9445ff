"""The quick form of discoveries.py: two cells of noise, two of a planted direction."""

import math

import discoveries


def test_noise_gets_no_expert_and_a_planted_direction_is_found():
    t3 = ("Student-t, ν", 3)
    cells = {
        "noise": [(100, 5, "null", k, None) for k in range(40)],
        "few rows": [(50, 20, "null", k, None) for k in range(10)],
        "weights": [(300, 5, "null", k, ("exponential weights",)) for k in range(20)],
        "repeats": [(300, 5, "null", k, ("every row five times",)) for k in range(20)],
        "in time": [(500, 3, "null", k, ("AR(0.95), ordered",)) for k in range(20)],
        "blocks": [(500, 3, "null", k, ("blocks of 25, with blocks",)) for k in range(20)],
        "power": [(1000, 10, "null", k, t3) for k in range(5)],
        "strong": [(300, 10, "null", k, ("two groups, gap in deviations", 4.0)) for k in range(5)],
    }
    found = discoveries.study(cells, 2, slow=math.inf)
    # 40 draws at 5 % give more than 7 in 1 of 1,000 cases, 10 more than 3.
    assert found["noise"][0] <= 7 and found["few rows"][0] <= 3, found
    # 20 draws at 5 % give more than 5 in 1 of 3,000 cases.
    assert all(found[what][0] <= 5 for what in ("weights", "repeats", "in time", "blocks")), found
    assert found["power"][1] == 5 and found["strong"][1] == 5, found
