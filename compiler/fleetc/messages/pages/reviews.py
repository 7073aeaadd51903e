"""What `fleetc explain` says about messages of reviews, sealed plans and answers of services.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

REVIEW_PAGES: dict[str, Page] = {
    "answer-not-json": Page(
        "What a service is said to have answered is not JSON.",
        "nothing of it can be compared.",
        "Save the body of the answer as it came, without headers and without colours.",
    ),
    "answer-unreadable": Page(
        "A file with an answer of a service cannot be read.",
        "there is nothing to compare with.",
        "Name a file with the JSON of the answer, or - for standard input.",
    ),
    "baseline-ambiguous": Page(
        "What a spec should be compared with is a path and a revision of git at once, or names several commits: a "
        "tag may have the name of a branch, or of the beginning of an id, and git then takes the tag.",
        "a file or a tag under the name of a revision would let a change be reviewed against itself.",
        "Write ./NAME for the path, refs/heads/NAME for the branch, refs/tags/NAME for the tag, or the whole id of the "
        "commit.",
    ),
    "baseline-unknown": Page(
        "What a spec should be compared with is no tree, no spec and no revision of git.",
        "a review against the wrong thing would be approved for what it does not show.",
        "Name a directory that fleetc wrote, a .toml file or its directory, or a branch, tag or commit that exists.",
    ),
    "baseline-unsound": Page(
        "The spec that another one should be compared with does not compile.",
        "nothing can be said about the hosts of a fleet that was never a fleet.",
        "Compare with a state that compiled, or with the recorded tree. Of a revision of git that does not pass the "
        "checks of today, as much is compared as can be, with a note.",
    ),
    "bindings-invalid": Page(
        "A file of bindings does not say which id the service gave to which target.",
        "a target could be made once more, or another one be removed.",
        'Write a list: [{"profile": "720p", "kind": "env", "reference": "NAME", "id": "..."}].',
    ),
    "git-checkout-nested": Page(
        "The spec lies in a repository inside of a checkout that has something at that place too, as with a submodule.",
        "whoever changes a submodule chooses which commit of which repository it is, and so what its branches are: a "
        "change would be reviewed against a history that it brought along.",
        "Clone the inner repository to a directory of its own and run fleetc there, or compare with a directory or a "
        "spec file. An inner repository of which the checkout around it knows nothing is fine. Where you do not review "
        "the outer checkout, name it in GIT_CEILING_DIRECTORIES, as for git itself.",
    ),
    "git-content-missing": Page(
        "A partial clone was made without the content that a revision has.",
        "nothing is fetched during a review, and what is not there cannot be compared.",
        "Fetch it with git fetch --refetch --no-filter, or clone without --filter.",
    ),
    "git-directory-in-checkout": Page(
        "A directory of the checkout, on the way to the spec, an overlay or the tree, holds HEAD with objects and refs "
        "or with commondir, as a repository of git does.",
        "git takes such a directory for the repository when it is run in there. Files that a change brings would then "
        "say what the state before that change was. fleetc itself reads the checkout's own history all the same.",
        "Find out who added those files, and remove them.",
    ),
    "git-file-missing": Page(
        "The spec is no file at the revision to compare with.",
        "without it there is no former fleet to compare with.",
        "Name a revision that has it, or compare with a directory or a spec file.",
    ),
    "git-unavailable": Page(
        "A revision should be compared with, and git or a repository is missing, or git does not read it.",
        "what a spec was at a revision is known to git alone.",
        "Run it inside the repository with git installed, or compare with a directory or a spec file. Where git says "
        "that a repository belongs to somebody else, add it to safe.directory if you trust it. A git in the checkout "
        "itself, or in a relative directory of PATH, does not count.",
    ),
    "plan-baseline-moved": Page(
        "A host is not what the sealed plan starts from.",
        "the rollout would do something else there than was approved.",
        "See who changed the host, or whether a rollout was cut short, and make a new plan with --observe.",
    ),
    "plan-baseline-unreadable": Page(
        "The tree that a plan is to start from does not say what it rolled out.",
        "what changes on a host could not be told from it.",
        "Name the tree that was rolled out last, as fleetc wrote it.",
    ),
    "plan-clock-behind": Page(
        "A sealed plan was made later than this machine's clock says it is now.",
        "one of the two clocks is wrong, so nobody can say whether the plan has expired.",
        "Set both clocks right and try again.",
    ),
    "plan-contents-wrong": Page(
        "A sealed plan says something that does not follow from its spec and its baseline.",
        "its seal fits, so somebody changed what people read in it and sealed it anew.",
        "Find out where the file comes from, make a new plan, and have plans signed.",
    ),
    "plan-expired": Page(
        "A sealed plan is older than it may be.",
        "what was approved some time ago may not be what people want now.",
        "Make a new plan; --expires says how long it is good.",
    ),
    "plan-expires-too-late": Page(
        "A sealed plan says that it is good for longer than any plan may be.",
        "what was approved a long time ago may not be what people want now, whoever wrote down that it is.",
        "Make a new plan; 31 days are the longest that --expires takes.",
    ),
    "plan-for-other-hosts": Page(
        "A sealed plan is for other hosts than were asked for, or than the fleet has.",
        "a part of a plan is another rollout, with other batches.",
        "Leave out --limit, or make a plan with the same --limit.",
    ),
    "plan-host-unreachable": Page(
        "A host of a sealed plan does not say what it runs.",
        "whether it moved since the plan was made cannot be told.",
        "Make it reachable and try again, or make a plan with --limit that leaves it out.",
    ),
    "plan-inventory-edited": Page(
        "The inventory of the tree is not what the sealed plan was made of.",
        "Ansible would reach other hosts, or give them other values, than were approved.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-not-a-file": Page(
        "What a plan should be written to is there already, and is a directory, a link or a device.",
        "a plan takes the place of what is there whole, and a device that is gone is missed by every program.",
        "Name a new file or a plan of before; without `-o` the plan is made and shown only.",
    ),
    "plan-not-signed": Page(
        "A sealed plan has no signature, and the settings name the people who may sign.",
        "anybody who can store a file could have made it.",
        "Make the plan with --sign, and store plan.json.sig beside plan.json.",
    ),
    "plan-other-tool": Page(
        "A sealed plan was made by another fleetc, or by one with other templates or playbooks.",
        "this one would do something else on the hosts than the one that made it.",
        "Use the fleetc that made the plan, or make a new plan with this one.",
    ),
    "plan-playbook-edited": Page(
        "A playbook of the tree is not what the sealed plan was made of.",
        "it would do something else on the hosts than was approved.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-required": Page(
        "allowed_signers or signer is set, and a rollout without a signed plan was asked for.",
        "who may decide on rollouts is written down, and nobody would have decided on this one. A dry run is refused "
        "too: it logs in to hosts that an unsigned spec names, with secrets at hand. `fleetc plan --observe` needs no "
        "secret and stays allowed.",
        "Make a plan with `fleetc plan -o plan.json --sign KEY` and roll it out with `fleetc deploy --plan plan.json`.",
    ),
    "plan-seal-broken": Page(
        "The seal of a sealed plan does not fit its content.",
        "the file was changed after it was made, by accident or by hand.",
        "Fetch the file again from where it was stored, or make a new plan.",
    ),
    "plan-settings-stale": Page(
        "The checkout sets something else for fleetc than it did when the sealed plan was made.",
        "what people look at, such as the directory of the tree, would not be what was approved.",
        "Check out the files of the plan and give the same options, or make a new plan and have it approved.",
    ),
    "plan-signature-bad": Page(
        "The signature of a sealed plan is damaged, of another file, or of somebody who may not sign.",
        "nobody who may has approved this plan.",
        "Store the plan and its signature as they were written, or have the plan signed.",
    ),
    "plan-signers-missing": Page(
        "The settings say who must have signed a plan, and not where the keys of the people who may sign are.",
        "a name alone proves nothing, and a plan that nobody looked at would pass for a signed one.",
        "Set allowed_signers (`--allowed-signers FILE`) too, or remove signer.",
    ),
    "plan-signers-unreadable": Page(
        "The allowed-signers file cannot be read.",
        "without it no signature counts.",
        "Correct the setting allowed_signers.",
    ),
    "plan-signing-failed": Page(
        "ssh-keygen did not sign the plan.",
        "nothing was written: a plan without the signature that was asked for would be refused later.",
        "Name a private key, or a public one whose private half the SSH agent holds.",
    ),
    "plan-spec-stale": Page(
        "The spec or an overlay is not the one that the sealed plan was made from.",
        "the plan would roll out something else than the spec says now.",
        "Check out the spec of the plan, or make a new plan and have it approved.",
    ),
    "plan-superseded": Page(
        "A host was rolled out to since the sealed plan was made, by a newer plan or without one.",
        "each host writes down when the newest plan was made with which a rollout began there, and that plan's seal "
        "(`/var/lib/fleetc/newest-plan`, for a rollout without a plan the time at which it began). One of before would "
        "undo what was decided later, even where the host has come back to what it started from. The same plan may be "
        "carried out again. A host that was set up anew remembers nothing.",
        "Make a new plan and have it approved.",
    ),
    "plan-tree-edited": Page(
        "The tree on disk is not what the sealed plan was made of.",
        "what people see in it is not what would be rolled out.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-tree-foreign": Page(
        "The directory of the tree holds files that the sealed plan was not made of, where a rollout uses them.",
        "Ansible runs plugins and reads variables that it finds beside a playbook, and copies all files of a host.",
        "See who put them there, and remove them.",
    ),
    "plan-unreadable": Page(
        "The file is no sealed plan, or a damaged one.",
        "a plan is carried out as a whole or not at all.",
        "Name the file that `fleetc plan -o` wrote.",
    ),
    "ssh-keygen-missing": Page(
        "There is no ssh-keygen to sign a plan with, or to check its signature.",
        "a signature that nobody checks is none.",
        "Install OpenSSH 8.2 or newer.",
    ),
}
