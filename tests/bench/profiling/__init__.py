"""Where one auditor's processor time goes while it drains a backlog, by step of the watch."""
