"""A button of a dialog, which stays on its page, can be pressed again and again."""

import pytest

from tests.integration.browser.conftest import OpenTab

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_the_help_is_closed_by_its_button_again_and_again(tab: OpenTab) -> None:
    one = tab()
    one.go("/")
    for _ in range(2):
        one.page.keyboard.press("?")
        one.page.click("dialog[open] button")
        one.page.wait_for_selector("dialog", state="hidden")
    one.page.keyboard.press("?")
    one.page.wait_for_selector("dialog[open] button:enabled")
