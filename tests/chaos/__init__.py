"""Long trials by fire, run by hand or at night (`make chaos`): many kills, at random and inside chosen writes.

What a life is killed by, what the tables hold in the end and against what that is held is here; how a pipeline is run
and how tables are compared is in `tests/support`. The short form, which every test run includes, is
`tests/process/test_kills.py`.
"""
