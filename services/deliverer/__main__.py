"""`python -m services.deliverer`: deliver one channel, named by ALDEBARAN_CHANNEL.

`held`, `resend`, `close` and `arrived` are for people; see `--help`.
"""

import sys
from collections.abc import Sequence

from services.backbone import service
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.deliverer.command_line import answer, parse
from services.deliverer.inbox import PROGRAM
from services.deliverer.program import serve
from services.deliverer.settings import DelivererSettings
from services.deliverer.wiring import no_channel, opener


def main(arguments: Sequence[str]) -> int:
    """Run until told to stop, or carry out a person's command; return the exit code."""
    parsed = parse(arguments)
    if parsed.command is not None:
        return answer(parsed)
    settings = read_settings(DelivererSettings)
    open_channel = opener(settings.channel)
    if open_channel is None:
        sys.stderr.write(f"{no_channel(settings.channel)}\n")
        return EXIT_BAD_SETTINGS
    return service.run(PROGRAM, settings, lambda life: serve(settings, open_channel, life))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
