"""Where a thing stands and where it came from: key paths, the shape of a message, origins.

The ground: everything may use it, and it uses nothing of fleetc.
"""
