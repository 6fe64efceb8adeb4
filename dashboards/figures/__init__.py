"""The answers of the API, each made of the rows of a few questions: one module a noun, all of one shape.

A figure takes the store, what is asked and the clock, and gives an object of `dashboards.objects`. Here is no web framework
and no terminal: routers and commands both call these functions, so that both say the same.
"""
