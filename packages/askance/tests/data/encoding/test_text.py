"""Words of a text."""

from hypothesis import given
from hypothesis import strategies as st

from askance.data.encoding.kinds import words


def test_words_are_letters_digits_and_underscores_in_lower_case():
    assert words("Hello, WORLD! 3.5 it's snake_case") == ["hello", "world", "3", "5", "it", "s", "snake_case"]


def test_words_are_found_in_every_script():
    assert words("Über Ñandú, ПРИВЕТ мир; 世界 ١٢") == ["über", "ñandú", "привет", "мир", "世界", "١٢"]


@given(st.text())
def test_words_hold_no_blanks_and_no_capitals(text):
    for word in words(text):
        assert word.strip() == word != ""
        assert word == word.lower()
        assert not any(letter.isspace() for letter in word)
