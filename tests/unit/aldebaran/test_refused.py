"""How the command line shows what was refused: by lines, and nothing of it moves the terminal."""

from services.aldebaran.refused import lines

ROW = {
    "at_ms": 0, "source": "http robot 7 0", "reason": "not_json", "detail": "at 1", "original": "{",
    "encoding": "utf-8", "size_bytes": 1, "cut": False,
}  # fmt: skip


def test_one_that_is_short_text() -> None:
    head = "1970-01-01 00:00:00.000Z not_json: at 1 [http robot 7 0]"
    assert lines(ROW) == f"{head}\n    {{\n"


def test_what_is_base64_or_cut_says_so() -> None:
    told = lines(ROW | {"encoding": "base64", "cut": True, "size_bytes": 9000, "original": "AA=="})
    assert told.endswith("    (base64; cut: only the beginning of 9000 bytes) AA==\n")
