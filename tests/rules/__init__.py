"""One file for each rule: a flawed spec and what is printed about it, and the repaired spec, about which nothing is."""
