"""Who keeps programs running: what a program is, how it starts, serves, dies and ends."""
