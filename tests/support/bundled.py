"""Bundled robots for laws and comparisons that take time for each."""

#: One of each structure; the industrial arms of the catalogue differ from some of these in numbers alone.
BUNDLED = (
    "delta", "elbow", "five_bar", "four_bar", "jansen", "panda", "planar_2r", "planar_3r", "puma560",
    "scara_icomatic", "seven_joint", "slider_crank", "smart", "stanford", "stewart", "ur5",
)  # fmt: skip
