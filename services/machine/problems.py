"""The one error of this folder: something a person can put right, said in one line."""


class MachineProblem(Exception):
    """The machine cannot do what was asked; the message says what to do about it."""
