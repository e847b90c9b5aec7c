"""Means with 95 % bootstrap confidence intervals: percentiles of resamples."""

import random


def mean_and_interval(values, resamples=10_000):
    """The mean of values, and the ends of its interval."""
    generator = random.Random(0)
    means = sorted(
        sum(generator.choices(values, k=len(values))) / len(values) for _ in range(resamples))
    mean = sum(values) / len(values)
    return mean, means[round(0.025 * resamples)], means[round(0.975 * resamples)]
