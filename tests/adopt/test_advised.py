"""`fleetc adopt --compare`: what people changed because check asked for it has that reason, and nothing else has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import fleetc

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /srv/pw"
MODEL = "SG161222/RealVisXL_V4.0_Lightning"
SOURCES = {
    "orch.sh": f"livepeer -orchestrator -aiWorker -aiModels models.json -nvidia 0 -serviceAddr o.example.net:8935 "
    f"-pricePerUnit 0 {CHAIN} -ethAcctAddr 0x{'1' * 40} -dataDir /srv/o -cliAddr 127.0.0.1:7935 -aiModelsDir /srv/m\n",
    "gate.sh": f"livepeer -gateway -orchAddr https://o.example.net:8935 -maxPricePerUnit 1200 "
    f"-maxPricePerCapability caps.json {CHAIN} -ethAcctAddr 0x{'2' * 40} -dataDir /srv/g -cliAddr 127.0.0.1:5935\n",
    "models.json": json.dumps(
        [{"pipeline": "text-to-image", "model_id": MODEL, "price_per_unit": 0.000000041, "currency": "USD"}]
    ),
    "caps.json": json.dumps(
        {"capabilities_prices": [{"pipeline": "text-to-image", "model_id": MODEL, "price_per_unit": 1500}]}
    ),
}
COMMAND = ("adopt", "orch.sh", "gate.sh", "models.json", "caps.json", "--host", "h@o.example.net")
SECRET = 'secret = { host_file = "/srv/secret" }\n'
TICKET = 'ticket_ev = "40 gwei"\n'
CAP = "0.05 USD / megapixel"
CODES = {
    "orchSecret": "orchestrator-without-secret",
    "ticketEV": "payment-holds-too-little",
    f"maxPricePerCapability text-to-image {MODEL}": "gateway-price-admits-nobody",
}


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A folder with sources and their spec, in which people did what check asked for."""
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    answers = [word for key in ("deposit", "reserve") for word in ("--set", f'wallets.payer.{key}="4 ETH"')]
    done = fleetc(*COMMAND, *answers, "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "fleet.toml").read_text()
    assert "1500 wei / pixel" in text and 'service = "o' in text
    text = text.replace('service = "o', f'{SECRET}{TICKET}service = "o').replace("1500 wei / pixel", CAP)
    (tmp_path / "fleet.toml").write_text(f'{text}\n[rates]\nUSD = "0.00042 ETH"\n')
    return tmp_path


def reasons(folder: Path, *changes: tuple[str, str], code: int) -> dict[str, str]:
    """The reasons of settings that differ once the spec says something else."""
    text = (folder / "fleet.toml").read_text()
    for before, after in changes:
        assert before in text, text
        text = text.replace(before, after)
    (folder / "other.toml").write_text(text)
    done = fleetc(*COMMAND, "--compare", "other.toml", "--report", "json", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    found = {one["flag"]: one["reason"] for one in json.loads(done.stdout)["differences"]}
    shown = fleetc(*COMMAND, "--compare", "other.toml", cwd=folder).stdout
    assert all(f": {reason}\n" in shown for reason in found.values() if reason.startswith("check")), shown
    return found


def advised(**without: str) -> dict[str, str]:
    """All reasons, but for some settings."""
    return {flag: without.get(flag, f"check asked for it ({code})") for flag, code in CODES.items()}


def test_what_check_asked_for_has_that_reason(fleet: Path) -> None:
    assert reasons(fleet, code=0) == advised()


def test_model_may_have_another_name_in_the_spec(fleet: Path) -> None:
    assert reasons(fleet, ("realvisxl-v4-0-lightning", "realvis"), code=0) == advised()


@pytest.mark.parametrize(("before", "after", "flag"), [
    ('max_price = "1200 wei', 'max_price = "1300 wei', "maxPricePerUnit"), (SECRET, f"verbosity = 6\n{SECRET}", "v"),
    (TICKET, f'max_face_value = "1 ETH"\n{TICKET}', "maxFaceValue"), ("40 gwei", "9 gwei", "ticketEV"),
])  # fmt: skip
def test_other_fields_and_what_settles_nothing_have_no_reason(before: str, after: str, flag: str, fleet: Path) -> None:
    assert reasons(fleet, (before, after), code=1) == {**advised(), flag: ""}


def test_price_that_somebody_raised_asks_for_nothing(fleet: Path) -> None:
    """With the price of the sources, nobody has to change the value of tickets."""
    assert "4.1e-08" in SOURCES["models.json"]
    (fleet / "models.json").write_text(SOURCES["models.json"].replace("4.1e-08", "4.1e-09"))
    found = reasons(fleet, code=1)
    assert found["ticketEV"] == "" and found[f"aiModels text-to-image {MODEL}"] == ""


@pytest.mark.parametrize("flag", ["orchSecret", "ticketEV"])
def test_what_check_is_told_not_to_say_is_no_reason(flag: str, fleet: Path) -> None:
    silence = f'[silences.it]\ncode = "{CODES[flag]}"\nreason = "we know"\n\n[fleet]'
    assert reasons(fleet, ("[fleet]", silence), code=1) == advised(**{flag: ""})
