"""What adopting asks, and why a compiled setting differs: values with a kind, a place and facts.

In: kinds with their facts. Out: `Question`s and `Reason`s, whose text is made only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from fleetc.text import leaks
from fleetc.text.encoders import visible

Facts = tuple[tuple[str, str], ...]


class Ask(Enum):
    """What a question is about. The value is its text; `{name}` stands for a fact."""

    # any setting
    NOT_REPEATED = "the source may have a secret there, which no spec may have"
    REFUSED = "the spec does not take what the source says: {why}"
    NO_SOURCE = "no source says it"
    NO_FILE = "{file} says it and is none of the sources: copy it from the host and name it too"
    NO_VALUE = "the source says {text}"
    NOT_IN_SPEC = "no spec takes {text}, because {why}"
    BY_NAME = "{file} is taken for {path} by its name alone; compare it with the one of the host"
    PATH = "its path on the host; {where}"
    SECRET_FILE = "where on the host is the file of this secret? {where}"
    PART_OF_SECRET = "no source has all of it: put the whole value into that variable of who deploys"
    # nodes
    ACCOUNT = "which account? No source names it; today the node takes any key it finds"
    ONE_KEYSTORE = "{node} has its keys in {path}; a wallet has one keystore directory on all hosts"
    ONE_PASSWORD = "{node} has another password; a wallet has one"
    DEPOSIT = "what is set aside for tickets; {command} shows it in wei"
    RESERVE = "what backs them; {command} shows it in wei, as FundsRemaining"
    LISTENER = "the node cannot listen where the source says"
    SAME_PORT = "{node} has port {port} of this host too: give one of them another port"
    EXPOSED_CLI = "others reach {listener} and command the node; keep it with cli_exposed = true and a firewall"
    ORCHESTRATORS = "off-chain a gateway finds nobody without a list"
    ORCHESTRATOR = "a worker does not start without the address of its orchestrator"
    SERVICE = "the public address; without it the node asks a service on the internet for its own"
    NO_SERVICE = "the public address; no gateway reaches the node at {text}"
    SECRET_OF_WORKERS = "what remote workers present; without one, anybody may work for it, or it does not start"
    SECRET_OF_ORCHESTRATOR = "a worker does not start without the secret of its orchestrator"
    PRICE = "on a chain the node does not start without one"
    PIXELS = "the source leaves its pixels open"
    PRICE_REFUSED = "the node or the spec refuses {text} as a price"
    ANY_PRICE = "today it pays any price, because nothing sets a cap"
    NO_PRICE_FOR = "no spec has the price for {name}; without one the base price counts"
    GPUS = "which GPUs of its host? -nvidia is {text}, and {seen}"
    # fleet, hosts and wallets
    SEVERAL_RPC = "a host has one RPC address, but {nodes}"
    CONTROLLER = "the contract of the protocol; the node knows none for this network"
    RUNTIME = "how its nodes run, docker or systemd; no source starts one"
    RELEASE = "which release runs? livepeer -version says it"
    REWARD = "{nodes} have this wallet and none says who calls reward: today each does, if it is registered"
    ADDRESS = "where you log in; no source says it"
    BINARY = "its nodes run {programs}: a host has one program, and the spec its whole path"
    USER = "who starts {node} today? no source says it, and whoever is written here must own {path}"
    HIDDEN = "the source has a hidden character there, or too many characters for a spec"
    # models and live runners
    NO_MODELS = "a worker does not start without a list of them"
    CREDENTIAL = "the runner of {model} gets no token any more: let it answer this host without one, or take it out"
    URL = "where the orchestrator reaches it, without a user and a query"
    URL_NAME = "no host knows the name {name}: write the address of its machine"
    HEALTH = "where the orchestrator asks whether it is well, without a user and a query"
    RUNNER_PRICE = "what it costs; no source has a price that a spec can have"
    OWN_FIELD = "its program says it"
    OWN_PRICE = "its program tells the orchestrator what it costs: write the same here"
    ARGUMENT = "the program gets {name}: write it in arguments, or hand a secret over in a variable that it reads"
    CALLS = "nothing is called {name} on the host: if it is no runner, publish its port on 127.0.0.1"
    DIRECTORY = "{inside} was {outside}; a spec has the same path inside and outside"
    GPU = "no source says what GPU {number} is"
    # avatar stacks
    AVATAR_REFUSED = "slot {slot} with the avatar {avatar}: {why}"
    RUNNERS_ONLY = "{addresses} may call runners and nothing else today; whoever is listed here may call everything"
    PAYMENTS = "do calls of the payments service come from this address?"


class Why(Enum):
    """Why a setting of the compiled node differs from the one of today; `same` ones mean the same to the node."""

    def __init__(self, text: str, same: bool = False) -> None:
        self.text = text
        self.same = same

    ASKED = "asked: {question}"
    UNKNOWN = "{file} may set it and is none of the sources"
    ROLE_IGNORED = "the node ignores this role"
    REFERENCE = "a reference in the spec has the same value", True
    SAME_PATH = "this is its path on the host", True
    NO_FIELD = "{reason}"
    NOT_READ = "nodes in {table} do not read -{setting}", True
    IGNORED = "the node ignores it: {problem}", True
    STOPS = "the node stops at its start: {problem}"
    # nodes
    WORKER = "a remote worker never talks to the chain", True
    BEHIND_SIGNER = "behind a signer a gateway runs off-chain, where this does nothing", True
    ON_NO_NETWORK = "a remote worker, or a gateway behind a signer, runs off-chain"
    SIGNER_COMPARES = "the signer compares prices"
    OFFCHAIN = "off-chain it does nothing", True
    NEW_DATA_DIR = "the node keeps nothing there that it needs again, so its data directory is a new one"
    BELOW_DATA_DIR = "it follows the data directory, which no source says"
    OF_WALLET = "its wallet has a password"
    PUBLISHED = "containers get the network of the host, which publishes this port there", True
    NOT_PUBLISHED = "containers get the network of the host, which does not publish this port: it is on loopback"
    PORT_80 = "the node would listen on port 80 of all interfaces; fleetc keeps it on loopback"
    EXPOSED = "others than the host itself reach the administration listener, and it asks nobody for a password"
    INGEST = "it stays as it is today, at another listener"
    WEBHOOK_SAYS = "it does nothing: the node asks its webhook which orchestrators there are"
    LIST_SAYS = "a fixed list of orchestrators is given, so no registry is asked"
    NO_REGISTRY = "there is no registry off-chain"
    SERVICE_ADDRESS = "the same orchestrator, at {service}; make sure that the host reaches it there (curl -k)"
    LISTENS = "{node} listens there from now on"
    PIXELS = "the price that they go with is asked for"
    CAP_UNREAD = "the cap for {pipeline} has no price, or no pipeline of the node"
    NO_RENDITIONS = "the node knows none of these renditions, and stops at its start"
    RUNNERS_PRICED = "live runners have prices of their own, and the node does not start without one"
    ITS_SECRET = "it gets the secret of {node}, without which it does not start"
    LABEL = "a label of its own keeps workers from removing each other's containers"
    GPUS = "containers of fleetc see all GPUs of their host; these are those of today"
    GPU_ORDER = "fleetc counts GPUs as nvidia-smi does; without this variable CUDA counts the fastest one first"
    # fleet, hosts and wallets
    RPC_OF_SPEC = "no source says it; it gets that of the spec"
    NO_SCHEME = "without a scheme the node takes the address for the path of a local socket"
    REWARD = "one process of a wallet calls reward, and the others say that they do not"
    # models and live runners
    NO_LIST = "no source has a list of models that the node reads"
    NOBODY_PAYS = "nobody pays here, so the list of models has no prices", True
    SOLD_TO_ALL = "a spec sells a model to all gateways; others pay the base price"
    NO_CREDENTIAL = "a spec has no credential of a runner"
    OTHER_IMAGE_FLAG = "-aiRunnerImage and -aiRunnerImageOverrides name the same image", True
    UNUSED_IMAGE = "no model in the list of the node has an image that the spec leaves out"
    EMPTY_LIST = "the list is empty, and only says that runners may register"
    ON_LOOPBACK = "containers use the host's network, where it is reached on loopback"
    CALLED_AS_TABLE = "a runner is called as its table, and names of tables have a-z, 0-9 and -"
    ONE_GPU = "clients are told of the one GPU of a runner that fleetc starts"
    # avatar stacks
    FLEETC_WRITES = "fleetc writes {what}"


@dataclass(frozen=True, slots=True)
class Question:
    """Something that no source says: the place of the spec that has the answer, as table, name and key.

    `example` is a value as TOML, "" where there is none to offer.
    """

    kind: Ask
    place: tuple[str, ...]
    facts: Facts = ()
    example: str = ""

    @property
    def key(self) -> str:
        """The key in its table; a dotted one is of a table within."""
        return ".".join(self.place[1 if self.place[0] == "fleet" else 2 :])

    @property
    def text(self) -> str:
        """What is asked."""
        return self.kind.value.format_map(dict(self.facts))

    @property
    def reason(self) -> Reason:
        """Why a setting differs that the answer decides."""
        return Reason(Why.ASKED, (("question", self.text),))

    @property
    def line(self) -> str:
        """The comment that asks in a spec, behind its "# "; without "TODO " and the sentence it is the answer."""
        return f"TODO {self.key} = {self.example}  # {self.text}" if self.example else f"TODO {self.key}: {self.text}"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one setting differs."""

    why: Why
    facts: Facts = ()

    @property
    def same(self) -> bool:
        """Whether the node does the same with both values."""
        return self.why.same

    @property
    def asked(self) -> bool:
        """Whether the spec asks for the value."""
        return self.why is Why.ASKED

    def __str__(self) -> str:
        return self.why.text.format_map(dict(self.facts))


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that a compiled node has differently, with both values as people may see them. `reason` is None where
    nothing explains it. `flag` is a variable where `node` is a stack of avatars.
    """

    node: str
    flag: str
    today: str
    compiled: str
    reason: Reason | None

    @property
    def setting(self) -> str:
        """The setting as a source writes it."""
        return self.flag if self.flag.isupper() else f"-{self.flag}"

    @property
    def same(self) -> bool:
        """Whether the node does the same with both values."""
        return self.reason is not None and self.reason.same

    @property
    def unknown(self) -> bool:
        """Whether no source says the value of today."""
        return self.reason is not None and self.reason.why in (Why.UNKNOWN, Why.RPC_OF_SPEC)


def facts_of(facts: Mapping[str, object]) -> Facts:
    """Facts as people may see them: nothing of a secret, and no hidden character."""
    return tuple((name, leaks.shown(visible(str(fact))).replace("\n", " ")) for name, fact in facts.items())
