"""`make size RATE=250000`: what a rate of events needs and costs a year, with all assumptions."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from services.contracts.records import describe
from tests.bench.sizing.cost import on_aws, on_own
from tests.bench.sizing.demand import Demand
from tests.bench.sizing.figures import FIGURES_FILE, read_figures
from tests.bench.sizing.needs import needs
from tests.bench.sizing.prices import PRICES_FILE, read_prices
from tests.bench.sizing.report import lines

EXIT_USAGE = 64


def main(arguments: Sequence[str]) -> int:
    """Print the sizing; return 64 where something asked for or a file cannot be used."""
    parsed = _parser().parse_args(arguments)
    asked = {name: getattr(parsed, name) for name in Demand.model_fields}
    try:
        demand = Demand.model_validate({k: v for k, v in asked.items() if v is not None})
        figures, prices = read_figures(parsed.figures), read_prices(parsed.prices)
    except ValidationError as error:
        return _refused(describe(error, limit=10))
    except (OSError, ValueError, yaml.YAMLError) as error:
        return _refused(str(error))
    found = needs(demand, figures)
    costs = {
        "on AWS, on demand": on_aws(demand, found, prices.aws),
        "on own machines": on_own(demand, found, prices.own),
    }
    sys.stdout.write("\n".join(lines(demand, figures, found, costs, prices)) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.bench.sizing", description=__doc__)
    for name, field in Demand.model_fields.items():
        fixed = not field.is_required() and field.default is not None
        default = f" ({field.default})" if fixed else ""
        parser.add_argument(f"--{name.replace('_', '-')}", help=f"{field.description}{default}")
    parser.add_argument("--prices", type=Path, default=PRICES_FILE, help="a file of your prices")
    parser.add_argument("--figures", type=Path, default=FIGURES_FILE, help="a file of your figures")
    return parser


def _refused(why: str) -> int:
    sys.stderr.write(f"cannot size this: {why}; --help lists what can be asked\n")
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
