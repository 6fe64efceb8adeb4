"""Recorded clusters: read back as if they were watched, and written while a cluster is watched.

`recording` reads a folder of frames as the reflector's happenings, so that a replay takes the same way as a live watch
from there on. `player` adds the pace, `recorder` writes. What the happenings mean belongs to `collector.watch`.
"""
