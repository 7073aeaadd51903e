"""A review for people and programs: a terminal, a pull request, a browser, JSON. All say it in the words of
`wording`."""
