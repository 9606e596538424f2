"""Words beside the noun of a metric: where it was measured, and what turns it round."""


def _commas(text: str) -> list[str]:
    return text.split(",")


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
    for phrase in _commas(
        "log loss, brier score, brier, mean squared error, squared error, max "
        "error,mean absolute error, absolute error, median absolute error, mse, mae, "
        "rmse,root mean squared error, mean absolute percentage error, poisson "
        "deviance,gamma deviance, tweedie deviance, deviance, mean squared log "
        "error,root mean squared log error, percentage error, squared log error, "
        "mape, msle,negative likelihood ratio, log likelihood, loglik, ll, elbo, "
        "loglikelihood,evidence lower bound, perplexity, cross entropy, crossentropy, "
        "error"
    )
)
