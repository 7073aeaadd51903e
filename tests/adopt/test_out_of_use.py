"""Commands of a page that do not run any more, and nodes that --only names as a spec would."""

from __future__ import annotations

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.said import Said
from fleetc.toml.document import Source

WORKER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /srv/s -dataDir /srv/w"
GATEWAY = "livepeer -gateway -network offchain -orchAddr https://o.example.net:8935 -dataDir /srv/g"
OLD = "livepeer -broadcaster -network offchain -orchAddr https://o.example.net:8935 -dataDir /srv/old"
PAGE = f"""\
# notes

```sh
{GATEWAY}
```
LINE

    export LP_V=9
    {OLD}

and then

    {WORKER}
"""


def of_page(text: str, *only: str) -> Adopted:
    return adopt([Source("NOTES.md", text)], Said(only=only))


def passed(found: Adopted) -> list[str]:
    """What is said of commands that are passed over."""
    return [one.message for one in found.diagnostics if one.code == "adopt-branch-not-followed"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Old (before 2025), do not use:", "Old (before 2025)"),
        ("This is the one of gpu-9, *do not use it any more*:", "do not use it any more"),
        ("Not used any more:", "Not used any more"),
        ("The other one is no longer in use.", "no longer in use"),
        ("- **Deprecated**:", "Deprecated"),
        ("Gateway (deprecated)", "deprecated"),
        ("This one is obsolete:", "is obsolete"),
        ("before Jan 2025:", "before Jan 2025"),
        ("The command was (until March):", "was (until"),
        ("Berlin (deprecated, see above)", "deprecated"),
        ("my old setup:", "my old setup"),
        ("attic, OLD set-up (not in use since 2023!)", "not in use since 2023"),
        ("Old set-up (history, NOT running any more since 2024)", "history"),
        ("It is no longer running:", "no longer running"),
        ("It had the 1070. NOT IN USE, only kept to remember:", "NOT IN USE"),
        ("## Old\n", "Old"),
        ("## Archive\n\n### gateway of berlin\n", "Archive"),
        ("Archived commands\n---\n\nberlin:", ""),
        ("Archived\n---\n\nberlin:", "Archived"),
    ],
)
def test_block_that_does_not_run_any_more_starts_no_node(line: str, words: str) -> None:
    page = PAGE.replace("LINE", line).replace("and then", "## now" if "\n" in line else "and then")
    found = of_page(page)
    said = f'passed over, because the page says of it: "{words}"'
    assert passed(found) == ([said] if words else [])
    assert [one.table for one in found.nodes] == ["gateways", *(["gateways"] if not words else []), "transcoders"]
    assert [one.words for one in found.entries if "the page says" in one.words] == (
        [f'no node: the page says of it: "{words}"'] if words else []
    )
    place = next((one.primary.place for one in found.diagnostics if one.message == said), None)
    assert place is None or page.startswith(OLD, place.start)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    [
        "# old-box (203.0.113.9)",
        "the older GPU box",
        "the old box in the cellar:",
        "# old (203.0.113.9)",
        "Archive node of the chain is at home:",
        "-broadcaster is deprecated, use this:",
        "Do not use port 8935 here:",
        "If you do not use it, start:",
        "This is not deprecated:",
        "before 2025 we had:",
        "Price before was in wei:",
        "Old (do not use)\n\nsince May:",
        "Old, still earns:",
        "-broadcaster is deprecated:",
        "- `-broadcaster` (deprecated):",
        "The broadcaster (deprecated) is a gateway now:",
        "The price was 900 (until March):",
        f"{'The price was 900 and ' * 10}this is deprecated:",
        "the old way (works):",
        "# hydra (old)",
        "RPC (archive)",
        "Make sure that it is not running:",
        "Make sure that the port is not in use:",
        "GPU 1 is not in use:",
        "See the history of the shell:",
        "history | grep livepeer shows:",
    ],
)
def test_words_that_may_say_something_else_pass_nothing_over(line: str) -> None:
    found = of_page(PAGE.replace("LINE", line))
    assert not passed(found) and len(found.nodes) == 3


