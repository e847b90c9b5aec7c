"""Benchmarks of retint, on this machine."""
