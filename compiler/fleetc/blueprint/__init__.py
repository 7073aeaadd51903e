"""What each host should run, every value with its origin: the intermediate representation between lowering and
formats."""
