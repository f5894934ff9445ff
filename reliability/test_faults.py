"""The quick form of faults.py: fewer moments, smaller files."""

import faults


def test_killed_fits_resume_with_the_same_bits():
    faults.kills(3)


def test_ctrl_c_leaves_a_whole_model_or_none():
    faults.ctrl_c(3)


def test_a_full_disk_spoils_nothing():
    found = faults.no_room()
    assert found["limit"] and found["/dev/full"]


def test_files_that_shrink_are_errors():
    faults.shrinking(3, 20_000)


def test_broken_pipes_end_quietly():
    faults.broken_pipes(8)


def test_a_fit_needs_the_memory_it_says():
    faults.little_memory(500_000, 10)
