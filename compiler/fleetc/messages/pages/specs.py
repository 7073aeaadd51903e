"""Pages of `fleetc explain` for messages about the language, and reading and writing files.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

SPEC_PAGES: dict[str, Page] = {
    "account-used-twice": Page(
        "Two wallets are the same chain account.",
        "fleetc can check that exactly one process calls reward only if the account is one wallet.",
        "Keep one of the two tables and use it in all nodes.",
    ),
    "artifact-edited": Page(
        "A generated file was edited by hand.",
        "writing the tree again would silently discard the edit.",
        "Make the change in the spec, or allow fleetc to overwrite edited files.",
    ),
    "artifact-not-a-file": Page(
        "A generated file has been replaced by a link, a directory or a device.",
        "fleetc can no longer safely read what the manifest records.",
        "Move it aside and compile again.",
    ),
    "assigned-by-service": Page(
        "A declared stream has a field that only the service writes.",
        "the service refuses the whole request, or the field belongs to another user.",
        "Remove the field; the help line names where to find its value.",
    ),
    "avatar-release-missing": Page(
        "A host has avatars, but the avatar stack has no release.",
        "the release decides what the stack can do and which tag its images have.",
        'Write avatar_release = "v1.3.6", or another release, in [fleet] or in the table of the stack.',
    ),
    "configuration-in-checkout": Page(
        "Your own fleetc configuration is inside the checkout.",
        "a proposed change could write it, and so choose programs, keys and trusted signers.",
        "Set XDG_CONFIG_HOME to a directory outside the checkout, for example when HOME is the checkout.",
    ),
    "date-value": Page(
        "A value is a date or a time. Only `until` takes one, and that is a day.",
        "a date without quotes is usually a version or a name that lost its quotes.",
        'Put it in quotes: name = "2026-01-01".',
    ),
    "device-failed": Page(
        "The storage device reports a failure.",
        "what was written may be gone after a restart.",
        "Check the kernel log and the disk before you try again.",
    ),
    "disk-full": Page(
        "The file system or a quota is full.",
        "nothing was replaced: the old tree is still complete.",
        "Free some space and run the command again.",
    ),
    "duplicate-key": Page(
        "A table has the same key twice.",
        "one of the two values would be lost.",
        "Keep one of them.",
    ),
    "empty-key": Page(
        "A key is empty.",
        "names become files, units and hosts, which all need a name.",
        "Give it a name.",
    ),
    "file-exists": Page(
        "A file that fleetc should create already exists.",
        "it may be somebody's work; nothing was written.",
        "Move it away, or name another directory. Beside a spec, `fleetc init --ci` writes only the workflows.",
    ),
    "fleetc-version-unfit": Page(
        "A spec needs another version of fleetc, which `[fleet] fleetc` names.",
        "this fleetc may not know its keys, or may compile them to other files.",
        "Install the version that the spec names.",
    ),
    "foreign-directory": Page(
        "The output directory holds files that fleetc did not write.",
        "fleetc replaces a tree as a whole and would remove those files.",
        "Name a new or empty directory, or one that fleetc wrote.",
    ),
    "gateway-without-account": Page(
        "A price for a single gateway names a gateway without a wallet.",
        "the node identifies gateways by their accounts.",
        "Give the gateway a wallet, or write an account address.",
    ),
    "hidden-character": Page(
        "The spec holds a character that is invisible or changes the direction of text.",
        "reviewers would not read what is compiled.",
        "Remove it, or write it as an escape in double quotes.",
    ),
    "installation-broken": Page(
        "The templates or playbooks of this installation are missing or damaged.",
        "output made from only some of them would be wrong.",
        "Install fleetc again.",
    ),
    "invalid-value": Page(
        "A value does not have the form that its key needs.",
        "the node would refuse it at startup, or misread it.",
        "Follow the help line; `fleetc explain --schema spec` describes every key.",
        fix="when the value is clear and only its spelling is wrong: 24GiB, 5 seconds, 1200wei/pixel, 0.9.1.",
    ),
    "foreign-in-rollout": Page(
        "The tree has a foreign file under ansible/ or hosts/.",
        "Ansible runs plugins and reads variables beside a playbook, with the fleet's secrets in its environment. It "
        "copies all files of a host there. No review of the spec shows them.",
        "Find out who put it there, and remove it. `fleetc compile` removes what an earlier compile left.",
    ),
    "foreign-in-tree": Page(
        "The tree's directory has a file that the spec does not compile to.",
        "nothing uses it, but people may think it was compiled.",
        "Move it out of the tree.",
    ),
    "leftover-not-ours": Page(
        "A foreign file is at the place of fleetc's temporary files, beside the output directory.",
        "it may be needed.",
        "Look at it, then move or remove it.",
    ),
    "manifest-in-conflict": Page(
        "The manifest in the output directory holds both sides of a merge.",
        "the tree belongs to neither side, so fleetc cannot compare it or roll it out.",
        "Recompile: run `fleetc compile` and commit what it writes. fleetc's merge driver leaves no conflict marks.",
    ),
    "manifest-unreadable": Page(
        "The manifest in the output directory is damaged.",
        "without it, fleetc cannot tell generated files from others.",
        "Restore it from version control, or remove the directory and compile again.",
    ),
    "merge-unresolved": Page(
        "The spec contains unresolved merge conflicts.",
        "git kept both sides of a conflict, with its own lines between them.",
        "Keep what is right, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.",
    ),
    "missing-key": Page(
        "A table lacks a required key.",
        "no default would be right for everybody.",
        "Write the key; the help line has its purpose.",
        fix="when the key is `spec`, with the newest version of the language.",
    ),
    "name-used-twice": Page(
        "Two hosts, nodes or avatar stacks have the same name.",
        "they share directories, units and one Ansible inventory.",
        "Rename one of them.",
    ),
    "no-such-directory": Page(
        "Part of the output path is not a directory.",
        "fleetc creates missing directories, but here a file is in the way, or the path cannot be read.",
        "Name a place below a directory.",
    ),
    "number-out-of-range": Page(
        "A number is too large for TOML, or not finite.",
        "fleetc could not keep it exactly.",
        'Write a number within the range. For an amount, write text with its unit: "5 ETH".',
    ),
    "orchestrator-without-account": Page(
        "Avatars are registered for an orchestrator that has no wallet.",
        "the payments service needs an account to pay.",
        "Give the orchestrator a wallet, or write an account address in the registration.",
    ),
    "output-locked": Page(
        "Another fleetc is working in the directory that holds the output.",
        "two writers at once would leave a mixture.",
        "Wait until it is done and run the command again.",
    ),
    "overlay-conflict": Page(
        "An overlay writes a table where the base has a value, or the other way round.",
        "one would silently replace all of the other.",
        'Give both the same shape, or remove the old one first: remove = ["gateways.gw-us"].',
    ),
    "overlay-remove": Page(
        "The list of what an overlay removes is wrong.",
        "a value that you want to remove would stay.",
        'Write the paths of tables or keys of the base: remove = ["gateways.gw-us"].',
    ),
    "path-occupied": Page(
        "A foreign entry is at the place of a generated file.",
        "it would be overwritten.",
        "Move it away, or use another output directory.",
    ),
    "path-refused": Page(
        "Some systems cannot store the path of an output file.",
        "you could not check out or copy the tree everywhere.",
        "Give the host or node behind the path a plain name.",
    ),
    "permission-denied": Page(
        "The system does not let fleetc read or write there.",
        "nothing was changed.",
        "Check the owner and the mode, or name another place.",
    ),
    "read-only": Page(
        "The file system is mounted read-only.",
        "nothing was changed.",
        "Name a directory on a writable file system.",
    ),
    "reward-caller-without-wallet": Page(
        "The node that should call reward for a wallet uses another wallet.",
        "no process then calls reward for the wallet, and the rewards of every round are lost.",
        "Give that node the wallet, or set reward_by to a node that has it.",
    ),
    "runner-price-without-rate": Page(
        "A runner has its price in ether, and the spec has no rate for USD.",
        "the node takes prices of runners only in USD, and fleetc has no rates of its own.",
        "Write the rate under [rates], or the price in USD. The node converts at its own price feed. So a price in USD "
        "stays the same, and one in ether moves until you compile with a new rate.",
    ),
    "out-of-service-ends-soon": Page(
        "A host or a node is out of service for 14 more days or less.",
        "you should know before it is an error. Nothing is wrong yet.",
        "Bring it back by removing `out`, or write another day.",
    ),
    "out-of-service-expired": Page(
        "The last day of a host or a node that is out of service is over.",
        "nothing comes back by a date, so somebody has to decide. The same commands judge that as for silences.",
        "Remove `out` to bring it back, or write another day.",
    ),
    "runner-unfit-for-host": Page(
        "A runner has an image on a systemd host, or a program on a docker host.",
        "fleetc starts what runs on a host in one way, its runtime.",
        "Write program on a systemd host and image on a docker host, or put the runner on another host.",
    ),
    "setting-leads-outside": Page(
        "A settings file in the checkout names a path outside the checkout.",
        "a proposed change could make fleetc read, show or write files of this machine.",
        "Name a relative path inside the checkout, or give the path as an option or a variable.",
    ),
    "setting-not-for-checkout": Page(
        "A settings file in the checkout has a setting that only you, the user of fleetc, may set.",
        "a proposed change can write that file, and so choose programs, keys and trusted plans.",
        "Set it as a variable, or in your own configuration, `~/.config/fleetc/config.toml`.",
    ),
    "settings-unreadable": Page(
        "A settings file cannot be read, or has an unknown setting.",
        "a silently ignored setting may be there to protect you.",
        'Correct the file: see "Settings of the tool" in the guide.',
    ),
    "silence-ends-soon": Page(
        "A silence holds for 14 more days or less.",
        "you should know before it is an error. Nothing is wrong yet.",
        "Have its owner look: repair the cause and remove the silence, or agree on another day.",
    ),
    "silence-expired": Page(
        "The last day of a silence is over. Its warning is shown again.",
        "the warning was accepted for a limited time. `check`, `compile`, `diff`, `plan` and `deploy` judge that by "
        "the day of this machine, or of --today. A sealed plan, `deploy --resume`, `rollback` and `verify` do not.",
        "Repair the cause and remove the silence, or agree on another day with its owner.",
        fix="by removing the entry, when its warning does not occur any more.",
    ),
    "silenced-error": Page(
        "The spec silences an error.",
        "only warnings can be accepted: an error means that a node does not start, loses income or is in danger. The "
        "one exception is an inline-secret that may be a false alarm, silenced at exactly its place.",
        "Fix the cause and remove the silence.",
    ),
    "spec-bom": Page(
        "The spec file begins with a byte order mark.",
        "TOML files are plain UTF-8.",
        "Save the file as UTF-8 without a byte order mark.",
    ),
    "spec-changed": Page(
        "The spec changed while fleetc was fixing it.",
        "writing the fixes would discard that change.",
        "Run the command again; nothing was written.",
    ),
    "spec-is-a-link": Page(
        "The spec to fix is a symbolic link.",
        "the fixed file would replace the link, or change a file that others share.",
        "Name the file itself, or change it by hand.",
    ),
    "spec-line-ends": Page(
        "The spec file has the line endings of another system.",
        "the same spec must give the same bytes everywhere.",
        "Save the file with LF line endings.",
    ),
    "spec-missing": Page(
        "The spec file does not exist.",
        "there is nothing to compile.",
        "Correct the path, or create a spec with `fleetc init`.",
    ),
    "spec-named-twice": Page(
        "A command would change a file twice, such as an overlay that is named twice.",
        "the second change would discard the first.",
        "Name each file once; nothing was written.",
    ),
    "spec-not-a-file": Page(
        "The spec is not a regular file but, for example, a directory or a device.",
        "fleetc could not read it twice with the same result.",
        "Name the TOML file, or a directory that holds a fleet.toml.",
    ),
    "spec-not-utf8": Page(
        "The spec file holds bytes that are not UTF-8.",
        "TOML files are UTF-8, and guessing another encoding changes names.",
        "Save the file as UTF-8.",
    ),
    "spec-nul": Page(
        "The spec file holds a NUL byte.",
        "the file is damaged, or not a text file.",
        "Restore the file.",
    ),
    "spec-in-other-form": Page(
        "A text of another form stands where a spec does: a Compose file, a unit, a command, YAML or JSON.",
        "a spec is TOML.",
        "Let `fleetc adopt FILE` make a spec of a file that starts nodes.",
    ),
    "spec-too-complex": Page(
        "The spec is nested more deeply, or holds more, than any fleet needs.",
        "reading it would take far too long.",
        "Use fewer levels of tables and arrays, or split the fleet.",
    ),
    "spec-too-large": Page(
        "The spec file is larger than any fleet needs.",
        "it is most likely the wrong file.",
        "Name the right file, or split the fleet.",
    ),
    "spec-utf-16": Page(
        "The spec file is UTF-16.",
        "TOML files are UTF-8, and guessing another encoding changes names.",
        "Save the file as UTF-8 without a byte order mark.",
    ),
    "spec-utf-32": Page(
        "The spec file is UTF-32.",
        "TOML files are UTF-8, and guessing another encoding changes names.",
        "Save the file as UTF-8 without a byte order mark.",
    ),
    "spec-version-new": Page(
        "A spec is of a newer version of the language than this fleetc reads.",
        "keys of a newer version may have another meaning here.",
        "Upgrade fleetc.",
    ),
    "system-refused": Page(
        "The system refused an operation for a reason that fleetc does not know.",
        "the old tree is still complete.",
        "Look at the reason that is printed, then run the command again.",
    ),
    "target-is-mount": Page(
        "The output directory is a mount point.",
        "fleetc cannot replace it as a whole, so people could see a tree that is half old and half new.",
        "Name a directory below it.",
    ),
    "target-not-directory": Page(
        "The output directory is a link or a file.",
        "replacing it would change another file than it seems.",
        "Name the directory itself, or another one.",
    ),
    "target-refused": Page(
        "The output directory is a home, a repository or the root of the file system.",
        "a generated tree replaces what is there.",
        "Give the output its own directory, such as rendered.",
    ),
    "todo-left": Page(
        "The spec still has a comment that begins with TODO.",
        "behind a value, it marks a placeholder or a guess, such as an account or GPUs from fleetc init. Money would "
        "go to or come from another account, and sums would be wrong. On its own line it is a question of fleetc "
        "adopt: until you answer, the node may start with other settings than today, for example without GPUs.",
        "Write your own value, and remove the comment.",
    ),
    "toml-syntax": Page(
        "The spec is not valid TOML.",
        "until fleetc can read it, nothing in it can be trusted.",
        "Correct the place that is shown.",
    ),
    "too-many-nodes": Page(
        "The spec has more nodes than fleetc handles.",
        "checking it would take far too long.",
        "Split the fleet into several specs.",
    ),
    "tree-interrupted": Page(
        "A run was killed while it wrote the output directory.",
        "the directory is between two trees.",
        "Compile again, which fixes it.",
    ),
    "tree-missing": Page(
        "The directory holds no tree that fleetc wrote.",
        "there is nothing to compare with or to deploy.",
        "Compile first, or name the right directory.",
    ),
    "tree-stale": Page(
        "The compiled tree is not what the spec compiles to.",
        "reviewers and hosts would get files that differ from the spec.",
        "Run `fleetc compile` and commit what it writes.",
    ),
    "two-lists-of-renditions": Page(
        "A gateway or a stream has a ladder and a second list of renditions.",
        "only one list is used, so half of what you wrote would have no effect.",
        "Keep the ladder, or keep the list: transcoding of a gateway, profiles of a stream.",
    ),
    "two-lists-of-runners": Page(
        "An orchestrator lists runners, and also names an external file of runners.",
        "the node reads one file: the runners of the other list would not be offered.",
        "Keep one of them. With runners, fleetc writes and checks the file.",
    ),
    "two-ways-of-discovery": Page(
        "A gateway has a fixed list of orchestrators and another way to find them.",
        "the node silently ignores one of the two.",
        "Keep the list, or keep discovery.",
    ),
    "unknown-key": Page(
        "The table has no such key.",
        "a misspelled setting would silently have no effect.",
        "Write the suggested key, or look it up with `fleetc explain TABLE`.",
        fix="when only case, hyphens or underscores differ from one key that the table lacks.",
    ),
    "unknown-network": Page(
        "The node has no contracts for the network.",
        "it would start and find nothing on the chain.",
        'Name a known network, such as "arbitrum-one-mainnet", or write its controller contract.',
    ),
    "unknown-reference": Page(
        "The spec uses a name that nothing defines.",
        "the node would be configured without it.",
        "Write the suggested name, or define it.",
        fix="when it is a pipeline whose case, hyphens or underscores are wrong.",
    ),
    "unknown-silence": Page(
        "The spec silences a code that does not exist.",
        "the warning that you meant is still there, or will come back unseen.",
        "Write the code as it is printed in brackets.",
    ),
    "unknown-value": Page(
        "A key takes one of a few words, and this is not one of them.",
        "the node would refuse it, or use its default.",
        "Write one of the words that are listed.",
        fix="when only case, hyphens or underscores differ from one of the words.",
    ),
    "unused-silence": Page(
        "The spec silences a warning that no longer occurs.",
        "it would hide the next one of its kind.",
        "Remove the silence.",
        fix="by removing the entry.",
    ),
    "value-unfit": Page(
        "One of the output formats cannot hold a value exactly.",
        "the process would get other values than the spec.",
        "Shorten it, or write it in plain characters.",
    ),
    "variable-unknown": Page(
        "A variable of the environment begins with FLEETC_, and nothing reads it.",
        "a misspelled variable has no effect: with FLEETC_OVERLAYS a pipeline deploys the fleet without its overlay.",
        'Correct its name, or unset it. "Settings of the tool" in the guide lists all settings.',
    ),
    "wrong-type": Page(
        "A value has the wrong type for its key.",
        'in TOML, 8935, "8935" and true have three different types, and guessing between them goes wrong.',
        "Write the type that is named: text in quotes, a whole number, true or false, a list or a table.",
        fix='when the type is clear: "8" for a number, "true", a number for a text, one text for a list.',
    ),
}
