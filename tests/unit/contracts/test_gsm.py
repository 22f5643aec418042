"""The letters of a plain SMS are those of the standard, and what replaces others is of them."""

from services.contracts.gsm import LETTERS, ONE_PLACE, PLAINER, TWO_PLACES


def test_the_alphabet_is_as_large_as_the_standards() -> None:
    """GSM 03.38 has 128 codes, of which one leads to the second set of ten."""
    assert (len(ONE_PLACE), len(TWO_PLACES)) == (127, 10)
    assert LETTERS == ONE_PLACE | TWO_PLACES
    assert not ONE_PLACE & TWO_PLACES


def test_only_what_is_no_letter_is_replaced_and_by_letters() -> None:
    assert not set(map(chr, PLAINER)) & LETTERS
    assert set("".join(PLAINER.values())) <= LETTERS
