"""Records that were deleted before the archivist read them: what a person has to decide then."""

from archivist.settings import ArchivistSettings
from engine.losses import is_loss
from engine.restarts import whole_text
from services.backbone.errors import Refused


class Gap(Refused):
    """Records are gone; going on without them is for a person to say."""


def told(error: Exception, settings: ArchivistSettings, job: str) -> Exception:
    """Return a failure as a person can act on it: Spark names an option that nobody can set here.

    What reads a stream quotes none of its values, so its message has no sign that is a value's.
    """
    if not settings.archivist_fail_on_data_loss or not is_loss(whole_text(error)):
        return error
    return Gap(
        f"{job}: records of the stream were deleted before they were read; set "
        "ALDEBARAN_ARCHIVIST_FAIL_ON_DATA_LOSS=false to go on behind them. Accounts will not know "
        "of the gap: what they find missing may have been there"
    )
