"""Live runners: what they cost, who offers and buys them, and where they run."""
