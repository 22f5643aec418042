"""Which paths an application answers: exactly those that it declares."""

from typing import TypeVar

from starlette.applications import Starlette

App = TypeVar("App", bound=Starlette)


def exact(app: App) -> App:
    """Make 404 the answer to a path with a slash too many, which Starlette leads elsewhere.

    It would lead to `http://` where a proxy ends TLS, and a client's key would follow in the clear.
    """
    app.router.redirect_slashes = False
    return app
