"""Of the mails that came, the newest are kept."""

import os
from pathlib import Path

from services.simulator.inbox.mails import Mails


def test_the_oldest_go_also_those_that_were_read_and_those_of_an_earlier_process(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "mail"

    def kept() -> set[bytes]:
        return {each.read_bytes() for each in folder.glob("*/*")}

    mails = Mails(folder, limit=3)
    first, *rest = (mails.add(b"%d\n" % number) for number in range(4))
    assert kept() == {b"1\n", b"2\n", b"3\n"}
    for age, name in enumerate(rest):
        os.utime(folder / "new" / name, (age, age))
    (folder / "new" / rest[0]).rename(folder / "cur" / f"{rest[0]}:2,S")
    again = Mails(folder, limit=2)
    assert kept() == {b"2\n", b"3\n"}
    (folder / "new" / rest[1]).unlink()
    again.add(b"4\n")
    again.add(b"5\n")
    assert kept() == {b"4\n", b"5\n"}
    again.forget(again.add(b"6\n"))
    assert kept() == {b"5\n"}
    assert first not in rest
