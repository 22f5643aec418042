"""A query that ends since an executor is away suspects neither records nor its checkpoint."""

from typing import cast

import pytest

from auditor.queries.query import Recipe
from auditor.recovery.remedies import RealRemedies
from auditor.trouble import Failure
from services.backbone.clock import SystemClock
from services.backbone.errors import Transient

SAID = (
    "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] Cannot run the pipelined stage group: it needs 5"
    " concurrent task slots to run all its stages together, but only 0 are currently free."
    " The stages of a pipelined group must run concurrently"
)


def test_it_waits_for_the_executor_and_says_so() -> None:
    untouched = cast("Recipe", None)
    with pytest.raises(Transient, match="executor is missing"):
        RealRemedies(untouched, SystemClock()).suspect(Failure(SAID, SAID))
