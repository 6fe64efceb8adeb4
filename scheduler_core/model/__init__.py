"""What a session works on: nodes as columns, tasks in classes, jobs, queues, network domains, amounts of resources.

Here are data and arithmetic, and how they are built from facts about a cluster. No rule that decides anything: orders,
votes, filters and scores belong to plugins, their aggregation to `session`. Looks only at `pipeline.records`.
"""
