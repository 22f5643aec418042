"""The far end of deliveries on one machine: a mail server and a webhook receiver, with dials."""
