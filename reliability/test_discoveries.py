"""The quick form of discoveries.py: two cells of noise, two of a planted direction."""

import math

import discoveries


def test_noise_gets_no_expert_and_a_planted_direction_is_found():
    t3 = ("Student-t, ν", 3)
    cells = {
        "noise": [(100, 5, "null", k, None) for k in range(40)],
        "few rows": [(50, 20, "null", k, None) for k in range(10)],
        "power": [(1000, 10, "null", k, t3) for k in range(5)],
        "strong": [(300, 10, "null", k, ("two groups, gap in deviations", 4.0)) for k in range(5)],
    }
    found = discoveries.study(cells, 2, slow=math.inf)
    # 40 draws at 5 % give more than 7 in 1 of 1,000 cases, 10 more than 3.
    assert found["noise"][0] <= 7 and found["few rows"][0] <= 3, found
    assert found["power"][1] == 5 and found["strong"][1] == 5, found
