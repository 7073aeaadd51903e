"""Tests of the Ansible project that is emitted: what Ansible and its linter say, and what roles promise."""
