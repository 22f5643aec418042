"""Variants are declared rightly: the first is what is shipped, every watch is a watch."""

from auditor.settings import AuditorSettings
from services.contracts.watches import load_watch
from tests.bench.engine import SHIPPED
from tests.bench.variants import load_variants


def test_first_is_shipped_and_names_choose() -> None:
    declared = load_variants()
    assert (declared[0].watch_file(), declared[0].settings) == (SHIPPED, {})
    assert [each.name for each in load_variants([declared[1].name])] == [declared[1].name]


def test_every_watch_is_a_watch_and_every_setting_is_one() -> None:
    for each in load_variants():
        assert load_watch(each.watch_file()).watch == "over-purchase"
        for name in each.settings:
            assert name.removeprefix("ALDEBARAN_").lower() in AuditorSettings.model_fields
