"""Calls of all kernels in C, for `Scripts/check portable`: what they get, and what is right."""
