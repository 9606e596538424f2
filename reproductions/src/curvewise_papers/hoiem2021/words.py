"""What the paper says in words about its figures, counted in its own Table 3."""

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

from curvewise.papers.claim import Claim
from curvewise.papers.hoiem2021.printed_curves import SIZES, laws
from curvewise.stats.powerlaw import PowerLaw

TABLE = "Figures 3 to 8 in words, counted in Table 3"
_LOST = "The rows after six ResNet-18 are not readable in the text that we have."


def statements() -> Iterator[Claim]:
    """Return one claim for each statement that Table 3 can speak to."""
    yield from _architecture()
    yield from _pretraining()
    yield from _sources()
    yield from _depth()
    yield from _width()
    yield from _ensembles()
    yield from _augmentation()


def _of(block: str, *labels: str) -> list[PowerLaw]:
    return [laws()[block, label] for label in labels]


def _claim(
    figure: str, row: str, printed: int, ours: int | None, why: str = ""
) -> Claim:
    return Claim(TABLE, f"{figure}: {row}", "", printed, ours, why=why, digits=0)


def _falls(values: Iterable[float]) -> int:
    """Return how often a value is below the one before it."""
    return sum(b < a for a, b in pairwise(values))


def _architecture() -> Iterator[Claim]:
    block = "ARCHITECTURES_IN2CIFAR"
    own = _of(block, "AlexNet", "VGG-16(bn)", "ResNet-50")
    row = "of the 2 steps AlexNet, VGG, ResNet-50"
    error, reliance = _falls(x.e_N for x in own), _falls(x.beta_N for x in own)
    yield _claim("Figure 3", f"{row}: lower error", 2, error)
    yield _claim("Figure 3", f"{row}: lower data-reliance", 2, reliance)
    plain, next_ = _of(block, "ResNet-50", "ResNeXt-50(32x4d)")
    lower = int(next_.e_N < plain.e_N)
    yield _claim("Figure 3", "ResNeXt has a lower error than ResNet", 1, lower)


def _pretraining() -> Iterator[Claim]:
    for figure, block in (
        ("Figure 5a", "PRETRAIN_IN2CIFAR"),
        ("Figure 5b", "PRETRAIN_IN2PLACES"),
    ):
        names = ("No Pretr; Linear", "Pretr; Linear")
        raw, learnt = (law.error(SIZES) for law in _of(block, *names))
        lower = int((learnt < raw).sum())
        row = "sizes of 5 at which pre-training lowers the error, last layer only"
        yield _claim(figure, row, 5, lower)
        raw_law, law = _of(block, "No Pretr; Finetune", "Pretr; Finetune")
        both = int(law.e_N < raw_law.e_N) + int(law.beta_N < raw_law.beta_N)
        row = "of error and data-reliance, lower by pre-training when fine-tuned"
        yield _claim(figure, row, 2, both)


def _sources() -> Iterator[Claim]:
    block = "PRETRAIN_IN_PLACES_MOCO2CIFAR"
    own = _of(
        block,
        *("Pretr on Imagenet", "Pretr on Imagenet with MOCO"),
        *("Pretr on Places", "No Pretr"),
    )
    pairs = list(combinations(own, 2))
    row = "pairs of 6 in the order ImageNet, MOCO, Places, random"
    error = sum(a.e_N < b.e_N for a, b in pairs)
    reliance = sum(a.beta_N < b.beta_N for a, b in pairs)
    yield _claim("Figure 6", f"{row}: error", 6, error)
    yield _claim("Figure 6", f"{row}: data-reliance", 6, reliance)


def _depth() -> Iterator[Claim]:
    names = ("Resnet-18", "Resnet-34", "Resnet-50", "Resnet-101")
    tuned, frozen = _of("DEPTH_FT", *names), _of("DEPTH_LINEAR", *names)
    for figure, own in (("Figure 7a", tuned), ("Figure 7d", frozen)):
        row = "of the 3 steps in depth: lower error"
        yield _claim(figure, row, 3, _falls(law.e_N for law in own))
    lower = sum(law.beta_N <= tuned[0].beta_N for law in tuned[1:])
    row = "deeper networks of 3 without more data-reliance than ResNet-18"
    yield _claim("Figure 7a", row, 3, lower)
    lower = sum(law.beta_N <= frozen[0].beta_N for law in frozen[1:])
    jump = frozen[2].beta_N - frozen[1].beta_N
    yield _claim(
        "Figure 7d",
        row,
        3,
        lower,
        "ResNet-50 and ResNet-101 have more: the text itself mentions a jump after "
        f"ResNet-34, which is {jump:+.2f}, and calls the curves nearly parallel.",
    )


def _width() -> Iterator[Claim]:
    pairs = (("Resnet-50", "2xWide-Resnet-50"), ("Resnet-101", "2xWide-Resnet-101"))
    tuned = [_of("WIDTH_FT", *pair) for pair in pairs]
    frozen = [_of("WIDTH_LINEAR", *pair) for pair in pairs]
    lower = sum(wide.e_N < narrow.e_N for narrow, wide in tuned)
    yield _claim("Figure 7b", "of 2 networks, better when twice as wide", 2, lower)
    less = sum(wide.beta_N < narrow.beta_N for narrow, wide in frozen)
    row = "of 2 networks, less data-reliance when twice as wide"
    yield _claim("Figure 7e", row, 2, less)
    no_better = sum(wide.e_N >= narrow.e_N - 0.25 for narrow, wide in frozen)
    row = "of 2 networks, no better (by .25) when twice as wide"
    yield _claim("Figure 7e", row, 2, no_better)


def _ensembles() -> Iterator[Claim]:
    (six,) = _of("ENSEMBLE", "6xResnet-18")
    (one,) = _of("ENSEMBLE", "1xResnet-18")
    others = _of("WIDTH_FT", "Resnet-101", "2xWide-Resnet-50", "2xWide-Resnet-101")
    better = int(six.e_N < one.e_N)
    yield _claim("Figure 7c", "six ResNet-18 are better than one", 1, better)
    row = "larger networks of 3 that beat six ResNet-18"
    error = sum(law.e_N < six.e_N for law in others)
    reliance = sum(law.beta_N < six.beta_N for law in others)
    yield _claim("Figure 7c", f"{row}: error", 3, error)
    yield _claim("Figure 7c", f"{row}: data-reliance", 3, reliance)
    row = "three ResNet-50 are worse at 400 than a wide one, and better with less data"
    yield _claim("Figure 7c", row, 2, None, _LOST)


def _augmentation() -> Iterator[Claim]:
    blocks = ("AUG_NO_PRETR_FT", "AUG_PRETR_FT", "AUG_PRETR_LINEAR")
    names = ("Resnet-18 w/ Data-Aug", "Resnet-18 w/o Data-Aug")
    lower = 0
    for block in blocks:
        with_it, without = (law.error(SIZES) for law in _of(block, *names))
        lower += int((with_it < without).sum())
    row = "of 3 curves at 5 sizes, better with augmentation"
    yield _claim("Figure 8", row, 15, lower)
    changes = [
        abs(a.beta_N - b.beta_N) / b.beta_N
        for a, b in (_of(block, *names) for block in blocks[:2])
    ]
    row = "of 2 fine-tuned curves, data-reliance changed by less than a tenth"
    yield _claim("Figure 8", row, 2, sum(change < 0.1 for change in changes))
