"""`user add|password|role|close|list`: users by the command line, on the console's machine."""

import argparse
import getpass
import sys
from typing import TextIO

from services.backbone.errors import Trouble
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate
from services.console.people.audit import Audit, Deed
from services.console.people.guests import Guests
from services.console.people.passwords import made
from services.console.people.roles import Person, Role
from services.console.people.users import Users
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
            if chosen.action == "forget":
                _forget(Guests(pool), chosen, out)
            else:
                _CARRY_OUT[chosen.action](Users(pool), chosen, out)
            if chosen.action != "list":
                me = Person(getpass.getuser()[:63], Role.ADMIN, "command")
                Audit(pool).note(me, Deed(f"user {chosen.action}", chosen.name))
    except Trouble as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _list(users: Users, _: argparse.Namespace, out: TextIO) -> None:
    for each in users.all():
        closed = f", closed {each.closed_at:%Y-%m-%d}" if each.closed_at else ""
        by = f", by {each.issuer}" if each.issuer else ""
        out.write(f"{each.name}: {each.role}{by}{closed}\n")


def _add(users: Users, chosen: argparse.Namespace, out: TextIO) -> None:
    password = made()
    users.add(chosen.name, password, Role(chosen.role), f"command of {getpass.getuser()}")
    out.write(f"{chosen.name} may log in with the password {password}\n")


def _password(users: Users, chosen: argparse.Namespace, out: TextIO) -> None:
    password = made()
    users.set_password(chosen.name, password)
    out.write(f"{chosen.name} may log in with the password {password}\n")


def _role(users: Users, chosen: argparse.Namespace, out: TextIO) -> None:
    users.set_role(chosen.name, Role(chosen.role))
    out.write(f"{chosen.name} is a {chosen.role} now\n")


def _close(users: Users, chosen: argparse.Namespace, out: TextIO) -> None:
    users.close(chosen.name)
    out.write(f"{chosen.name} is let in no more\n")


def _forget(guests: Guests, chosen: argparse.Namespace, out: TextIO) -> None:
    guests.forget(chosen.name)
    out.write(f"{chosen.name} is forgotten\n")


_CARRY_OUT = {"list": _list, "add": _add, "password": _password, "role": _role, "close": _close}
