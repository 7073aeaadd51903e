"""What `fleetc explain` says about messages of reviews, sealed plans and answers of services.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

_READ = "Read the line and what it means, and approve it only if you mean it; fleetc diff shows every change."

REVIEW_PAGES: dict[str, Page] = {
    "answer-not-json": Page(
        "The saved answer of a service is not JSON.",
        "fleetc cannot compare anything in it.",
        "Save the body of the answer exactly as it came, without headers or colours.",
    ),
    "answer-unreadable": Page(
        "The file with a service's answer cannot be read.",
        "there is nothing to compare with.",
        "Name a file with the JSON of the answer, or use - for standard input.",
    ),
    "baseline-ambiguous": Page(
        "The name to compare with is both a path and a git revision, or it matches several commits: a tag can have "
        "the same name as a branch or as the start of a commit id, and git then picks the tag.",
        "a file or tag named like a revision could make a change be reviewed against itself.",
        "Write ./NAME for the path, refs/heads/NAME for the branch, refs/tags/NAME for the tag, or the full commit id.",
    ),
    "baseline-unknown": Page(
        "The thing to compare with is not a tree, a spec or a git revision.",
        "people would approve a review against the wrong state for what it does not show.",
        "Name a directory that fleetc wrote, a .toml file or its directory, or an existing branch, tag or commit.",
    ),
    "baseline-unsound": Page(
        "The spec to compare with does not compile.",
        "a spec that never compiled says nothing about hosts.",
        "Compare with a state that compiled, or with the recorded tree. If a git revision fails today's checks, "
        "fleetc compares as much as it can and adds a note.",
    ),
    "bindings-invalid": Page(
        "The bindings file does not say which id the service gave to which target.",
        "a target could be created twice, or the wrong one removed.",
        'Write a list: [{"profile": "720p", "kind": "env", "reference": "NAME", "id": "..."}].',
    ),
    "change-capacity": Page(
        "A change gains or loses sessions, slots or models.",
        "work that no longer fits goes to somebody else.",
        _READ,
    ),
    "change-chain": Page(
        "A change needs a transaction on the chain.",
        "until somebody sends it, the fleet works by the old value or not at all.",
        _READ,
    ),
    "change-cold-start": Page(
        "A change makes models load again.",
        "requests for them wait 30 to 120 seconds, or go to somebody else.",
        _READ,
    ),
    "change-exposure": Page(
        "A change decides who can reach a host or a port, or gives a node root on its host.",
        "what is open to the world is found within hours, some ports move funds, and whoever controls a container with "
        "the Docker socket is root on the host.",
        _READ,
    ),
    "change-funds": Page(
        "A change moves what is deposited, held or paid out.",
        "funds that leave do not come back by a rollback.",
        _READ,
    ),
    "change-identity": Page(
        "A change concerns a wallet, a keystore or a service address.",
        "others know a node by these; with another one they do not find it, or pay somebody else.",
        _READ,
    ),
    "change-live": Page(
        "A process takes a change while it runs.",
        "no session drops, but it counts at once.",
        _READ,
    ),
    "change-price": Page(
        "A change of what is asked or paid.",
        "buyers beyond their cap leave without a word, and a price too low costs income.",
        _READ,
    ),
    "change-restart": Page(
        "A process restarts or stops because of a change.",
        "its live sessions drop.",
        _READ,
    ),
    "change-without-effect": Page(
        "A change that nothing which runs notices, such as a comment or a label.",
        "it shows that the review saw the line.",
        _READ,
    ),
    "git-checkout-nested": Page(
        "The spec is in a repository inside another checkout that tracks something at the same place, such as a "
        "submodule.",
        "whoever changes a submodule chooses its repository and commit, and so what its branches are: a change would "
        "be reviewed against a history that it brought along.",
        "Clone the inner repository to its own directory and run fleetc there, or compare with a directory or a spec "
        "file. An inner repository that the outer checkout knows nothing about is fine. If you do not review the "
        "outer checkout, name it in GIT_CEILING_DIRECTORIES, as you would for git.",
    ),
    "git-content-missing": Page(
        "This is a partial clone, and it lacks content of the revision.",
        "a review fetches nothing, and fleetc cannot compare what is not there.",
        "Fetch it with git fetch --refetch --no-filter, or clone without --filter.",
    ),
    "git-directory-in-checkout": Page(
        "A directory in the checkout, on the way to the spec, an overlay or the tree, looks like a git repository: it "
        "holds HEAD with objects and refs, or HEAD with commondir.",
        "git run in there takes that directory for the repository. Files that a change adds would then decide what "
        "the state before that change was. fleetc itself still reads the checkout's own history.",
        "Find out who added those files, and remove them.",
    ),
    "git-file-missing": Page(
        "At the revision to compare with, the spec is not a file.",
        "without it there is no earlier fleet to compare with.",
        "Name a revision that has it, or compare with a directory or a spec file.",
    ),
    "git-unavailable": Page(
        "You asked to compare with a revision, but git or the repository is missing, or git cannot read it.",
        "only git knows what a spec was at a revision.",
        "Run fleetc inside the repository with git installed, or compare with a directory or a spec file. If git says "
        "that somebody else owns the repository, add it to safe.directory if you trust it. fleetc ignores a git in "
        "the checkout itself or in a relative directory of PATH.",
    ),
    "limit-broken": Page(
        "A change goes beyond a limit of --max-impact.",
        "somebody set the limit so that such a change does not pass unseen.",
        'Make the change smaller, or have an owner approve it: see "Review before rollout" in the guide.',
    ),
    "limits-invalid": Page(
        "The file with limits and their owners cannot be understood.",
        "a limit that is not understood would let every change pass.",
        'Write max_impact = "price=5%,exposure=none" and a table [owners] with price = ["name"]: account names of '
        "people, by class of impact.",
    ),
    "limits-unreadable": Page(
        "The file with limits and their owners cannot be read.",
        "a limit that is not read would let every change pass.",
        "Name the file on the branch that the change wants to get into, such as .github/fleetc/limits.toml.",
    ),
    "plan-baseline-moved": Page(
        "A host is no longer in the state that the sealed plan starts from.",
        "the rollout would do something there that nobody approved.",
        "Find out who changed the host or whether a rollout broke off, then make a new plan with --observe.",
    ),
    "plan-baseline-unreadable": Page(
        "The tree that the plan starts from does not say what was rolled out.",
        "fleetc cannot tell what changes on a host.",
        "Name the tree that was rolled out last, as fleetc wrote it.",
    ),
    "plan-clock-behind": Page(
        "The sealed plan was made at a time that this machine's clock has not reached yet.",
        "one of the two clocks is wrong, so nobody can say whether the plan has expired.",
        "Correct both clocks and try again.",
    ),
    "plan-contents-wrong": Page(
        "The sealed plan says something that does not follow from its spec and its baseline.",
        "its seal matches, so somebody changed what people read in it and sealed it again.",
        "Find out where the file comes from, make a new plan, and have plans signed.",
    ),
    "plan-expired": Page(
        "The sealed plan has expired.",
        "what was approved some time ago may not be what people want now.",
        "Make a new plan; --expires says how long it is valid.",
    ),
    "plan-expires-too-late": Page(
        "The sealed plan claims to be valid for longer than any plan may be.",
        "what was approved a long time ago may not be what people want now, whatever the plan says.",
        "Make a new plan; --expires takes 31 days at most.",
    ),
    "plan-for-other-hosts": Page(
        "The sealed plan is for different hosts than you asked for, or than the fleet has.",
        "part of a plan is a different rollout, with different batches.",
        "Leave out --limit, or make a plan with the same --limit.",
    ),
    "plan-host-unreachable": Page(
        "A host of the sealed plan does not say what it runs.",
        "fleetc cannot tell whether it has changed since the plan was made.",
        "Make it reachable and try again, or make a plan with a --limit that leaves it out.",
    ),
    "plan-inventory-edited": Page(
        "The inventory of the tree is not the one that the sealed plan was made from.",
        "Ansible would reach other hosts, or give them other values, than were approved.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-not-a-file": Page(
        "The output path of the plan is an existing directory, link or device.",
        "the plan replaces whatever is there, and every program would miss a device that is gone.",
        "Name a new file or an earlier plan; without `-o`, fleetc only makes and shows the plan.",
    ),
    "plan-not-signed": Page(
        "The sealed plan has no signature, and the settings name the people who may sign.",
        "anybody who can store a file could have made it.",
        "Make the plan with --sign, and store plan.json.sig beside plan.json.",
    ),
    "plan-other-tool": Page(
        "The sealed plan was made by a different fleetc, or by one with different templates or playbooks.",
        "this one would do something else on the hosts than the one that made it.",
        "Use the fleetc that made the plan, or make a new plan with this one.",
    ),
    "plan-playbook-edited": Page(
        "A playbook of the tree is not the one that the sealed plan was made from.",
        "it would do something on the hosts that nobody approved.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-required": Page(
        "allowed_signers or signer is set, and you asked for a rollout without a signed plan.",
        "your settings say who may approve rollouts, and nobody would have approved this one. A dry run is refused "
        "too: it logs in to the hosts of an unsigned spec, with secrets at hand. `fleetc plan --observe` needs no "
        "secret and stays allowed.",
        "Make a plan with `fleetc plan -o plan.json --sign KEY` and roll it out with `fleetc deploy --plan plan.json`.",
    ),
    "plan-seal-broken": Page(
        "The seal of the plan does not match its content.",
        "the file was changed after it was made, by accident or by hand.",
        "Fetch the file again from where it was stored, or make a new plan.",
    ),
    "plan-settings-stale": Page(
        "The checkout's settings for fleetc have changed since the sealed plan was made.",
        "what people look at, such as the directory of the tree, would not be what was approved.",
        "Check out the files of the plan and give the same options, or make a new plan and have it approved.",
    ),
    "plan-signature-bad": Page(
        "The signature of the plan is damaged, belongs to another file, or comes from somebody who may not sign.",
        "nobody who may approve this plan has approved it.",
        "Store the plan and its signature as they were written, or have the plan signed.",
    ),
    "plan-signers-missing": Page(
        "The settings say who must sign plans, but not where the keys of those people are.",
        "a name alone proves nothing, and a plan that nobody looked at would pass as signed.",
        "Set allowed_signers (`--allowed-signers FILE`) too, or remove signer.",
    ),
    "plan-signers-unreadable": Page(
        "The allowed-signers file cannot be read.",
        "without it no signature counts.",
        "Correct the setting allowed_signers.",
    ),
    "plan-signing-failed": Page(
        "ssh-keygen did not sign the plan.",
        "nothing was written: you asked for a signature, and a plan without it would be refused later.",
        "Name a private key, or a public key whose private key is in the SSH agent.",
    ),
    "plan-spec-stale": Page(
        "The spec or an overlay is not the one that the sealed plan was made from.",
        "the plan would roll out something other than the spec says now.",
        "Check out the spec of the plan, or make a new plan and have it approved.",
    ),
    "plan-superseded": Page(
        "After the sealed plan was made, a host was rolled out to by a newer plan or without a plan.",
        "when a rollout begins, each host records when its plan was made, and the plan's seal "
        "(`/var/lib/fleetc/newest-plan`; without a plan, the time when the rollout began). An older plan would undo "
        "what was decided later, even if the host is back at its baseline. The same plan may run again. A host that "
        "was set up again remembers nothing.",
        "Make a new plan and have it approved.",
    ),
    "plan-tree-edited": Page(
        "The tree on disk is not the one that the sealed plan was made from.",
        "people would see something other than what is rolled out.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-tree-foreign": Page(
        "The tree's directory holds extra files in a place that rollouts use; the sealed plan was made without them.",
        "Ansible runs plugins and reads variables that it finds beside a playbook, and copies all files of a host.",
        "Find out who put them there, and remove them.",
    ),
    "plan-unreadable": Page(
        "The file is not a sealed plan, or it is damaged.",
        "a plan is carried out completely or not at all.",
        "Name the file that `fleetc plan -o` wrote.",
    ),
    "review-unreadable": Page(
        "The review that should become a comment cannot be read.",
        "there is nothing to post, and no limit can be judged.",
        "Write it with fleetc diff --format markdown -o FILE, and with --format json for --review.",
    ),
    "ssh-keygen-missing": Page(
        "There is no ssh-keygen to sign a plan with, or to check its signature.",
        "a signature that nobody checks is worth nothing.",
        "Install OpenSSH 8.2 or newer.",
    ),
}
