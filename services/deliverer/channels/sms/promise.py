"""What the SMS channel promises."""

from typing import Final

from services.deliverer.channel import Promise

PROMISE: Final = Promise(
    recipient="a phone number, E.164: `+` and 7 to 15 digits",
    our_id="the callback's address, whole; the text's last line, 10 characters",
    taken_when="answered 201 with a message SID",
    not_taken="nothing left yet (refused, DNS, TLS, connect timeout); 429; Twilio's queue is full;"
    " credentials, account, sender or callback address refused: put right, then it goes out",
    permanent="other 4xx: no number, opted out, no text messages there, region not allowed",
    in_doubt="5xx, 408, 409, a 2xx without a SID (a proxy's page),"
    " timeout or reset after the first byte",
    evidence="signed status callback; the recipient's list of messages, searched for the code."
    " Absence from the list only with `sms_absence_seconds`",
    without_faults="once accepted",
    after_doubt="held; a marked repeat only if `in_doubt_repeats` says so",
    not_promised="what the carrier does: late, lost or doubled texts; that a person reads it",
)
