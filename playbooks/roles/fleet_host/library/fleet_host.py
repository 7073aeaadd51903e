"""Hands a request to the program of fleetc on a host and returns its answer.

In: a request, and values of secrets, which Ansible keeps out of every output. Out: the answer. The program is the
package fleetc_host in module_utils of this role; Ansible packs it with this module.
"""

from __future__ import annotations

import json
import os

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_host
short_description: Hand a request to the program that brings a host from one release to another
description:
  - The program comes with every request, so that a host never answers with an old one.
options:
  request:
    description: What the program is asked to do.
    type: dict
    required: true
  values:
    description: Values of secrets, by kind and reference.
    type: dict
    default: {}
  archive:
    description: The files of a release, as a base64-encoded archive; empty where the host has them.
    type: str
    default: ""
author: The fleetc authors
"""


def main() -> None:
    """Run the program in this process; what it answers with ok = false is a failed task."""
    module = AnsibleModule(
        argument_spec={
            "request": {"type": "dict", "required": True},
            "values": {"type": "dict", "default": {}, "no_log": True},
            "archive": {"type": "str", "default": "", "no_log": True},
        },
        supports_check_mode=True,
    )
    # Linters load this file by itself, without the role's own module_utils.
    from ansible.module_utils.fleetc_host.requests import answer as answer_of

    given = module.params
    if os.geteuid() != 0:
        message = "fleetc has to be root there: write become = true at its host, or log in as root"
        module.fail_json(msg=message, message=message, format=1, ok=False, code="not-root", changed=False)
    values = {name: given[name] for name in ("values", "archive")}
    answer = answer_of({**values, **given["request"], "check": module.check_mode})
    # Ansible copies each value of a result several times. So the request does not come back, and what thousands of
    # nodes say is one text.
    asked = {"module_args": {"request": {"do": given["request"].get("do")}}}
    if "answers" in answer:
        answer["answers"] = json.dumps(answer["answers"])
    if answer["ok"]:
        module.exit_json(invocation=asked, **answer)
    module.fail_json(msg=answer["message"], invocation=asked, **answer)


if __name__ == "__main__":
    main()
