"""Which documents are held out? One, drawn at random, of each so many, so that their share is exact
wherever the data ends."""

import math
import random


class HeldOut:
    def __init__(self, share, seed):
        """Without a share, none."""
        self.share, self.random = share, random.Random(seed)
        self.at = self.groups = self.end = 0
        self.chosen = -1

    def takes_next(self):
        if not self.share:
            return False
        if self.at == self.end:
            self.groups += 1
            # A share as 0.1 is a little more in binary, and must not shorten a group for that.
            self.end = math.ceil(self.groups / self.share - 1e-9)
            self.chosen = self.random.randrange(self.at, self.end)
        self.at += 1
        return self.at - 1 == self.chosen
