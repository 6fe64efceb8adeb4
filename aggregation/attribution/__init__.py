"""Which reason holds a job, at every moment of its wait.

`verdict` judges one pod by its texts and the nodes it wants, `leading` the whole job by its pods, its groups and its
admission, `segments` turns judgements into stretches of time. The rules P1 to P18 that the modules name are explained
in `docs/explanation/attribution.md`. Pure; looks at `lifecycle`, `messages` and `operators`.
"""
