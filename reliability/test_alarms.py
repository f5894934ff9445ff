"""The quick form of alarms.py: one cell of each kind."""

import alarms


def test_false_alarms_come_at_the_nominal_rate_and_contamination_does_not_raise_them():
    fresh, training = alarms.alarms(300, 5, 60)
    # The standard error of the mean of 60 draws is 4 % of alpha at 5 % and 8 % at 1 %.
    assert 0.007 < fresh[0] < 0.013 and 0.042 < fresh[1] < 0.058, fresh
    assert training[0] < 0.015 and training[1] < 0.06, training
    clean, shifted = alarms.contaminated(0.0, 4), alarms.contaminated(0.03, 4)
    assert shifted[0] <= clean[0] and shifted[2] < 0.02, (clean, shifted)
    assert shifted[3] > 0.6, shifted
