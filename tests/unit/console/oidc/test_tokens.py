"""Which tokens are good: a model of claims and headers beside what the check says."""

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from services.console.oidc.tokens import BadToken, Expected, UnknownKey, checked

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
NOW, SKEW = 1_700_000_000.0, 60.0
EXPECTED = Expected("https://id.example", "console", "nonce", NOW, SKEW)
GOOD: dict[str, Any] = {
    "iss": "https://id.example",
    "aud": "console",
    "sub": "u-1",
    "iat": NOW,
    "exp": NOW + 300,
    "nonce": "nonce",
}


def public(private: Any, algorithm: str, **more: str) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    return {**made, **more}


def signed(claims: dict[str, Any], **header: str) -> str:
    # Not by `jwt.encode`, which refuses to sign what is meant to be wrong here.
    return jwt.PyJWS().encode(json.dumps(claims).encode(), RSA, "RS256", header)


KEYS = [public(RSA, "RS256", kid="a")]


def refused(token: str, keys: list[dict[str, Any]] = KEYS) -> str:
    with pytest.raises(BadToken) as caught:
        checked(token, keys, EXPECTED)
    return str(caught.value)


@given(
    name=st.sampled_from(["iat", "exp", "nbf"]),
    off=st.floats(-1000, 1000, allow_nan=False),
)
def test_times_count_with_the_skew(name: str, off: float) -> None:
    claims = GOOD | {name: NOW + off}
    good = off > -SKEW if name == "exp" else off <= SKEW
    if good:
        assert checked(signed(claims), KEYS, EXPECTED) == claims
    else:
        refused(signed(claims))


@given(
    name=st.sampled_from(["iss", "aud", "sub", "iat", "exp", "nonce"]),
    value=st.none()
    | st.booleans()
    | st.text(max_size=9)
    | st.lists(st.text(max_size=9), max_size=3)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
def test_a_claim_that_is_something_else_opens_nothing(name: str, value: object) -> None:
    is_good = name == "sub" and isinstance(value, str) and value and "\0" not in value
    if is_good:
        assert checked(signed(GOOD | {name: value}), KEYS, EXPECTED)["sub"] == value
    else:
        refused(signed(GOOD | {name: value}))


@given(st.text(max_size=200) | st.binary(max_size=90).map(lambda raw: f"{raw.hex()}.e30.e30"))
def test_whatever_comes_is_a_token_or_is_refused(text: str) -> None:
    refused(text)


@given(st.integers(0, 10_000), st.characters(codec="ascii"))
def test_no_letter_can_be_changed(place: int, letter: str) -> None:
    token = signed(GOOD, kid="a")
    place %= len(token) - 1  # The last letter holds bits that mean nothing.
    changed = token[:place] + letter + token[place + 1 :]
    if changed != token:
        refused(changed)


def test_every_kind_of_key_signs_by_its_own_algorithms_only() -> None:
    kinds: list[tuple[Any, str]] = [(RSA, "RS256"), (RSA, "PS512"), (EC, "ES256"), (ED, "EdDSA")]
    keys = [public(RSA, "RS256"), public(EC, "ES256"), public(ED, "EdDSA")]
    for private, algorithm in kinds:
        token = jwt.encode(GOOD, private, algorithm)
        assert checked(token, keys, EXPECTED) == GOOD
        others = [key for key in keys if key["kty"] != public(private, algorithm)["kty"]]
        with pytest.raises(UnknownKey):
            checked(token, others, EXPECTED)


def test_keys_are_used_for_what_they_are_published_for() -> None:
    token = signed(GOOD, kid="a")
    for wrong in ({"use": "enc"}, {"alg": "RS512"}, {"kid": "b"}, {"kty": "oct", "k": "AA"}):
        with pytest.raises(UnknownKey):
            checked(token, [KEYS[0] | wrong], EXPECTED)


def test_several_audiences_take_an_authorized_party() -> None:
    both = GOOD | {"aud": ["console", "wiki"]}
    assert "azp" in refused(signed(both))
    assert checked(signed(both | {"azp": "console"}), KEYS, EXPECTED)["azp"] == "console"
    assert "azp" in refused(signed(GOOD | {"azp": "wiki"}))
    assert checked(signed(GOOD | {"aud": ["console"]}), KEYS, EXPECTED)
