"""Sphinx settings: built, and read, without the network."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

from curvewise._version import __version__

project = "curvewise"
author = "The curvewise developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
exclude_patterns = ["_build"]
smartquotes = False  # or two hyphens of an option become a dash
html_theme = "furo"
html_title = f"curvewise {release}"
html_copy_source = False
html_math_renderer = "mathml"

default_role = "py:obj"  # `single backticks` in docstrings, as numpy writes them
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
napoleon_use_ivar = True  # else a dataclass documents its fields twice
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]


def plain_references(_app, _what, _name, _obj, _options, lines):
    """Number references as a list: footnotes [1]_ of several docstrings would clash."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"^\.\. \[(\d+)\]", r"\1.", line).replace("]_", "]")


def mathml(*, block):
    """Return a visitor that writes MathML: browsers draw it without any script."""

    def visit(self, node):
        self.body.append(tex2mathml(node.astext(), as_block=block))
        raise SkipNode

    return visit


def setup(app):
    app.add_html_math_renderer(
        "mathml", (mathml(block=False), None), (mathml(block=True), None)
    )
    app.connect("autodoc-process-docstring", plain_references)
