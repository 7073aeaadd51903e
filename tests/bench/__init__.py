"""Benchmarks: what a compile costs beside a plain template loop, and a rollout beside Ansible alone.

Run `python -m tests.bench compile`, and `python -m tests.bench deploy`.
"""
