"""Records that were deleted before the archivist read them: what a person has to decide then."""

import re
from typing import Final

from archivist.settings import ArchivistSettings
from engine.failures import first_line, whole_text
from engine.losses import is_loss
from services.backbone.errors import Refused

_WHICH: Final = re.compile(r"^Reason: (.+)", re.MULTILINE)
"""Spark says only below its own advice which records are gone."""


class Gap(Refused):
    """Records are gone; going on without them is for a person to say."""


def told(error: Exception, settings: ArchivistSettings, job: str) -> Exception:
    """Return a failure as a person can act on it: Spark names an option that nobody can set here.

    What reads a stream quotes none of its values, so its message has no sign that is a value's.
    """
    text = whole_text(error)
    if not settings.archivist_fail_on_data_loss or not is_loss(text):
        return error
    reasons = _WHICH.findall(text)
    which = reasons[-1] if reasons else first_line(error)
    return Gap(
        f"{job}: records of the stream were deleted before they were read; set "
        "ALDEBARAN_ARCHIVIST_FAIL_ON_DATA_LOSS=false to go on behind them. Accounts will not know "
        f"of the gap: what they find missing may have been there: {which}"
    )
