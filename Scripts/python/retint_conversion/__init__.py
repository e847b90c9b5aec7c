"""Has the exporters of coremltools, PyTorch and coreai-torch write files, and judges these."""
