"""Borders of the rules about avatar stacks: one test for each rule, named as its code."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import OneRule, avatars, checked, host, silent, staged


def _allow(network: str) -> str:
    return staged(avatars(allow=f'["payments", "{network}"]'))


EDGE = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'


def test_allowlist_unfit(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Everybody.
    rule.errs(_allow("0.0.0.0/0"))
    rule.errs(_allow("::/0"), "everybody")
    # Whole provider.
    assert rule.warns(_allow("203.0.0.0/12".replace("203.0", "203.0"))) == snapshot
    # Network that runners cannot compare.
    assert rule.warns(_allow("198.51.96.0/20")) == snapshot
    # Narrow network is fine.
    silent(_allow("198.51.100.0/24"))
    # IPv6 with a control plane.
    assert rule.errs(staged(avatars(allow='["payments", "2001:db8::7"]', edge=EDGE))) == snapshot
    # IPv6 address of the payments service.
    text = staged(avatars(payments='{ addresses = ["2001:db8::9"] }', edge=EDGE))
    rule.errs(text, "2001:db8::9/128 is not IPv4")
    # IPv6 without a control plane is fine.
    silent(staged(avatars(allow='["payments", "2001:db8::7"]')))
    account = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'
    silent(staged(avatars(edge=EDGE, registration=account)))


def _stack(sessions: str, recordings: str) -> str:
    return staged(avatars(session_dir=f'"{sessions}"', recordings_dir=f'"{recordings}"'))


def test_avatar_directories_meet(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One directory for both.
    rule.warns(_stack("/srv/stage", "/srv/stage"))
    default = staged(avatars(session_dir='"/home/ubuntu/recordings"'))
    rule.warns(default)
    # Directory of a slot holds the others.
    rule.warns(_stack("/srv/stage", "/srv/stage/mira/recordings"))
    rule.warns(_stack("/srv/stage/noor", "/srv/stage"))
    # Directories beside each other are fine.
    silent(_stack("/srv/stage", "/srv/stage/recordings"))
    silent(_stack("/srv/stage", "/srv/stage-recordings"))
    # Recordings in the checkout.
    text = staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack/recordings"'))
    assert rule.errs(text) == snapshot
    # Checkout among the sessions.
    rule.errs(staged(avatars(session_dir='"/home/ubuntu"')), "session_dir")
    # Directories side by side are fine.
    silent(staged(avatars(project_dir='"/srv/stack"', recordings_dir='"/srv/stack-recordings"')))


def _release(text: str) -> str:
    return staged(avatars(), avatar_release=f'"{text}"')


def test_avatar_release_too_old(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # GPU statistics before their release.
    text = staged(avatars(gpu_statistics_age='"10 s"'), avatar_release='"v1.3.5"')
    rule.warns(text)
    silent(text.replace("v1.3.5", "v1.3.6"))
    # Remote ops could be asked for before they were the default.
    silent(staged(avatars(remote_ops="true"), avatar_release='"v1.3.1-beta.6"'))
    # Projects that may sleep before slots could.
    text = staged(avatars(power_project_prefixes='["vtuber-"]'), avatar_release='"v1.3.1-beta.3"')
    rule.warns(text, "does not read power_project_prefixes: it came with v1.3.1-beta.4")
    silent(text.replace("beta.3", "beta.4"))
    # Runner token before its release.
    text = staged(avatars(runner_token='{ env = "TOKEN" }'), avatar_release='"v1.3.5"')
    assert rule.printed(text)
    rule.quiet(text.replace("v1.3.5", "latest"))
    # Settings file of the game before its release.
    text = staged(avatars(game_files='{ engine = "Engine.ini", user_settings = "Own.ini" }'), avatar_release='"v1.3.5"')
    rule.warns(text, "does not read game_files.engine: it came with v1.3.6")
    silent(text.replace("v1.3.5", "v1.3.6"))
    # Release before slots.
    assert rule.errs(_release("v1.2.4")) == snapshot
    # Release without images.
    assert rule.warns(_release("v1.3.1-beta.1")) == snapshot
    # First release with images is fine.
    silent(_release("v1.3.1-beta.2"))


def test_avatar_stacks_on_one_host() -> None:
    # A host each is fine.
    silent(staged(avatars(), avatars("studio", host='"edge"', slots='[{ avatar = "ada" }]')))


def test_avatar_updates_itself(rule: OneRule) -> None:
    # Rolling tag follows what is newest.
    silence = '[silences.accepted]\ncode = "release-unknown"\nreason = "a stage for trying out"\n'
    stack = avatars(cli_auto_update="true", remote_cluster_control="true")
    silent(staged(stack, silence, avatar_release='"latest"'))
    # Commit is replaced like a release.
    text = staged(avatars(cli_auto_update="true"), avatar_release='"sha-abc1234"')
    rule.warns(text, "stage should run sha-abc1234")
    # Switched off is fine.
    silent(staged(avatars(cli_auto_update="false", auto_upgrade_when_sleeping="false")))


def test_cluster_control_unsaid(rule: OneRule) -> None:
    # Tag of a commit.
    text = staged(avatars(), avatar_release='"sha-abc1234"')
    rule.warns(text, "a tag of a commit")
    # Said aloud is fine.
    silence = '[silences.accepted]\ncode = "release-unknown"\nreason = "a stage for trying out"\n'
    silent(staged(avatars(remote_cluster_control="false"), silence, avatar_release='"latest"'))
    # Release decides where there is one.
    silent(staged(avatars()))


REGISTRATION = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'


def test_control_plane_without_id() -> None:
    # Registration has the ID.
    silent(staged(avatars(edge=EDGE, registration=REGISTRATION)))
    # Edge without control plane needs no ID.
    silent(staged(avatars(edge='{ addresses = ["203.0.113.5"] }')))


def test_health_port_moved() -> None:
    # The known port is fine.
    silent(staged(avatars(health_port="9090")))


def test_payments_not_allowed(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Network that runners cannot compare.
    text = staged(avatars(allow='["203.0.112.0/23"]'))
    assert rule.errs(text) == snapshot
    # Narrow network with the address is fine.
    silent(staged(avatars(allow='["203.0.113.88/29"]')))
    # Word without addresses.
    assert rule.errs(staged(avatars(payments=None))) == snapshot
    # Registration without payments.
    text = staged(avatars(payments=None, allow='["198.51.100.7"]', registration=REGISTRATION))
    rule.errs(text, "registers with the payments service")
    silent(staged(avatars(registration=REGISTRATION)))
    # Stack that names no payments service is a warning.
    assert rule.warns(staged(avatars(payments=None, allow='["198.51.100.7"]'))) == snapshot


def test_payments_sends_no_token(rule: OneRule) -> None:
    # Recordings token and signatures.
    text = staged(avatars(recordings_token='{ env = "TOKEN" }', ops='{ secret = { env = "OPS" }, required = true }'))
    rule.warns(text, "its recordings fail", "its upgrades fail")
    # Signatures that are not required are fine.
    silent(staged(avatars(ops='{ secret = { env = "OPS" } }')))


PAYMENTS = '{ addresses = ["203.0.113.90"] }'


def test_payments_url_unsaid(rule: OneRule) -> None:
    # Written URL is fine.
    with_url = PAYMENTS.replace(" }", ', url = "http://203.0.113.90:8081" }')
    silent(staged(avatars(registration=REGISTRATION, payments=with_url)))
    # Payments service without registration is fine.
    silent(staged(avatars(payments=PAYMENTS)))
    # Registration without payments service is another finding.
    found = checked(staged(avatars(registration=REGISTRATION, payments=None))).diagnostics
    assert rule.code not in {diagnostic.code for diagnostic in found}


def _relay(ports: str) -> str:
    turn = f'relay_ports = "{ports}", user = {{ env = "U" }}, password = {{ env = "P" }}, address = "203.0.113.20"'
    return staged(avatars(slots="4", gpu='"all"', turn=f"{{ {turn} }}"))


def test_relay_ports_too_few() -> None:
    # One for each is fine.
    silent(_relay("49160-49163"))


OPEN: dict[str, str | None] = {"allow": None, "payments": None}


def test_remote_control_without_allowlist(rule: OneRule) -> None:
    # Newer release lets nobody in.
    text = staged(avatars(**OPEN), avatar_release='"v2026.3.1-alpha.1"')
    rule.errs(text, "only the host itself can use it\n")
    # Control plane lets its edges in.
    edge = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'
    text = staged(avatars(**OPEN, edge=edge), avatar_release='"v2026.3.1-alpha.1"')
    rule.errs(text, "only the host itself and the edges that its control plane names can use it\n")
    # Rolling tag.
    text = staged(avatars(**OPEN, remote_cluster_control="true"), avatar_release='"latest"')
    rule.errs(text, "perhaps anybody can")
    # Release without cluster control by default.
    rule.errs(staged(avatars(**OPEN), avatar_release='"v1.3.4"'), "stage has remote ops on and")
    # Switched off is fine.
    silent(staged(avatars(**OPEN, remote_ops="false", remote_cluster_control="false")))


def test_sleep_stops_the_executor() -> None:
    # List with it is fine.
    silent(staged(avatars(keep_running='["turn-server", "orchestrator-edge-rotator"]')))
    silent(staged(avatars(keep_running="[]", remote_ops="false", remote_cluster_control="false")))


def _slot(number: int) -> str:
    return staged(avatars(slots=f'[{{ avatar = "mira" }}, {{ avatar = "noor", slot = {number} }}]'))


def test_slot_beyond_public_design(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Slot beyond the command line.
    assert rule.warns(_slot(21)) == snapshot
    # Slot beyond the networks.
    assert rule.warns(_slot(256)) == snapshot
    rule.warns(_slot(255), "command line")
    # Last slot of the command line is fine.
    silent(_slot(19))
    # Gateway of a slot without network is said.
    rule.warns(staged(avatars(slots='[{ avatar = "mira", slot = 256 }]')), "Docker chooses the gateway of such a slot")
    lower = rule.warns(staged(avatars(slots='[{ avatar = "mira", slot = 255 }]')))
    assert "gateway" not in lower


def test_slot_cannot_sleep() -> None:
    # Prefixes that cover all slots are fine.
    silent(staged(avatars(power_project_prefixes='["vtuber-mira", "vtuber-noor"]')))


def test_slot_gpu_unsaid() -> None:
    # Slots that say so are fine.
    silent(staged(avatars(gpu='"all"')))
    silent(staged(avatars(gpu=None, slots='[{ avatar = "mira", gpu = 0 }, { avatar = "noor", gpu = 1 }]')))
    silent(staged(avatars(gpu=None, host='"edge"')))


def test_slot_network_taken(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Address of the host.
    text = staged(avatars()).replace('address = "203.0.113.20"', 'address = "172.30.1.20"')
    rule.errs(text)
    silent(text.replace("gpu = 1", 'slot_networks = "172.29.0.0/16"\ngpu = 1'))
    # Caller and edge.
    text = staged(avatars(allow='["payments", "172.30.0.0/24"]', edge='{ addresses = ["172.30.1.9"] }'))
    assert rule.errs(text) == snapshot
    # Addresses in urls of services.
    payments = '{ addresses = ["203.0.113.90"], url = "http://172.30.1.9:8081" }'
    rule.errs(staged(avatars(payments=payments)), "172.30.1.9 belongs to the payments service")
    edge = '{ url = "https://172.30.0.9/config", token = { env = "EDGE_TOKEN" } }'
    rule.errs(staged(avatars(edge=edge)), "172.30.0.9 belongs to the control plane")
    rule.errs(staged(avatars(stun='"172.30.0.9:3478"')), "172.30.0.9 belongs to the STUN server")
    silent(staged(avatars(stun='"172.30.2.9:3478"', payments=payments.replace("172.30.1.9", "payments.example.net"))))
    # Payments service is named once.
    rule.errs(
        staged(avatars(payments='{ addresses = ["172.30.1.9"] }')),
        "172.30.1.9 belongs to the payments service",
        "1 error\n",
    )
    # Address of another host is a warning.
    text = staged(avatars(), host("other", address='"172.30.1.30"'))
    assert rule.warns(text) == snapshot
    silent(text.replace("172.30.1.30", "172.30.2.30"))
    silent(text.replace("172.30.1.30", "other.example.net"))
    # Address that the stack names too is reported once.
    text = staged(avatars(edge='{ addresses = ["172.30.1.30"] }'), host("other", address='"172.30.1.30"'))
    rule.errs(text, "belongs to an edge")
    # Network that is offered is free.
    rule.errs(staged(avatars(allow='["payments", "172.16.0.0/12"]')), 'slot_networks = "10.200.0.0/16"')
    moved = staged(avatars(allow='["payments", "172.16.0.0/12"]', slot_networks='"10.200.0.0/16"'))
    assert {d.code for d in checked(moved).diagnostics} == {"allowlist-unfit"}
    near = staged(avatars(allow='["payments", "172.30.0.0/24"]'), host("other", address='"172.29.7.1"'))
    rule.errs(near, 'slot_networks = "172.28.0.0/16"')
    everything = staged(avatars(allow='["payments", "10.0.0.0/8", "172.16.0.0/12", "100.64.0.0/10"]'))
    rule.errs(everything, "a private network where nothing else has an address")
    # Bridge of Docker.
    rule.errs(staged(avatars(slot_networks='"172.18.0.0/16"')), "a bridge of Docker")
    rule.errs(staged(avatars(docker_gateways='["172.30.0.1"]')), "a bridge of Docker")
    # Network of a slot that does not exist is fine.
    silent(staged(avatars(allow='["payments", "172.30.7.0/24"]')))


OTHER = {"host": '"edge"', "slots": '[{ avatar = "mira" }]'}


def test_slot_used_twice(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One ID on one host.
    assert rule.errs(staged(avatars(slots='[{ avatar = "mira" }, { avatar = "mira" }]'))) == snapshot
    # Ids that differ in case only.
    assert rule.errs(staged(avatars(slots='[{ avatar = "mira" }, { avatar = "Mira" }]'))) == snapshot
    # One ID on two hosts.
    assert rule.warns(staged(avatars(), avatars("studio", **OTHER))) == snapshot
    # One ID behind one edge.
    edge = '{ addresses = ["203.0.113.5", "203.0.113.6"] }'
    same = '{ addresses = ["203.0.113.6"] }'
    assert rule.errs(staged(avatars(edge=edge), avatars("studio", edge=same, **OTHER))) == snapshot
    url = '{ url = "https://edge.example.net", token = { env = "EDGE_TOKEN" } }'
    rule.errs(staged(avatars(edge=url), avatars("studio", edge=url, **OTHER)))
    # One ID behind two edges is fine.
    a, b = ('{ addresses = ["203.0.113.5"] }', '{ addresses = ["203.0.113.6"] }')
    silent(staged(avatars(edge=a), avatars("studio", edge=b, **OTHER)))
    # Every stack behind one edge is compared.
    third = host("third", public='"third.example.net"')
    on_third = {**OTHER, "host": '"third"'}
    others = third, avatars("a0", edge=a), avatars("b", edge=b, **OTHER)
    rule.errs(staged(*others, avatars("c", edge=b, **on_third)), "b and c both have the avatar id")
    silent(staged(*others, avatars("c", edge=b, **on_third).replace("203.0.113.6", "203.0.113.7")))
    # Another spelling hides no clash.
    others = third, avatars("a0", edge=a, slots='[{ avatar = "Mira" }]'), avatars("b", edge=a, **OTHER)
    rule.errs(staged(*others, avatars("c", edge=a, **on_third)), 'b and c both have the avatar id "mira"')
    # Stack that names no edge is compared with the others.
    stacks = staged(third, avatars("a0", edge=a), avatars("b", **OTHER), avatars("c", edge=b, **on_third))
    found = rule.warns(stacks, 'a0 and b both have the avatar id "mira"', 'b and c both have the avatar id "mira"')
    assert found.count("warning[") == 2
    # Ids of counted slots are named after their table.
    silent(staged(avatars(slots="2"), avatars("studio", host='"edge"', slots="2")))
    listed = avatars("studio", host='"edge"', slots='[{ avatar = "stage-1" }]')
    assert checked(staged(avatars(slots="2"), listed)).diagnostics[0].code == rule.code
    # Two slots with one number.
    slots = '[{ avatar = "mira", slot = 1 }, { avatar = "ada" }, { avatar = "noor", slot = 1 }]'
    assert rule.errs(staged(avatars(slots=slots, gpu='"all"'))) == snapshot
    # Number that is left out avoids one written later.
    silent(staged(avatars(slots='[{ avatar = "ada" }, { avatar = "mira", slot = 0 }]')))


TURN = '{ user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" } }'


def _nameless(text: str) -> str:
    return text.replace('public = "orch.example.net"\n', "")


def test_turn_address_unknown(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # No address at all.
    assert rule.errs(_nameless(staged(avatars(turn=TURN, registration=REGISTRATION)))) == snapshot
    # Address of the edge the stack or turn is fine.
    silent(staged(avatars(turn=TURN, edge='{ addresses = ["203.0.113.5"] }')))
    silent(_nameless(staged(avatars(turn=TURN, registration=REGISTRATION, public='"203.0.113.20"'))))
    silent(staged(avatars(turn=TURN.replace("{ user =", '{ address = "203.0.113.20", user ='))))


TURN_SETTINGS = 'user = { env = "TURN_USER" }, password = { env = "TURN_PASSWORD" }, address = "203.0.113.20"'


def test_turn_port_rewritten() -> None:
    # The usual port or no rewriting is fine.
    silent(staged(avatars(edge="{ update_turn = true }", turn=f"{{ {TURN_SETTINGS} }}")))
    silent(staged(avatars(turn=f"{{ port = 3479, {TURN_SETTINGS} }}")))
