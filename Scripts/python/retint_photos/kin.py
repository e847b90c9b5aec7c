"""Which photos of the list are related: nearly the same, of one subject, or of one walk.

File numbers and names decide; nobody looks at the photos.
"""

import datetime
import itertools
import re

import numpy
import scipy.fft
from PIL import Image

# Bits of 64 by which perceptual hashes of nearly equal photos differ at most. The closest photos
# that were put into different splits, as different ones, differ by 14.
NEAR = 12
# Photos of one camera within this time are of one walk.
WALK = datetime.timedelta(minutes=10)
# EXIF: the camera, and when it took a photo.
MAKE, MODEL, EXIF, TAKEN = 0x010F, 0x0110, 0x8769, 0x9003


def hashes(image):
    """The perceptual hash of an image and that of its mirror image, as arrays of 64 bits.

    The signs of the low frequencies of a discrete cosine transform, relative to their median.
    """
    gray = numpy.asarray(image.convert("L").resize((32, 32), Image.Resampling.LANCZOS), float)
    result = []
    for pixels in (gray, gray[:, ::-1]):
        low = scipy.fft.dctn(pixels, norm="ortho")[:8, :8].ravel()
        result.append(low > numpy.median(low[1:]))
    return result


def taken(image):
    """The camera and the time of a photo by its EXIF; None without them."""
    exif = image.getexif()
    camera, time = (exif.get(MAKE), exif.get(MODEL)), exif.get_ifd(EXIF).get(TAKEN)
    try:
        return camera, datetime.datetime.strptime(time, "%Y:%m:%d %H:%M:%S")
    except (TypeError, ValueError):
        return None


def words(row):
    """The words of a photo's name that can say what it shows, each with the package."""
    found = re.findall("[a-z]{5,}", row["name"].rsplit(".", 1)[0].lower())
    return {(row["package"], word) for word in found}


def alike(one, other):
    """Whether two words are the same, or one begins with the other: "pyramid", "pyramids"."""
    (package, word), (other_package, other_word) = one, other
    return package == other_package and (
        word.startswith(other_word) or other_word.startswith(word))


def by_subject(rows):
    """Pairs of photos that share a word for their subject.

    A word in more than one split is that of a kind of photos, such as "forest", rather than of one
    subject: the splits were made by eye, with kin in one split.
    """
    owners = {}
    for index, row in enumerate(rows):
        for word in words(row):
            owners.setdefault(word, set()).add(index)
    for word, indices in owners.items():
        related = set().union(*(o for other, o in owners.items() if alike(word, other)))
        if len({set_of(rows[i]) for i in related}) == 1:
            yield from itertools.combinations(sorted(related), 2)


def set_of(row):
    """The split of a photo before photos moved from one to another."""
    if row["before"] != "-":
        return row["before"]
    return {"calibration": "train", "reserve": "held-out"}.get(row["split"], row["split"])


def groups(rows, image_of):
    """The photos by kinship: lists of rows. image_of opens a row's photo."""
    facts = []
    for row in rows:
        with image_of(row) as image:
            facts.append((hashes(image), taken(image)))
    parent = list(range(len(rows)))

    def root(index):
        while parent[index] != index:
            index = parent[index]
        return index

    pairs = list(by_subject(rows))
    bits = numpy.array([f[0][0] for f in facts])
    for mirrored in (0, 1):
        others = numpy.array([f[0][mirrored] for f in facts])
        differing = (bits[:, None, :] != others[None]).sum(axis=2)
        pairs += [(i, j) for i, j in zip(*numpy.nonzero(differing <= NEAR)) if i < j]
    pairs += [
        (i, j) for i, j in itertools.combinations(range(len(rows)), 2)
        if facts[i][1] and facts[j][1] and facts[i][1][0] == facts[j][1][0]
        and abs(facts[i][1][1] - facts[j][1][1]) <= WALK]
    for i, j in pairs:
        parent[root(i)] = root(j)
    result = {}
    for index, row in enumerate(rows):
        result.setdefault(root(index), []).append(row)
    return list(result.values())
