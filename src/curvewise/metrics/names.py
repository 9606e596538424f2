"""What the name of a metric says, word by word: the noun decides, the rest is context."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from curvewise.metrics.nouns import NOUNS, OF_BOOSTERS, Kind, Noun


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Where, when and over what something was measured: it does not change what it is.
CONTEXT = _words(
    "train training trn tr val valid validation validate eval evaluation evaluate "
    "test testing tst dev devel heldout holdout holdin final last first best worst "
    "current cur latest initial mean avg average averaged median mdn min max "
    "minimum maximum sum total overall global local running smoothed smooth ema "
    "moving raw agg aggregate aggregated aggregation macro micro weighted samples "
    "sample binary multiclass multilabel multi ovr ovo cv oof oob fold folds split "
    "splits epoch epochs step steps batch iter iteration iterations round rounds "
    "episode episodic ep eps agent env task set dataloader idx k n at top percent "
    "pct percentage none strict loose flexible extract match custom metric metrics "
    "hparam hparams charts chart rollout sampler results info learner learners "
    "stats hist env_runners runners worker workers default policy module modules "
    "new old discounted undiscounted cumulative mm cm px id ood all any small "
    "medium large b m p s l per the a of is net model in out on for by reg cls box "
    "bbox mask obj keypoints segm sem seg coco voc lvis cityscapes normalized "
    "normalised unweighted log adjusted online offline deterministic stochastic "
    "greedy easy moderate hard clean iqm deg phase stream exp experience experiences"
)
# After a noun they add nothing: f1_score, loss_value, c_index.
SUFFIXES = _words("score scores value values metric metrics index measure mean y f")
# Who stands first says that all the rest is about machines, clocks or settings.
NOT_SCORED = _words(
    "system timers timer timing time perf monitor config hardware gpu cpu lr"
    " counters resources profiler optimizer optim params hyperparameters memory"
)
PREPOSITIONS = _words(
    "to of at on for over per vs versus with without given after before until since by"
    " from under"
)
SPREAD = _words(
    "std stdv stddev stdev stderr sem sd variance var stds"
)  # of a metric: no quality
# Quantities that are no quality, and of which an error is one: rmse_temperature.
QUANTITIES = _words(
    "temperature temp energy speed velocity power load price volume density depth height"
    " width position time duration bandwidth length variance"
)
ERRORS = _words("rmse mae mse mape smape nrmse nmae r2 error err")
# After another noun they say where: AP_far.
PLACES = _words(
    "far pro sir sar sad dist accel spacing power aa oa cc cd gd hit exact ctc"
    " top1 top3 top5 top10 rank1 rank5 rank10 rank20 q3 q8"
)
# Settings and diagnostics by themselves; after a rate they add nothing: jaccard_coeff.
OF_A_RATE = _words("coef coeff coefficient norm")
# A loss is named for what it is of: loss_iou, loss_dice.
LOST = _words("iou giou diou ciou dice ssim msssim clip tversky psnr cos corr pearson")
# What a term of a reward takes off: reward_dist, rewards/collision.
TAKEN_OFF = _words(
    "dist distance cost costs collision collisions violation violations jerk deviation"
    " risk accel damage jitter"
)
# Right before what is good when high they leave it open: miss_detection, cost_return.
BAD = _words(
    "miss missed false wrong failed fail failure incorrect invalid bad cost penalty unsafe"
    " violation regret forgetting mis no error"
)
# An error of anything is an error: accuracy_loss, but not recall_fpr.
HEADS = ERRORS | _words("loss cost regret penalty gap nll deviation distance violation")
NEGATIONS = _words("neg negative negated minus")
INVERSIONS = _words(
    "inverse inv reciprocal complement anti inverted non un not opponent enemy free"
    " below above exceeding excluding attack attacker mia"
    " lt gt prevented avoided saved lost reduced"
)
# What scikit-learn and others negate so that higher is better; "neg_loss" may as well be
# the loss of negative examples.
NEGATED = frozenset(
    "".join(phrase.split())
    for phrase in (
        "log loss, brier score, brier, mean squared error, squared error, max "
        "error,mean absolute error, absolute error, median absolute error, mse, mae, "
        "rmse,root mean squared error, mean absolute percentage error, poisson "
        "deviance,gamma deviance, tweedie deviance, deviance, mean squared log "
        "error,root mean squared log error, percentage error, squared log error, "
        "mape, msle,negative likelihood ratio, log likelihood, loglik, ll, elbo, "
        "loglikelihood,evidence lower bound, perplexity, cross entropy, crossentropy, "
        "error"
    ).split(",")
)


# --------------------------------------------------------------------------------------
# What the name of a metric says, word by word: the noun decides, the rest is context.


_LONGEST = 6  # words of a compound noun
_SETTINGS = re.compile(r":\w+=[^:;]*")  # of CatBoost's metrics: Huber:delta=1.5
_OWNER = re.compile(r"'s\b")  # of LightGBM's: valid_0's auc
_ONE_LESS = re.compile(r"^\s*1\s*[-\u2212\u2013]\s*[a-z]|one[ _-]?minus", re.IGNORECASE)
_SPLIT = re.compile(r"\bsplit\d+(?=_t)")  # of scikit-learn's: split0_test_score
_AT = re.compile(r"@")  # what follows says where on a curve: FPR@95TPR, TAR@FAR=0.001
_SHORT = (  # of retrieval: R@10, P@10, and P_10 of trec_eval; words if written small
    (re.compile(r"(?<![A-Za-z])[rR](?=@)"), "recall"),
    (re.compile(r"(?<![A-Za-z])[pP](?=@)|^P(?=_\d+$)"), "precision"),
    (re.compile(r"(?<![A-Za-z])PER$"), "phoneme error rate"),
    (re.compile(r"(?<![A-Za-z])IS$"), "inception score"),
)
_ARROWS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("higher", re.compile(r"\u2191|higher[ _](is|=)[ _]better", re.IGNORECASE)),
    ("lower", re.compile(r"\u2193|lower[ _](is|=)[ _]better", re.IGNORECASE)),
)
_SEGMENT = re.compile(r"[/\\]")
_WORD = re.compile(
    r"[A-Z]{2,}(?=[a-z](?![a-z]))|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+(?:\.\d+)?|[^\W\d_]+"
)
_LENGTHS = {"mm", "cm", "km", "px", "pixel", "pixels", "meters", "degrees"}
_ASK = Noun("ask")
_NONE = Noun("none")
_WHERE = tuple("train training val valid validation eval test dev cv oof".split())


class Meaning(NamedTuple):
    """What a name says: a direction, no quality, or nothing."""

    kind: Kind
    range: tuple[float, float]
    is_percent: bool


@lru_cache(maxsize=65536)
def meaning_of(name: str) -> Meaning:
    """Return what a name says about its metric.

    >>> meaning_of("Loss/test").kind, meaning_of("AverageEpRet").kind
    ('lower', 'higher')
    >>> meaning_of("mAP50-95(B)").range, meaning_of("mean_fit_time").kind
    ((0.0, 1.0), 'none')
    """
    noun = _noun_of(name)
    is_percent = name.casefold().rstrip(")] ").endswith(_PERCENT)
    return Meaning(noun.kind, noun.range, is_percent)


_PERCENT = ("percent", "pct", "%")


def _noun_of(name: str) -> Noun:
    if _ONE_LESS.match(name) or name == "ERR":  # also expected reciprocal rank
        return _ASK
    ways = [way for way, arrow in _ARROWS if arrow.search(name)]
    if ways:  # the name says it: FID (\u2193)
        rest = _ARROWS[0][1].sub("", _ARROWS[1][1].sub("", name))
        noun = _noun_of(rest) if rest.strip() else _ASK
        agrees = len(ways) == 1 and noun.kind == ways[0]
        return noun if agrees else (Noun(ways[0]) if len(ways) == 1 else _ASK)
    bare = _OWNER.sub("", _SETTINGS.sub("", name.partition(",")[0] or name))
    bare = _SPLIT.sub("split", bare)
    for short, whole in _SHORT:
        bare = short.sub(whole, bare)
    bare = _AT.sub(" at ", bare).replace("\u00b2", "2")
    parts = [words for words in map(words_of, _SEGMENT.split(bare)) if words]
    if not parts:
        return _ASK
    return _of_parts(parts)


def _of_parts(parts: list[tuple[str, ...]]) -> Noun:
    """Return the noun of the last segment that has one."""
    flat = [word for words in parts for word in words]
    if any(_is_inverted(words) for words in parts):
        return _ASK
    if len(parts) > 1:  # one noun over two segments: bits/dim, success/rate
        outer, inner = parts[-2:]
        keys = ("".join(outer[start:] + inner) for start in range(len(outer)))
        whole = next((NOUNS[key] for key in keys if key in NOUNS), _ASK)
        if flat[0] in NOT_SCORED or whole.kind in ("higher", "lower"):
            return _NONE if flat[0] in NOT_SCORED else whole
    measured = any(word in _WHERE for word in flat)
    is_followed, beyond = False, 0
    for words in reversed(parts):
        noun, followed = _decided(words, measured)
        is_followed = is_followed or followed
        beyond += followed and noun is None
        if noun is not None:
            if beyond > 1 and noun.kind != "none":  # Loss/scores/fake: too far from it
                return _ASK
            plural = words is not parts[-1] and words[-1] in ("losses", "rewards")
            firm = noun.is_firm and not plural
            is_open = is_followed and noun.kind in ("higher", "lower") and not firm
            # completeness_p95_mm is a distance.
            if is_open or (noun.range == (0, 1) and {*flat[1:]} & _LENGTHS):
                return _ASK
            around = {word for one in parts for word in one if one is not words}
            return _of_outer(noun, words[-1], around)
    # Nothing but context: an "epoch" or a "step" by itself is a count.
    last = NOUNS.get(flat[-1])
    return last if last is not None and last.kind == "none" else _ASK


def _of_outer(noun: Noun, last: str, outer: set[str]) -> Noun:
    """Return a noun under the segments before it: loss/dice, rewards/collision."""
    if noun.kind == "higher" and "loss" in outer:
        return Noun("lower") if last in LOST else _ASK
    if noun.kind == "lower" and outer & {"reward", "rewards"}:
        return noun if last in ("loss", "mse") else _ASK
    return noun


def _is_inverted(words: tuple[str, ...]) -> bool:
    """Return whether a word may turn the noun round: but not mean_reciprocal_rank."""
    for place, word in enumerate(words):
        if word in INVERSIONS and not any(
            NOUNS.get("".join(words[start:end]), _ASK).kind in ("higher", "lower")
            for start in range(place + 1)
            for end in range(place + 1, len(words) + 1)
            if end - start > 1
        ):
            return True
    return False


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters.

    >>> words_of("valLoss"), words_of("RMSE_log"), words_of("top5_acc")
    (('val', 'loss'), ('rmse', 'log'), ('top', '5', 'acc'))
    """
    words = (word.casefold() for word in _WORD.findall(text))
    return tuple(part for word in words for part in _split(word))


