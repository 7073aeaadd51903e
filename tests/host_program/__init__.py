"""Tests of the program that runs on hosts: it is run as in production, on hosts that are namespaces of this machine."""
