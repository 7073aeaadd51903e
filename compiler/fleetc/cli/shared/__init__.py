"""What commands share: options, messages, reading and compiling, hosts, rollouts.

In: what a command was given. Out: values; or what is wrong is printed, and the process exits.
"""
