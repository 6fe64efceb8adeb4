"""What any operator over keyed records needs, whatever the records mean: steps, copies, rows that changed.

Pure and without a domain word: no job, pod or reason is known here, and no other room of the aggregation is imported.
"""
