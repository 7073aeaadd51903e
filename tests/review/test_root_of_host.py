"""Changes that give a node root on its host: they are exposures that nobody may miss."""

from __future__ import annotations

import pytest

from fleetc.review.data import Effect, Review
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.reports import wording
from fleetc.review.reports.findings import located
from fleetc.review.reports.markdown import as_markdown
from fleetc.review.reports.terminal import as_text
from tests.review.support import review
from tests.rules.support import host, model, onchain, orchestrator

DOCKER = host("gpu-1", public='"orch.example.net"', gpus='[{ model = "RTX 4090", memory = "24 GiB" }]')
SYSTEMD = DOCKER.replace('"docker"', '"systemd"')
SOCKET = "the Docker socket: whoever controls it is root on gpu-1"


def fleet(*nodes: str, on: str = DOCKER) -> str:
    return onchain(model(), on, *nodes)


def video(**settings: str) -> str:
    return orchestrator(**{"host": '"gpu-1"', **settings})


def dual(**settings: str) -> str:
    models = '[{ use = "realvis", warm = true }]'
    return video(**{"mode": '"dual"', "ai_registry": "true", "gpus": "[0]", "models": models, **settings})


def roots(found: Review) -> list[Effect]:
    effects = [effect for change in found.changes for effect in change.effects]
    return [effect for effect in effects if "is root on" in effect.text]


def test_first_model_of_an_orchestrator_in_docker_is_told_first_in_every_form() -> None:
    found = review(fleet(video()), fleet(dual()))
    (root,) = roots(found)
    assert (root.impact, root.weight, root.text) == ("exposure", "critical", f"its container gets {SOCKET}")
    assert root in found.changes[0].effects and found.changes[0].what == "aiModels.json"
    assert wording.gravest(found) == f"The container of orch gets {SOCKET}"
    assert wording.tones(found.changes[0])["exposure"] == "danger"
    assert as_text(found).count(SOCKET) == 2
    assert as_markdown(found).count("the Docker socket") >= 2
    assert any(SOCKET in (finding.diagnostic.help or "") for finding in located(found, (), (), "fleet.toml"))


def test_limit_on_exposure_names_it() -> None:
    (broken,) = breaches(review(fleet(video()), fleet(dual())), parse_limits("exposure=none"))
    assert [change.what for change in broken.changes] == ["aiModels.json"]


def test_node_that_comes_or_moves_brings_it() -> None:
    other = host("gpu-2", address='"203.0.113.31"', public='"two.example.net"', gpus='[{ model = "RTX 4090" }]')
    (new,) = roots(review(fleet(), fleet(dual())))
    assert SOCKET in new.text
    (moved,) = roots(review(fleet(dual(), other), fleet(dual(host='"gpu-2"'), other)))
    assert "is root on gpu-2" in moved.text


def test_systemd_gives_the_socket_to_a_process() -> None:
    (root,) = roots(review(fleet(video(), on=SYSTEMD), fleet(dual(), on=SYSTEMD)))
    assert root.text == f"its process gets {SOCKET}"
    assert not roots(review(fleet(dual(), on=SYSTEMD), fleet(dual(), on=DOCKER)))


def test_what_had_the_socket_before_gets_nothing() -> None:
    cold = dual(models='[{ use = "realvis" }]')
    assert review(fleet(dual()), fleet(cold)).changes
    assert not roots(review(fleet(dual()), fleet(cold)))
    assert not roots(review(fleet(dual()), fleet(video())))
    assert not roots(review(fleet(dual()), fleet()))


def test_host_with_a_new_name_is_the_same_machine() -> None:
    text = fleet(dual())
    assert not roots(review(text, text.replace("gpu-1", "gpu-9")))


@pytest.mark.parametrize(("directory", "told"), [("/etc", True), ("/var", True), ("/srv/node", False)])
def test_system_directory_that_a_container_writes_to(directory: str, told: bool) -> None:
    found = review(fleet(video()), fleet(video(data_dir=f'"{directory}"')))
    texts = [effect.text for effect in roots(found)]
    assert (
        texts
        == [f"its container gets {directory} of the host, to write to: whoever controls it is root on gpu-1"] * told
    )
    if told:
        (change,) = [change for change in found.changes if roots_of(change.effects)]
        assert change.what == "-dataDir"
    assert not roots(review(fleet(video(), on=SYSTEMD), fleet(video(data_dir=f'"{directory}"'), on=SYSTEMD)))


def roots_of(effects: tuple[Effect, ...]) -> list[Effect]:
    return [effect for effect in effects if "is root on" in effect.text]
