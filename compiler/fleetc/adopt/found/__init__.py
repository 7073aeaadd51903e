"""The values of adopting, below all its other rooms: words, processes, the account, questions.

In: nothing. Out: what readers make and builders take.
"""
