"""What a program's page of metrics shows."""

import re


def total(page: str, metric: str, **labels: str) -> float:
    """Return the sum of a metric's samples that carry these labels; 0 where there is none."""
    wanted = {f'{label}="{value}"' for label, value in labels.items()}
    samples = re.findall(rf"^{metric}(?:{{(.*)}})? (\S+)$", page, re.MULTILINE)
    return sum(float(value) for found, value in samples if wanted <= set(found.split(",")))
