"""The order of the pages: groups with a caption each, in which every page has a place."""

from __future__ import annotations

from fnmatch import fnmatch

GROUPS = {
    "Start": ("tutorial", "conventions", "how-it-works", "limits"),
    "How to": (
        "how-to/from-a-dh-table",
        "how-to/from-urdf",
        "how-to/inverse-kinematics",
        "how-to/closed-loops",
        "how-to/assemblies",
        "how-to/linearize",
        "how-to/control-loop",
        "how-to/watch-a-crane",
        "how-to/*",
    ),
    "Notebooks": ("notebooks/first_arm", "notebooks/four_bar", "notebooks/*"),
    "Mechanisms": ("dh-tables", "urdf", "mjcf", "sdf", "file-formats", "loops", "planar", "symbols", "command-line"),
    "What is computed": (
        "solving",
        "inverse-kinematics",
        "velocities",
        "motion",
        "clearance",
        "control",
        "identification",
        "equations",
        "lagrange",
        "arrays",
        "gpu",
        "sweeps",
        "code-export",
    ),
    "To look at": ("gallery", "pictures", "viewer", "examples/index"),
    "Coming from": ("coming-from/*", "spacelib", "spacelib-names", "spacelib-errata", "rtss", "robo"),
    "Reference": ("api/index", "reference", "benchmarks"),
    "The project": ("architecture", "contributing", "changelog"),
}
"""Caption: pages, as names or patterns. A page that none names goes into the last group but one, so that none is lost."""

NESTED = ("examples/*", "api/*")
"""Pages that another page lists."""


def grouped(pages: set[str]) -> dict[str, list[str]]:
    """The pages of each group, in order; of a pattern, in the order of the alphabet. What no group names: under "More"."""
    left = set(pages) - {"index"}
    found: dict[str, list[str]] = {}
    for caption, patterns in GROUPS.items():
        here = []
        for pattern in patterns:
            here += sorted(name for name in left if fnmatch(name, pattern) and name not in here)
        found[caption] = here
        left -= set(here)
    found["More"] = sorted(name for name in left if not any(fnmatch(name, pattern) for pattern in NESTED))
    return {caption: names for caption, names in found.items() if names}


def navigation(pages: set[str]) -> str:
    """What is put below the front page: a list of pages per group, that only the sidebar shows."""
    lines = [""]
    for caption, names in grouped(pages).items():
        lines += ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *names, "```"]
    return "\n".join(lines) + "\n"
