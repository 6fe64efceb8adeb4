"""What is kept of each Kubernetes kind: one file a kind, and the struct is the allow-list.

A field that is not named here never enters the project: decoding skips it, encoding cannot write it. Fields keep the
API's names on the wire. Anything may be missing or null; readers use `or ()` and defaults. What policy keeps out of
fields that do enter (values of variables, most annotations) is told and removed by `redact`.
"""

from __future__ import annotations

from pipeline.records.shapes.base import Condition, Meta, OwnerReference, Shape, redact
from pipeline.records.shapes.kinds import SHAPES, decode, shape_of

__all__ = ["SHAPES", "Condition", "Meta", "OwnerReference", "Shape", "decode", "redact", "shape_of"]
