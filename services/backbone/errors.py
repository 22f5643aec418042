"""How things go wrong, as types; a program reacts to the type and never to the text.

    Trouble
    ├── Transient        the outside is not ready: try the same again later
    │   ├── QueueFull    we took more than we can hold: tell the sender to slow down
    │   ├── NoTopic      a topic does not exist; no record was written to it
    │   └── NotTaken     the brokers refused this try, and wrote nothing: the next one may pass
    └── Refused          the input or a setting cannot be used: say what to do, keep the original

Anything else ends the process: a bug, or `Ended`, which no further try in this process can heal.
"""


class Trouble(Exception):
    """Base of everything that a program expects to go wrong."""


class Transient(Trouble):
    """Something outside is not ready; the same try may succeed later."""


class QueueFull(Transient):
    """A bounded queue is full; the sender has to wait."""


class NoTopic(Transient):
    """A topic is not there, or not yet; a record for it was never on its way to a broker."""


class NotTaken(Transient):
    """What the brokers hold against a record passes, such as a clock; they did not write it."""


class Refused(Trouble):
    """An input or a setting cannot be used; the message says what to do about it."""


class Ended(Exception):
    """A client of something outside has ended for good; a new process can go on in its place.

    No `Trouble`, so that nobody who waits for better times takes it for one of these.
    """
