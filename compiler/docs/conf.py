"""The settings of Sphinx for the documentation site: Markdown in, HTML out that needs no network."""

from pathlib import Path

from fleetc.version import __version__

project = "fleetc"
author = "The fleetc authors"
project_copyright = author
version = release = __version__

extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"fleetc {__version__}"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))  # Sphinx opens it from the working directory
html_show_search_summary = False  # a page that was opened as a file may fetch none
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
