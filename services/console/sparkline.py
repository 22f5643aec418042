"""Small lines of the last minutes, drawn here as SVG paths: no script, no style inline."""

from collections.abc import Sequence

WIDTH: int = 120
HEIGHT: int = 28


def sparkline(values: Sequence[float | None], slots: int) -> str:
    """Return the path of a line whose newest value is at the right; a gap where None stands.

    The line begins at the bottom with 0 and has its largest value at the top.
    """
    top = max((value for value in values if value is not None), default=0.0)
    step = WIDTH / max(1, slots - 1)
    first = slots - len(values)
    pieces, pen = [], "M"
    for number, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        height = value / top if top > 0 else 0.0
        x, y = (first + number) * step, HEIGHT - 1 - height * (HEIGHT - 2)
        pieces.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "L"
    return " ".join(pieces)
