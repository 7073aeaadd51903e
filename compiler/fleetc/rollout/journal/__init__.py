"""What rollouts of a fleet did: lines that are only ever added, and what follows from them."""
