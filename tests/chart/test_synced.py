"""What an API server would fill in within a list stands there, or Argo CD takes it for a change.

Outside of lists it passes over what nobody asked for.
"""

import json

from tests.chart.rendering import CASES, Object, needs_helm, rendered

pytestmark = needs_helm


def specs(kind: str) -> list[Object]:
    """Return what the example with everything asks of a kind."""
    return [each["spec"] for each in rendered(*CASES["full"]) if each["kind"] == kind]


def test_a_route_names_all_of_what_it_leads_to() -> None:
    rules = [rule for spec in specs("HTTPRoute") for rule in spec["rules"]]
    led = [each for rule in rules for each in rule["backendRefs"]]
    filled_in = {"group": "", "kind": "Service", "weight": 1}
    assert led
    for each in led:
        assert each == {**filled_in, "name": each["name"], "port": each["port"]}
    for each in (match["path"] for rule in rules for match in rule["matches"]):
        assert each.keys() == {"type", "value"}


def test_a_route_names_all_of_the_gateway_that_it_hangs_on() -> None:
    filled_in = {"group": "gateway.networking.k8s.io", "kind": "Gateway"}
    routes = specs("HTTPRoute")
    assert routes
    for spec in routes:
        assert spec["parentRefs"] == [{**filled_in, "name": "public", "namespace": "gateways"}]


def test_a_route_hangs_on_what_it_is_told() -> None:
    told = {"group": "", "kind": "Service", "name": "mesh"}
    given = ("--set-json", f"httpRoute={json.dumps({'enabled': True, 'parentRefs': [told]})}")
    (made,) = (each for each in rendered(*given) if each["kind"] == "HTTPRoute")
    assert made["spec"]["parentRefs"] == [told]


def test_external_secrets_is_told_all_of_what_it_extracts() -> None:
    extracts = [each["extract"] for spec in specs("ExternalSecret") for each in spec["dataFrom"]]
    filled_in = {"conversionStrategy": "Default", "decodingStrategy": "None"}
    assert extracts
    for each in extracts:
        assert each == {**filled_in, "metadataPolicy": "None", "key": each["key"]}