def test_line_is_of_the_block_below_it_alone() -> None:
    found = of_page(PAGE.replace("LINE", "do not use:").replace("and then", "```\nnvidia-smi -pm 1\n```"))
    assert [one.table for one in found.nodes] == ["gateways", "transcoders"]
    assert all(not one.process.variables for one in found.nodes)  # nor does it set anything for what comes behind it


def test_page_of_which_nothing_is_in_use_is_read() -> None:
    found = of_page(f"# Old\n\n```\n{GATEWAY}\n```\n")
    assert not passed(found) and len(found.nodes) == 1


def test_other_languages_are_no_prose() -> None:
    page = PAGE.replace("LINE", "```yaml\n# Old\ndo not use:\n```")
    assert len(of_page(page).nodes) == 3


def test_nodes_are_chosen_by_the_names_that_they_would_have() -> None:
    page = PAGE.replace("LINE", "do not use:")
    assert [one.text("dataDir") for one in of_page(page, "gateway-2").nodes] == ["/srv/old"]
    assert [one.name for one in of_page(page, "transcoder", "gateway").nodes] == ["gateway", "transcoder"]
    (refused,) = of_page(page, "gateway-3").diagnostics
    assert refused.help == "the sources start gateway, gateway-2, transcoder"


def test_own_name_of_a_service_comes_first() -> None:
    services = "".join(
        f"  {name}: {{image: livepeer/go-livepeer:v0.9.1, command: {command.removeprefix('livepeer ')}}}\n"
        for name, command in (("worker", GATEWAY), ("gw", WORKER))
    )
    sources = [Source("compose.yaml", f"services:\n{services}"), Source("up.sh", f"{WORKER}2\n")]
    assert [one.process.name for one in adopt(sources, Said(only=["gw"])).nodes] == ["gw"]
    assert [one.text("dataDir") for one in adopt(sources, Said(only=["up"])).nodes] == ["/srv/w2"]


FLAGS = "  -pricePerUnit 850 \\\n    -pixelsPerUnit 1\n    # of May\n    -v 9"


@pytest.mark.parametrize("first", [False, True])
def test_flags_without_a_command_are_prose(first: bool) -> None:
    """Whoever followed the advice to add a backslash would set a price of before."""
    flags = f"Price before:\n\n  {FLAGS}\n\nand\n\n"
    found = of_page(flags + f"```\n{WORKER}\n```\n" if first else f"```\n{WORKER}\n```\n{flags}")
    assert [one.settings.keys() & {"pricePerUnit", "v"} for one in found.nodes] == [set()]
    assert "adopt-command-cut" not in {one.code for one in found.diagnostics}
    assert [one.words for one in found.entries if one.shown == "flags"] == ["flags alone: no command has them"]


def test_flags_in_the_block_of_a_command_are_still_outside_of_it() -> None:
    found = of_page(f"```\n{WORKER}\n\n  -pricePerUnit 850\n```\n")
    assert "adopt-command-cut" in {one.code for one in found.diagnostics}


def test_page_of_flags_alone_is_a_node() -> None:
    assert len(of_page(f"```\n{WORKER.removeprefix('livepeer ')}\n```\n").nodes) == 1


SECTIONS = f"""\
# both

```
export SHARED=1 PATH=/opt/lp:$PATH
```

# one

```
export OWN=2
{WORKER}
```

```
{GATEWAY}
```

## two

```
{WORKER.replace("/srv/w", "/srv/$OWN")}
```
"""


def test_what_is_exported_beside_one_node_is_not_of_another_below_its_own_heading() -> None:
    found = of_page(SECTIONS)
    variables = {one.text("dataDir"): {*one.process.variables} for one in found.nodes}
    assert variables == {
        "/srv/w": {"SHARED", "PATH", "OWN"}, "/srv/g": {"SHARED", "PATH", "OWN"}, "/srv/2": {"SHARED", "PATH"},
    }  # fmt: skip
    assert not [one for one in found.beside if "PATH" in one.words]