def _split(word: str) -> tuple[str, ...]:
    """Return a word that people wrote as one as two: trainloss, hubererror, scores."""
    if word in NOUNS or word in OF_BOOSTERS or word in CONTEXT:
        return (word,)
    if len(word) > 4 and word.endswith("s") and word[:-1] in NOUNS:
        return (word[:-1],)
    for where in _BEFORE:
        if word.startswith(where) and word.removeprefix(where) in NOUNS:
            return (where, word.removeprefix(where))
        if word.endswith(where) and word.removesuffix(where) in NOUNS:
            return (word.removesuffix(where), where)
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if (
            len(stem) > 1
            and stem != word
            and not (ending == "rate" and stem not in NOUNS)
        ):
            return (stem, ending)
    return (word,)


_BEFORE = tuple("train valid val test eval mean avg total best final".split())


_ENDINGS = tuple(
    "accuracy precision recall reward return losses loss error score rate time rmse mse "
    "auc acc norm bleu psnr ssim rmsd lddt dice ndcg auroc auprc elbo regret".split()
)


def _decided(words: tuple[str, ...], measured: bool) -> tuple[Noun | None, bool]:
    """Return the noun of a segment, and whether an unknown word follows it."""
    if any(word in SPREAD for word in words) and not _is_explained(words):
        return _NONE, False
    if len(words) > 1 and words[0] in _COUNTED + _CHANGED:
        return _of_first(words), False
    if any(pair in _UNQUALIFIED for pair in pairwise(words)) or _is_count(words):
        return _NONE, False
    for place, word in enumerate(words):  # what a preposition begins says of what
        if word in PREPOSITIONS and place:
            whole = _last(words, measured)[0]
            if whole is not None and whole.kind != "none" and _spans(words, place):
                break
            noun, followed = _last(words[:place], measured)
            if noun is not None:
                of_it = word == "of" and noun.kind == "higher"
                if of_it and _has_firm("lower", words[place + 1 :]):
                    return _ASK, followed  # auc_of_loss
                return noun, followed
    noun, followed = _last(words, measured)
    is_machine = words[0] in _OF_MACHINES and noun is not None and noun.kind == "higher"
    return (_NONE if is_machine else noun), followed


