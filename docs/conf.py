"""How the documentation site is built: ``make docs``.

The pages are the Markdown files of this folder, which are also read on GitHub, the executed tutorials, and what
``site_parts`` writes into ``generated`` from the package itself.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from site_parts import generate, mathml  # noqa: E402

import askance  # noqa: E402

project = "askance"
copyright = "the askance authors, Apache License 2.0"
version = release = askance.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build", "tutorials/*", "site_parts", "images/*.py", "sg_execution_times.rst"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache", "ref.python"]  # names such as labels have many homes
html_math_renderer = "mathml"  # drawn by the browser itself: no script, and no network

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "within_subsection_order": "FileNameSortKey",
    "gallery_dirs": "generated/tutorials",
    "abort_on_example_error": True,
    "default_thumb_file": str(HERE / "generated" / "algorithms" / "adaptive.png"),
    "plot_gallery": "True",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "remove_config_comments": True,
    "copyfile_regex": r"GALLERY_HEADER.rst",
}

html_theme = "pydata_sphinx_theme"
html_title = "askance"
html_static_path = ["site_parts/static"]
html_css_files = ["site.css"]
html_favicon = "../packages/askance-live/src/askance_live/pages/static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "askance"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
}
html_sidebars = {"index": []}


def setup(app):
    """Write the generated pages before Sphinx looks for pages, and mend links that lead out of this folder."""
    mathml.setup(app)
    app.connect("builder-inited", lambda app: generate.write_all(HERE), priority=100)
    app.connect("source-read", generate.lead_inside)
