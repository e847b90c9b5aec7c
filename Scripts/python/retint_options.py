"""The options of scripts, and samples of cases by a seed."""

import argparse
import copy
import random
import secrets


def parser(description):
    """A parser whose help is a module's description as it stands there."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def new_seed():
    return secrets.randbelow(1_000_000)


def add_sample(options):
    """Adds --sample and --seed, which `Sample` takes."""
    options.add_argument(
        "--sample", metavar="N", type=int, default=1, help="take one case in N, by the seed")
    options.add_argument(
        "--seed", type=int, default=None, help="repeats the sample of an earlier run")


class Sample:
    """Takes one case in `every`, at random; the same ones for the same seed."""

    def __init__(self, options, name):
        self.name, self.every = name, options.sample
        self.seed = new_seed() if options.seed is None else options.seed
        # Text, because then the numbers differ from check to check.
        self.random = random.Random(f"{name} {self.seed}")
        if self.every > 1:
            print(f"{name}: --sample {self.every} --seed {self.seed}", flush=True)

    def part(self, name):
        """The sample of a part, which does not depend on how many numbers others take."""
        part = copy.copy(self)
        part.random = random.Random(f"{self.name} {name} {self.seed}")
        return part

    def of(self, cases, least=1):
        """Some of the cases, in their order: at least so many, and all without --sample."""
        cases = list(cases)
        count = min(len(cases), max(least, round(len(cases) / self.every)))
        return [cases[index] for index in sorted(self.random.sample(range(len(cases)), count))]
