"""Comparisons of retint with PyTorch and coremltools, and of its own settings."""
