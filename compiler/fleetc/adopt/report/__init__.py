"""What people see of an adoption: the comparison, the first screen, the report, and the first rollout.

In: what was adopted. Out: text for people, values for programs.
"""
