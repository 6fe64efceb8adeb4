"""Accelerators by the names of their resources."""

from __future__ import annotations

from collections.abc import Iterable

_BEGINNINGS = (
    "nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi", "google.com/tpu",
    "huawei.com/Ascend", "cambricon.com/mlu", "hygon.com/dcu", "mthreads.com/gpu", "aws.amazon.com/neuron",
)  # fmt: skip
"""Beginnings of the names of whole accelerators; shares of one (memory, cores) are not counted as devices."""


def devices(names: Iterable[str]) -> list[str]:
    """Those of these resources that are accelerators, in their order."""
    return [name for name in names if name.startswith(_BEGINNINGS)]
