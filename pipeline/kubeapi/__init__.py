"""The Kubernetes API: the official client for who we are, one reflector for what happens.

Here belong credentials, TLS and the raw HTTP calls (`credentials`, `client`: the only modules of the project that import
`kubernetes`), what a server serves and lets us do (`discovery`, `server`), and the reflector that lists a collection,
watches it, and lists it again when the server has forgotten where we were (`reflector`). Everything a reflector decides
is pure and has its own module: lines out of chunks (`lines`), frames out of lines (`frames`), what an error means
(`statuses`), what to do about it (`trouble`) and how long to wait (`backoff`), what is watched (`resources`).

Not here: what an object means. The reflector hands over the server's bytes and versions, decoded into the shapes of
`pipeline.records` where its consumer wants that; records, known objects, gaps and checkpoints are the consumer's. Below
it this room looks at `pipeline.records`, `errors` and `clock` only.
"""
