"""What the tests of reviews share: comparing two spec texts in memory, and what a tree says of itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

from fleetc.pipeline import Compiled, compile_spec
from fleetc.review.compare import compare
from fleetc.review.data import Review
from fleetc.review.sides import Side, of_compiled
from fleetc.toml.document import Source
from tests.support import example_text, shipped


@cache
def example(name: str) -> str:
    """The spec of an example fleet."""
    return example_text(name)


@cache
def side(text: str, name: str = "fleet.toml") -> Side:
    """A spec text as a side of a comparison. Raises AssertionError when it does not compile."""
    compiled = compiled_or_none(text)
    assert compiled is not None, text
    return of_compiled(name, compiled)


def compiled_or_none(*texts: str) -> Compiled | None:
    """A spec and its overlays, compiled; None where they have errors."""
    names = ("fleet.toml", *(f"overlay-{index}.toml" for index in range(1, len(texts))))
    compiled = compile_spec([Source(*pair) for pair in zip(names, texts, strict=True)], *shipped())
    return compiled if compiled.tree is not None else None


def review(old: str, new: str) -> Review:
    """The review of one text against another."""
    return compare(side(old), side(new))


def classes(found: Review) -> set[str]:
    """All classes of impact in a review; "none" only where there is no other."""
    every = {effect.impact for change in found.changes for effect in change.effects}
    return every - {"none"} or every


# --- what a tree says of itself, read from its page and its host variables ------------------------


def rows(text: str) -> list[list[str]]:
    """The rows of the first table of a text, cells without their quotes."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in lines[2:]]


def section(tree: Side, name: str) -> list[list[str]]:
    """The rows of the first table below a heading of FLEET.md."""
    return rows(tree.files["FLEET.md"].decode().split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0])


def parts(tree: Side) -> list[tuple[str, str, str]]:
    """Every part of the pages of hosts: the host, its heading, and its text."""
    pages = [path.split("/") for path in tree.files if re.fullmatch("hosts/[^/]+/README.md", path)]
    found = []
    for folder, host, name in pages:
        for part in tree.files[f"{folder}/{host}/{name}"].decode().split("\n## ")[1:]:
            heading, _, text = part.partition("\n")
            found.append((host, heading.strip("`"), text))
    return found


def open_ports(tree: Side) -> set[tuple[str, ...]]:
    """What others than the host itself can reach: host, port, address and who."""
    tables = [(host, text) for host, _, text in parts(tree) if "\n| Port | Address |" in text]
    return {
        (host, row[0], row[1], row[2])
        for host, text in tables
        for row in rows(text[text.index("\n| Port |") :].split("\n\n")[0])
        if row[2] != "nobody else" and row[3] != "SSH"
    }


def funds(tree: Side) -> list[list[str]]:
    """The wallets with funds, and how long these last."""
    return [[row[0], *row[3:]] for row in section(tree, "Wallets") if row[3:] != ["none", "none", "unknown"]]


_PRICE = re.compile(r"([0-9.]+) (\S+) / (?:pixel|([0-9.eE+]+) pixels)")


def prices(tree: Side) -> dict[tuple[str, ...], object]:
    """Every price of the page as an exact amount for one pixel and its currency; nothing where nobody pays."""
    if '"network": "offchain"' in tree.files["manifest.json"].decode():
        return {}
    found: dict[tuple[str, ...], tuple[object, str]] = {}
    lines = [(node, line) for _, node, text in parts(tree) for line in text.split("\n")]
    for node, line in lines:
        said = re.fullmatch("- (Asks|Pays at most) (.*) for (.*)", line)
        if said is None:
            continue
        way, price, work = said[1].lower(), said[2].strip("`"), said[3]
        match = _PRICE.fullmatch(price)
        worth = (Fraction(match[1]) / Fraction(match[3] or "1"), match[2].lower()) if match else (price, "")
        found[node, way, work] = worth
    sellers = {node for (node, way, _), worth in found.items() if way == "asks" and worth and worth[0]}
    return {  # a model at zero is sold at the base price of its node, as if it had none
        (node, way, work): worth
        for (node, way, work), worth in found.items()
        if way != "asks" or worth[0] or node not in sellers
    }


def purchases(tree: Side) -> Counter[tuple[str, str]]:
    """How many goods each gateway buys from each orchestrator, as the page has it."""
    found = [row for row in section(tree, "Who buys from whom") if row[2] == "buys"]
    names = [[cell.replace("`", "").split(", ") for cell in (row[0], row[3])] for row in found]
    return Counter(pair for gateways, orchestrators in names for pair in product(gateways, orchestrators))


def machines(tree: Side) -> dict[str, tuple[object, ...]]:
    """Where each host of a tree is reached."""
    found: dict[str, tuple[object, ...]] = {}
    for path, content in tree.files.items():
        if path.startswith("ansible/host_vars/"):
            values = json.loads(content)
            place = values["ansible_host"]["__ansible_unsafe"], values.get("ansible_port")
            found[path.rpartition("/")[2].removesuffix(".json")] = place
    return found


def names_there(old: Side, new: Side) -> dict[str, str]:
    """The hosts of the old tree that a rollout of the new one reaches, with the names that they have there."""
    before, after = machines(old), machines(new)
    others = {place: name for name, place in after.items() if name not in before}
    names = {name: name if name in after else others.get(place, "") for name, place in before.items()}
    return {name: there for name, there in names.items() if there}


def service_digests(tree: Side) -> dict[tuple[str, str], object]:
    """What a rollout compares before it restarts a process, by host and process, as its variables have it."""
    found: dict[tuple[str, str], object] = {}
    for path, content in tree.files.items():
        if not path.startswith("ansible/host_vars/"):
            continue
        host, values = path.rpartition("/")[2].removesuffix(".json"), json.loads(content)
        for service in values["fleet_host_services"]:
            found[host, service["name"]["__ansible_unsafe"]] = service["digest"]
        if "fleet_host_stack_digests" not in values:
            continue
        secrets = values["fleet_host_stack_secrets"]
        shared = {
            unit: (values["fleet_host_stack_digests"][unit], [s for s in secrets if s["file"] == unit])
            for unit in ("host", "turn")
        }
        running = [unit for unit in shared if unit == "host" or "turn-server" in values["fleet_host_stack_services"]]
        found |= {(host, f"avatar/{unit}"): shared[unit] for unit in running}
        for slot in values["fleet_host_stack_slots"]:
            own = slot["environment"], slot["arguments"], shared["host"][1], shared["turn"]
            found[host, f"avatar/{slot['name']}"] = own
    return found
