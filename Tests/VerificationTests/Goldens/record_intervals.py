"""Records the intervals of BinomialShareTests with SciPy: `python3 record_intervals.py`."""

import scipy.stats

for passed, count in [
    (0, 1), (1, 1), (0, 10), (1, 10), (5, 10), (8, 10), (10, 10), (13, 16), (16, 16), (1, 100),
    (99, 100), (730, 1000), (9999, 10000)]:
    result = scipy.stats.binomtest(passed, count)
    low, high = result.proportion_ci(0.95, method="exact")
    narrow = result.proportion_ci(0.5, method="exact")
    print(f"({passed}, {count}, {low:.9f}, {high:.9f}, {narrow.low:.9f}, {narrow.high:.9f}),")
