"""How Sphinx makes the documentation site; ``python docs/make_site.py`` gathers the pages and calls it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import linkwise

project = "Linkwise"
author = "the Linkwise contributors"
version = release = linkwise.__version__
copyright = author  # noqa: A001  (Sphinx's name)

extensions = ["myst_nb", "sphinx_copybutton", "sitemaker.cross_links", "sitemaker.formulas", "sitemaker.sidebar"]
root_doc = "index"
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
nitpicky = True
smartquotes = False
suppress_warnings = ["config.cache"]  # myst-nb keeps objects in its settings

# ── pages in Markdown and notebooks ──────────────────────────────────────────────────────────────
myst_enable_extensions = ["html_image", "dollarmath", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_ipywidgets_js: dict[str, object] = {}  # nothing is fetched from another host

# ── how it looks ─────────────────────────────────────────────────────────────────────────────────
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "Linkwise"
html_static_path = [str(Path(__file__).parent / "_static")]
html_css_files = ["linkwise.css"]
html_js_files = ["offline.js"]
html_favicon = str(Path(__file__).parent / "_static" / "mark.svg")
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad", "linkwise-code": "#f4f6f8"},
    "dark_css_variables": {"color-brand-primary": "#7db7f2", "color-brand-content": "#7db7f2", "linkwise-code": "#0d1117"},
    "navigation_with_keys": True,
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
add_module_names = False
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
