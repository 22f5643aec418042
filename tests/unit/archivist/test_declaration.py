"""A wrong account file is refused with file, line and reason."""

from pathlib import Path

import pytest

from archivist.__main__ import declarations
from archivist.declaration import load_accounts
from archivist.settings import SHIPPED_ACCOUNTS, ArchivistSettings
from services.backbone.errors import Refused
from services.contracts.declarations import BadDeclaration
from tests.unit.declarations import NEVER_FITS
from tests.unit.servers import STREAM_FILE

SHIPPED = (SHIPPED_ACCOUNTS / "unmatched-purchases.yaml").read_text()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("key: [", "keys: [", "keys"),
        ("settle: early", "settle: soon", "soon"),
        ("look_back: limit + limit", "look_back: 1 minute", "look_back is shorter than every"),
        ("  early: 1 hour", "  every: 1 hour\n  early: 1 hour", "not a duration's name: every"),
        ("every: 10 minutes", "every: 10 minutes\nparameters: {early_ms: 1}", "same marker"),
        ("reasons:", "reasons: {}\nothers:", "reasons"),
        ("version: 1", "version: 2", "line 4: version"),
        ("streams: [trades]", "streams: [trades", "unmatched-purchases.yaml"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert before in SHIPPED
    path = tmp_path / "unmatched-purchases.yaml"
    path.write_text(SHIPPED.replace(before, after))
    with pytest.raises(BadDeclaration, match=said):
        load_accounts(tmp_path)


def test_two_accounts_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(SHIPPED)
    with pytest.raises(BadDeclaration, match="declared twice"):
        load_accounts(tmp_path)


def test_no_account_is_fine_no_folder_is_not(tmp_path: Path) -> None:
    assert load_accounts(tmp_path) == {}
    with pytest.raises(BadDeclaration, match="no account is declared"):
        load_accounts(tmp_path / "missing")


def test_an_account_over_unknown_streams_is_refused(tmp_path: Path) -> None:
    (account,) = load_accounts(SHIPPED_ACCOUNTS).values()
    with pytest.raises(BadDeclaration, match="not declared: trades"):
        account.check_streams({})


def test_a_default_that_never_fits_keeps_nothing_from_the_archive(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(NEVER_FITS)
    assert set(declarations(ArchivistSettings(streams_dir=tmp_path))[0]) == {"odd"}


def test_shipped_accounts_are_left_out_with_their_streams_and_no_others(tmp_path: Path) -> None:
    assert set(declarations(ArchivistSettings())[1]) == {"unmatched-purchases"}
    streams, accounts = declarations(ArchivistSettings(streams_dir=STREAM_FILE.parent))
    assert (set(streams), accounts) == ({"server_metrics"}, {})
    (tmp_path / "own.yaml").write_text(SHIPPED)
    own = ArchivistSettings(streams_dir=STREAM_FILE.parent, archivist_accounts=tmp_path)
    with pytest.raises(Refused, match="not declared: trades"):
        declarations(own)
