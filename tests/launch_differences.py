"""Why a compiled process may mean something else than the published one, and what is wrong with the published one.

In: nothing. Out: tables by (example, service) that test_launch_examples.py holds against the data, in both directions.
"""

from __future__ import annotations

_DATA_DIR = "a compiled node always has an explicit data directory of its own; the spec could name the published one"
_MODELS_DIR = "follows the data directory on both sides, which is another one"
_ACCOUNT = "without an account the node takes any key it finds, or makes a new wallet; the spec names the account"
_PASSWORD = "without a password the node asks on a terminal that a service has not; a wallet of the spec has one"
_UNREAD = "a gateway never reads it; only nodes that run models do"
_REGISTRY = "off-chain there is no registry, and a fixed list of orchestrators is given anyway"
_WORKER_CHAIN = "a worker never talks to the chain; the published one stops, because it names a chain without an RPC"
_REWARD = "one process of a wallet calls reward and the others must not; the published ones leave it to the node"

_SIGNED = "behind a signer a gateway runs off-chain; the published one signs tickets for the account of its signer"
_SIGNED_CAP = "behind a signer the node compares no price, so the cap belongs to the signer"

DIFFERENCES: dict[tuple[str, str], dict[str, str]] = {
    ("L04", "gate"): {"dataDir": _DATA_DIR},
    ("L05", "orch"): {
        "dataDir": _DATA_DIR,
        "aiModels prices": "off-chain nobody pays, so the compiled list of models has no prices",
    },
    ("L06", "gate"): {"dataDir": _DATA_DIR},
    ("L07", "orch"): {"dataDir": _DATA_DIR, "aiModelsDir": _MODELS_DIR},
    ("L08", "gate"): {
        "dataDir": "the published path is relative to wherever the command is typed; " + _DATA_DIR,
        "ethKeystorePath": "the published one follows its relative data directory; the spec takes absolute paths only",
        "ethPassword": "the published password is empty, which a wallet of the spec cannot have",
        "ethUrl": "repaired for the spec, which refuses an RPC address that is not https",
    },
    ("L21", "gate"): {"dataDir": _DATA_DIR},
    ("L10", "both"): {"dataDir": _DATA_DIR, "reward": _REWARD},
    ("L10", "orch"): {"dataDir": _DATA_DIR, "reward": _REWARD},
    ("L10", "trans"): {"dataDir": _DATA_DIR},
    ("L14", "orch"): {"dataDir": _DATA_DIR, "ethPassword": _PASSWORD},
    ("L16", "orch"): {"dataDir": _DATA_DIR},
    ("L20", "gate"): {
        **dict.fromkeys(
            ("network", "ethUrl", "ethAcctAddr", "ethController", "ethKeystorePath", "reward", "blockPollingInterval"),
            _SIGNED,
        ),
        "maxPricePerUnit": _SIGNED_CAP,
        "localVerify": "off-chain the node verifies nothing unless it is told to; the spec could say so",
        "remoteDiscovery": "only a remote signer reads it, so the spec has no word for it on a gateway",
    },
    ("L22", "gate"): {"dataDir": _DATA_DIR, "ethAcctAddr": _ACCOUNT, "ethPassword": _PASSWORD},
    ("L34", "trans"): {
        "dataDir": _DATA_DIR,
        "network": _WORKER_CHAIN,
        "ethController": _WORKER_CHAIN,
        "ethKeystorePath": _WORKER_CHAIN,
        "reward": _WORKER_CHAIN,
    },
    ("L37", "gate"): {
        "dataDir": _DATA_DIR,
        "aiModels": _UNREAD,
        "aiModels prices": _UNREAD,
        "aiModelsDir": _UNREAD,
        "aiServiceRegistry": _REGISTRY,
    },
    ("L38", "gate"): {"dataDir": _DATA_DIR},
    ("L40", "gate"): {
        "dataDir": _DATA_DIR,
        "aiModels": _UNREAD,
        "aiModels prices": _UNREAD,
        "aiModelsDir": _UNREAD,
        "aiServiceRegistry": _REGISTRY,
    },
    ("L41", "gateway-transcoding"): {"ethAcctAddr": _ACCOUNT, "reward": _REWARD},
    ("L41", "gateway-ai-batch"): {"ethAcctAddr": _ACCOUNT, "reward": _REWARD},
    ("L41", "gateway-ai-lv2v"): {"ethAcctAddr": _ACCOUNT, "reward": _REWARD},
    ("L43", "orch"): {"dataDir": _DATA_DIR},
    ("L44", "orch"): {"dataDir": _DATA_DIR},
    ("L46", "orch"): {
        "ethAcctAddr": _ACCOUNT,
        "ethUrl": "without a scheme the node takes the address for the path of a local socket",
    },
    ("L54", "orch"): {"dataDir": _DATA_DIR},
}

BROKEN: dict[tuple[str, str], tuple[str, ...]] = {
    ("L22", "gate"): ("a # in a Compose command is a word like any other: all flags behind it are lost", "P6"),
    ("L34", "trans"): ("it names a chain, and then has to have an RPC address", "R23"),
    ("L40", "gate"): (
        "the JSON has no quotes around it, so it falls into words: its price caps and all flags behind it are lost",
        "P6",
        "R88",
    ),
}
"""A sentence, then the ids of the node's rules that the configuration breaks as it was published."""
