"""Measure how often equal algorithms are called different, equally noisy or not.

    python scripts/levels_noise.py          # 4,000 data sets each, some minutes
    python scripts/levels_noise.py 400

What the documentation says about levels comes from here. Each rate stands next to that
of an independent earlier simulation of the same designs, with other code and other seeds
(`reference`), and to how many standard errors of both lie between them.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from curvewise.stats.anova.draws import (
    flipped,
    least,
    observed_for_flips,
    plain,
    random_signs,
    split,
    studentised,
    welch_f,
)
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.deals import (
    all_deals,
    labels_as_they_lie,
    number_of_deals,
    random_labels,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from noisy_lines import noise

DRAWS = 399  # shuffles, and as many flips
ENUMERATED = 1000  # deals that are all tried instead
BLOCK = 25  # data sets that share their draws
LEVEL = 0.05
TIED = 1e-9  # what rounding may put apart, for such noise
STEPS = 8
EFFECTS = ("algorithm", "interaction")
WAYS = ("plain", "shuffled", "flipped", "both")
FAR = 3.5  # standard errors, beyond which two rates do not agree

# Lines and sd of each algorithm; then, for each way, the rates of each kind of noise.
# "-": not run. Where all have equally many lines, F and the ATS order deals alike, so that
# shuffles find the same.
KINDS = {
    "algorithm": ("walk", "t3", "skew"),
    "interaction": ("iid", "walk", "t3", "skew"),
}
REFERENCE = {
    "algorithm": """
5/5 1/1|.050 .051 .048|.049 .051 .049|.051 .045 .044|.041 .040 .037
5/5 1/2|.057 .054 .065|.057 .054 .064|.051 .040 .061|.044 .035 .054
5/5 1/4|.079 .073 .086|.075 .070 .083|.053 .044 .065|.050 .041 .059
10/10 1/4|.064 .065 .072|.059 .061 .067|.050 .046 .060|.049 .043 .055
20/20 1/4|.056 .057 .062|.050 .054 .057|.047 .052 .054|.041 .045 .049
5/15 1/1|.049 .052 .052|.050 .051 .049|.059 .045 .059|.046 .038 .044
5/15 1/4|.005 .004 .011|.047 .043 .050|.055 .049 .057|.042 .035 .044
5/15 2/1|.161 .143 .163|.059 .055 .068|.064 .047 .071|.050 .038 .058
5/15 4/1|.265 .260 .255|.052 .050 .064|.059 .045 .062|.043 .034 .048
5/5/5 1/1/4|.107 .099 .117|.094 .083 .098|.055 .036 .061|.051 .034 .058
10/10/10 1/1/4|.092 .094 .110|.064 .058 .078|.047 .043 .065|.045 .041 .061
5/10/15 4/1/1|.258 .251 .273|.078 .068 .099|.044 .039 .060|.041 .035 .056
5/5/5/5 1/1/1/1|.049 .053 .057|.050 .054 .059|.044 .042 .047|.035 .037 .042
5/5/5/5 1/1/1/4|.121 .123 .135|.096 .085 .114|.045 .041 .054|.044 .039 .053
10/10/10/10 1/1/1/4|.115 .104 .117|.070 .066 .083|.046 .044 .060|.045 .043 .058
20/20/20/20 1/1/1/4|.095 .101 .112|.058 .052 .062|.046 .042 .055|.043 .040 .052
5/8/11/15 4/1/1/1|.262 .236 .274|.086 .072 .099|.051 .039 .063|.048 .038 .057
10/10 1/1|- - -|- - -|- - -|- - -
10/10 1/2|- - -|- - -|- - -|- - -
5/15 1/2|- - -|- - -|- - -|- - -
""",
    "interaction": """
