"""`python -m tests.promises` (`make docs`): write what channels promise into docs."""

from tests.promises.document import PAGES, renewed

if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page), "utf-8")
