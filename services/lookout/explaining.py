"""Says who would be told of an alert, and what they would read."""

from datetime import datetime

from services.contracts.records import Alert
from services.lookout.rendering import render
from services.lookout.routing import Routes, decide


def explain(routes: Routes, alert: Alert, at: datetime) -> str:
    """Return the routes for this alert at this moment, its recipients, and the message."""
    decision = decide(routes, alert, at)
    told = [f"  {target.channel} to {target.recipient}" for target in decision.targets]
    message = render(alert)
    head = [f"routed by: {', '.join(decision.routed_by)}", f"deliveries: {len(told)}", *told]
    return "\n".join([*head, "", message.subject, "", message.text])