5/5 1/1|.056 .048 .045 .041|- - - -|.040 .054 .030 .046|- - - -
5/5 1/4|.078 .074 .080 .082|- - - -|.040 .064 .028 .069|- - - .059
10/10 1/4|.056 .061 .060 .068|- - - -|.042 .059 .037 .065|- - - -
20/20 1/4|.060 .060 .059 .051|- - - -|.055 .059 .050 .049|- - - -
5/15 1/1|.053 .047 .050 .039|.051 .049 .057 .051|.038 .059 .034 .067|- - - -
5/15 1/4|.000 .003 .000 .005|.050 .044 .043 .041|.058 .057 .044 .054|- - - -
5/15 4/1|.559 .371 .527 .365|.070 .083 .064 .097|.037 .069 .028 .079|- - - .065
5/5/5 1/1/4|- .110 .117 -|- - - -|- .062 .033 -|- - - -
5/10/15 4/1/1|- .368 .570 -|- .116 .127 -|- .064 .024 -|- - - -
5/5/5/5 1/1/1/4|- .127 .148 -|- - - -|- .061 .035 -|- - - -
5/8/11/15 4/1/1/1|- .352 .531 -|- .137 .137 -|- .067 .034 -|- - - -
""",
}
# Tables with one rate of each way: lines, sd, noise, shift of the last algorithm.
OTHERS = {
    # Four lines are the fewest that are flipped.
    "Algorithm: few lines": """
4/4 1/4 walk 0|-|-|-|.030
4/4/4 1/1/4 walk 0|-|-|-|.054
4/4/4/4 1/1/1/4 walk 0|-|-|-|.055
3/3/3 1/1/4 walk 0|-|.120|-|.068
3/3/3/3 1/1/1/4 walk 0|-|.123|-|.074
""",
    "Interaction: few lines": """
4/4 1/4 skew 0|-|-|-|-
4/4/4/4 1/1/1/4 walk 0|-|-|-|-
4/4/4/4 1/1/1/4 skew 0|-|-|-|-
""",
    "Algorithm: power": """
10/10 1/1 walk 1.2|.799|.797|.800|.781
10/10 1/1 t3 1.0|.795|.792|.792|.778
5/5 1/1 walk 1.8|.776|.774|.766|.739
20/20 1/1 walk .8|.778|.778|.778|.763
5/15 1/1 walk 1.4|.805|.706|.718|.675
5/5/5 1/1/1 walk 1.8|.818|.769|.733|.705
10/10/10/10 1/1/1/1 walk 1.2|.835|.791|.787|.771
5/5/5/5 1/1/1/1 walk 1.8|.834|.740|.686|.659
""",
    # Shapes that vary as much as the others', but not in the same way; 2.1213 is the sd
    # of a walk whose shapes vary as much as independent points of sd 1.
    "Interaction: points against a walk": """
5/5 1/2.1213 iid+walk 0|.057|.057|.052|-
10/10 1/2.1213 iid+walk 0|.053|.053|.053|-
5/15 1/2.1213 iid+walk 0|.033|.022|.051|-
15/5 1/2.1213 iid+walk 0|.085|.101|.070|-
15/5 1/8.4853 iid+walk 0|.386|.118|.065|-
5/5 1/4 iid+walk 0|-|-|-|.073
""",
}
REFERENCE_SETS = {"Algorithm: power": 4000}  # elsewhere in these tables 2,000


@dataclass(frozen=True)
class Cell:
    """A design; `kind` is that of all algorithms, or of each with "+" between."""

    sizes: tuple[int, ...]
    sds: tuple[float, ...]
    kind: str
    shift: float = 0.0

    def __str__(self) -> str:
        sizes, sds = ("/".join(f"{x:.3g}" for x in xs) for xs in (self.sizes, self.sds))
        shift = f" shift {self.shift:g}" if self.shift else ""
        return f"l {sizes:11s} sd {sds:8s} {self.kind:8s}{shift}"

    def draw(self, sets: int, rng: np.random.Generator) -> np.ndarray:
        """Return lines, shape (data set, line, step)."""
        kinds = self.kind.split("+")
        kinds = kinds * len(self.sizes) if len(kinds) == 1 else kinds
        values = [
            sd * noise(kind, (sets, size, STEPS), rng)
            for kind, sd, size in zip(kinds, self.sds, self.sizes, strict=True)
        ]
        values[-1] = values[-1] + self.shift
        return np.concatenate(values, axis=1)


def p_values(values, sizes, labels, signs) -> dict[str, np.ndarray]:
    """Return p values of every way, shape (effect, data set), for deals and flips given.

    Labels are all deals there are, or else random ones. "by F": Welch's F under shuffles
    without regard to its degrees of freedom, of Algorithm only.
    """
    lines, came = split(values, sizes), labels_as_they_lie(sizes)
    every = len(labels) == number_of_deals(sizes)

    def counted(observed, drawn, extra):
        above = (drawn >= least(observed, TIED)[..., None]).sum(axis=-1)
        return (extra + above) / (extra + drawn.shape[-1])

    def dealt(judged):
        return counted(judged(came)[..., 0], judged(labels), 0 if every else 1)

    p = {
        "plain": dealt(lambda deals: np.stack(plain(lines, deals, joint=False))),
        "shuffled": dealt(lambda deals: np.stack(studentised(lines, deals))),
        "by F": dealt(lambda deals: _welch_of(lines.means, sizes, deals))[None],
    }
    shown, drawn = observed_for_flips(lines), flipped(lines, signs)
    p["flipped"] = counted(np.stack(shown), np.stack(drawn), 1)
    p["both"] = np.maximum(p["shuffled"], p["flipped"])
    p["both by F"] = np.maximum(p["by F"], p["flipped"][:1])
    return p


def _welch_of(means, sizes, labels):
    """Return Welch's F of line means under deals, shape (data set, draw)."""
    mine = [(labels == i).T.astype(float) for i in range(len(sizes))]
    centre = np.stack([means @ own / n for own, n in zip(mine, sizes, strict=True)])
    square = np.stack([means**2 @ own / n for own, n in zip(mine, sizes, strict=True)])
    n = np.array(sizes, float)
    spread = (square - centre**2) * (n / (n - 1))[:, None, None]
    return welch_f(centre, np.maximum(spread, 1e-12), n)[0]


