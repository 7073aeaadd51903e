"""Pages of `fleetc explain` for findings of `fleetc verify`: drift, and nodes that do not work.

In: nothing; this is a table. Out: pages by code. Findings about wallets and the chain are in `hosts.py`.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

RUNNING_PAGES: dict[str, Page] = {
    "port-exposed": Page(
        "What is meant for a host alone, such as the administration of a node, answers at its public address.",
        "whoever reaches it can do there what the page of the host says of that port, without a password, such as "
        "withdraw a deposit. A proxy, a container or a program's own defaults lead there, not the spec.",
        "Close that port in the firewall, and find the proxy, the container or the rule that leads to it.",
    ),
    "changed-on-host": Page(
        "A file or setting of a process was changed by hand on its host.",
        "it was not reviewed, and the next rollout silently undoes it.",
        "Deploy again to restore the spec, or write the change into the spec, review and deploy it.",
    ),
    "gateway-finds-nobody": Page(
        "A gateway that looks for orchestrators by itself has found none.",
        "every stream and job that it takes is lost, and it prints no error for that.",
        "Look at its RPC address or webhook and at its log; raise max_price if every orchestrator asks more.",
    ),
    "gpu-memory-full": Page(
        "Most of the memory of a GPU under an avatar stack is in use.",
        "the next avatar or model that loads fails with an out-of-memory error, and takes others with it.",
        "Give the GPU to the stack alone, or move slots or models to another one.",
    ),
    "gpus-missing": Page(
        "An avatar stack sees fewer GPUs than the spec gives its host.",
        "slots of a GPU that is not there do not start.",
        "Look at nvidia-smi there and at the toolkit for containers, or correct gpus of the host.",
    ),
    "host-quarantined": Page(
        "A host is in quarantine.",
        "its new release and the one before both failed, so no rollout touches it until you have looked.",
        "Look at the logs of its nodes, then deploy with --clear HOST.",
    ),
    "host-silent": Page(
        "A host answered, and said nothing of a node that the spec has there.",
        "that node was not verified.",
        "Deploy again: the program on the host may be older than the spec, or know another release.",
    ),
    "image-not-verified": Page(
        "The last verification of the encrypted image of an avatar stack failed.",
        "its games may run another image than the one that was delivered, or none.",
        "Verify it again with the command line of the stack, and roll the image out again if that fails too.",
    ),
    "node-not-in-spec": Page(
        "A host runs a node that the spec does not have there.",
        "it uses a wallet, ports or GPUs outside the spec, and a moved node may run twice.",
        "Deploy, which stops it there, or add it to the spec.",
    ),
    "node-not-running": Page(
        "A node of the spec does not run.",
        "it earns nothing, or its clients fail.",
        "Look at its log (journalctl -u livepeer-NAME, or docker logs livepeer-NAME), then deploy again.",
    ),
    "node-unhealthy": Page(
        "A node is not well: a port is closed, its health check fails, or it runs another release than its program.",
        "it earns nothing or serves nobody. The orchestrator of a live runner hides it and ends its sessions.",
        "Look at its log; a live runner may still be loading. If the program under its path was replaced by hand, "
        "install the right one. A rollout restarts no node for this.",
    ),
    "not-answered": Page(
        "A host, node or service did not answer, or sent no valid answer.",
        "whether it matches the review is unknown: exit code 4.",
        "Read the reason in the message. A starting node may need a minute. If an address is out of reach here, try "
        "elsewhere, or leave it out with --no-public.",
    ),
    "nobody-sells-at-cap": Page(
        "No orchestrator that a gateway saw sells some work at the gateway's cap.",
        "the gateway buys no such work. The message has the nearest price above the cap, as far as somebody offers it.",
        "Raise the cap in the spec, or wait. Gateways ask all orchestrators every 25 minutes.",
    ),
    "orchestrator-seen-otherwise": Page(
        "A gateway saw an orchestrator with another price or fewer models than the spec has, or did not see it.",
        "buyers go by what they see. Gateways ask every 25 minutes, so it may have changed since. A price between the "
        "one of the spec and its double is no finding: orchestrators add the cost of redeeming tickets.",
        "Look again later. If it stays, look at its registration, its port and its workers, and deploy again.",
    ),
    "orchestrator-not-known": Page(
        "A gateway does not know an orchestrator that the spec lists for it.",
        "it sends that orchestrator no work: it started with another list, or cannot reach it.",
        "Look at the way from the gateway to that address; deploy again if the list of the process differs.",
    ),
    "other-account": Page(
        "A node uses another account than its wallet in the spec.",
        "what it earns or pays goes to or from that account, and tickets of the right one are never redeemed.",
        "Stop the node, find out whose account that is, and correct the wallet or the keystore.",
    ),
    "other-chain": Page(
        "A node uses another chain than the spec.",
        "its account has no funds there, and its network does not find it.",
        "Correct network or rpc in [fleet], or the secret that holds the RPC address.",
    ),
    "other-release": Page(
        "A host has or runs another release of its files than the spec compiles to.",
        "a rollout did not reach it, it was rolled back, or somebody changed it. On the machine that rolls out, verify "
        "finds rollbacks in the journal and names them.",
        "Deploy the tree. After a rollback, revert the spec instead. If the spec is ahead on purpose, verify the "
        "revision that was rolled out.",
    ),
    "other-service-address": Page(
        "The chain has another address of an orchestrator than the spec, or none although it is in the active set.",
        "gateways that search the chain go to the old address, or find none. It is a warning if the chain has the "
        "address of another orchestrator of the same account: only that one is found there.",
        "Register the address of the spec with the node's command line, or correct service in the spec. Both cost or "
        "change what gateways see, so fleetc does neither by itself.",
    ),
    "other-setting": Page(
        "A process reads a variable of the node, or one with a proxy, that nothing of its release sets.",
        "the node takes settings from LP_ variables and asks others through the proxy: nobody reviewed it.",
        "Find where it comes from (systemctl show livepeer-NAME -p Environment, a drop-in, the image) and remove it, "
        "or write the setting into the spec.",
    ),
    "other-restart-policy": Page(
        "systemd or Docker starts a node again by another policy than its release has.",
        "a node that ends, or whose host boots, may stay away until a person starts it.",
        "In a container: docker update --restart always livepeer-NAME. In a unit: remove the setting of all services "
        "(systemctl show livepeer-NAME -p DropInPaths), then systemctl daemon-reload.",
    ),
    "payments-failing": Page(
        "A node could not make some payments since it started.",
        "orchestrators that are not paid stop serving it.",
        "Look at its deposit and reserve, and at its log; fleetc check --explain-prices shows who is too dear for it.",
    ),
    "price-above-cap-now": Page(
        "An orchestrator asks more now than a gateway of this fleet that lists it pays now.",
        "the gateway buys nothing there. One of the two was changed while it ran: the spec does not lead to it.",
        "Restart the changed node, or write its price into the spec and deploy.",
    ),
    "report-not-a-file": Page(
        "The place for a report is a directory, a link or a device.",
        "fleetc replaces the file there as a whole, which would take the link or the device away.",
        "Name a file to write; without -o, the report is printed.",
    ),
    "live-runner-not-in-spec": Page(
        "An orchestrator offers a live runner that the spec does not list.",
        "clients buy unreviewed runners. Somebody sent the node another list while it ran, or a runner registered "
        "itself with its secret.",
        "List the runner, or stop it; a node forgets an entry of a list only when it restarts. If others may register, "
        "write live_runners = true.",
    ),
    "live-runner-not-offered": Page(
        "An orchestrator does not offer a live runner that it lists in the spec.",
        "clients do not find it, so it earns nothing. The node lists only runners that are ready.",
        "Look whether the runner is well, and at the log of the orchestrator. A runner that registers itself does so "
        "within seconds, if it reaches its orchestrator and has its secret.",
    ),
    "live-runner-offered-otherwise": Page(
        "An orchestrator offers a live runner with another app, mode, capacity or version than the spec has.",
        "clients buy another runner than the reviewed one, or more than its GPUs can do.",
        "Restart the node, which then reads its own list, or write the value into the spec and deploy. A runner that "
        "registers itself sends these itself: correct its arguments.",
    ),
    "live-runner-price-differs": Page(
        "An orchestrator's price for a live runner is far from the spec.",
        "it sells too cheap, or not at all. The unit differs, the price is missing, or it is off by a factor of two or "
        "more, which no price feed explains.",
        "Restart the node, which then reads its own list, or write the price into the spec and deploy. A runner that "
        "registers itself sends its price itself: correct its arguments.",
    ),
    "live-runner-price-moved": Page(
        "The price of a live runner in wei differs by more than a tenth from the spec.",
        "the node converts at its own price feed, and fleetc at USD of rates. Incomes, caps and tickets in reviews are "
        "then wrong. A smaller difference is not told.",
        "Write today's rate as USD of rates and check the spec again. If the rate is right, somebody set another "
        "price.",
    ),
    "second-node": Page(
        "A process or a unit on a host of the fleet uses the account of one of its wallets, and is not of the fleet.",
        "two nodes with one account spend one deposit, redeem the same tickets and call reward twice, and send "
        "transactions with the same nonce; nobody reviewed the second one.",
        "Stop it, and disable its unit (systemctl disable --now UNIT) or remove its container; fleetc adopt makes a "
        "spec of one that shall stay.",
    ),
    "runner-silent": Page(
        "The runner of a model that is to be warm does not answer.",
        "the first job waits until the model has loaded, or fails.",
        "Look at the container (docker ps, docker logs); restart the node if it is not there.",
    ),
    "runner-without-gpu": Page(
        "A runner of an AI model sees no GPU.",
        "it answers slowly or with errors, and the orchestrator sells that work all the same.",
        "Look at the toolkit for containers and at gpus of the node; restart the runner.",
    ),
    "runtime-silent": Page(
        "systemd or Docker of a host does not report the state of a process.",
        "whether it runs is unknown.",
        "Look at systemd or at the Docker daemon of that host.",
    ),
    "service-address-silent": Page(
        "The service address of an orchestrator does not answer as it should.",
        "no gateway can send it work there, and it does not notice.",
        "Correct service or public of the spec, its DNS entry, or open the port.",
    ),
    "set-at-run-time": Page(
        "A node runs with another value of a setting than its release has.",
        "it was set through the administration port while the node ran. Arguments look right, and the value is gone "
        "after the next restart.",
        "Deploy again, which sets the value of the release, or write the other value into the spec and deploy.",
    ),
    "slot-awake": Page(
        "A slot is awake, although the spec has asleep = true for it.",
        "no alert watches it, its host does not count it, and the next rollout that changes it stops it.",
        "Put it to sleep again, or remove asleep from its slot and deploy.",
    ),
    "slot-not-in-spec": Page(
        "A host runs an avatar slot that the spec does not have.",
        "it takes GPU memory and ports from other slots. Nobody outside reaches it: the packet filter drops its ports.",
        "Add it to slots, or remove it: docker compose --project-name NAME down.",
    ),
    "slot-missing": Page(
        "An avatar stack does not know a slot of the spec.",
        "its avatar cannot be woken.",
        "Deploy again, and look at the Compose project of the slot.",
    ),
    "switch-open": Page(
        "A host is in the middle of a switch to another release.",
        "without a confirmation it rolls back by itself; until then its release is not final.",
        "Wait for the rollout, or for the time that confirm in [rollout] gives it; then verify again.",
    ),
    "worker-not-connected": Page(
        "Fewer transcoders are connected to an orchestrator than the spec has.",
        "it sells more sessions than it can work off.",
        "Look at the logs of those that are missing: a wrong secret and a closed port are the usual causes.",
    ),
}
