"""What a change of each kind of item means, as rows, and which way the change goes.

In: an item, or a change of one. Out: its row, the flag that it sets, the sentence for its direction. For `effects.py`.
"""

from __future__ import annotations

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY
from fleetc.review.items.deltas import Delta
from fleetc.review.items.item import OUT, Item
from fleetc.upstream import FLAGS
from fleetc.upstream.impacts import Meaning, meaning_of, stack_meaning, stream_meaning

FLAG_OF_VARIABLE = {flag.env: flag.name for flag in FLAGS.values()}

KINDS: dict[str, Meaning] = {
    "file": Meaning(computed=("capacity", "price", "cold-start"), none="what the process reads"),
    "order": Meaning(none="the order of the entries"),
    "mount": Meaning(computed=("exposure",), none="what a container sees of its host"),
    "image": Meaning(none="the program comes from a different image"),
    "program": Meaning(none="where the program is on the host, and where it comes from"),
    "words": Meaning(none="what the program of a live runner is started with"),
    "sale": Meaning(computed=("price",), none="what a live runner sells for, in wei"),
    "port": Meaning(computed=("exposure",), none="only the host itself can reach the port"),
    "gpus": Meaning(computed=("capacity",), none="which GPUs the process gets"),
    "edge": Meaning(computed=("price",), none="who is connected to whom"),
    "service": Meaning(computed=("exposure", "price", "funds", "capacity"), none="how the process runs"),
    "silence": Meaning(none="warnings that are not shown"),
    "rollout": Meaning(none="the steps of a rollout; nothing that runs changes"),
    "rate": Meaning({"price": "how prices compare, as far as the review can tell"}),
    "avatar": Meaning(computed=("exposure", "capacity"), none="how the stack runs"),
    "slot": Meaning(computed=("exposure", "capacity"), none="how the slot runs"),
    "allow": Meaning({"exposure": "who may call the stack"}),
    "stream": Meaning(computed=("exposure",), none="the stream itself; it is changed through the stream API"),
    "stream_api": Meaning({"exposure": "the token of the stream API goes to another place, or is another token"}),
    "monitoring": Meaning(none="how the fleet is monitored"),
    "text": Meaning(none="text that no setting decides, such as a comment"),
    "fleet": Meaning(none="a name in headings and in the inventory"),
}
"""What a change of each kind of item means, but for those that flags, variables, hosts and the spec decide."""

HOST: dict[str, Meaning] = {
    "address": Meaning(
        {"identity": "rollouts go to a different address; another machine there is refused until the old one stops"}
    ),
    "public": Meaning({"identity": "the network reaches the host at a different name"}),
    "runtime": Meaning(none="processes run differently"),
    "region": Meaning(none="a label"),
    "ssh_user": Meaning(none="how a rollout logs in"),
    "ssh_port": Meaning(none="how a rollout logs in; it opens no port"),
    "become": Meaning(none="how a rollout becomes root"),
    "node_user": Meaning(none="the user that processes run as"),
}
"""What a change of each property of a host means."""

_ON_DEPOSIT = "funding the deposit and reserve of the account takes a transaction"
FUNDS: dict[str, Meaning] = {
    "deposit": Meaning({"funds": "what tickets are paid from", "chain": _ON_DEPOSIT}),
    "reserve": Meaning({"funds": "what backs tickets", "chain": _ON_DEPOSIT}),
    "wallet": Meaning({"funds": "a different wallet pays"}),
    "expected load": Meaning({"funds": "what the node expects to buy"}),
    "minimum_balance": Meaning({"funds": "the balance below which you must top up the account"}),
}
"""What a change of each kind of funds means, also where only the spec shows it."""

_OUT = Meaning(none="until when and why it does not run")
_FLEET_NAME = Meaning({"identity": "each host refuses a fleet of another name, until a rollout says --renamed HOST"})
_SPEC_GPUS = Meaning({"capacity": "what is known about the GPUs of the host"})
_SPEC_NOTHING = Meaning(none="no node, stack or stream gets anything different")


def meaning(item: Item, role: str) -> Meaning:
    """The row of an item."""
    if item.kind == "argument":
        return meaning_of(item.what.removeprefix("-"), role)
    if item.what == OUT:
        return _OUT
    if (item.kind, item.what) == ("fleet", "name"):
        return _FLEET_NAME
    if item.key[2:3] == (AVATAR_DIRECTORY,):
        return _of_stack(item)
    if item.kind == "stream" and not item.presence:
        return stream_meaning(item.key[-1])
    if item.kind in ("variable", "secret"):
        flag = FLAG_OF_VARIABLE.get(item.what)
        listens = item.what.startswith("LIVE_AI_WH")
        return meaning_of(flag, role) if flag else _LISTENER if listens else _VARIABLE
    if item.kind == "host" and not item.presence:
        return HOST.get(item.what, KINDS["service"])
    if item.kind == "funds":
        return FUNDS.get(item.what, FUNDS["wallet"])
    if item.kind == "spec":
        path = item.what.split(".")
        if path[0] == "hosts" and "gpus" in path:
            return _SPEC_GPUS
        return FUNDS.get(path[-1], _SPEC_NOTHING) if path[0] == "wallets" else _SPEC_NOTHING
    if item.kind == "text" and item.origin.reason:
        return Meaning(none=item.origin.reason)
    return KINDS.get(item.kind, KINDS["service"])


def _of_stack(item: Item) -> Meaning:
    """The row of an item of an avatar stack."""
    if item.presence or item.kind in ("allow", "port"):
        return KINDS[item.kind]
    return stack_meaning(item.key[-1])


_LISTENER = Meaning(computed=("exposure",), none="a setting of live media")
_VARIABLE = Meaning(none="an unknown variable")


def flag_of(item: Item) -> str:
    """The flag that an argument, variable or secret sets; empty for what sets none."""
    if item.kind == "argument":
        return item.what.removeprefix("-")
    return FLAG_OF_VARIABLE.get(item.what, "") if item.kind in ("variable", "secret") else ""


def which_way(delta: Delta, row: Meaning) -> str:
    """The sentence about exposure for what becomes of the value; empty where there is none of its own."""
    if delta.after is None:
        return row.says.get("removed", "")
    return row.says.get(delta.after) or (row.says.get("added", "") if delta.old is None else "")


def opens(delta: Delta, row: Meaning) -> int:
    """Whether a change lets somebody in."""
    if "exposure" not in row.always:
        return 0
    removed, changed = delta.new is None, delta.old is not None and delta.new is not None
    return int(
        ("true" in row.opens and delta.after == "true")
        or ("one" in row.opens and delta.after == "1")
        or ("zero" in row.opens and delta.after != "1")
        or ("added" in row.opens and delta.old is None)
        or ("removed" in row.opens and removed)
        or ("changed" in row.opens and changed)
    )