def draws(
    sizes: Sequence[int], rng: np.random.Generator, number: int = DRAWS
) -> tuple[np.ndarray, np.ndarray]:
    """Return deals, all that there are where they are few, and flips."""
    if number_of_deals(sizes) <= ENUMERATED:
        labels = np.concatenate(list(all_deals(sizes)))
    else:
        labels = random_labels(sizes, number, rng)
    return labels, random_signs(number, sum(sizes), rng)


def rejected(cell: Cell, sets: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return how often each way rejects, shape (effect,); what is no number counts."""
    hits: dict[str, np.ndarray] = {}
    for begin in range(0, sets, BLOCK):
        values = cell.draw(min(BLOCK, sets - begin), rng)
        for way, p in p_values(values, cell.sizes, *draws(cell.sizes, rng)).items():
            hits[way] = hits.get(way, 0) + (~(p > LEVEL * (1 + 1e-12))).sum(axis=1)
    return hits


def of_effect(i: int, cell: Cell, hits: dict) -> dict[str, int]:
    """Return what belongs to one effect; F itself matters for three algorithms only."""
    ways = WAYS if i or len(cell.sizes) == 2 else tuple(hits)
    return {way: int(hits[way][i]) for way in ways}


def distance(hits: int, sets: int, known: float, known_sets: int) -> float:
    """Return by how many standard errors two rates differ; one is rounded to .001."""
    pooled = (hits + known * known_sets) / (sets + known_sets)
    chance = pooled * (1 - pooled) * (1 / sets + 1 / known_sets)
    return float((hits / sets - known) / np.sqrt(chance + 0.001**2 / 12))


def reference(effect: str) -> Iterator[tuple[Cell, dict[str, float]]]:
    """Yield designs, and what the earlier simulation found in them, way by way."""
    for row in REFERENCE[effect].strip().splitlines():
        design, *columns = row.split("|")
        sizes, sds = (tuple(map(int, part.split("/"))) for part in design.split())
        rates = zip(*(column.split() for column in columns), strict=True)
        for kind, own in zip(KINDS[effect], rates, strict=True):
            yield Cell(sizes, sds, kind), _known(own)


def others(title: str) -> Iterator[tuple[Cell, dict[str, float]]]:
    """Yield the designs of another table, and what the earlier simulation found."""
    for row in OTHERS[title].strip().splitlines():
        design, *own = row.split("|")
        lines, sds, kind, shift = design.split()
        sizes = tuple(map(int, lines.split("/")))
        noisy = tuple(map(float, sds.split("/")))
        yield Cell(sizes, noisy, kind, float(shift)), _known(own)


def _known(rates: Sequence[str]) -> dict[str, float]:
    pairs = zip(WAYS, rates, strict=True)
    return {way: float(rate) for way, rate in pairs if rate != "-"}


class Ledger:
    """What was compared, and how far apart it was."""

    def __init__(self, sets: int) -> None:
        self.sets = sets
        self.alike: list[tuple[float, str]] = []
        self.judged_by_p: list[tuple[float, str]] = []

    def line(self, title: str, hits: dict, known: dict, known_sets: int) -> None:
        told = []
        for way in WAYS:
            text = f"{hits[way] / self.sets:.4f}"
            if way in known:
                z = distance(hits[way], self.sets, known[way], known_sets)
                place = self.alike
                # The reference judged three algorithms or more by F itself.
                if f"{way} by F" in hits or (way == "shuffled" and "by F" in hits):
                    place = self.judged_by_p
                    same = "by F" if way == "shuffled" else f"{way} by F"
                    z_same = distance(hits[same], self.sets, known[way], known_sets)
                    self.alike.append((z_same, f"{title} {way}"))
                    text += f" (by F {hits[same] / self.sets:.4f} {z_same:+.1f})"
                place.append((z, f"{title} {way}"))
                text += f" [{known[way]:.3f} {z:+.1f}]"
            told.append(f"{way} {text}")
        print(title, " ".join(told), sep="  ", flush=True)

    def told(self, compared: list[tuple[float, str]], what: str) -> str:
        z = np.abs([z for z, _ in compared])
        apart = [f"{title} ({z:+.1f})" for z, title in compared if abs(z) > FAR]
        return (
            f"{what}: {(z <= FAR).sum()} of {len(z)} rates agree within {FAR} standard "
            f"errors; largest {z.max():.2f}, root mean square "
            f"{np.sqrt((z**2).mean()):.2f}. Apart: {'; '.join(apart) or 'none'}."
        )


def check(sets: int = 6) -> float:
    """Return by how much p values here differ from those of `randomized_anova`."""
    far = 0.0
    for seed, (cell, _) in enumerate(reference("algorithm")):
        values = cell.draw(sets, np.random.default_rng(seed))
        found = p_values(
            values, cell.sizes, *draws(cell.sizes, np.random.default_rng(1))
        )
        exact = number_of_deals(cell.sizes) <= ENUMERATED
        for i, lines in enumerate(values):
            own = np.split(lines, np.cumsum(cell.sizes)[:-1])
            for noisy, way in (("unequal", "both"), ("equal", "plain")):
                test = randomized_anova(
                    own, noise=noisy, shuffles=DRAWS, most=DRAWS, exact=exact,
                    rng=np.random.default_rng(1),
                )  # fmt: skip
                p = [test.p(effect) for effect in EFFECTS]
                far = max(far, float(np.abs(found[way][:, i] - p).max()))
    return far


def main(sets: int) -> None:
    rng = np.random.default_rng(20240607)
    print(
        f"Level {LEVEL}, {sets} data sets, {DRAWS} draws; [reference, distance in se]"
    )
    print(f"Largest difference from randomized_anova: {check():.1e}", flush=True)
    ledger = Ledger(sets)
    known = {effect: dict(reference(effect)) for effect in EFFECTS}
    for cell in sorted({**known["algorithm"], **known["interaction"]}, key=str):
        hits = rejected(cell, sets, rng)
        for i, effect in enumerate(EFFECTS):
            own = of_effect(i, cell, hits)
            n = (4000, 2000 if len(cell.sizes) == 2 else 1500)[i]
            ledger.line(f"{cell} {effect:11s}", own, known[effect].get(cell, {}), n)
    for title in OTHERS:
        print(f"\n{title}")
        i = EFFECTS.index(title.split(":")[0].lower())
        for cell, rates in others(title):
            hits = of_effect(i, cell, rejected(cell, sets, rng))
            n = REFERENCE_SETS.get(title, 2000)
            ledger.line(f"{cell} {EFFECTS[i]:11s}", hits, rates, n)
    print()
    print(ledger.told(ledger.judged_by_p, "Three or more algorithms judged by p"))
    print(ledger.told(ledger.alike, "Like with like"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
