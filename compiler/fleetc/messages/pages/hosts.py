"""Pages of `fleetc explain` for reports of hosts: findings of a preflight, and programs that cannot be fetched.

In: nothing; this is a table. Out: pages by code. The program on the host makes the messages.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

HOST_PAGES: dict[str, Page] = {
    "check-failed": Page(
        "A check on a host could not be made.",
        "whether a rollout would work there is unknown.",
        "Read what the host said; a missing right or a full disk is the usual cause.",
    ),
    "compose-missing": Page(
        "A host has Docker without its Compose plugin.",
        "fleetc starts containers with it.",
        "Install the package docker-compose-plugin.",
    ),
    "compose-old": Page(
        "The Compose plugin of a host is too old.",
        "it cannot read the files that fleetc writes.",
        "Update the package docker-compose-plugin.",
    ),
    "data-dir-of-this-chain": Page(
        "The data directory of a node belongs to another chain.",
        "the node remembers its chain in its database and ends at once with exit status 0.",
        "Name another data_dir, or correct the network.",
    ),
    "data-dir-writable": Page(
        "The data directory of a node cannot be made or written to.",
        "the node ends at once with exit status 0 if it cannot open its database.",
        "Give the directory to the user that nodes run as, or name another data_dir.",
    ),
    "deposit-low": Page(
        "The deposit of a wallet is low or zero.",
        "gateways pay tickets from it; without one no orchestrator takes their work. Only a warning: people fund "
        "a new gateway after its first rollout, and it keeps no release from running.",
        "Fund it on the chain. The wallet's deposit is the plan; deposit_low of [monitoring] sets what is low.",
    ),
    "deposit-unlocking": Page(
        "The deposit and the reserve of a wallet are being unlocked.",
        "a withdrawal was requested, and orchestrators refuse the tickets of such an account.",
        "Cancel the unlock on the chain if the gateway is to go on.",
    ),
    "disk-read-only": Page(
        "A place that a rollout writes to takes no writes.",
        "the rollout would stop in the middle of its first step.",
        "Mount the file system read-write, or make the directory mutable again (chattr -i).",
    ),
    "disk-space": Page(
        "A host has too little space for a rollout.",
        "two releases, programs and images have to fit beside what runs.",
        "Free space there, or lower keep in [rollout].",
    ),
    "docker-answers": Page(
        "The Docker engine of a host does not answer.",
        "containers, and the runners that a node starts, cannot start.",
        "Install Docker Engine, start it, and look at its log if it ends.",
    ),
    "file-missing": Page(
        "A file that a node reads is not on its host.",
        "the node exits at once, or runs without it. Only a warning if a program of the monitoring reads it, because "
        "no rollout starts those.",
        "Put the file there; its page in the tree, hosts/HOST/README.md, lists what it needs.",
    ),
    "file-open-to-all": Page(
        "Every user of a host can read a file with a password or a key of a wallet.",
        "any program on the host, and any container that sees the file, could spend from the wallet.",
        "Take the right from others: `sudo chmod o= FILE`.",
    ),
    "file-unreadable": Page(
        "The user that nodes run as cannot read a file.",
        "the node ends at once, or takes the path itself for the secret.",
        "Give the file to that user, with mode 0600.",
    ),
    "gpus-visible": Page(
        "The driver of a host does not show the GPUs that its nodes use, or shows others at their numbers.",
        "a node without its GPUs ends at once, and memory and sessions are planned for the GPU of each number.",
        "Install the driver, or write gpus of the host in the order of nvidia-smi -L.",
    ),
    "images-present": Page(
        "An image of a node or of an AI runner is not on a host, and its registry does not give it.",
        "no container of it starts; a node ends if its model is warm and the runner of that does not start.",
        "Correct the image in the spec, open the way to its registry, or load the image on the host.",
    ),
    "kafka-answers": Page(
        "The broker of a node's events does not answer.",
        "the node ends at once if it cannot set Kafka up.",
        "Start the broker, open the way to it, or correct its address.",
    ),
    "keystore-holds-account": Page(
        "A keystore has no key of the wallet's account.",
        "the node would make a new account and work for it, with nothing in it.",
        "Copy the key file of the account into the keystore of that host.",
    ),
    "keystore-is-a-directory": Page(
        "A keystore is a file.",
        "the node reads keys from a directory only, although its help disagrees.",
        "Name the directory that has the key file.",
    ),
    "live-runner-config-valid": Page(
        "The node cannot read its file of live runners.",
        "an orchestrator with such a file ends at once.",
        "Correct the file.",
    ),
    "models-dir-writable": Page(
        "The directory of models is missing or cannot be written to.",
        "runners cannot load their models.",
        "Make the directory, and give it to the user that nodes run as.",
    ),
    "node-user-missing": Page(
        "The user that nodes run as does not exist on a host, and files there must be readable to it.",
        "a rollout makes that user, but no file can belong to it before.",
        "Make the user, then give it the files; fleetc todo has the commands in that order.",
    ),
    "object-store-answers": Page(
        "The object store of a node does not answer.",
        "the node checks it when it starts and ends with exit status 0.",
        "Open the way to it, or correct its address.",
    ),
    "other-host": Page(
        "The machine at an address is another host of the spec, or a host of another fleet.",
        "two hosts would run the same nodes.",
        "Correct the address in the spec; if the host has a new name, deploy with --renamed HOST once.",
    ),
    "password-file-newline": Page(
        "The password file of a wallet ends in a newline.",
        "the node ignores it, but a program that does not would use another password.",
        "Nothing for the node; for other programs write the file with printf %s.",
    ),
    "password-file-not-empty": Page(
        "The password file of a wallet is missing or empty.",
        "the node then takes the path of the file for the password and cannot open its key.",
        "Write the password into the file, for the user that nodes run as alone.",
    ),
    "password-opens-key": Page(
        "The password of a wallet does not open its key file.",
        "the node ends at once with exit status 0.",
        "Correct the password, or copy the right key file.",
    ),
    "ports-free": Page(
        "Another process listens on a port that a node needs.",
        "the node ends when it cannot have its port, often with exit status 0.",
        "Stop that program, or give the node another port.",
    ),
    "price-feed-answers": Page(
        "The price feed of a node does not convert its prices.",
        "the node panics at startup if it cannot convert a price.",
        "Name the feed of that currency and network as price_feed, or write the price in wei.",
    ),
    "program-missing": Page(
        "The node's program is not on a host.",
        "a systemd host starts it from there.",
        "Install the release there, or name its program in [programs] of the spec.",
    ),
    "program-not-fetched": Page(
        "A host cannot fetch the node's program.",
        "the release stays away until it has its program.",
        "Open the way to that address from the host, or name a file to copy instead.",
    ),
    "program-other-digest": Page(
        "A program is not the one in the spec.",
        "it was replaced or damaged on the way, or the digest is that of another file.",
        "Compare the digest with the checksums of the release, and correct the spec if it is wrong.",
    ),
    "program-other-release": Page(
        "The program on a host reports another release than the spec.",
        "the old program would be restarted under the name of the new release.",
        "Install that release there first, or name it in [programs] of the spec.",
    ),
    "program-source-answers": Page(
        "A host cannot reach the address that it fetches the node's program from.",
        "the release stays away until it has its program.",
        "Open the way to that address from the host, or name a file to copy instead.",
    ),
    "program-too-large": Page(
        "A program or an archive is larger than 2 GiB.",
        "it is not the node's program, and would fill the disk.",
        "Correct the address or member in [programs].",
    ),
    "program-unreadable": Page(
        "An archive cannot be read, or does not hold the program.",
        "there is nothing to install.",
        "Correct member in [programs]; tar --list shows the names in the archive.",
    ),
    "program-unusable": Page(
        "The node's program does not run on a host.",
        "it does not even print its release. Usual causes: a missing library, another architecture.",
        "Install what it misses, or name the build for this host in [programs].",
    ),
    "queue-answers": Page(
        "The broker of a node's metadata does not answer.",
        "the node ends at once if it cannot reach it.",
        "Start the broker, open the way to it, or correct its address.",
    ),
    "redeemer-answers": Page(
        "A redeemer outside the fleet does not answer.",
        "the orchestrator ends when it cannot reach it.",
        "Start the redeemer, open the way to it, or correct its address.",
    ),
    "remote-signer-answers": Page(
        "A remote signer outside the fleet does not answer.",
        "the gateway cannot start without it.",
        "Start the signer, open the way to it, or correct its address.",
    ),
    "reserve-low": Page(
        "The reserve of a wallet is low or zero.",
        "orchestrators refuse tickets that no reserve backs. Only a warning: people fund a new gateway after its "
        "first rollout, and it keeps no release from running.",
        "Fund it on the chain. The wallet's reserve is the plan; reserve_low of [monitoring] sets what is low.",
    ),
    "rpc-answers": Page(
        "A host gets no sound answer from the RPC address of its nodes.",
        "without it a node ends at once, often with exit status 0; balances and registrations are unknown.",
        "Correct the address or its key, open the way to it, or wait until its provider works again.",
    ),
    "rpc-behind": Page(
        "The RPC address of a host has no block of the last hour.",
        "its nodes would work in an old round: tickets expire, and rewards are missed.",
        "Use another provider, or wait; if the clock of the host is wrong, correct that. A chain of your own that "
        "makes no blocks is a reason to skip this.",
    ),
    "rpc-of-this-chain": Page(
        "The RPC address serves another chain than the spec, or one without the controller.",
        "the node cannot find the protocol contracts and exits.",
        "Correct network, rpc or controller in [fleet].",
    ),
    "secret-addresses-well-formed": Page(
        "A secret that must be an address is none.",
        "the node ends at once, or runs without what it names.",
        "Store the whole address, with its scheme.",
    ),
    "secret-missing": Page(
        "A secret is missing or empty.",
        "the node would start without it, or take its path for it.",
        "Provide it as in the spec: in the environment, in the vault, or in a file on the host.",
    ),
    "secret-unusable": Page(
        "A secret holds a character that its readers would misread.",
        "an environment file cannot carry it.",
        "Store the secret without line breaks and other control characters.",
    ),
    "service-address-leads-here": Page(
        "The service address of an orchestrator does not lead to its host.",
        "the node asks itself at that address when it starts, and ends if nothing answers.",
        "Correct service or public, or its DNS entry; behind a router that does not lead back, write "
        "availability_check = false.",
    ),
    "stack-brand-differs": Page(
        "The checkout of an avatar stack is of another brand than in the spec.",
        "its services would run latest instead of the release in the spec.",
        "Set brand to that of the checkout.",
    ),
    "stack-checkout-changed": Page(
        "Files of a checkout of the avatar stack were changed on its host.",
        "a rollout would have to overwrite them to bring the checkout to avatar_release.",
        "Undo the changes there, or bring them into a release of your own.",
    ),
    "stack-checkout-missing": Page(
        "A host has no checkout of the avatar stack.",
        "its Compose files come from there.",
        "Clone the stack there, or name its directory as project_dir.",
    ),
    "stack-checkout-unreadable": Page(
        "git does not read a checkout of the avatar stack.",
        "its release is unknown.",
        "Install git on the host, and clone the stack again if the checkout is damaged.",
    ),
    "stack-game-files-missing": Page(
        "A checkout has no settings file that game_files names.",
        "Docker would mount a directory in its place.",
        "Name a file that the checkout has, or leave the key out.",
    ),
    "stack-nftables-missing": Page(
        "A host with avatars has no nft.",
        "nothing would guard the ports of the slots.",
        "Install the package nftables.",
    ),
    "stack-release-unknown": Page(
        "The remote of a checkout does not have the release of the spec.",
        "the images of that release would run with the files of another one.",
        "Correct avatar_release, or the remote named origin; open the way to it if it does not answer.",
    ),
    "systemd-missing": Page(
        'systemd does not answer on a host with runtime = "systemd".',
        "nodes run as its units there.",
        'Use a machine that systemd runs, or write runtime = "docker".',
    ),
    "systemd-old": Page(
        "systemd of a host is too old.",
        "it cannot read the units that fleetc writes.",
        "Update the host.",
    ),
    "toolkit-missing": Page(
        "Containers of a host get no GPU.",
        "Docker needs the toolkit of the vendor to hand them out.",
        "Install the NVIDIA Container Toolkit and restart Docker.",
    ),
    "wallet-balance-low": Page(
        "An account has less than its minimum_balance.",
        "transactions cost gas; when nothing is left, tickets are not redeemed and rewards are missed.",
        "Send ether to the account, or lower minimum_balance.",
    ),
    "wallet-empty": Page(
        "An account that has to pay for transactions has no ether.",
        "it cannot register an orchestrator, redeem a ticket or call for a reward, and unredeemed tickets expire. "
        "Asked only where the wallet has a minimum_balance.",
        "Send ether to the account, or leave minimum_balance out; --skip leaves it out.",
    ),
}
