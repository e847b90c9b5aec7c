"""The photos, crops and targets of `retint train`, with numpy, Pillow and scipy.

The order of the photos, their crops and the augmentation depend only on the seed, so that a
training in PyTorch sees the same examples. See Sources/Tasks/Training/Data and
Sources/Tasks/Training/Objective.
"""

import io
import os

import numpy as np
from PIL import Image, ImageCms, ImageOps
from scipy.spatial import cKDTree

from retint_reference import ab_bins
from retint_reference.seeded import GAMMA, MASK, mix

EXTENSIONS = {"jpg", "jpeg", "png", "webp"}
AB_SCALE = 110


class RandomStream:
    """Sources/Tensors/Tensors/RandomStream.swift, one value at a time."""

    def __init__(self, seed, name):
        state = 0xCBF29CE484222325
        for byte in name.encode():
            state = ((state ^ byte) * 0x100000001B3) & MASK
        self.state = state ^ mix((seed + GAMMA) & MASK)

    def next(self):
        self.state = (self.state + GAMMA) & MASK
        return mix(self.state)

    def uniform(self):
        return (self.next() >> 40) * 2.0**-24


# Photos


def photos_below(folder):
    """The sorted paths of all photos in a folder tree, without hidden files and folder links."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            f"{parent.rstrip('/')}/{name}" for name in names
            if not name.startswith(".") and name.rpartition(".")[2].lower() in EXTENSIONS
        ]
    return sorted(found)


def photo_lists(data):
    """The photos to train on and those to validate with."""
    training = photos_below(data["train"])
    validation = []
    if data["validation"]:
        validation = photos_below(data["validation"])
    elif data["validation_fraction"] > 0:
        share = {
            path: RandomStream(0, path[len(data["train"]):]).uniform() for path in training
        }
        limit = max(data["validation_fraction"], min(share.values()))
        validation = [path for path in training if share[path] <= limit]
        training = [path for path in training if share[path] > limit]
    validation.sort(key=lambda path: (RandomStream(1, path).next(), path))
    return training, validation[: data["validation_photos"]]


class Photos:
    """Photos by index, decoded and scaled down so that the short side is twice the crop's."""

    def __init__(self, paths, crop):
        self.paths, self.short_side, self.cache = paths, 2 * crop, {}

    def __getitem__(self, index):
        """The photo at an index; None if it cannot be read."""
        if index not in self.cache:
            try:
                self.cache[index] = self.read(self.paths[index])
            except (OSError, ValueError, Image.DecompressionBombError):
                self.cache[index] = None
        return self.cache[index]

    def readable(self, index):
        """The photo at an index, or the next readable one."""
        for offset in range(len(self.paths)):
            photo = self[(index + offset) % len(self.paths)]
            if photo is not None:
                return photo
        raise SystemExit(f"none of the {len(self.paths)} photos can be read")

    def read(self, path):
        with Image.open(path) as file:
            if file.format == "JPEG":
                side = min(file.size)
                scale = next((s for s in (8, 4, 2) if -(-side // s) >= self.short_side), 1)
                file.draft(None, tuple(extent // scale for extent in file.size))
            photo = ImageOps.exif_transpose(file).convert("RGB")
            return self.scaled(in_srgb(photo, file.info.get("icc_profile")))

    def scaled(self, photo):
        side, short = min(photo.size), self.short_side
        if side <= short:
            return photo
        size = tuple(max(extent * short // side, short) for extent in photo.size)
        return photo.resize(size, Image.Resampling.BILINEAR)


def in_srgb(photo, profile):
    """The photo converted from its embedded RGB profile to sRGB."""
    if not profile:
        return photo
    try:
        opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        is_srgb = "sRGB" in ImageCms.getProfileDescription(opened)
        if is_srgb or opened.profile.xcolor_space.strip() != "RGB":
            return photo
        return ImageCms.profileToProfile(
            photo, opened, ImageCms.createProfile("sRGB"), outputMode="RGB",
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
    except (OSError, ImageCms.PyCMSError):
        return photo


# Squares


class Augmentation:
    """A random square of a photo, or the largest centered one."""

    def __init__(self, random=None, data=None):
        self.scale, self.x, self.y, self.mirrored = 1.0, 0.5, 0.5, False
        self.shift, self.contrast = 0.0, 1.0
        if random:
            self.scale = data["minimum_scale"] + (1 - data["minimum_scale"]) * random.uniform()
            self.x, self.y = random.uniform(), random.uniform()
            self.mirrored = data["flip"] and random.uniform() < 0.5
            self.shift = 100 * data["lightness"] * (2 * random.uniform() - 1)
            self.contrast = 1 + data["contrast"] * (2 * random.uniform() - 1)

    def square(self, photo, side):
        """The square as an array [side, side, 3] of bytes."""
        short = min(photo.size)
        edge = min(max(int(short * self.scale), 1), short)
        left, top = (int((extent - edge) * at) for extent, at in zip(photo.size, (self.x, self.y)))
        box = (left, top, left + edge, top + edge)
        square = np.asarray(photo.crop(box).resize((side, side), Image.Resampling.BILINEAR))
        return square[:, ::-1] if self.mirrored else square

    def toned(self, lightness):
        changed = 50 + (lightness - 50) * np.float32(self.contrast) + np.float32(self.shift)
        return np.clip(changed, 0, 100)


LEVELS = np.arange(256) / 255
LINEAR = np.where(LEVELS > 0.04045, ((LEVELS + 0.055) / 1.055) ** 2.4, LEVELS / 12.92)
LINEAR = LINEAR.astype(np.float32)
# RGB to XYZ, divided by the white point.
XYZ = np.float32([
    [0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227],
]) / np.float32([[0.95047], [1], [1.08883]])


def lab(pixels):
    """L, a and b of bytes [..., 3], as skimage.color.rgb2lab, but in float32 and faster."""
    xyz = LINEAR[pixels] @ XYZ.T
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + np.float32(16 / 116))
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def example(photo, augmentation, side):
    """Lightness [1, side, side] in 0...100, and a and b divided by 110, [2, side, side]."""
    planes = lab(augmentation.square(photo, side))
    return augmentation.toned(planes[:1]), planes[1:] / np.float32(AB_SCALE)


# Classes


class Classes:
    """Colors as distributions over the 313 bins, with larger weights for rare colors."""

    STRIDE = 4
    GRAY = 5
    PRIOR_PHOTOS = 1000

    def __init__(self, loss, photos, crop):
        self.bins, self.neighbors, self.sigma = ab_bins.in_gamut(), loss["neighbors"], loss["sigma"]
        self.tree, self.weights = cKDTree(self.bins), None
        if loss["rebalance"] is not None:
            self.weights = self.balance(self.prior(photos, crop), loss["rebalance"])

    def codes(self, colors, neighbors, sigma):
        distances, bins = self.tree.query(colors, k=neighbors)
        weights = np.exp(-(distances**2) / (2 * sigma**2))
        return bins, weights / weights.sum(1, keepdims=True)

    def prior(self, photos, crop):
        """Each bin's share of the photos' centered squares, sampled at every eighth pixel."""
        step = max(len(photos.paths) // self.PRIOR_PHOTOS, 1)
        colors = []
        for index in range(0, len(photos.paths), step):
            if photos[index] is not None:
                square = Augmentation().square(photos[index], crop)
                colors.append(lab(square[::8, ::8])[1:].reshape(2, -1).T)
        colors = np.concatenate(colors)
        bins, weights = self.codes(colors, 10, 5)
        return np.bincount(bins.ravel(), weights.ravel(), len(self.bins)) / len(colors)

    def balance(self, shares, share):
        raw = 1 / ((1 - share) * shares + share / len(shares))
        return raw / (shares * raw).sum()

    def targets(self, target):
        """Distributions [N, 313, H/4, W/4] for ab/110 [N, 2, H, W], and the weight of each."""
        colors = target[:, :, :: self.STRIDE, :: self.STRIDE] * AB_SCALE
        count, _, height, width = colors.shape
        bins, weights = self.codes(
            np.moveaxis(colors, 1, -1).reshape(-1, 2), self.neighbors, self.sigma)
        classes = np.zeros((count * height * width, len(self.bins)), np.float32)
        np.put_along_axis(classes, bins, weights.astype(np.float32), 1)
        factors = np.ones(len(bins)) if self.weights is None else self.weights[bins[:, 0]]
        factors = factors.reshape(count, height, width).astype(np.float32)
        factors[np.abs(target * AB_SCALE).max((1, 2, 3)) <= self.GRAY] = 0
        classes = np.moveaxis(classes.reshape(count, height, width, -1), -1, 1)
        return np.ascontiguousarray(classes), factors


# Batches


class Batches:
    """The batch of any step, or a rank's share of it, as a dictionary of arrays."""

    def __init__(self, configuration, rank=0, ranks=1):
        self.rank, self.ranks = rank, ranks
        self.batch, self.seed = configuration["batch"], configuration["seed"]
        self.data, self.crop = configuration["data"], configuration["data"]["crop"]
        training, self.validation = photo_lists(self.data)
        self.photos = Photos(training, self.crop)
        # A batch that does not divide the photos goes on in the next epoch.
        self.epoch_examples = (
            configuration["epoch_steps"] * self.batch if configuration["epoch_steps"]
            else len(training))
        self.steps, self.orders, self.classes = configuration["steps"], {}, None
        if configuration["loss"]["kind"] == "classification":
            self.classes = Classes(configuration["loss"], self.photos, self.crop)

    def __len__(self):
        return self.steps

    def __getitem__(self, step):
        examples = []
        own = (self.batch * number // self.ranks for number in (self.rank, self.rank + 1))
        for place in range(*(step * self.batch + offset for offset in own)):
            epoch, index = divmod(place, self.epoch_examples)
            random = RandomStream(self.seed, f"crop {epoch} {index}")
            photo = self.photos.readable(self.photo_index(epoch, index))
            examples.append(example(photo, Augmentation(random, self.data), self.crop))
        return self.gathered(examples)

    def photo_index(self, epoch, index):
        passage, position = divmod(index, len(self.photos.paths))
        if (epoch, passage) not in self.orders:
            self.orders[epoch, passage] = self.order(epoch, passage)
        return self.orders[epoch, passage][position]

    def order(self, epoch, passage):
        random = RandomStream(self.seed, f"order {epoch} {passage}")
        order = list(range(len(self.photos.paths)))
        for last in range(len(order) - 1, 0, -1):
            other = random.next() % (last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def gathered(self, examples):
        lightness, target = (np.stack(arrays) for arrays in zip(*examples))
        result = {"lightness": lightness, "target": target}
        if self.classes:
            result["classes"], result["class_weights"] = self.classes.targets(target)
        return result

    def validation_batches(self):
        photos = Photos(self.validation, self.crop)
        squares = [
            example(photos[index], Augmentation(), self.crop)
            for index in range(len(self.validation)) if photos[index] is not None
        ]
        return [
            self.gathered(squares[start : start + self.batch])
            for start in range(0, len(squares), self.batch)
        ]
