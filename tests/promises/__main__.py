"""`python -m tests.promises` (`make docs`): write the guarantee table into docs/channels.md."""

from tests.promises.document import DOCUMENT, renewed

if __name__ == "__main__":
    DOCUMENT.write_text(renewed(DOCUMENT.read_text()))
