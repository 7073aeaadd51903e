"""What `fleetc explain` says about messages of reading, the language, writing and reading files.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

SPEC_PAGES: dict[str, Page] = {
    "account-used-twice": Page(
        "Two wallets are the same chain account.",
        "whether exactly one process calls reward can only be checked for one wallet.",
        "Keep one of the two tables and name it in all nodes.",
    ),
    "artifact-edited": Page(
        "A generated file was edited by hand.",
        "writing the tree again would throw the edit away without anybody noticing.",
        "Bring the change into the spec, or say that edited files may be overwritten.",
    ),
    "artifact-not-a-file": Page(
        "A generated file has been replaced by a link, a directory or a device.",
        "what the manifest records can no longer be read safely.",
        "Move aside what is there and compile again.",
    ),
    "assigned-by-service": Page(
        "A declared stream has a field that the service writes.",
        "the service refuses the whole request, or would have to give away somebody else's key or id.",
        "Remove the field; the help line says where its value is found.",
    ),
    "avatar-release-missing": Page(
        "A host has avatars, and no release of the avatar stack is named.",
        "what the stack can do, and the tag of its images, follow from the release.",
        'Write avatar_release = "v1.3.6", or another one, in [fleet] or in the table of the stack.',
    ),
    "configuration-in-checkout": Page(
        "The user's own configuration of fleetc lies in the checkout.",
        "whoever proposes a change could write it: programs that run, keys, and whose plans are trusted.",
        "Set XDG_CONFIG_HOME to a directory outside, as where HOME is the checkout.",
    ),
    "date-value": Page(
        "A value is a date or a time, which no setting is.",
        "a date without quotes is usually a version or a name that lost them.",
        'Put it in quotes: name = "2026-01-01".',
    ),
    "device-failed": Page(
        "The device under a file system reports a failure.",
        "what was written may not be there after a restart.",
        "Look at the kernel's log and the disk before trying again.",
    ),
    "disk-full": Page(
        "The file system or a quota is full.",
        "nothing was replaced: the former tree is still whole.",
        "Free some space and run the command again.",
    ),
    "duplicate-key": Page(
        "A key stands twice in one table.",
        "one of the two values would be lost, and nobody could say which.",
        "Keep one of them.",
    ),
    "empty-key": Page(
        "A key is an empty text.",
        "names become files, units and hosts, which cannot be nameless.",
        "Give it a name.",
    ),
    "file-exists": Page(
        "A file that is to be written new is there already.",
        "it is somebody's work; nothing was written.",
        "Move it away, or name another directory; `fleetc init --ci` beside a spec writes the workflows alone.",
    ),
    "foreign-directory": Page(
        "The output directory holds files that fleetc did not write.",
        "a tree is replaced as a whole, so those files would be removed.",
        "Name a directory that is new, empty, or written by fleetc before.",
    ),
    "gateway-without-account": Page(
        "A price for a single gateway names one without a wallet.",
        "the node tells gateways apart by their accounts.",
        "Give the gateway a wallet, or write an account address.",
    ),
    "hidden-character": Page(
        "The spec holds a character that cannot be seen or that changes the direction of text.",
        "reviewers would read something else than what is compiled.",
        "Take it out, or write it as an escape in a text in double quotes.",
    ),
    "installation-broken": Page(
        "The templates or playbooks of this installation are missing or damaged.",
        "output made from half of them would be wrong.",
        "Install fleetc again.",
    ),
    "invalid-value": Page(
        "A value does not have the form that its key needs.",
        "the node would refuse it at its start, or read something else than was meant.",
        "Write it as the help line says; `fleetc schema` describes every key.",
        fix="when the value is clear and only its spelling is wrong: 24GiB, 5 seconds, 1200wei/pixel, 0.9.1.",
    ),
    "foreign-in-rollout": Page(
        "Below ansible/ or hosts/ of the tree lies something that the spec does not compile to.",
        "Ansible runs plugins and reads variables that it finds beside a playbook, with the secrets of the fleet in "
        "its environment, and copies all files of a host to it; no review of the spec shows them.",
        "See who put it there, and remove it. What an earlier compile left, `fleetc compile` removes.",
    ),
    "foreign-in-tree": Page(
        "The directory of the tree holds something that the spec does not compile to.",
        "nothing uses it, but people may take it for compiled.",
        "Move it out of the tree.",
    ),
    "leftover-not-ours": Page(
        "Beside the output directory lies something where fleetc keeps its temporary files.",
        "it cannot be told whether anybody needs it.",
        "Look at it, then move or remove it.",
    ),
    "manifest-in-conflict": Page(
        "The manifest in the output directory holds both sides of a merge.",
        "the tree is of neither side, so there is nothing to compare with or to roll out.",
        "Recompile: run `fleetc compile` and commit what it writes. fleetc's merge driver leaves no marks.",
    ),
    "manifest-unreadable": Page(
        "The manifest in the output directory is damaged.",
        "without it, generated files cannot be told from others.",
        "Restore it from version control, or remove the directory and compile again.",
    ),
    "merge-unresolved": Page(
        "The spec holds a merge that nobody finished.",
        "git could not tell which side is right, and left both with lines of its own between them.",
        "Keep what is right, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.",
    ),
    "missing-key": Page(
        "A table lacks a key that it needs.",
        "there is no default that would be right for everybody.",
        "Write the key; the help line says what it is for.",
        fix="when the key is `spec`, as there is one version of the language.",
    ),
    "name-used-twice": Page(
        "Two of the hosts, nodes and avatar stacks have one name.",
        "they share directories, units and one Ansible inventory.",
        "Rename one of them.",
    ),
    "no-such-directory": Page(
        "A part of the path to the output is no directory.",
        "missing directories on the way are made, but a file stands where one is needed, or nothing can be read there.",
        "Name a place below a directory.",
    ),
    "number-out-of-range": Page(
        "A number is larger than TOML numbers are, or not finite.",
        "it could not be kept exactly.",
        'Write a number within these bounds or, where an amount belongs, write it as text with its unit: "5 ETH".',
    ),
    "orchestrator-without-account": Page(
        "Avatars are registered for an orchestrator that has no wallet.",
        "the payments service pays an account, and there is none.",
        "Give the orchestrator a wallet, or write the address of an account in the registration.",
    ),
    "output-locked": Page(
        "Another fleetc is at work in the directory that holds the output.",
        "two writers at once would leave a mixture.",
        "Wait until it is done and run the command again.",
    ),
    "overlay-conflict": Page(
        "An overlay writes a table where the base has a value, or the other way round.",
        "one would silently replace all of the other.",
        'Give both the same shape, or remove the old one first: remove = ["gateways.gw-us"].',
    ),
    "overlay-remove": Page(
        "The list of what an overlay removes is not right.",
        "something would stay that was meant to go.",
        'Write the paths of tables or keys of the base: remove = ["gateways.gw-us"].',
    ),
    "path-occupied": Page(
        "Where a generated file belongs, something else lies.",
        "it would be overwritten.",
        "Move it away, or use another output directory.",
    ),
    "path-refused": Page(
        "The path of an output file could not be stored on every system.",
        "the tree could not be checked out or copied everywhere.",
        "Give the host or node that it is named for a plain name.",
    ),
    "permission-denied": Page(
        "The system does not let fleetc read or write there.",
        "nothing was changed.",
        "Look at the owner and the mode, or name another place.",
    ),
    "read-only": Page(
        "The file system is mounted read-only.",
        "nothing was changed.",
        "Name a directory on a file system that can be written.",
    ),
    "reward-caller-without-wallet": Page(
        "The node that should call reward for a wallet uses another one.",
        "then no process calls reward for the wallet, and the rewards of every round are lost.",
        "Give that node the wallet, or name a node that has it as reward_by.",
    ),
    "setting-leads-outside": Page(
        "A settings file of the checkout names a path that does not lie in it.",
        "whoever proposes a change could have files of this machine read, shown or written.",
        "Name a relative path inside the checkout, or give the path as an option or a variable.",
    ),
    "setting-not-for-checkout": Page(
        "A settings file of the checkout sets what only the user of fleetc may.",
        "whoever proposes a change writes that file, and could have programs run, keys used and plans trusted.",
        "Give it as a variable, or write it into your own configuration, `~/.config/fleetc/config.toml`.",
    ),
    "settings-unreadable": Page(
        "A settings file cannot be read, or sets what is no setting.",
        "a setting that is silently left out may be one that protects.",
        "Correct the file; README.md lists the settings.",
    ),
    "silenced-error": Page(
        "The spec silences an error.",
        "only warnings may be lived with: an error means a node that does not start, loses income or is in danger. The "
        "one exception is an inline-secret that may be a false alarm, silenced at exactly the place that it names.",
        "Repair its cause and remove the silence.",
    ),
    "spec-bom": Page(
        "The spec file begins with a byte order mark.",
        "TOML files are plain UTF-8.",
        "Save the file as UTF-8 without a byte order mark.",
    ),
    "spec-changed": Page(
        "The spec was changed while it was being repaired.",
        "writing the repairs would throw that change away.",
        "Run the command again; nothing was written.",
    ),
    "spec-is-a-link": Page(
        "The spec that is to be repaired is a symbolic link.",
        "the repaired file would replace the link, or change a file that others share.",
        "Name the file itself, or make the repairs by hand.",
    ),
    "spec-line-ends": Page(
        "The spec file has line ends of another system.",
        "the same spec has to give the same bytes everywhere.",
        "Save the file with LF line ends.",
    ),
    "spec-missing": Page(
        "The spec file does not exist.",
        "there is nothing to compile.",
        "Correct the path, or make a new spec with `fleetc init`.",
    ),
    "spec-not-a-file": Page(
        "The spec is a directory, a device or something else that is no regular file.",
        "it cannot be read twice with the same result.",
        "Name the TOML file, or a directory that holds a fleet.toml.",
    ),
    "spec-not-utf8": Page(
        "The spec file holds bytes that are not UTF-8.",
        "TOML files are UTF-8, and guessing another encoding changes names.",
        "Save the file as UTF-8.",
    ),
    "spec-nul": Page(
        "The spec file holds a NUL byte.",
        "it is a damaged file, or none of text.",
        "Restore the file.",
    ),
    "spec-too-complex": Page(
        "The spec nests deeper, or holds more, than any fleet needs.",
        "it would take unbearable time to read.",
        "Use fewer levels of tables and arrays, or split the fleet.",
    ),
    "spec-too-large": Page(
        "The spec file is larger than any fleet needs.",
        "it is most likely another file.",
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
    "system-refused": Page(
        "The system refused something for a reason that fleetc does not know.",
        "the former tree is still whole.",
        "Look at the reason that is printed, then run the command again.",
    ),
    "target-is-mount": Page(
        "The output directory is a mount point.",
        "it cannot be replaced as a whole, so the tree could be seen half old and half new.",
        "Name a directory below it.",
    ),
    "target-not-directory": Page(
        "The output directory is a link or a file.",
        "replacing it would change something else than it seems.",
        "Name the directory itself, or another one.",
    ),
    "target-refused": Page(
        "The output directory is somebody's home, a repository or the root of the file system.",
        "generated trees replace what is there.",
        "Name a directory of its own, such as rendered.",
    ),
    "toml-syntax": Page(
        "The spec is not valid TOML.",
        "nothing of it can be trusted before it can be read.",
        "Correct the place that is shown.",
    ),
    "too-many-nodes": Page(
        "The spec has more nodes than fleetc handles.",
        "checks would take unbearable time.",
        "Split the fleet into several specs.",
    ),
    "tree-interrupted": Page(
        "A run that wrote the output directory was killed on the way.",
        "the directory lies between two trees.",
        "Compile again, which fixes it.",
    ),
    "tree-missing": Page(
        "The directory holds no tree that fleetc wrote.",
        "there is nothing to compare with or to deploy.",
        "Compile first, or name the right directory.",
    ),
    "tree-stale": Page(
        "The compiled tree is not what the spec compiles to.",
        "reviewers would see, and hosts would get, something else than the spec says.",
        "Run `fleetc compile` and commit what it writes.",
    ),
    "two-lists-of-renditions": Page(
        "A gateway or a stream has a ladder and another list of renditions besides.",
        "one list is taken, so half of what was written would have no effect.",
        "Keep the ladder, or keep the list: transcoding of a gateway, profiles of a stream.",
    ),
    "two-ways-of-discovery": Page(
        "A gateway has a fixed list of orchestrators and another way to find them.",
        "the node ignores one of the two without a word.",
        "Keep the list, or keep discovery.",
    ),
    "unknown-key": Page(
        "A key does not exist in its table.",
        "a misspelt setting would silently have no effect.",
        "Write the key that is proposed, or look it up with `fleetc schema`.",
        fix="when only case, hyphens or underscores differ from one key that the table lacks.",
    ),
    "unknown-network": Page(
        "The node has no contracts for the network.",
        "it would start and find nothing on the chain.",
        'Name a known network, such as "arbitrum-one-mainnet", or write its controller contract.',
    ),
    "unknown-reference": Page(
        "A name leads nowhere.",
        "the node would be configured without what was named.",
        "Write the name that is proposed, or define it.",
        fix="when it is a pipeline whose case, hyphens or underscores are wrong.",
    ),
    "unknown-silence": Page(
        "The spec silences a code that does not exist.",
        "the warning that was meant would still be there, or comes back unseen.",
        "Write the code as it is printed in brackets.",
    ),
    "unknown-value": Page(
        "A key takes one of a few words, and this is none of them.",
        "the node would refuse it, or take its default.",
        "Write one of the words that are listed.",
        fix="when only case, hyphens or underscores differ from one of the words.",
    ),
    "unused-silence": Page(
        "The spec silences a warning that is not given any more.",
        "it would hide the next one of its kind.",
        "Remove the silence.",
        fix="by removing the entry.",
    ),
    "value-unfit": Page(
        "A value cannot be written exactly in one of the output formats.",
        "the process would get something else than the spec says.",
        "Shorten it, or write it in plain characters.",
    ),
    "wrong-type": Page(
        "A value is of another kind than its key takes.",
        'in TOML, 8935, "8935" and true are three kinds, and guessing between them goes wrong.',
        "Write the kind that is named: text in quotes, a whole number, true or false, a list or a table.",
        fix='when the kind is clear: "8" for a number, "true", a number for a text, one text for a list.',
    ),
}
