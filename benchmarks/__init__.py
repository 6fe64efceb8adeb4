"""How fast it is, in figures: each module makes its own input, measures one thing, and names its goal.

`make bench` runs all, `make bench NAME=aggregation` one. A figure is one JSON line on stdout: name, value, unit, baseline
(measured in the same run, or null), ratio, goal, reached, setup. Rates are per CPU second of one core, since machines are
shared; wall time stands in the setup.
"""
