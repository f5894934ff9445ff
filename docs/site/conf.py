"""Sphinx's settings. build.py calls it."""

import re

project = author = "upoe"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = []
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# `--flag` is not a dash.
smartquotes = False
autodoc_member_order = "bysource"
autodoc_mock_imports = ["dask", "distributed", "tornado"]
napoleon_google_docstring = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 80
html_theme = "furo"
html_title = "upoe"
html_extra_path = ["../../extra"]
# Summaries are fetched, which a browser refuses where there is no server.
html_show_search_summary = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def whole(app, what, name, obj, options, lines):
    """Napoleon would take what stands before a colon for the type of an attribute."""
    if what in ("attribute", "property"):
        lines[:] = [line.replace(": ", "\0 ") for line in lines]


def plain(app, what, name, obj, options, lines):
    """Docstrings are written to be read in a terminal: `code` is code, and a name may end with an underscore."""
    for i, line in enumerate(lines):
        line = lines[i] = line.replace("\0", ":")
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``[^`]+``|`[^`]+`)", line)
            parts[::2] = [re.sub(r"(?<=\w)(?<!\\)_(?=\W|$)", r"\\_", part) for part in parts[::2]]
            parts[1::2] = [f"``{part.strip('`')}``" if not before.endswith(":") else part
                           for before, part in zip(parts[::2], parts[1::2])]
            lines[i] = "".join(parts)


def setup(app):
    # Before and after napoleon.
    app.connect("autodoc-process-docstring", whole, priority=100)
    app.connect("autodoc-process-docstring", plain, priority=900)