def _of_first(words: tuple[str, ...]) -> Noun:
    """Return the noun of a count or a change: num_errors, nDCG@5, delta_1."""
    starts = ["".join(words[:end]) for end in range(len(words), 1, -1)]
    if words[0] in _CHANGED:
        whole = NOUNS.get(starts[0], _ASK)
        return _ASK if whole.kind == "none" else whole
    return next((NOUNS[s] for s in starts if NOUNS.get(s, _ASK).kind != "ask"), _NONE)


_COUNTED = ("num", "n", "number", "rank")
_CHANGED = ("delta", "diff", "change")
_OF_MACHINES = ("grad", "grads", "gradient", "gradients", "cache", "queue")
_COUNTS = ("steps", "epochs", "iterations", "iters", "episodes", "rounds")
_WHEN = ("epoch", "step", "iter", "iteration", "round", "idx", "index")
_UNQUALIFIED = {
    *(("per", unit) for unit in ("s", "sec", "second", "minute", "hour", "day")),
    *((count, "to") for count in _COUNTS),
    *((count, "until") for count in _COUNTS),
}


def _is_count(words: tuple[str, ...]) -> bool:
    """Return whether it counts something: success_steps, not return_at_9_steps."""
    is_plain = not any(word in PREPOSITIONS or word[0].isdigit() for word in words)
    says_when = words[0] == "best" and words[-1] in _WHEN
    return len(words) > 1 and (says_when or (words[-1] in _COUNTS and is_plain))


