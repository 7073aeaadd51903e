"""Exact quantities of the spec language: what the text of one field means.

In: raw TOML values. Out: frozen values with canonical text: `parse_x(str(x)) == x`. A value that is not the
quantity raises QuantityError, which says what is wrong and what to write instead. Called by the model,
the rules and lowering.

A number is `12` or `0.41`: ASCII digits, no sign, exponent, separator or leading zero. One space comes
before a unit.
"""

from fleetc.language.quantities.addresses import (
    EthAddress,
    HostName,
    IpAddress,
    IpNetwork,
    Listener,
    Port,
    PortRange,
    Url,
    host_port,
    is_public_address,
    parse_eth_address,
    parse_host,
    parse_ip,
    parse_ipv4,
    parse_listener,
    parse_network,
    parse_port,
    parse_port_range,
    parse_url,
    reach_of,
)
from fleetc.language.quantities.amounts import (
    BYTE_UNITS,
    ETH_UNITS,
    PIXEL_UNITS,
    TIME_UNITS,
    Bytes,
    Duration,
    Price,
    Throughput,
    Wei,
    canonical_number,
    parse_bytes,
    parse_currency,
    parse_duration,
    parse_price,
    parse_throughput,
    parse_wei,
)
from fleetc.language.quantities.runner_prices import RUNNER_UNITS, RunnerPrice, RunnerUnit, parse_runner_price
from fleetc.language.quantities.spelling import respelled
from fleetc.language.quantities.text import QuantityError

__all__ = [
    "BYTE_UNITS",
    "ETH_UNITS",
    "PIXEL_UNITS",
    "RUNNER_UNITS",
    "TIME_UNITS",
    "Bytes",
    "Duration",
    "EthAddress",
    "HostName",
    "IpAddress",
    "IpNetwork",
    "Listener",
    "Port",
    "PortRange",
    "Price",
    "QuantityError",
    "RunnerPrice",
    "RunnerUnit",
    "Throughput",
    "Url",
    "Wei",
    "canonical_number",
    "host_port",
    "is_public_address",
    "parse_bytes",
    "parse_currency",
    "parse_duration",
    "parse_eth_address",
    "parse_host",
    "parse_ip",
    "parse_ipv4",
    "parse_listener",
    "parse_network",
    "parse_port",
    "parse_port_range",
    "parse_price",
    "parse_runner_price",
    "parse_throughput",
    "parse_url",
    "parse_wei",
    "reach_of",
    "respelled",
]
