"""What is watched, and the expressions that alerts and panels share, so that both show and judge the same numbers.

In: a fleet, its `monitoring` table and who reads what. Out: `Scope`, expressions of PromQL, and which nodes a topic
concerns. Called by `alerts.py`, `panels.py` and `monitoring.py`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from fleetc.analysis.funds import payers
from fleetc.analysis.scraping import Reading
from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.monitoring import Monitoring
from fleetc.language.node import ChainSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.lower.promql import equals, matches, series, summed
from fleetc.places.origin import Origin, default, derived, given

JOB = "livepeer"
NODES = equals("job", JOB)
MEMORY = {
    "dcgm": ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"),
    "nvidia-smi": ("nvidia_smi_memory_used_bytes", "nvidia_smi_memory_total_bytes"),
}
"""Two gauges of GPU memory by exporter: used and free of dcgm, used and total of nvidia-smi."""


class Scope(NamedTuple):
    """What alerts and panels are made for. `readings` are those that somebody reads; `kept` the labels sums keep."""

    fleet: Fleet
    settings: Monitoring
    readings: tuple[Reading, ...]
    kept: tuple[str, ...]

    @property
    def name(self) -> str:
        """The matcher of the fleet."""
        return equals("fleet", self.fleet.fleet.name)

    def origin(self, field: str) -> Origin:
        """Where a threshold comes from: the spec, or its documented default."""
        if field in self.settings.model_fields_set:
            return given("monitoring", field)
        return default(f"the default of {field}", ("monitoring",))

    @property
    def round_minutes(self) -> int:
        """Length of a round in minutes."""
        length = self.settings.reward_round
        return 22 * 60 if length is None else length.whole_seconds // 60


def percent(share: str) -> Decimal:
    """A share of the spec as a fraction of one: "85%" is 0.85."""
    return Decimal(share.removesuffix("%")) / 100


def plain(number: Decimal) -> str:
    """A number in plain digits, which PromQL reads exactly as far as its floats go."""
    return format(number.normalize(), "f")


def window(minutes: int) -> str:
    """Minutes as a duration of PromQL."""
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"


def exporter_kinds(scope: Scope) -> tuple[str, ...]:
    """The kinds of GPU exporters in the fleet, sorted."""
    exporters = (scope.fleet.hosts[reading.host].gpu_exporter for reading in scope.readings if reading.job == "gpu")
    return tuple(sorted({exporter.kind for exporter in exporters if exporter is not None}))


def memory_share(scope: Scope, kind: str, *more: str) -> str:
    """Used memory of each GPU as a fraction, by the exporter's own gauges; `more` are further matchers."""
    used, other = (series(metric, (scope.name, *more)) for metric in MEMORY[kind])
    return f"{used} / ({used} + {other})" if kind == "dcgm" else f"{used} / {other}"


def paying_wallets(scope: Scope) -> tuple[str, ...]:
    """The wallets of nodes that pay and are read, sorted."""
    read = {r.node.name for r in scope.readings if r.node is not None}
    return tuple(sorted({wallet for wallet, node in payers(scope.fleet) if node.name in read}))


def left(scope: Scope, wallet: str, what: str) -> str:
    """What is left of the deposit or the reserve of a wallet, in gwei. It is one, however many nodes tell it."""
    selected = series(f"livepeer_gateway_{what}", (scope.name, equals("wallet", wallet)))
    return f"min by (fleet, wallet) ({selected})"


def sessions_share(scope: Scope, *more: str) -> str:
    """Video sessions of gateways and orchestrators as a fraction of their limit; `more` are further matchers."""
    roles = (scope.name, matches("role", "gateway|orchestrator"), matches("mode", "video|dual"), *more)
    now, most = (series(f"livepeer_{which}_sessions_total", roles) for which in ("current", "max"))
    return f"{summed(scope.kept, now)} / {summed(scope.kept, most)}"


def without_orchestrator(scope: Scope, *more: str) -> str:
    """The counter of segments that a gateway found no orchestrator for."""
    found = (scope.name, equals("role", "gateway"), equals("error_code", "NoOrchestrators"), *more)
    return series("livepeer_segment_transcode_failed_total", found)


def without_ai_orchestrator(scope: Scope, *more: str) -> str:
    """The counter of AI requests that a gateway found no orchestrator for; the node's text goes on with a timeout."""
    code = matches("error_code", "no orchestrators available.*")
    return series("livepeer_ai_request_errors", (scope.name, equals("role", "gateway"), code, *more))


def sellers_of_sessions(scope: Scope) -> tuple[Node, ...]:
    """The gateways and orchestrators for video that are read."""
    nodes = (r.node for r in scope.readings if r.node is not None)
    return tuple(n for n in nodes if isinstance(n.settings, Gateway | Orchestrator) and effective.serves_video(n))


def ai_gateways(scope: Scope) -> tuple[Node, ...]:
    """The gateways for AI that are read."""
    nodes = (r.node for r in scope.readings if r.node is not None)
    return tuple(n for n in nodes if isinstance(n.settings, Gateway) and effective.serves_ai(n))


def reward_caller(fleet: Fleet, node: Node) -> Origin | None:
    """Why a node calls reward: the spec says so, or it is an orchestrator that alone holds its wallet. Else None."""
    if not fleet.on_chain or not isinstance(node.settings, ChainSettings) or node.settings.wallet is None:
        return None
    caller = effective.calls_reward(fleet, node, node.settings)
    if caller is not None:
        return caller.origin if caller.value else None
    if isinstance(node.settings, Orchestrator):
        return derived("an orchestrator that alone holds its wallet calls reward", node.path)
    return None


def reward_origins(scope: Scope) -> tuple[Origin, ...]:
    """Why each node that calls reward and is read does so."""
    found = (reward_caller(scope.fleet, r.node) for r in scope.readings if r.node is not None)
    return tuple(origin for origin in found if origin is not None)


def slots_answer(scope: Scope, *more: str) -> str:
    """1 for each slot whose signaling server answers, 0 for the others."""
    return series("probe_success", (scope.name, equals("job", "avatar"), equals("service", "signaling"), *more))


def health_answers(scope: Scope, *more: str) -> str:
    """1 for each host whose orchestrator-health answers, 0 for the others."""
    return series(
        "probe_success", (scope.name, equals("job", "avatar"), equals("service", "orchestrator-health"), *more)
    )
