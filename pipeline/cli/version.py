"""`kube-collector version`."""

from __future__ import annotations

import platform
from importlib import metadata

from pipeline import extensions
from pipeline.cli import options, output


def facts() -> dict[str, str]:
    """What a bug report needs first: version, interpreter, platform."""
    return {
        "version": metadata.version(extensions.OWN),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def version(output_format: options.OutputOfOne = "table") -> None:
    """Print the version.

    Examples:
      kube-collector version
      kube-collector version -o json
    """
    found = facts()
    if output.check(output_format, ("table", "json", "yaml")) == "table":
        print(f"kube-collector {found['version']} (Python {found['python']}, {found['platform']})")  # noqa: T201
    else:
        output.render_object(found, output_format)
