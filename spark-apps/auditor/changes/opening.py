"""What an auditor runs first: what is declared, or what ran last where that has to go on."""

from collections.abc import Collection, Mapping

from auditor.queries.declared import Declarations, Declared
from services.backbone.errors import Refused


def opening(
    declarations: Declarations,
    last: Mapping[str, Declared],
    shuffle_partitions: int,
    refused: Collection[str] = (),
) -> dict[str, Declared]:
    """Return the watches to start with; a reload brings the rest.

    A watch whose rule was changed while nobody ran goes on as it was, until the changed rule has
    caught up. So does one of the `refused`: its file still has rows that a record has shown to be
    bad, and as that record is read, it would not show it again. While a file is bad, a watch that
    ran last and is declared nowhere may be its.

    Raises:
        Refused: a file is bad and nothing ran before: then it is best seen at once.
    """
    if not last and (bad := declarations.bad_files()):
        raise Refused("; ".join(bad))
    first = {}
    for name, declared in declarations.wanted().items():
        old = last.get(name, declared)
        same = old.face(shuffle_partitions).state == declared.face(shuffle_partitions).state
        first[name] = declared if same and name not in refused else old
    if declarations.problems:
        first |= {name: one for name, one in last.items() if name not in declarations.watches}
    return first
