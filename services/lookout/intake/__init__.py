"""Alerts come in: decoded, repeats dropped, decided, recorded, published."""
