"""Rules that people write for their own fleets: `policy/*.star` beside a spec, in Starlark.

In: the texts of the rules, a fleet. Out: diagnostics with the code policy/NAME. Only `sandbox/` starts a process.
Commands that decide what shall run ask the rules: check, compile, diff, plan, deploy. No rule stops a rollback.
"""
