"""How each answer was obtained: what was computed, what holds, where it is from."""

from curvewise._text import percent
from curvewise.analyses.performance import Performance
from curvewise.report.sections.parts import Method
from curvewise.stats.bands import NAMES

_JORDAN = (
    'S. Jordan, D. Cohen, P. Thomas. "Using Cumulative Distribution Based Performance '
    'Analysis to Benchmark Models." 2018.'
)
_ANDERSON = (
    'T. Anderson. "Confidence limits for the expected value of an arbitrary bounded '
    'random variable with a continuous distribution function." 1969.'
)
_THOMAS = (
    'P. Thomas, E. Learned-Miller. "Concentration inequalities for conditional value at '
    'risk." ICML, 2019.'
)
_EFRON = 'B. Efron. "Better bootstrap confidence intervals." JASA 82, 1987.'


def of_performance(answer: Performance) -> Method:
    """Return how scores were judged, which depends on whether they have bounds."""
    first = answer.distributions[0]
    bounded = not any(d.is_bootstrapped for d in answer.distributions)
    band = NAMES[first.band.kind]
    name = (
        f"The distribution of scores over trials with a "
        f"{percent(first.band.confidence)} band ({band}). Read off it: the mean, the "
        f"mean of the best {percent(1 - answer.alpha)} (upper CVaR {answer.alpha:g}), "
        f"of the worst {percent(answer.alpha)}, the median, and the best of k trials."
    )
    holds = (
        "If trials are independent draws, the band of each algorithm on each task holds "
        "for any number of trials and any distribution, and with it all numbers that "
        "are read off it at once; measured in simulations: 94.8 to 98.6 %, and more for "
        "means and best halves, which were inside in 99.9 %."
    )
    if not bounded:
        name += " Means of a metric without bounds: bootstrap (BCa)."
        holds = (
            "If trials are independent draws, the band of each algorithm on each task "
            "holds for any number of trials and any distribution. The intervals of "
            "means are by the bootstrap, since nothing bounds the metric, and hold for "
            "many trials: of 95 %, 85 to 95 % were measured with 20 trials, 92 to 95 % "
            "with 100."
        )
    if any(d.is_clustered for d in answer.distributions):
        name += " Means over clusters of runs: Student's t."
        holds += (
            " Means over 20 settings with 5 seeds each were inside in 93 to 97 % of "
            "simulated and real studies."
        )
    pairs = ""
    if answer.contrasts:
        name += (
            " Pairs: the difference of best means, by the central limit theorem and "
            "from bands; intervals share the confidence (Bonferroni)."
        )
        pairs = (
            " What is said of pairs holds for all pairs on all tasks at once; equal "
            "algorithms were told apart in 5.5 % of simulated experiments at most. The "
            "one in front was chosen by these data, and its own interval does not know "
            "that: of many equals, the luckiest comes out first."
        )
    sources = (_JORDAN, _ANDERSON, _THOMAS) if bounded else (_JORDAN, _EFRON)
    return Method(name, holds + pairs, " ".join(sources))


ROBUSTNESS = Method(
    "The mean, median, best and worst share of the trials of the tuned algorithm less "
    "those of the untuned one, with intervals by the central limit theorem, paired "
    "where trials met the same data, and guaranteed ones from two bands.",
    "With the stated confidence all intervals of a statistic hold at once, over "
    "algorithms and tasks (Bonferroni), if trials are independent of each other. Those "
    "by the central limit theorem held in 90.9 to 95.4 % of simulated experiments with "
    "10 to 2,000 trials (of 95 %); where there are fewer trials than they need, what "
    "rests on them is called probable. The guaranteed ones hold for any number of "
    "trials, any distribution and any dependence of the two.",
    f'{_JORDAN} G. Zou, A. Donner. "Construction of confidence limits about effect '
    'measures: a general approach." Statistics in Medicine 27, 2008.',
)

DIFFERENCE = Method(
    "Analysis of variance of whole curves, in height (their means over the steps) and "
    "in shape (the rest), with p values by shuffling whole runs between algorithms and "
    "by flipping the signs of their deviations; the larger one counts. Pairs: the same "
    "within the pair, adjusted for all pairs of a task (Holm), with Welch's intervals. "
    "Where: the largest of all steps by flips, stepping down.",
    "Where runs of all algorithms vary alike, equal algorithms are called different "
    "with probability of at most the level, at any number of runs: a theorem. Where "
    "they do not, for many runs; in simulations of 4 to 20 runs, with up to 4 times the "
    "noise in one algorithm, that happened in 3 to 6 % for the height and 2 to 8 % for "
    "the shape (of 5 %). Height and shape are two tests, each at that level. What is "
    "said of a task holds for all its pairs, not for all tasks; what is said of all "
    "tasks has tests of its own. No false step in 93 to 96 % of simulated experiments "
    "with 8 steps and 5 runs or more; where one run in eight fails, fewer.",
    'J. H. Piater, P. R. Cohen, X. Zhang, M. Atighetchi. "A randomized ANOVA procedure '
    'for comparing performance curves." ICML, 1998; here height and shape are tested '
    'apart and noise may be unequal. S. Holm. "A simple sequentially rejective multiple '
    'test procedure." Scandinavian Journal of Statistics 6, 1979.',
)

