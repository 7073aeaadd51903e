"""The language server of `fleetc lsp`. It needs the package pygls; the answers come from `assist/`.

In: messages of an editor. Out: answers.
"""
