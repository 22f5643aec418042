"""What the NRDP channel promises."""

from typing import Final

from services.deliverer.channel import Promise

PROMISE: Final = Promise(
    recipient="`host/service`, or `host`",
    our_id="at the end of the output's first line",
    taken_when="answered 200 with status 0",
    not_taken="nothing left yet (DNS, refused, TLS, connect timeout); 429, 503; "
    "any other status in the answer (wrong token, no spool)",
    permanent="no `host/service`; NRDP cannot read the data",
    in_doubt="5xx, 408, timeout or reset after the first byte, a 2xx without NRDP's status",
    evidence="with `nrdp_status_url`: the id in the service's last result or among its alerts; "
    "a last result that is older than the try, `nrdp_absence_seconds` after the lease",
    without_faults="one result in Nagios' spool",
    after_doubt="at most one more result, marked; or held",
    not_promised="that NRDP could write the spool (it answers 0 with a full disk too); "
    "what Nagios drops (unknown service, passive checks off, older than its limit of age)",
)