LEARNING = Method(
    "A power law e(n) = alpha + eta n^gamma through the errors at the sizes that were "
    "tried, with intervals that allow for an unknown exponent; beyond the largest size "
    "a forecast that averages 128 curves. Algorithms are compared at one size, runs on "
    "the same data as pairs.",
    "At the sizes that were tried: of 95 % intervals 93 to 97 % held in simulations of "
    "curves that are power laws. Differences hold for all pairs of a task at once, not "
    "for all tasks. Forecasts: nothing is proved; on real curves of tabular data that "
    "they were not learnt on, 92 to 97 % of 95 % intervals held, each size by itself. A "
    "curve that turns later, deep networks and losses were not measured.",
    'D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis '
    'of Deep Networks." ICML, 2021. F. Mohr, T. Viering, M. Loog, J. van Rijn. "LCDB '
    '1.0." '
    "ECML-PKDD, 2022 (the curves that forecasts were measured on).",
)

CONFUSION = Method(
    "The confusion matrix of each algorithm is fitted as a function of its training "
    "data: the logits of the share of each class that is called right are smooth curves "
    "whose level and slope may drift. Every metric follows from the same matrices.",
    "Intervals are for rates averaged over training sets of that size, each size by "
    "itself. Nothing is proved: in simulations of curves that they were made for, 95 to "
    "98 % of 95 % intervals held, at worst 94 %, with one class in ten positive 94 to "
    "97 % and at worst 62 %; on 135 real curves of two classes, 93 to 97 %. More "
    "classes and deep networks were not measured. Algorithms are not tested against "
    "each other.",
    'Y. Xue, R. Wang, X. Cao, J. Yang, J. Li. "Learning curves of classification '
    'metrics based on confusion matrices." ACML, 2025; its bands do not hold, and are '
    "not used here.",
)

VARIANCE = Method(
    "Variance components of a crossed design: every draw of one source with every draw "
    "of the others, one trial in each cell.",
    "Estimates are unbiased for any distribution. Intervals are approximate, each share "
    "by itself: of 95 % intervals 96 % or more held for normal effects, down to 89 % "
    "for skewed ones, and 72 % where one draw in ten diverges.",
    f'S. Searle, G. Casella, C. McCulloch. "Variance Components." Wiley, 1992. S. '
    f'Weerahandi. "Generalized confidence intervals." JASA 88, 1993. {_JORDAN}',
)

PLAN = Method(
    "The number of trials at which an interval would be as short as asked for, were "
    "trials to come like these: guaranteed (from a band) and asymptotic (Student).",
    "What is guaranteed holds for any distribution with the metric's bounds; how short "
    "an interval gets hangs on how trials vary, and 'from to' says what these trials "
    "leave open about that, with about 95 % confidence. It is for a number of trials "
    "that is fixed beforehand: looking until it is enough needs curvewise.until.",
    f"{_ANDERSON} {_THOMAS}",
)

CHECK = Method(
    "A list of rules, each looking for one thing that reviewers object to.",
    "None: a rule finds what it looks for, and that nothing was found proves nothing. "
    "No result is left out or changed.",
    "The rules are listed in the reference of curvewise.check.",
)

SPACES = Method(
    "What the experiment says that hyperparameters were drawn from.",
    "Whoever draws from other ranges measures another algorithm.",
    _JORDAN,
)

CANNOT = Method(
    "Every analysis is begun as it begins with these trials; where that stops, the "
    "reason is told.",
    "That a question can be answered does not say that its answer is sure.",
    "curvewise.explain.",
)

PROVENANCE = Method(
    "The hash is SHA-256 of the results in a fixed order: keys, status, steps, scores, "
    "hyperparameters, labels and counts, not of how long they took.",
    "The same results have the same hash, in whichever order or format they were kept; "
    "the same results, settings and versions give the same numbers.",
    "Trials.digest; each section names its own settings and seed.",
)
