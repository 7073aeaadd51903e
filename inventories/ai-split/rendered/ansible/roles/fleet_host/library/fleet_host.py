"""Hands a request to the program of fleetc on a host and returns its answer.

In: the program's text, a request, and values of secrets, which Ansible keeps out of every output. Out: the answer.
"""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: fleet_host
short_description: Hand a request to the program that brings a host from one release to another
description:
  - The program comes with every request, so that a host never answers with an old one.
options:
  program:
    description: Text of the program.
    type: str
    required: true
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
            "program": {"type": "str", "required": True, "no_log": True},
            "request": {"type": "dict", "required": True},
            "values": {"type": "dict", "default": {}, "no_log": True},
            "archive": {"type": "str", "default": "", "no_log": True},
        },
        supports_check_mode=True,
    )
    given = module.params
    request = {name: given[name] for name in ("program", "values", "archive")}
    request.update(given["request"], check=module.check_mode)
    space = {"__name__": "fleetc_host"}
    exec(compile(given["program"], "fleetc_host.py", "exec"), space)  # constant text, shipped beside this file
    answer = space["answer"](request)
    if answer["ok"]:
        module.exit_json(**answer)
    module.fail_json(msg=answer["message"], **answer)


if __name__ == "__main__":
    main()