def _is_explained(words: tuple[str, ...]) -> bool:
    spread, explained = ("variance", "var"), ("explained", "accounted")
    return any({a, b} & {*spread} and {a, b} & {*explained} for a, b in pairwise(words))


def _spans(words: tuple[str, ...], place: int) -> bool:
    """Return whether a compound noun goes over a preposition: bits per byte."""
    return any(
        "".join(words[start:end]) in NOUNS
        for start in range(place)
        for end in range(place + 2, len(words) + 1)
    )


def _last(words: tuple[str, ...], measured: bool) -> tuple[Noun | None, bool]:
    followed, end = False, len(words)
    while end:
        start, key = _compound(words, end, measured)
        if key is None:
            followed = followed or _is_foreign(words[end - 1])
            end -= 1
            continue
        noun = OF_BOOSTERS[key] if measured and key in OF_BOOSTERS else NOUNS[key]
        if key in QUANTITIES and start and words[start - 1] in ERRORS:
            end = start
            continue
        if key in OF_A_RATE and start:
            inner, beyond = _last(words[:start], measured)
            is_rate = inner is not None and inner.kind == "higher"
            if is_rate and inner is not None and not beyond and inner.range[1] <= 1:
                return inner, followed
        if key in PLACES and start and _is_directed(_last(words[:start], measured)):
            end = start
            continue
        alone = key in SUFFIXES or (key in CONTEXT and noun.kind in ("none", "ask"))
        if alone and start:
            inner, beyond = _last(words[:start], measured)
            if inner is not None and not beyond and inner.kind != "ask":
                return inner, followed
            if key in CONTEXT and key not in SUFFIXES and inner is None:
                end = start
                continue
            if key in SUFFIXES:  # of something that nobody knows
                return _ASK, followed
        elif alone:  # "Loss/value": what stands before the segment may tell
            return None, followed or key not in CONTEXT
        return _signed(noun, key, words[:start]), followed
    return None, followed


