"""How a test to somebody is written on a command line."""

import argparse
from typing import Any

from services.contracts.records import Severity


def add_trial_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says to whom a test goes, and what they read."""
    parser.add_argument("--channel")
    parser.add_argument("--to", help="the recipient on the channel")
    parser.add_argument("--person", help="a person of the routes, on all channels")
    parser.add_argument("--route", help="whom a route tells")
    parser.add_argument("--severity", choices=[str(each) for each in Severity], default="info")
    parser.add_argument("--text", default="", help="what they read")


def trial_body(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what the API is asked."""
    given = {
        "channel": chosen.channel,
        "recipient": chosen.to,
        "person": chosen.person,
        "route": chosen.route,
        "severity": chosen.severity,
        "text": chosen.text,
    }
    return {name: value for name, value in given.items() if value is not None}
