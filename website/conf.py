"""Sphinx settings of the site; `website/build.py` gathers its pages."""

import interplay

project = "interplay"
author = "the interplay authors"
copyright = "the interplay authors, MIT licence"
version = release = interplay.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "html_image"]
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header", "misc.highlighting_failure", "ref.python"]
default_role = "code"  # docstrings write names between single backticks
napoleon_google_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"interplay {version}"
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
html_copy_source = False
html_show_sphinx = False


def _is_alias(app, what, name, obj, skip, options):
    """A NamedTuple's fields stand in its docstring; Python's own words about them say nothing."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-skip-member", _is_alias)
