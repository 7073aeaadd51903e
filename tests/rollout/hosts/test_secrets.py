"""Secrets in variables of the machine that deploys: which are missing, and which are too short to be hidden."""

from __future__ import annotations

import pytest

from fleetc.rollout.hosts.secrets import DeployError, secret_variables
from tests.support import compiled_example

BLUEPRINT = compiled_example("two-regions").blueprint
assert BLUEPRINT is not None
NAMES = {
    secret.reference
    for host in BLUEPRINT.hosts
    for _, secrets in host.secrets()
    for secret in secrets
    if secret.kind == "env"
}
HOSTS = tuple(host.name for host in BLUEPRINT.hosts)


def test_short_secret_is_refused_by_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BLUEPRINT is not None
    for name in NAMES:
        monkeypatch.setenv(name, "long enough")
    assert set(secret_variables(BLUEPRINT, HOSTS)) == NAMES
    name = min(NAMES)
    monkeypatch.setenv(name, "q7")
    with pytest.raises(DeployError, match=f"fewer than 4 characters: {name} \\(for ") as refused:
        secret_variables(BLUEPRINT, HOSTS)
    assert "q7" not in str(refused.value)
    assert secret_variables(BLUEPRINT, ()) == {}, "only hosts that take part"
    monkeypatch.delenv(name)
    with pytest.raises(DeployError, match=f"are not set: {name}") as missing:
        secret_variables(BLUEPRINT, HOSTS)
    users = [f"{host.name}/{owner}" for host in BLUEPRINT.hosts for owner, secrets in host.secrets() if secrets]
    assert str(missing.value).count("/") == 4 and f" and {len(users) - 4} more" in str(missing.value)
    assert str(missing.value).endswith(f"set each, such as: read -rs {name} && export {name}")
