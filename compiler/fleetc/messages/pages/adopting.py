"""Pages of `fleetc explain` for messages of `fleetc adopt`: sources, and mistakes that nodes make today.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

ADOPTING_PAGES: dict[str, Page] = {
    "adopt-branch-not-followed": Page(
        "fleetc did not follow a part of a source that may start a node.",
        "fleetc reads plain commands, units and Compose files. It misses nodes in a script's branches, notes, "
        "crontabs, templates and manifests of other tools.",
        "Ask the host that runs it with --from, or paste the command as it runs there: ps -ww -o args= prints it.",
    ),
    "adopt-cannot-say": Page(
        "A source has a setting that a spec cannot have.",
        "a setting that the spec lacks is gone after the first rollout.",
        "Follow the help line; the report of the adoption lists everything that is left out.",
    ),
    "adopt-command-cut": Page(
        "Flags stand outside the command that they were written for.",
        "a comment or a line without a backslash ends a shell command, so the node never gets the flags behind it.",
        "Check in the spec whether these flags should count. In the script, remove comments from inside the command.",
    ),
    "adopt-compose-unused": Page(
        "A Compose file that docker compose does not take by itself.",
        "in a folder it takes the first of compose.yaml, compose.yml, docker-compose.yml and docker-compose.yaml, with "
        "one override file. COMPOSE_FILE in the .env beside them replaces that. A guess about any other file could "
        "turn an off-chain node into one with a wallet.",
        "If what runs was started with such files, name each, in the order of docker compose -f: fleetc adopt A B.",
    ),
    "adopt-document-unread": Page(
        "The node does not read a file of models, prices or renditions, or an entry of it.",
        "it stops at its start, or ignores the whole file with one line in its log; then none of its caps and prices "
        "hold.",
        "Repair the JSON: prices are numbers without quotes, and currency is a key of its own.",
    ),
    "adopt-file-missing": Page(
        "A source names a file that is none of the sources.",
        "fleetc opens no path that a source names: it may be one of another machine, and a source is only text.",
        "Copy the file from the host and name it too, or name the directory that holds all of them. What an "
        "environment file or a config file may set is unknown until then. The lines of secrets can be left out of a "
        "copy; where the host has no such file, name an empty one of that name.",
    ),
    "adopt-flag-unknown": Page(
        "A command has a flag that the node does not have.",
        "the node stops at its start with a list of all flags. Names are case-sensitive, and published commands have "
        "flags that never existed.",
        "Write the name that the help line gives, or leave the flag out, as the spec does.",
    ),
    "adopt-host-cut": Page(
        "A host has more than fleetc reads, or a process without a known start.",
        "fleetc bounds what it reads, so that no host can fill its memory.",
        "Adopt the unit, the command or the Compose file as a file; see the help line.",
    ),
    "adopt-host-managed": Page(
        "A process that adopting found was started by a rollout of fleetc.",
        "its settings come from an existing spec, and a second spec of the node would contradict it.",
        "Ask who rolled it out for the spec. --only names the processes that are to be adopted.",
    ),
    "adopt-host-unread": Page(
        "A host does not answer with what runs there.",
        "fleetc asks it over ssh, as deploy does: with the same key, known hosts and user, and as root there.",
        "Try ssh USER@ADDRESS yourself; set FLEETC_SSH_KEY and FLEETC_SSH_KNOWN_HOSTS if ssh needs them. Or copy the "
        "unit or the command and adopt the file.",
    ),
    "adopt-ingest-off": Page(
        "A gateway takes no streams and requests over HTTP today, although it listens for them.",
        "beyond loopback, without -httpIngest and a webhook that admits streams, the node turns HTTP ingest off with "
        "one log line. All AI endpoints disappear too.",
        "Write http_ingest = true if the gateway should serve them, and protect the port.",
    ),
    "adopt-instances-unknown": Page(
        "A template of systemd units, and no source names its instances.",
        "livepeer@.service starts as livepeer@NAME.service, once for each NAME, and the file does not list them. Each "
        "of them is a node.",
        "Ask the host with --from. Or name a copy of the template as livepeer@NAME.service for each instance.",
    ),
    "adopt-listener-exposed": Page(
        "The administration listener of a node is reachable from other machines.",
        "it moves funds and changes prices, and asks nobody for a password.",
        "Remove cli and cli_exposed from the spec, so that it listens on loopback, and use an SSH tunnel.",
    ),
    "adopt-network-missing": Page(
        "A command has settings of a chain and no -network.",
        "without the flag the node runs off-chain: it is never paid, and takes no price into account.",
        "Add -network=arbitrum-one-mainnet if the node should be paid, and adopt again.",
    ),
    "adopt-networks-differ": Page(
        "The nodes of the sources are on several networks.",
        "a fleet is on one network, because its wallets and prices are.",
        "Adopt the nodes of each network into a spec of their own: --only NAME chooses services, units and containers.",
    ),
    "adopt-nothing-found": Page(
        "No source starts a node.",
        "a spec has at least one; a price list or a variable alone starts no node.",
        "Name the file with the command, the unit or the Compose file. For a command that does not name its program, "
        'give the flags on standard input: echo "-gateway ..." | fleetc adopt -',
    ),
    "adopt-output-exists": Page(
        "The output file exists already, with other content.",
        "adopt never overwrites a file: it may have your answers.",
        "Name another file with -o, and compare the two: git diff --no-index fleet.toml new.toml.",
    ),
    "adopt-profile-inactive": Page(
        "A service of a node that docker compose does not start, because none of its profiles is active.",
        "it only starts with --profile or COMPOSE_PROFILES, which no source sets.",
        "If it runs, set COMPOSE_PROFILES in the .env beside the Compose file, as on its host, and name both.",
    ),
    "adopt-role-ignored": Page(
        "A command has two roles that do not go together.",
        "the node takes the first of redeemer, remoteSigner, orchestrator, transcoder, aiWorker and gateway, "
        "and passes over "
        "the others without a word.",
        "Run the other role in a process of its own, and adopt that too.",
    ),
    "adopt-role-missing": Page(
        "No flag of a command sets the role.",
        "such a node does not start, so the source may be a part of a command only.",
        "Give the whole command, or set the role with --role.",
    ),
    "adopt-runner-refused": Page(
        "An entry of a list of live runners has a fault, and the node refuses the whole list.",
        "it checks the list when it starts, and one fault in one entry stops it. On a chain each entry needs a price "
        "in USD, by hour, 720p or fixed; off-chain the node does not look at prices.",
        "Repair the entry. The spec has what the node takes of it, and a question for the rest.",
    ),
    "adopt-runtimes-differ": Page(
        "One host runs nodes in containers and without.",
        "fleetc runs all nodes of a host in the same way.",
        "Name the host of each source with NAME=FILE, or accept that all become containers.",
    ),
    "adopt-secret-inline": Page(
        "A source has a secret in plain text.",
        "anybody who reads the file, its copies or its history has the secret. Every user of a host can read command "
        "lines. The spec has a reference, and the value is written nowhere.",
        "Put the value where the reference leads, then change the secret, because it may be known.",
    ),
    "adopt-secret-on-host": Page(
        "A process has a secret as an argument or a variable, and its host keeps the value.",
        "the program on the host puts a number in the place of each secret, so no value of one is ever here. It also "
        "hides what only looks like one, such as a long word of letters and digits. Arguments can be read by every "
        "user of the host.",
        "Set the variable of the help line where fleetc deploy runs. Or use a file on the host, with "
        '{ host_file = "/path" } in the spec. If it is no secret, write it into the spec.',
    ),
    "adopt-setting-overridden": Page(
        "A setting is given twice, and the node uses the other value.",
        "the command line comes before the environment, and that before the config file; in one source the "
        "last one counts. "
        "For the data directory the environment comes first. systemd takes a variable from an "
        "EnvironmentFile before it takes it from Environment.",
        "Remove the unused value; the spec has the other.",
    ),
    "adopt-setting-unread": Page(
        "A setting does nothing in this node.",
        "the role does not read it, or it needs a chain or another setting, and the node logs nothing.",
        "Leave it out, as the spec does, or set what it needs.",
    ),
    "adopt-slots-unread": Page(
        "The stack of avatars does not read its list of slots.",
        "its command line refuses the whole file: each slot has an avatar_id and a number that no other slot has.",
        "Repair the file, or leave it out and list the slots in the spec.",
    ),
    "adopt-source-unreadable": Page(
        "A source cannot be read: it is no text, is cut off, goes in a circle, or is too large.",
        "nothing is adopted from half of a file.",
        "Repair the file at the place that the message names, or name another one.",
    ),
    "adopt-unit-changed": Page(
        "A unit would start its process with other arguments than the process has.",
        "the unit changed after the process began, or the process was started by hand. The next restart brings the "
        "change.",
        "Choose one of them. The spec is of the process that runs.",
    ),
    "adopt-value-invalid": Page(
        "The node does not read a value, or the spec does not accept it.",
        "the node stops at its start, misreads the text, or uses it as written, such as an account with a mistyped "
        "letter.",
        "Write the value of the help line; the spec leaves it out.",
    ),
    "adopt-value-unknown": Page(
        "A value is a variable or a placeholder that no source fills in.",
        "fleetc guesses no value.",
        "Answer the TODO line in the spec, or name the file with the variable among the sources.",
    ),
    "adopt-variable-unread": Page(
        "No service of an avatar stack is known to read a variable of its environment file.",
        "a misspelled name silently does nothing.",
        "Compare the name with the settings of the stack; the spec leaves the variable out.",
    ),
    "adopt-words-ignored": Page(
        "A node reads only a part of its command line.",
        "it ignores everything after the first word that is no flag. A bool flag takes no word: -reward false turns "
        "reward on.",
        "Write -reward=false. The spec has what the node reads today, so look at each word that the report "
        "calls ignored.",
    ),
}
