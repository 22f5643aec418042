"""All that an error and its causes say, told by stand-ins for PySpark's and Java's errors."""

from engine.failures import CAUSES_MAX, whole_text


class Java:
    """An error of Java with its cause."""

    def __init__(self, text: str, cause: "Java | None" = None) -> None:
        self._text, self._cause = text, cause

    def toString(self) -> str:
        return self._text

    def getCause(self) -> "Java | None":
        return self._cause


class Captured(Exception):
    """An error as PySpark hands it on: with Java's, or with a cause that is captured too."""

    def __init__(
        self, text: str, origin: Java | None = None, cause: "Captured | None" = None
    ) -> None:
        super().__init__(text)
        self._origin, self._cause = origin, cause


def test_no_error_has_a_text() -> None:
    assert whole_text(None) == "None"


def test_causes_of_java_are_told() -> None:
    error = Captured("failed", Java("failed", Java("IOException: full")))
    assert "IOException: full" in whole_text(error)


def test_causes_of_a_query_that_ended_are_told() -> None:
    full = Captured("", Java("IOException: full"))
    error = Captured("terminated", cause=Captured("not written", cause=full))
    assert whole_text(error).split("\n") == ["terminated", "not written", "", "IOException: full"]


def test_the_plan_of_the_query_is_left_out() -> None:
    plan = "\n=== Streaming Query ===\nLogical Plan:\nFilter (note = full)"
    error = Captured(f"terminated{plan}", cause=Captured("not written"))
    assert "full" not in whole_text(error)
    assert "not written" in whole_text(error)


def test_a_ring_of_causes_ends() -> None:
    error = Captured("again")
    error._cause = error  # noqa: SLF001 - a ring is made in no other way
    assert whole_text(error) == "\n".join(["again"] * CAUSES_MAX)
