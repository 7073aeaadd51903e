"""Benchmarks: what a compile costs beside a plain template loop. Run `python -m tests.bench compile`."""
