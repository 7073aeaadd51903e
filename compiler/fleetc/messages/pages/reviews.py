"""Pages of `fleetc explain` for messages of reviews, sealed plans and answers of services.

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
        "The name to compare with is both a path and a git revision, or matches several commits. If a tag has the name "
        "of a branch or of a commit id's start, git picks the tag.",
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
        "a spec that never compiled has no state of hosts to compare with.",
        "Compare with a state that compiled, or with the recorded tree. If a git revision fails today's checks, "
        "fleetc compares as much as it can and adds a note.",
    ),
    "bindings-invalid": Page(
        "The bindings file has no id for a target.",
        "a target could be created twice, or the wrong one removed.",
        'Write a list: [{"profile": "720p", "kind": "env", "reference": "NAME", "id": "..."}].',
    ),
    "change-capacity": Page(
        "A change gains or loses sessions, slots or models.",
        "work that no longer fits goes to others.",
        _READ,
    ),
    "change-chain": Page(
        "A change needs a transaction on the chain.",
        "until you send it, the fleet works by the old value or not at all.",
        _READ,
    ),
    "change-cold-start": Page(
        "A change makes models load again.",
        "requests for them wait 30 to 120 seconds, or go to others.",
        _READ,
    ),
    "change-exposure": Page(
        "A change decides who can reach a host or a port, or gives a node root on its host.",
        "scanners find open ports within hours, and some ports move funds. Control of a container with the Docker "
        "socket is root on the host.",
        _READ,
    ),
    "change-funds": Page(
        "A change moves what is deposited, held or paid out.",
        "funds that leave do not come back by a rollback.",
        _READ,
    ),
    "change-identity": Page(
        "A change concerns a wallet, a keystore or a service address.",
        "others identify a node by these; with another one they do not find it, or pay somebody else.",
        _READ,
    ),
    "change-live": Page(
        "A process takes a change while it runs.",
        "no session drops, but it counts at once.",
        _READ,
    ),
    "change-price": Page(
        "A change of prices or payments.",
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
        "The spec is in a repository inside another checkout that tracks its place, such as a submodule.",
        "a change of a submodule chooses its repository, commit and so its branches: fleetc would review it against "
        "its own history.",
        "Clone the inner repository to its own directory and run fleetc there, or compare with a directory or a spec "
        "file. An inner repository that the outer checkout does not track is fine. If you do not review the outer "
        "checkout, name it in GIT_CEILING_DIRECTORIES, as you would for git.",
    ),
    "git-content-missing": Page(
        "This is a partial clone, and it lacks content of the revision.",
        "a review fetches nothing, and fleetc cannot compare what is not there.",
        "Fetch it with git fetch --refetch --no-filter, or clone without --filter.",
    ),
    "git-directory-in-checkout": Page(
        "A directory on the way to the spec, an overlay or the tree looks like a git repository. It holds HEAD with "
        "objects and refs, or HEAD with commondir.",
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
        "only git has the spec of a revision.",
        "Run fleetc inside the repository with git installed, or compare with a directory or a spec file. If git "
        "reports another owner of a repository that you trust, add it to safe.directory. fleetc ignores a git in the "
        "checkout or in a relative directory of PATH.",
    ),
    "limit-broken": Page(
        "A change goes beyond a limit of --max-impact.",
        "the limit exists so that such a change does not pass unseen.",
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
        "the rollout would make an unapproved change there.",
        "Find out who changed the host or whether a rollout broke off, then make a new plan with --observe.",
    ),
    "plan-baseline-unreadable": Page(
        "The tree that the plan starts from has no release.",
        "the changes of a host are unknown.",
        "Name the tree that was rolled out last, as fleetc wrote it.",
    ),
    "plan-clock-behind": Page(
        "The sealed plan was made at a time that this machine's clock has not reached yet.",
        "one of the two clocks is wrong, so whether the plan has expired is unknown.",
        "Correct both clocks and try again.",
    ),
    "plan-contents-wrong": Page(
        "The sealed plan does not match its own spec and baseline.",
        "its seal matches, so somebody changed its readable part and sealed it again.",
        "Find out where the file comes from, make a new plan, and have plans signed.",
    ),
    "plan-expired": Page(
        "The sealed plan has expired.",
        "what was approved some time ago may not be what people want now.",
        "Make a new plan; --expires sets how long it is valid.",
    ),
    "plan-expires-too-late": Page(
        "The sealed plan claims to be valid for longer than any plan may be.",
        "an old approval may not be what you want now.",
        "Make a new plan; --expires takes 31 days at most.",
    ),
    "plan-for-other-hosts": Page(
        "The sealed plan is for different hosts than you asked for, or than the fleet has.",
        "part of a plan is a different rollout, with different batches.",
        "Leave out --limit, or make a plan with the same --limit.",
    ),
    "plan-host-unreachable": Page(
        "A host of the sealed plan does not report its release.",
        "it may have changed since the plan was made.",
        "Make it reachable and try again, or make a plan with --without and its name.",
    ),
    "plan-inventory-edited": Page(
        "The inventory of the tree differs from that of the sealed plan.",
        "Ansible would reach other hosts, or give them other values, than were approved.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-not-a-file": Page(
        "The output path of the plan is an existing directory, link or device.",
        "the plan would replace it, and every program would miss the device.",
        "Name a new file or an earlier plan; without `-o`, fleetc only makes and shows the plan.",
    ),
    "plan-not-signed": Page(
        "The sealed plan has no signature, and the settings name the people who may sign.",
        "anybody who can store a file could have made it.",
        "Make the plan with --sign, and store plan.json.sig beside plan.json.",
    ),
    "plan-other-tool": Page(
        "The sealed plan was made by a different fleetc, or by one with different templates or playbooks.",
        "it would act differently on hosts than the version that made the plan.",
        "Use the fleetc that made the plan, or make a new plan with this one.",
    ),
    "plan-playbook-edited": Page(
        "A playbook of the tree differs from that of the sealed plan.",
        "it would make unapproved changes on hosts.",
        "Restore the tree from version control, or compile, review and make a new plan.",
    ),
    "plan-required": Page(
        "allowed_signers or signer is set, and you asked for a rollout without a signed plan.",
        "your settings require an approval, and this rollout has none. A dry run is refused too: it logs in to the "
        "hosts of an unsigned spec, with secrets at hand. `fleetc plan --observe` needs no secret and stays allowed.",
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
        "The signature of the plan is damaged, of another file, or from somebody who may not sign.",
        "the plan has no valid approval.",
        "Store the plan and its signature as they were written, or have the plan signed.",
    ),
    "plan-signers-missing": Page(
        "The settings require signatures of plans, but do not name the file of keys.",
        "a name alone proves nothing, and any plan would pass as signed.",
        "Set allowed_signers (`FLEETC_ALLOWED_SIGNERS`) too, or remove signer.",
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
        "The spec or an overlay differs from that of the sealed plan.",
        "the plan would roll out an older spec.",
        "Check out the spec of the plan, or make a new plan and have it approved.",
    ),
    "plan-superseded": Page(
        "After the sealed plan was made, a host was rolled out to by a newer plan or without a plan.",
        "at the start of a rollout, each host records the plan's time and seal in `/var/lib/fleetc/newest-plan` "
        "(without a plan, the current time). An older plan would undo what was decided later, even if the host is back "
        "at its baseline. The same plan may run again. A host that was set up again remembers nothing.",
        "Make a new plan and have it approved.",
    ),
    "plan-tree-edited": Page(
        "The tree on disk differs from that of the sealed plan.",
        "people would read another tree than the one that is rolled out.",
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
        "an unchecked signature proves nothing.",
        "Install OpenSSH 8.2 or newer.",
    ),
}
