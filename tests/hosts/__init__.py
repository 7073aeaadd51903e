"""Tests that need real hosts: run with FLEETC_TEST_HOSTS=1, as root (`make test-hosts`)."""
