"""Names and roles from claims."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.console.oidc.identity import identity_of, values_of
from services.console.oidc.settings import OidcSettings
from services.console.people.roles import Role

VALID: dict[str, Any] = {
    "console_public_url": "https://console.example",
    "console_oidc_issuer": "https://id.example/realms/ops",
    "console_oidc_client_id": "console",
    "console_oidc_roles": {"look": "viewer", "on-call": "responder", "leads": "admin"},
}


def settings(**more: Any) -> OidcSettings:
    return OidcSettings(**VALID | more)


@given(st.sets(st.sampled_from(["look", "on-call", "leads", "canteen", "admin"])))
def test_the_highest_role_counts(groups: set[str]) -> None:
    ranks = {"look": Role.VIEWER, "on-call": Role.RESPONDER, "leads": Role.ADMIN}
    given_roles = [ranks[each] for each in ("leads", "on-call", "look") if each in groups]
    found = identity_of({"sub": "1", "groups": sorted(groups)}, settings())
    assert found.role == (given_roles[0] if given_roles else None)


def test_everybody_else_may_be_let_in_to_look() -> None:
    both = settings(console_oidc_default_role="viewer")
    assert identity_of({"sub": "1"}, both).role is Role.VIEWER
    assert identity_of({"sub": "1", "groups": "on-call"}, both).role is Role.RESPONDER


def test_claims_are_found_where_providers_put_them() -> None:
    keycloak = {"realm_access": {"roles": ["leads", 7, None]}}
    assert values_of(keycloak, "realm_access.roles") == {"leads"}
    assert values_of({"https://x.example/roles": "look"}, "https://x.example/roles") == {"look"}
    assert values_of({"realm_access": "leads"}, "realm_access.roles") == frozenset()
    assert values_of({"email": "ann@x.example", "email_verified": True}, "email")
    for unsure in (False, "true", None):
        assert not values_of({"email": "ann@x.example", "email_verified": unsure}, "email")


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "Ann"}, "ann@id.example"),
        ({"preferred_username": "Ann.Lee@Example.org"}, "ann.lee@example.org"),
        ({"preferred_username": "Zoë Ångström"}, "zoe-angstrom@id.example"),
        ({"preferred_username": "admin"}, "admin@id.example"),
        ({"preferred_username": "王"}, "1@id.example"),
        ({"email": "bob@x.example", "email_verified": True}, "bob@x.example"),
        ({"email": "bob@x.example"}, "1@id.example"),
        ({"preferred_username": ["ann"]}, "1@id.example"),
    ],
)
def test_people_get_a_name_that_can_be_read(claims: dict[str, Any], name: str) -> None:
    assert identity_of({"sub": "1", **claims}, settings()).name == name


@given(st.text(max_size=300), st.text(min_size=1, max_size=50))
def test_no_name_is_a_local_users(name: str, subject: str) -> None:
    made = identity_of({"sub": subject, "preferred_username": name}, settings()).name
    assert "@" in made
    assert len(made) < 100
    assert made.isascii()
    assert made.isprintable()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"console_oidc_issuer": "http://id.example"}, "https"),
        ({"console_oidc_client_id": ""}, "client"),
        ({"console_public_url": ""}, "lead people back"),
        ({"console_oidc_roles": {}}, "who gets which role"),
        ({"console_oidc_roles": {"x": "boss"}}, "viewer"),
        ({"console_oidc_scopes": "profile"}, "openid"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(**wrong)
