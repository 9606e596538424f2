"""Sphinx settings: built, and read, without the network."""

import re
import warnings
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

from curvewise.version import __version__

project = "curvewise"
author = "The curvewise developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "results"]
smartquotes = False  # or two hyphens of an option become a dash
html_theme = "furo"
html_title = f"curvewise {release}"
html_copy_source = False
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]

default_role = "py:obj"  # `single backticks` in docstrings, as numpy writes them
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
napoleon_use_ivar = True  # else a dataclass documents its fields twice
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

# Notebooks are kept without outputs, and run whenever a page is read.
nb_execution_mode = "force"
nb_execution_in_temp = True  # they leave no files beside the pages
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# Figures are drawn from gallery/ into figures/, which git ignores.
GALLERY = Path(__file__).parent / "gallery"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "figures",
    "backreferences_dir": "figures/backreferences",
    "filename_pattern": r"/(plot_|style)",
    "subsection_order": [
        f"gallery/{part}" for part in ("distributions", "curves", "data", "planning")
    ],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "notebook_extensions": (),  # they would be taken for pages of their own
    "capture_repr": ("_repr_html_",),  # answers show themselves, axes are drawn anyway
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "thumbnail_size": (480, 336),
    "download_all_examples": False,
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

# What a browser fetches by itself; links are followed by people.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|link|video)\b[^>]*?"
    r"(?:src|href)=[\"'](?:https?:)?//[^\"']+"
)


def plain_references(_app, _what, _name, _obj, _options, lines):
    """Number references as a list: footnotes [1]_ of several docstrings would clash."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"^\.\. \[(\d+)\]", r"\1.", line).replace("]_", "]")


def drawn_example(_app, _what, name, _obj, _options, lines):
    """Put the example of a figure from the gallery below its docstring."""
    if name.startswith("curvewise.figures."):
        for example in GALLERY.glob(f"*/{name.rpartition('.')[2]}.py"):
            shown = example.relative_to(GALLERY.parent)
            lines += ["", f".. minigallery:: {shown}", ""]


def mathml(*, block):
    """Return a visitor that writes MathML: browsers draw it without any script."""

    def visit(self, node):
        self.body.append(tex2mathml(node.astext(), as_block=block))
        raise SkipNode

    return visit


def refuse_network(app, exception):
    """Fail if a page would load anything from elsewhere."""
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            if found := LOADED.findall(page.read_text(encoding="utf-8")):
                raise ExtensionError(f"{page} loads {found[0]}")


def setup(app):
    app.add_html_math_renderer(
        "mathml", (mathml(block=False), None), (mathml(block=True), None)
    )
    app.connect("autodoc-process-docstring", plain_references)
    app.connect("autodoc-process-docstring", drawn_example)
    app.connect("build-finished", refuse_network)
