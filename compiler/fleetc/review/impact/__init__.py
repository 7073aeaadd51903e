"""What a change means: which processes restart, what it does to money, reach and capacity."""
