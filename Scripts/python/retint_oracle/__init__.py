"""Which numbers converters get wrong: generated cases of single operations, judged by retint.

Tables of rows state an operation of PyTorch, its parameters and its inputs; `cases` makes a case of
each combination. `worker` has one producer convert cases, and compares what retint computes
from each file with PyTorch. `faults` says which cases a known fault explains.
"""
