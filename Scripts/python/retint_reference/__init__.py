"""retint's networks as PyTorch modules: the reference that tests and comparisons measure against.

Parameters have the names that Sources/Networks/Architectures uses. `networks` has the
architectures by name, `seeded` draws the same random values as
Sources/Tensors/Tensors/RandomStream.swift, and `ab_bins` computes
the 313 color bins independently of Sources/Images/Color.
"""
