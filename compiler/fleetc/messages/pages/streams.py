"""Pages of `fleetc explain` for messages of `fleetc streams`: the API, and the file with the ids.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

STREAM_PAGES: dict[str, Page] = {
    "ids-damaged": Page(
        "The file with the ids of streams is torn, has one id twice, or another version of fleetc wrote it.",
        "without the right ids fleetc would create streams a second time, or change another one.",
        "Restore it from version control. Each stream is an entry with its id, or null if the API never answered its "
        "creation; no two have the same id.",
    ),
    "ids-unreadable": Page(
        "The file with the ids of streams is there, but cannot be read: it is a link, no regular file, or not yours.",
        "without the ids fleetc would create streams a second time.",
        "Make it a regular file that you can read, as version control has it.",
    ),
    "stream-api-missing": Page(
        "The spec has no address of the stream API.",
        "fleetc cannot ask it.",
        'Write the table [stream_api] with base_url = "https://..." and token = { env = "NAME" }. To compare an answer '
        "that you have, use --observed FILE --stream NAME.",
    ),
    "stream-api-not-trusted": Page(
        "The spec names a stream API that you have not said the token may go to.",
        "a proposed change could write another address there, and would get the token of everybody who tries it.",
        "If you trust the address, put it into stream_apis of your configuration or into FLEETC_STREAM_APIS. For one "
        "run, add --send-token-to. A file in a checkout cannot do that.",
    ),
    "streams-busy": Page(
        "Another fleetc changes the streams of this spec right now.",
        "two at once would create streams twice.",
        "Wait for its end, then run the command again.",
    ),
}
