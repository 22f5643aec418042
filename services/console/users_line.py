"""`user add|password|role|close|list`: users by the command line, on the console's machine."""

import argparse
import sys
from typing import TextIO

from services.backbone.errors import Trouble
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.user import own_name
from services.console.people.audit import Deed
from services.console.people.guests import Guests
from services.console.people.passwords import made
from services.console.people.roles import Person, Role
from services.console.people.users import User, Users
from services.console.settings import ConsoleSettings


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands about users."""
    user = commands.add_parser("user", help="users of the page")
    actions = user.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="list users")
    for name, text in (
        ("add", "add a user; the password is made and shown once"),
        ("password", "give a user a new password, shown once"),
        ("role", "give a user another role"),
        ("close", "let a user in no more"),
        ("forget", "forget who came by the login provider; they may come again, as somebody new"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("name", help="for example ann")
        if name in ("add", "role"):
            action.add_argument("--role", choices=[str(each) for each in Role], required=True)


def answer(chosen: argparse.Namespace, settings: ConsoleSettings, out: TextIO) -> int:
    """Carry out one command; return the exit code."""
    try:
        migrate(settings)
        with open_pool(settings) as pool:
            me = Person(own_name()[:63], Role.ADMIN, "command")
            out.write(_CARRY_OUT[chosen.action](pool, me, chosen))
    except Trouble as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _list(pool: Pool, _: Person, __: argparse.Namespace) -> str:
    return "".join(_line(each) for each in Users(pool).all())


def _line(user: User) -> str:
    closed = f", closed {user.closed_at:%Y-%m-%d}" if user.closed_at else ""
    by = f", by {user.issuer}" if user.issuer else ""
    return f"{user.name}: {user.role}{by}{closed}\n"


def _add(pool: Pool, me: Person, chosen: argparse.Namespace) -> str:
    password = made()
    Users(pool).add(me, chosen.name, password, Role(chosen.role))
    return _told(chosen.name, password)


def _password(pool: Pool, me: Person, chosen: argparse.Namespace) -> str:
    password = made()
    Users(pool).set_password(me, password, Deed("reset password", chosen.name))
    return _told(chosen.name, password)


def _told(name: str, password: str) -> str:
    return f"{name} may log in with the password {password}\n"


def _role(pool: Pool, me: Person, chosen: argparse.Namespace) -> str:
    Users(pool).set_role(me, chosen.name, Role(chosen.role))
    return f"{chosen.name} is a {chosen.role} now\n"


def _close(pool: Pool, me: Person, chosen: argparse.Namespace) -> str:
    Users(pool).close(me, chosen.name)
    return f"{chosen.name} is let in no more\n"


def _forget(pool: Pool, me: Person, chosen: argparse.Namespace) -> str:
    Guests(pool).forget(me, chosen.name)
    return f"{chosen.name} is forgotten\n"


_CARRY_OUT = {
    "list": _list,
    "add": _add,
    "password": _password,
    "role": _role,
    "close": _close,
    "forget": _forget,
}
