import numpy as np
import pytest
from tests.papers.standins import ROWS, stand_in

from askance_papers.paper5.drift import FIRST_DAY, gain, play, scales, stream_of


def test_the_first_day_is_cut_off_and_texts_become_words_present_or_not():
    stream = stream_of(stand_in("spamassassin"))
    day = int(FIRST_DAY * ROWS)
    assert stream.first[0].shape[0] == day
    assert stream.rest[0].shape[0] == ROWS - day
    assert set(stream.rest[0].data.tolist()) == {1.0}


def test_gains_are_relative_to_the_first_model():
    assert gain("auc", 0.99, 0.9) == pytest.approx(0.1)
    assert gain("nlp", 0.1, 0.4) == pytest.approx(0.75)
    assert gain("weighted_loss", 8.0, 4.0) == pytest.approx(-1.0)


def test_a_rate_is_its_own_scale_and_others_are_searched():
    stream = stream_of(stand_in("elec2"))
    assert scales(stream, "UOAL-random", (0.2, 0.5))[0.2].scale == 0.2
    found = scales(stream, "UOAL-margin", (0.3,))[0.3]
    asked = [play(stream, "UOAL-margin", 10_000 + trial, b=found.scale)["query_ratio"] for trial in range(3)]
    assert not found.reached or np.mean(asked) == pytest.approx(0.3, rel=0.03)


def test_the_order_of_a_trial_changes_nothing_but_the_order():
    stream = stream_of(stand_in("elec2"))
    same = play(stream, "UOAL-random", 0, np.arange(len(stream.rest[1])), rate=0.5)
    assert same == play(stream, "UOAL-random", 0, rate=0.5)
