"""The documentation site: its pages, made from the Markdown of the repository, and the settings of Sphinx."""
