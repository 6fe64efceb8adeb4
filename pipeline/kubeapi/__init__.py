"""The Kubernetes API: the official client for who we are, one reflector for what happens.

Here belong credentials, TLS, discovery, access reviews and the raw HTTP calls (`credentials`, `client`, `discovery`,
`access`: the only modules of the project that may import `kubernetes`), and the reflector that lists a collection,
watches it, and lists it again when the server has forgotten where we were (`reflector`). Everything a reflector decides
is pure and has its own module: lines out of chunks (`lines`), frames out of lines (`frames`), what an error means
(`statuses`), how long to wait (`backoff`), what is watched (`resources`).

Not here: what an object means. The reflector hands over the server's bytes and versions; records, known objects, gaps
and checkpoints are its consumer's. This room looks at `pipeline.errors` and `pipeline.clock` only.
"""