def _is_directed(last: tuple[Noun | None, bool]) -> bool:
    noun, followed = last
    return noun is not None and noun.kind in ("higher", "lower") and not followed


def _compound(
    words: tuple[str, ...], end: int, measured: bool
) -> tuple[int, str | None]:
    """Return the longest known noun that ends here: where it begins, and its key."""
    for start in range(max(0, end - _LONGEST), end):
        key = "".join(words[start:end])
        if key in NOUNS or (measured and key in OF_BOOSTERS):
            return start, key
    return end, None


def _is_contradicted(kind: Kind, key: str, before: tuple[str, ...]) -> bool:
    """Return whether the words before a noun leave open which way is better."""
    if kind == "higher":  # miss_detection, err_auc
        return bool(before) and (before[-1] in BAD or _has_firm("lower", before))
    if kind != "lower":
        return False
    is_head = key in HEADS or key.endswith(_OF_ANYTHING)
    is_taken_off = key in TAKEN_OFF and bool({*before} & {"reward", "rew"})
    return is_taken_off or (not is_head and _has_firm("higher", before))


_OF_ANYTHING = (
    "loss",
    "losses",
    "error",
    "err",
    "mse",
    "mae",
    "rate",
    "cost",
    "regret",
)


def _has_firm(kind: Kind, words: tuple[str, ...]) -> bool:
    """Return whether some of the words are a noun of that kind by themselves."""
    ends = range(len(words))
    keys = ("".join(words[a : b + 1]) for a in ends for b in ends[a : a + _LONGEST])
    nouns = (NOUNS[key] for key in keys if key in NOUNS and key not in PLACES)
    return any(noun.kind == kind and noun.is_firm for noun in nouns)


def _is_foreign(word: str) -> bool:
    return word not in CONTEXT and not word[0].isdigit()


def _signed(noun: Noun, key: str, before: tuple[str, ...]) -> Noun:
    """Return a noun with its sign: scorers of scikit-learn begin with ``neg_``."""
    if key in ("error", "err") and any(map(_is_foreign, before)):
        noun = Noun("lower", is_firm=True)  # of what was measured: no rate
    if noun.kind == "higher" and "loss" in before:
        is_lost = key in LOST and before[-1] == "loss"
        return Noun("lower", is_firm=True) if is_lost else _ASK
    if _is_contradicted(noun.kind, key, before):
        return _ASK
    signs = [word for word in before if word in NEGATIONS]
    if not signs or noun.kind not in ("higher", "lower"):
        return noun
    if len(signs) > 1 or key not in NEGATED:
        return _ASK
    low, high = noun.range
    kind: Kind = "higher" if noun.kind == "lower" else "lower"
    return Noun(kind, (-high, -low), noun.is_firm)
