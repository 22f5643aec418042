"""Tells by trying again whether records are to blame for what Spark does not explain."""

from collections.abc import Callable

from auditor.trouble import Trouble, judge, kinds, may_hide_a_record
from engine.failures import first_line, whole_text
from services.backbone.errors import Transient

Run = Callable[[bool], Exception | None]
"""Runs the SQL over some records; with False it reads them as well, and runs over none of them.

Returns what it failed with, None if it worked.
"""


def fails(run: Run) -> bool:
    """Tell whether the SQL fails on the records, and not for anything around them.

    Where Spark names neither a value nor anything else, they are to blame if it fails on them
    twice in the same way, and works between: an outage that lasts from one try to the other is met
    there as well.

    Raises:
        Transient: that cannot be told now.
    """
    failure = run(True)
    if failure is None:
        return False
    text = whole_text(failure)
    if judge(text) is Trouble.RECORD:
        return True
    if may_hide_a_record(text) and run(False) is None:
        again = run(True)
        if again is None or kinds(whole_text(again)) == kinds(text):
            return again is not None
    raise Transient(f"the search for the record failed: {first_line(failure)}")
