"""The vocabulary of metrics: which nouns are good when high, good when low, or neither.

Phrases are separated by commas. A name matches whatever its separators and its case are:
"log loss" stands for ``log_loss``, ``LogLoss``, ``log-loss`` and ``logloss``. The longest
phrase that ends a name decides, so that "average precision" goes before "precision".
"""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["higher", "lower", "none", "ask"]

_INF = math.inf
_RATE = (0.0, 1.0)
_SIGNED = (-1.0, 1.0)
_POSITIVE = (0.0, _INF)
_BELOW_1 = (-_INF, 1.0)
_FREE = (-_INF, _INF)


class Noun(NamedTuple):
    """What a noun says: a direction, no quality, or nothing; and its range.

    Parameters
    ----------
    kind : {"higher", "lower", "none", "ask"}
    range : (float, float)
    is_firm : bool
        Whether a word that nobody knows may follow it, as in ``loss_bbox``; "cost" and
        "return" may be the beginning of anything.
    """

    kind: Kind
    range: tuple[float, float] = _FREE
    is_firm: bool = False


_TABLE: tuple[tuple[Noun, str], ...] = (
    # --- higher is better ----------------------------------------------------------------
    (
        Noun("higher", _RATE, True),
        "accuracy, accuracies, acc, prec, spl, top 1, top 5, acc norm, correct rate, "
        "exact match, em, precision, recall, sensitivity, specificity, tpr, tnr, ppv, "
        "npv, selectivity, true positive rate, true negative rate, positive "
        "predictive value, negative predictive value, average precision, average "
        "recall, ap, ar, map, mar, mean average precision, mean ap, mean ar, area "
        "under curve, auc, auroc, roc auc, auc roc, area under roc curve, area under "
        "the curve, auprc, aucpr, pr auc, auc mu, precision recall auc, c index, "
        "concordance index, concordance, f1, f2, f beta, f measure, f score, f macro, "
        "jaccard, jaccard index, iou, miou, mean iou, fw iou, giou, dice, mdice, dice "
        "coefficient, dice similarity, dice coef, tversky index, g mean, mean f1, "
        "ndcg, normalized dcg, mrr, mean reciprocal rank, reciprocal rank, recip "
        "rank, hit rate, hit ratio, hr, pass, pck, pckh, panoptic quality, pq, hota, "
        "idf1, assa, deta, rand score, rand index, v measure, homogeneity, "
        "completeness, fowlkes mallows, normalized mutual info, normalized mutual "
        "information, nmi, word info preserved, critical success index, csi, youden, "
        "r prec, bpref, p found, mc1, mc2, balanced acc, pair accuracy, mean accuracy",
    ),
    (
        Noun("higher", _RATE, True),
        "success, success rate, successes, solved, solve rate, solved rate, is "
        "success, win rate, completion rate, resolved rate, pass rate, purity, "
        "detection rate, hit",
    ),
    (
        Noun("higher", _SIGNED, True),
        "mcc, matthews corrcoef, matthews correlation, matthews correlation "
        "coefficient, phi coefficient, kappa, cohen kappa, cohens kappa, quadratic "
        "weighted kappa, qwk, w kappa, fleiss kappa, pearson, pearson r, spearman, "
        "spearman r, kendall, kendall tau, spearman rho, rank correlation, corr coef, "
        "correlation, correlation coefficient, concordance correlation, concordance "
        "corr coef, ccc, silhouette, ssim, ms ssim, structural similarity, structural "
        "similarity index measure, normalized gini, universal image quality index, "
        "uqi",
    ),
    (
        Noun("higher", _BELOW_1, True),
        "r2, r squared, r square, explained variance, explained var, vf explained "
        "var, adjusted r2, adjusted rand score, adjusted rand index, adjusted rand, "
        "ari, adjusted mutual info, adjusted mutual information, ami, d2 absolute "
        "error, d2 log loss, d2 tweedie, d2 pinball, d2 brier, nash sutcliffe, nse, "
        "mota, coefficient of determination",
    ),
    (
        Noun("higher", _FREE, True),
        # Between 0 and 1 in one tool and 0 and 100 in the next: no range.
        "bleu, sacrebleu, google bleu, gleu, bleurt, rouge, rouge l, rouge lsum, "
        "meteor, chrf, chrf++, comet, cider, spice, bert score, clip score, psnr, "
        "peak signal noise ratio, peak signal to noise ratio, signal noise ratio, "
        "signal to noise ratio, snr, si sdr, sdr, sisnr, signal distortion ratio, "
        "scale invariant signal distortion ratio, inception score, pesq, stoi, short "
        "time objective intelligibility, perceptual evaluation speech quality, visual "
        "information fidelity, vif, dunn index, calinski harabasz, dcg, log "
        "likelihood, loglik, ll, elbo, evidence lower bound, log evidence, marginal "
        "likelihood, likelihood ratio, positive likelihood ratio, relative "
        "information, psnrb, mos, mean opinion score, intelligibility",
    ),
    (
        Noun("higher", _FREE, True),
        "reward, return, episode return, episodic return, episode reward, ep ret, ep "
        "rew, cumulative reward, episode score, game score, avg score per episode",
    ),
    (
        Noun("higher"),
        "rewards, rew, returns, ret, average ep ret, average test ep ret, human "
        "normalized score, human normalised score, elo, elo rating, utility, profit, "
        "sharpe, sharpe ratio, true positives, true negatives, hits, wins, tp, tn, "
        "hypervolume, "
        # Scores of scikit-learn's searches: its scorers are good when high, always.
        "mean test score, mean train score, split test score, split train score",
    ),
    # --- lower is better -----------------------------------------------------------------
    (
        Noun("lower", _RATE, True),
        "error rate, err rate, misclassification rate, classification error, "
        "misclassification error, zero one loss, 0 1 loss, hamming loss, hamming "
        "distance, label ranking loss, merror, binary error, multi error, balanced "
        "error rate, ber, ece, mce, expected calibration error, calibration error, "
        "adaptive ece, maximum calibration error, false positive rate, false negative "
        "rate, fpr, fnr, false discovery rate, false alarm rate, fall out, miss rate, "
        "eer, equal error rate, word info lost, spectral distortion index",
    ),
    # A bare "error" is a rate, as confusion counts tell it; that of a forecast is not.
    (Noun("lower", _RATE, True), "error, err"),
    (Noun("lower", _RATE, True), "brier"),
    (
        Noun("lower", _POSITIVE, True),
        # Above 1 with several classes.
        "brier score, brier score loss, log loss, logistic loss, mlogloss, multi "
        "logloss, binary logloss, mean squared error, mse, squared error, root mean "
        "squared error, root mean square error, rmse, nmse, rms error, rms, nrmse, "
        "mean absolute error, absolute error, mae, median absolute error, medae, "
        "mdae, mean absolute percentage error, absolute percentage error, percentage "
        "error, mape, smape, wape, wmape, mase, rmsse, msle, rmsle, mean squared log "
        "error, squared log error, mean squared logarithmic error, squared "
        "logarithmic error, root mean squared log error, log rms, rmse log, silog, "
        "abs rel, sq rel, log 10, abs error, abs err, l1 error, l2 error, max error, "
        "maximum error, mean error rate, maximum absolute error, max absolute error, "
        "relative error, relative squared error, relative absolute error, root "
        "relative squared error, fractional absolute error, geometric mean absolute "
        "error, log cosh, log cosh error, hinge, hinge loss, squared hinge, "
        "categorical hinge, huber loss, pinball, pinball loss, quantile loss, ranking "
        "loss, coverage error, tweedie deviance, poisson deviance, absolute "
        "deviation, mphe, wer, cer, ter, mer, uer, wil, word error rate, char error "
        "rate, character error rate, phone error rate, phoneme error rate, token "
        "error rate, match error rate, sentence error rate, edit rate, translation "
        "edit rate, edit distance, levenshtein, levenshtein distance, fid, kid, "
        "frechet inception distance, frechet distance, kernel inception distance, "
        "fad, fvd, lpips, learned perceptual image patch similarity, mmd, maximum "
        "mean discrepancy, wasserstein, wasserstein distance, chamfer, chamfer "
        "distance, hausdorff, hausdorff distance, hd95, assd, emd, earth movers "
        "distance, crps, continuous ranked probability score, ranked probability "
        "score, wql, owa, ibs, integrated brier score, davies bouldin, mpjpe, pa "
        "mpjpe, mpvpe, pve, nme, ade, min ade, fde, min fde, epe, endpoint error, "
        "rpe, js divergence, jensen shannon divergence, jensen shannon, jsd, "
        "minkowski distance, manhattan distance, euclidean distance, canberra, "
        "canberra metric, pairwise distance, wave hedges distance, spectral angle "
        "mapper, num errors, number of errors, false positives, false negatives, "
        "qlike, false negative, false positive, mean class complexity, reconstruction "
        "error, cross entropy, categorical crossentropy, binary crossentropy, "
        "xentropy, ce, bce, kullback leibler, kullback leibler divergence",
    ),
    (
        Noun("lower", (1.0, _INF), True),
        "perplexity, ppl, pplx, word perplexity, byte perplexity",
    ),
    (
        Noun("lower", _POSITIVE, True),
        "bpb, bpc, bpd, bits per byte, bits per char, bits per character, bits per "
        "dim, bits per word, bpw, bits per dimension",
    ),
    (
        Noun("lower", _FREE, True),
        "loss, losses, nll, neg log likelihood, negative log likelihood, nloglik, neg "
        "ll, deviance, gamma deviance, kl divergence, kld, td error, bellman error, "
        "ctc, aic, bic, aicc, looic, partial aic, inertia, distortion, energy "
        "distance, free energy, min dcf, fpr 95, fpr at 95 tpr, false positives per "
        "image",
    ),
    (Noun("lower", _POSITIVE), "regret, simple regret, cumulative regret"),
    (
        Noun("lower"),
        "cost, costs, makespan, disparity, discrepancy, divergence, violation, "
        "violations, viol, constraint violation, ep cost, episode cost, penalty score, "
        "substitutions, deletions, insertions, id switches, idsw, frag, "
        "fragmentations, failures, failure rate, fail rate, crash rate, collision "
        "rate, collisions, mistakes, misses, fn, fp, errors, error instances, loss "
        "pi, loss v, loss q, violation rate, rejection rate, degradation, stress, "
        "misclassified",
    ),
    (
        Noun("higher", _RATE, True),
        # More fields: detection and tracking, retrieval, question answering, medicine,
        # forecasts of events, recommendation, clustering.
        "area under roc, area under pr, nds, aph, grade, intersection over union, "
        "mask iou, box iou, ciou, diou, boundary iou, pixel acc, mean acc, obj acc, "
        "overall acc, hmean, f macro score, mean dice, surface dice, nsd, dsc, "
        "cldice, hr at k, recall rate, precision rate, accuracy rate, correct, "
        "percent correct, fraction correct, exact, best exact, best f1, answer f1, "
        "joint goal accuracy, slot f1, intent accuracy, las, uas, labeled attachment "
        "score, unlabeled attachment score, upos, span f1, entity f1, token accuracy, "
        "sequence accuracy, sentence accuracy, execution accuracy, r precision, err "
        "iac, expected reciprocal rank, rbp, item coverage, precision at, success at, "
        "gauc, uauc, threat score, probability of detection, pod, ets, equitable "
        "threat score, event tpr, cluster accuracy, clustering accuracy, nmi score, "
        "fmi, fowlkes mallows index, sq, rq, segmentation quality, recognition "
        "quality, assre, asspr, detre, detpr, loca, rcll, prcn, idp, idr, pcp, oks, "
        "oks ap, auc pck, area under pck, solve ratio, success ratio, goal rate, task "
        "success, task completion, pass at 1, resolved, mean win rate, preference "
        "rate, harmonic mean accuracy, kbit accuracy, cv accuracy, oob accuracy, "
        "willmott index, agreement, index of agreement, faithfulness, groundedness, "
        "answer relevancy, answer correctness, context precision, context recall, "
        "helpfulness, coherence, fluency, factuality, truthfulness",
    ),
    (
        Noun("higher", _SIGNED, True),
        "normalized gini coefficient, somers d, goodman kruskal gamma, informedness, "
        "youden j, youdens j, corr, ccc score, pcc, plcc, srcc, srocc, krocc, krcc, "
        "lcc, spatial correlation coefficient, heidke skill score, hss, peirce skill "
        "score, true skill statistic, tss, dbcv, modularity, alpha agreement, "
        "krippendorff alpha, krippendorffs alpha, icc, intraclass correlation, map "
        "correlation",
    ),
    (
        Noun("higher", _BELOW_1, True),
        "kge, kling gupta efficiency, nash sutcliffe efficiency, skill, skill score, "
        "brier skill score, bss, crpss, motp accuracy, variance accounted for, vaf, "
        "variance explained, evs, adj r2, q2, mcfadden r2, pseudo r2, mean rank "
        "index, adjusted arithmetic mean rank index, relative improvement score",
    ),
    (
        Noun("higher", _FREE, True),
        "sdri, sisdri, sisnri, sdr improvement, segsnr, fwsegsnr, csig, cbak, covl, "
        "dnsmos, visqol, utmos, nisqa, srmr, haspi, estoi, speech quality, vmaf, ms "
        "ssim score, fsim, vsi, gmsd similarity, haarpsi, mdsi similarity, dss, "
        "srsim, iw ssim, cw ssim, musiq, clip iqa, niqe score, clip similarity, clip "
        "sim, image reward, hpsv2, pick score, aesthetic score, aesthetics, dino "
        "score, dinov2 score, vqa score, gen eval, t2i compbench, logp score, qed, "
        "validity, uniqueness, mover score, bart score, bleurt score, nist, ribes, "
        "sari, squad f1, rouge score, parent score, critic value accuracy, throughput "
        "gain, marginal log likelihood, log marginal likelihood, log predictive "
        "density, lpd, elpd, log pdf, log posterior, iwae, iwelbo, evidence, "
        "silhouette coefficient, chi index, enrichment factor, bedroc, diagnostic "
        "odds ratio, likelihood ratio positive, information coefficient, icir, "
        "information ratio, sortino, calmar, sortino ratio, calmar ratio, annual "
        "return, annualized return, cumulative return, total return, net return, "
        "alpha return, pnl, lift score, uplift, qini, auuc, ndcg gain, dcg score, "
        "average popularity lift",
    ),
    (
        Noun("lower", _RATE, True),
        "false omission rate, misdetection rate, missed detection rate, incorrect "
        "rate, wrong rate, hallucination rate, toxicity rate, refusal "
        "error, half total error rate, hter, apcer, bpcer, acer, frr, mmr, log "
        "average miss rate, lamr, ser, sentence error, top 1 error, top 5 error, top "
        "1 err, top 5 err, classification err, misclass, misclassification, "
        "demographic parity difference, equalized odds difference, equal opportunity "
        "difference, aurc, eaurc, tace, ksce, kde ece",
    ),
    (
        Noun("lower", _POSITIVE, True),
        "sae, sse, ssr, rss, sum squared error, sum of squared errors, sum absolute "
        "error, residual sum of squares, residual standard error, mre, mape score, "
        "medape, mdape, maape, mean relative error, absolute scaled error, mean "
        "absolute scaled error, squared scaled error, absolute relative error, "
        "squared percentage error, mspe, rmspe, msis, interval score, winkler score, "
        "theil u, theil u2, normalized deviation, median squared error, asymmetric "
        "error, linex error, rae, rse, rrse, relerr, abs err mean, l1 norm error, l2 "
        "norm error, linf error, l1 distance, l2 distance, cosine distance, "
        "hellinger, hellinger distance, total variation distance, tvd, mahalanobis, "
        "mahalanobis distance, bhattacharyya, geodesic, rotation error, rot err, "
        "translation error, trans err, pose error, reprojection error, rte, rre, "
        "drift error, vertex error, lip vertex error, joint error, pve error, mpjae, "
        "pelvis error, acceleration error, accel error, mean rank error, arithmetic "
        "mean rank, harmonic mean rank, geometric mean rank, median rank, mean "
        "reciprocal rank error, mrank, ergas, error relative global dimensionless "
        "synthesis, rase, scc error, niqe, brisque, piqe, ilniqe, dists, gmsd, "
        "pieapp, deltae, ciede2000, perceptual path length, ppl full, sfid, cmmd, "
        "kvd, mifid, swd, sliced wasserstein, sinkhorn divergence, mcd, mel cepstral "
        "distortion, detection error rate, identification error rate, f0 rmse, lsd, "
        "log spectral distance, der, diarization error "
        "rate, jer, diarization error, cpwer, pier, tser, sacrewer, phn error, edit "
        "dist, levenshtein ratio error, cdet, actdcf, cllr, min cllr, dcf, ged, "
        "generalized energy distance, asd, masd, rvd, vs error, hausdorff 95, surface "
        "distance, average surface distance, xbi, xie beni, db index, within cluster "
        "sum of squares, wcss, sum of squares, quantization error, topographic error, "
        "variation of information, pinaw, cwc, tracking difference, opt gap, "
        "optimality gap, mip gap, duality gap, exploitability, nash conv, "
        "suboptimality, instantaneous regret, inference regret, dynamic regret, gap "
        "to optimal",
    ),
    (
        Noun("lower", _FREE, True),
        "objective loss, nlpd, nlp, negative log predictive density, msll, mdl, "
        "description length, hqic, dic, caic, ebic, vlb, neg elbo bound, score "
        "matching, dsm, discounted cost, surprisal, nats per token, bits per token, "
        "bits per pixel, bpp, bits per base, bpt, ipa error, fragmentation, fp rate "
        "per image, fppi, mmr 2",
    ),
    # --- more of each field ---------------------------------------------------------------
    (
        Noun("higher", _RATE, True),
        # Detection, tracking, matching, depth, re-identification, verification.
        "nuscenes detection score, mostly tracked, delta 1, delta 2, delta 3, delta "
        "1.25, d1 acc, 3d pck, tar, tpir, gar, true accept rate, true acceptance "
        "rate, genuine accept rate, rank 1, rank 5, rank 10, rank 20, cmc, minp, s "
        "measure, e measure, max f, mean f, max fm, w fm, weighted f measure, normal "
        "consistency, accuracy ratio, inlier ratio, registration recall, mma, "
        "matching score, repeatability, localization accuracy, pro, au pro, pck auc, "
        "eao, sr 50, sr 75, pixel accuracy, mean pixel accuracy, "
        # Curves and counts.
        "aupr, aupr in, aupr out, vus roc, vus pr, auroc score, pauc, partial auc, "
        "area under the precision recall curve, area under the roc curve, area under "
        "precision recall curve, area under the receiver operating characteristic "
        "curve, f 0.5, f 05, geometric mean score, lrap, label ranking average "
        "precision, c stat, c statistic, harrell c, harrells c, uno c, unos c, "
        "antolini c, froc, cpm, jaccard similarity, set f, worst group accuracy, wga, "
        "subset accuracy, macro f, micro f, froc score, 11 pt avg, avg precision, hit "
        "at, hits at, hits at k, hits at 10, i2t r1, t2i r1, img r1, txt r1, r5, r10, "
        "r100, tr 1, ir 1, win pct, percent wins, normalized discounted cumulative "
        "gain, fractions skill score, "
        # Language models and text.
        "maj, cons, majority vote, g pass, distinct, distinct 1, distinct 2, distinct "
        "3, distinct 4, distinct n, ent n, mauve, edit similarity, edit sim, code "
        "bleu, crystal bleu, slot accuracy, parse accuracy, mmlu, hellaswag, "
        "winogrande, arc challenge, arc, siqa, commonsense qa, arc easy, truthfulqa, "
        "humaneval, gsm8k, boolq, "
        "piqa, openbookqa, mbpp, format correctness, answer similarity, semantic "
        "similarity, instruction following, relevance, relevancy, correctness, "
        "consistency, readability, informativeness, naturalness, "
        # Chemistry, biology, embeddings.
        "tm score, gdt, gdt ts, gdt ha, lddt, plddt, ptm, iptm, dockq, aar, sequence "
        "recovery, native sequence recovery, amino acid recovery, designability, q 3, "
        "q 8, trustworthiness, continuity, neighborhood preservation, neighbourhood "
        "preservation, neighborhood hit, neighbourhood hit, lcmc, graph connectivity, "
        "asw, kbet, ilisi, serendipity, catalog coverage, catalogue coverage, user "
        "coverage, demographic parity ratio, equalized odds ratio, equal opportunity "
        "ratio, statistical parity ratio",
    ),
    (
        Noun("higher", _SIGNED, True),
        "ktau, tau b, rank ic, ric, markedness, backward transfer, forward transfer, "
        "bwt, fwt, gilbert skill score, gss, anomaly correlation, anomaly correlation "
        "coefficient, pattern correlation, canonical correlation, amri, inverse "
        "harmonic mean rank, inverse geometric mean rank, inverse arithmetic mean "
        "rank, inverse median rank, cophenetic correlation, cca, cka, adjusted "
        "geometric mean rank index",
    ),
    (
        Noun("higher", _FREE, True),
        "sar, sir, isr, cmos, smos, nmos, mos lqo, mosnet, speaker similarity, "
        "speaker sim, spk sim, spk similarity, sim o, sim r, voice similarity, comet "
        "kiwi, xcomet, wmt comet, spider, spider fl, fense, questeval, summac, "
        "factcc, g eval, xpsnr, wpsnr, ws psnr, bd psnr, identity similarity, id "
        "similarity, id sim, face similarity, face sim, arcface similarity, dino "
        "similarity, clip t, clip i, clip directional similarity, directional "
        "similarity, style similarity, image similarity, text similarity, text image "
        "similarity, text alignment, video text alignment, prompt alignment, image "
        "quality, video quality, imaging quality, aesthetic quality, motion "
        "smoothness, subject consistency, background consistency, temporal "
        "consistency, tifa, hps, vendi, vendi score, is 50 k, inception, density "
        "prdc, coverage prdc, rpss, ranked probability skill score, log prob, log "
        "probability, mean log prob, log py, logpx, log density, log joint, iwae "
        "bound, test lld, lld, ef 1, enrichment, ndtw, sdtw, cls ndtw, soft spl, "
        "rsum, cumulative gain, discounted cumulative gain, driving score, route "
        "completion, infraction score, d4rl normalized score, d4rl score, atari "
        "normalized score, expert normalized score, dmc normalized score, rewards "
        "margins, reward margin, lift at, profit factor, cagr, omega ratio, win loss "
        "ratio, roi, roas, ltv, revenue, between class variance",
    ),
    (
        Noun("higher"),
        "battle won, won, goal reached, goals reached, goals achieved, goal achieved, "
        "achieved goals, dist 1, dist 2, dist 3, a 1, a 2, a 3, acceptability, "
        "solves, milestones, points scored, completion, level completion, levels "
        "solved, achievements, achievements unlocked, trueskill, glicko, glicko "
        "rating, rating, ratings, hns, human norm score, score per episode, portfolio "
        "value, net worth, superglue, glue, bbh, agieval, ceval, cmmlu, gpqa, aime, "
        "ifeval, musr, triviaqa, sst2, mnli, qnli, mrpc, qqp, stsb, cola, squad, "
        "mteb, beir, livecodebench, swe bench, longbench, mtbench, alpaca eval, arena "
        "hard, conversion rate, cvr, retention, retention rate, sum rate, "
        "spectral efficiency, sinr, sharpe annual, cumulative profit, accepted rate, "
        "human preference, empowerment",
    ),
    (
        Noun("higher", _RATE, True),
        "uar, uap, bacc, unweighted average recall, weighted average recall, oscr, "
        "smatch, lea, ceaf, ceafe, muc, b cubed, conll, mlas, blex, rpa, rca, raw "
        "pitch accuracy, raw chroma accuracy, voicing recall, wcsr, string match, "
        "prefix match, partial match, fuzzy match, substring match, execution match, "
        "tp rate, tn rate, true pos rate, true neg rate, hmean iou, completeness "
        "ratio, user accuracy, producer accuracy, users accuracy, producers accuracy, "
        "oa, aa, mean acc class, auc judd, auc borji, s auc, shuffled auc, "
        "probability of correct selection, pcs, topk accuracy, jga, inform rate, "
        "dialogue success, slu f1, goal accuracy, dsc mean, mean jaccard, j and f, j "
        "f mean, jf, j mean, f mean, davis j, region similarity, contour accuracy, "
        "nauc, auprg, precision gain, correctly classified, percent correctly "
        "classified, pct correct, correct percent, correct percentage, unique "
        "fraction, pcoc accuracy",
    ),
    (
        Noun("higher", _SIGNED, True),
        "correlation coef, correlation coeff, corr coeff, pearson correlation, "
        "pearson corr, spearman correlation, spearman corr, kendall correlation, phi "
        "k, cc, nss, npmi, topic coherence, umass coherence, u "
        "mass, cosine similarity score, distance correlation, lin ccc, lins ccc, "
        "somers",
    ),
    (
        Noun("higher", _FREE, True),
        "nsdr, usdr, csdr, gnsdr, output snr, snr improvement, psnr y, psnr gain, "
        "negentropy, hypervolume indicator, hv, hvi, hypervolume improvement, "
        "expected utility, social welfare, welfare, total utility, total profit, net "
        "profit, discounted return, normalized hv, pesq score, vgg similarity, mos "
        "naturalness, mos similarity, mushra, nima, maniqa, topiq, qalign, dover, "
        "hyperiqa, liqe, ngram diversity",
    ),
    (
        Noun("lower", _RATE, True),
        "fdr, fwer, family wise error rate, fp rate, fn rate, false pos rate, false "
        "neg rate, miss detection, miss detection rate, deletion rate, insertion "
        "rate, substitution rate, del rate, ins rate, sub rate, zero one, hamming, "
        "speaker confusion rate, confusion rate, folding ratio, neg jac frac, ici, "
        "integrated calibration index, e50, e90, emax, cavg, c primary, 1 nna, nna, "
        "packet loss rate, overflow rate, wrong predictions, incorrect predictions, "
        "stall rate, deadline miss rate, brier loss, bounce rate, unfaithfulness, "
        "misranking rate, discordance",
    ),
    (
        Noun("lower", _POSITIVE, True),
        "rmsecv, rmsep, rmsec, wmae, pmae, nmae, mnae, nmad, relative l2, rel l2, l2 "
        "rel, relative l1, rel l1, rl2, pde residual, equation residual, tre, target "
        "registration error, abs volume diff, w1, w2, sinkhorn, sinkhorn distance, js "
        "div, jsd score, ksd, kernel stein discrepancy, stein discrepancy, c2st, bias "
        "squared, squared bias, sqrt mse, root mse, mean sq error, mean square error, "
        "mean sq err, sq error, sq err, mean abs error, mean abs err, mean abs "
        "percentage error, mean abs pct error, abs diff, absolute difference, mean "
        "absolute difference, symmetric mean absolute percentage error, smdape, "
        "mdase, rmdspe, gmrae, mrae, mdrae, mbrae, umbrae, inrse, avg rank, avg "
        "ranks, mean ranks, average ranks, friedman rank, inverted generational "
        "distance, igd, igd+, igdplus, generational distance, gd, dist 2 goal, dist "
        "to goal, dist to target, log mse, log mae, log rmse, hamming error, graph "
        "edit distance, tree edit distance, normalized edit distance, ned, "
        "discomfort, overshoot, steady state error, settling error, ise, iae, itae, "
        "itse, nmpiw, hamming dist, bregman divergence, itakura, renyi divergence, "
        "log10 error, mae log, xie beni index, mpe abs",
    ),
    (
        Noun("lower", _RATE, True),
        "inaccuracy, far, fnmr, fpir, fnir, false accept rate, false reject "
        "rate, false acceptance rate, false rejection rate, false match rate, false "
        "non match rate, false alarm ratio, voe, volumetric overlap error, volume "
        "overlap error, sce, classwise ece, cw ece, sm ece, uce, self bleu, error "
        "fraction, fraction wrong, fl all, f1 all, d1 all, d1 bg, d1 fg, bad 1, bad "
        "2, bad 3, bad 1.0, bad 2.0, bad pixels, percent bad, outlier ratio, outlier "
        "rate, foot skating ratio, conductance, bit error rate, block error rate, "
        "bler, frame error rate, gross pitch error, gpe, voicing decision error, vde, "
        "f0 frame error, ffe, speaker confusion, missed speech, missed detection, "
        "false alarm, false alarms, false alarm speech, speaker error, chair i, chair "
        "s, average odds difference, average absolute odds difference, dp diff, eo "
        "diff, demographic parity diff, equalized odds diff, demographic parity gap, "
        "accuracy parity gap, equalized odds gap, equal opportunity gap, unfairness, "
        "miscalibration, fpr tpr 95, fpr at tpr 95, fpr 95 tpr, fpr at 95, fpr at "
        "tpr, false positive rate at 95 tpr, aufpr",
    ),
    (
        Noun("lower", _POSITIVE, True),
        "rmsd, irmsd, lrmsd, root mean square deviation, root mean squared deviation, "
        "rmsf, fcd, frechet chemnet distance, clash score, clashes, sa score, sas "
        "score, mat r, mat p, amr r, amr p, msd surface, ravd, absolute volume "
        "difference, relative volume difference, relative absolute volume difference, "
        "pehe, eps ate, error ate, policy risk, structural hamming distance, shd, "
        "structural intervention distance, sid, nd, wrmsse, mql, ql 0.5, ql 0.9, "
        "rho risk, q risk, quantile risk, quantile score, pinball score, interval "
        "loss, miscalibration area, ence, ibll, inbll, integrated nbll, mean rank, "
        "mnr, medr, detection delay, med rank, average rank, amr, mean position, nats "
        "per dim, bits per subpixel, bits dim, bits byte, bits char, bits token, bd "
        "rate, bdbr, fdd, fd dino, fd dinov2, fd openl3, fd pann, fd passt, kl passt, "
        "kl sigmoid, kl softmax, fid clip, clip fid, clean fid, path length "
        "regularity, multimodal dist, mm dist, matching distance, "
        "foot skate, foot skating, foot sliding, jitter, jerk, warp error, flicker, "
        "theil index, dpd, eod, mr stft, stft distance, imae, irmse, aae, aepe, mrpe, "
        "mate, maoe, mave, maae, n mpjpe, p mpjpe, w mpjpe, wa mpjpe, mpjve, accel, "
        "mkpe, out 3d, cd l1, cd l2, cd, sad, sum of absolute differences, mean bias "
        "error abs, absolute bias, abs bias, excess risk, empirical risk, selective "
        "risk, bayes risk, population risk, expected risk, risk, normalized entropy, "
        "normalised entropy, normalized cross entropy, xent, softmax cross entropy, "
        "bellman residual, bellman residuals, deviation, deviations, mean deviation, "
        "energy score, variogram score, dawid sebastiani score, log score loss, "
        "ignorance score, logarithmic score loss, "
        "drawdown, mdd, ulcer index, backlog, tardiness, lateness, tour length, route "
        "length, path cost, dynamic time warping, dtw, dtw distance, discrete "
        "frechet, spectral convergence, multi resolution stft, log f0 rmse, bark "
        "spectral distance, itakura saito, cepstral distance, mcd dtw, error sum, "
        "missing rate, mre score, mean absolute relative error, mard, mean absolute "
        "relative difference, mape error, loss per token, brier min fde, min joint "
        "ade, min joint fde, heading err, normalized cut, ncut, gap to opt, "
        "optimality gap percent, relative gap, primal gap, integrality gap",
    ),
    (
        Noun("lower", _FREE, True),
        "cross entropy loss, nelbo, neg log prob, negative log prob, negative log "
        "probability, neg log probability, negative log lik, docking score, dock "
        "score, vina score, vina dock, vina min, vina, glide score, binding energy, "
        "binding affinity score, strain energy, cost return, cost returns, return "
        "cost, ep costs, forgetting, forgetting measure, average forgetting, "
        "harmfulness, hallucinations, repetition, expected max "
        "toxicity, bias amplification, loss rate, infractions, lane departures, "
        "unsafe actions, timeouts, failed, outliers",
    ),
    (
        Noun("higher", _RATE, True),
        "cov cd, cov emd, graph conn, cell cycle conservation, hvg overlap, hvg "
        "conservation, isolated "
        "label, isolated labels, pcr batch, f max, average pts within thresh, pts "
        "within thresh, moda, modp, owta, clr re, clr pr, mtr, ents f, ents p, ents "
        "r, sents f, sents p, sents r, spans sc f, spans sc p, spans sc r, cats macro "
        "f, cats micro f, prc, ncrr, nerr, role adherence, bal acc, sens, sen, wf1, "
        "maf1, mif1, uf1, aji, aji plus, dq, oracle success, oracle sr, pdms, epdms, "
        "certified acc, certified accuracy, robust acc, robust accuracy, clean acc, "
        "quasi exact match, prefix exact match, quasi prefix exact match, temporal "
        "flickering, overall consistency, temporal style, appearance style, spatial "
        "relationship, human action, object class, multiple objects, lc win rate, "
        "length controlled win rate, rama favored, ramachandran favored, rouge "
        "recall, coco ap, hit at 1, acc at 1, acc 1, acc 5, prec 1, prec 5, top 1 "
        "accuracy, top 5 accuracy, fuzzy f1, squad em, answer em, joint accuracy, "
        "exact matches, concept activation accuracy, linear probe, knn acc, knn top "
        "1, probe acc, zero shot acc, few shot acc, zeroshot top 1, retrieval acc, "
        "ranking accuracy, reward accuracy, reward acc, preference accuracy, rewards "
        "accuracies, win ratio, ood auroc, detection auroc, image auroc, pixel auroc, "
        "pixel pro, precision at k, recall at k, mean recall, mean precision, score "
        "f1, tool correctness, task completion rate, contextual precision, contextual "
        "recall, contextual relevancy, faithful",
    ),
    (
        Noun("higher", _FREE, True),
        "ess bulk, ess tail, min ess, min ess tail, min ess bulk, effective sample "
        "size, laion aes, codebert similarity, codebert score, fcp, average certified "
        "radius, dino i, elpd loo, elpd waic, expectancy, sqn, equity final, final "
        "equity, equity peak, account value, final portfolio value, reward margins, "
        "ncc, zncc, normalized score, normalised score, returns stat, hv indicator, "
        "pearson delta, ndcg score, evaluation reward, average return, avg return, "
        "mean return, undiscounted return, log prob correct, qini coef, qini "
        "coefficient, cross validated r2, average reward, mean reward, episode "
        "returns",
    ),
    (
        Noun("higher"),
        "dead enemies, enemies killed, battles won, kills, kill count, games won, "
        "goals scored, levels completed, coins collected, lines cleared, objects "
        "collected, items collected, tasks completed, num solved, questions correct, "
        "num correct, n correct, number correct, correct count, correct answers",
    ),
    (
        Noun("lower", _RATE, True),
        "mostly lost, mlr, false abstention, wrong answer rate, leakage rate, noise "
        "sensitivity, nsfw frac, gender imbalance, average abs odds difference, rama "
        "outliers, ramachandran outliers, mean corruption error, mean flip rate, mfr, "
        "flip rate, kitti f1, fl, missed rate, fell over, fp rate at 95, err 1, err "
        "5, error at 1, rejection error, miss prob, p miss, p fa, crash frac, "
        "termination fell over, constraint violation rate, over refusal, over refusal "
        "rate, false refusal rate, contamination error",
    ),
    (
        Noun("lower", _POSITIVE, True),
        "faf, mr 2, mr, log average miss rate 2, rmae, detection cost function, idfn, "
        "idfp, r hat, max rhat, split rhat, drmsd, fape, metricx, marre, spis, mpiw, "
        "mean prediction interval width, abs vol diff, vol diff, absolute vol diff, "
        "mae coverage, smin, set size, avg set size, average set size, mean set size, "
        "earthmovers, earth mover, tdi, sqrt pehe, rpehe, ate error, att error, "
        "rpol, intransigence, betti error, betti number error, rmce, molprobity, "
        "molprobity score, lives lost, l2 1s, l2 2s, l2 3s, l2 avg, navigation error, "
        "nav error, distance to success, distance to goal, distance to target, "
        "distance to optimum, distance to optimal, goal distance, final distance to "
        "goal, vuv error, pitch error, perceptual loss, l pix, l g pix, l percep, l g "
        "percep, l g style, l g gan, reconstruction mse, recon mse, rec err, recon "
        "error, recon err, mean corruption err, gradient penalty loss, cv "
        "error, cv rmse, generalization error, test mse, dead allies, num "
        "divergences, spectral error, dtw metric, weighted rmse, area weighted rmse, "
        "lat weighted rmse, mean abs bias, quantile crossing, nll loss, masked lm "
        "loss",
    ),
    (
        Noun("lower"),
        "deaths, crashes, falls, lives lost count, num switches, num misses, num "
        "fragmentations, num false positives, num false negatives, num violations, "
        "num collisions, num failures, num mistakes, num falls, num crashes, num "
        "deaths, n errors, n failures, n collisions, n violations, n false positives, "
        "n misses, number of violations, number of collisions, number of failures, "
        "number of mistakes, number of misses, num infractions",
    ),
    (
        Noun("none"),
        "gt dets, gt ids, dets, valid pixels, pixels, tick, ticks, rtf, real time "
        "factor, rounds used, ntruth, cutoff, order, fit order, censoring fraction, "
        "length scale, lengthscales, degree, mol wt, molecular weight, server round, "
        "noise multiplier, bracket, trades, num trades, thresh, dur, lagrange "
        "multiplier, lagrangian multiplier, crop pct, judged, horizon, abs target "
        "sum, target sum, mean absolute label, seasonal error, co2 cost, has ans "
        "total, no ans total, multiplier, num eval, num trunc, unlabeled ratio, stack "
        "level, max prob, best f1 thresh, best threshold, noise scale, noise std, "
        "outputscale, cell count, exposure time, avg trade duration",
    ),
    # --- no quality: never a score by default --------------------------------------------
    (
        Noun("none"),
        # Clocks and speed. Time may well be what somebody minimizes, and then says so.
        "time, times, timer, timers, timing, duration, durations, second, seconds, "
        "secs, sec, s, ms, millis, milliseconds, minutes, min left, hours, runtime, "
        "elapsed, walltime, wall, wall clock, wall clock time, timestamp, datetime, "
        "date, eta, latency, throughput, speed, fps, sps, wps, ups, its, qps, tps, "
        "rps, it per s, forward pass, backward pass, trial index, flops, flos, "
        "gflops, mflops, tflops, macs, gmacs, mfu, perf, benchmark, remaining, "
        # Counts, sizes, machine.
        "epoch, epochs, step, steps, iteration, iterations, iter, iters, timestep, "
        "timesteps, frame, frames, episode, episodes, batch, batches, update, "
        "updates, n updates, examples, instances, samples, tokens, tokens seen, size, "
        "sizes, bsz, length, len, lens, lengths, ep len, gen len, count, counts, "
        "counter, n, num, number, numbers, quantity, amount, param, params, "
        "parameters, trainable, memory, mem, ram, vram, cpu, gpu, disk, util, "
        "utilization, utilisation, bytes, mb, gb, kb, mib, gib, megabytes, gigabytes, "
        "load, usage, bandwidth, network, power, watts, energy, emissions, "
        "temperature, temp, throttle, queue, seed, index, idx, id, version, rank, "
        "ranking, ranks, interacts, env interacts, budget, resource, resources, "
        "memory allocated, dollars, price usd, usd, "
        # What an optimizer or a schedule does.
        "lr, lrs, learning rate, learning rates, momentum, weight decay, wd, decay, "
        "beta, betas, epsilon, eps, alpha, gamma, tau, lambda, temperature schedule, "
        "coef, coeff, coefficient schedule, kl coeff, ent coef, entropy coeff, "
        "exploration rate, exploration, dropout rate, gradient, gradients, grad, "
        "grads, grad norm, gradient norm, gnorm, norm, norms, weight norm, param "
        "norm, weight, weights, bias weight, scale, loss scale, loss weight, lr "
        "scale, warmup, clip, clip range, clip frac, clip fraction, clipped ratio, "
        "clip ratio, entropy, entropies, entropy loss, kl, approx kl, old approx kl, "
        "mean kl, mean kl loss, kl mean, q values, q vals, q value, q1 vals, q2 vals, "
        "v vals, q mean, qf values, values mean, vf preds, value estimate, advantage, "
        "advantages, logits, logps, logp, log pi, sparsity, density, saturation, "
        "activation, activations, histogram, stepsize, threshold, thresholds, "
        "tolerance, patience, degrees of freedom, dof, "
        # Diagnostics of a text or a sample; spread: how a metric varies is no score.
        "brevity penalty, length ratio, std, stdv, stddev, stdev, stderr, sd, sem, "
        "var, variance, variances, standard deviation, standard error, iqr, mad, ci, "
        "confidence interval, p value, p values, ttft, tpot, itl, time to first "
        "token, nfe, nfev, evaluations, evals, depth, max depth, leaves, nodes, "
        "eigenvalue, eigenvalues, max eigenvalue, hessian trace, trace, curvature, "
        "condition number, effective rank, stable rank, dead neurons, dead units, kg, "
        "kwh, co2, carbon, volume, width, resolution, accumulation, grad acc, grad "
        "acc steps, gradient accumulation, acc steps, update ratio, trust ratio, "
        "trust region, qf1 values, qf2 values, qf1 value, qf2 value, critic values, "
        "value mean, cache hit rate, cache hits, cache hit, cache misses, cache miss "
        "rate, speaking rate, sampling rate, sample rate, frame rate, bit rate, heart "
        "rate, decay rate, dropout, discount, sigma, growth rate, refresh rate, "
        "clock, uptime, quantiles, percentile, percentiles, support, prevalence, on "
        "target, delta loss, loss delta",
    ),
    # --- which way is better depends on who wrote it: ask --------------------------------
    (
        Noun("ask"),
        # scikit-learn's score is higher, a golf score and many competitions' are lower.
        "bias error, mean percentage error, sum error, gini, gini index, residual, "
        "residuals, ate, penalty, score, scores, value, values, val metric, metric, "
        "metrics, objective, objectives, fitness, result, results, output, target, "
        "criterion, performance, quality, y, f, measure, mean, ratio, ratios, rate, "
        "rates, fraction, share, percentage, proportion, diff, difference, "
        "differences, gap, gaps, delta, deltas, change, changes, drop, increase, "
        "decrease, improvement, gain, gains, reduction, margin, margins, lift, slope, "
        "trend, bias, mean error, fractional bias, signed error, coverage, factor, "
        "calibration, cfe, baseline, bound, bounds, limit, code, history, flag, "
        "shaping, similarity, cosine similarity, expected, actual, observed, "
        "predicted, prediction, predictions, probability, prob, probs, confidence, "
        "uncertainty, complexity, diversity, novelty, fairness, parity, equalized "
        "odds, selection rate, alignment, balance, utilisation rate, acceptance rate, "
        "stereotype, position, height, velocity, distance travelled, distance "
        "traveled, travel distance, distance covered, travelled distance, traveled "
        "distance, forward distance, margin loss ratio, mode, hp metric, inverse, "
        "reciprocal, complement, attack success, attack success rate, asr, anomaly, "
        "outlier, z score, t score, raw score, risk score, opponent, self similarity, "
        "dissimilarity, volatility, turnover, popularity, sharpness, propensity, "
        "propensity score, attention score, hardness, difficulty, add s",
    ),
    (
        Noun("ask"),
        "toxicity, hallucination, c v, c v coherence, max drawdown, maximum drawdown, "
        "ope, ctr, fmr, real score, fake score, combined score, "
        "distance, dist, distances, recon, waic, clisi, mutual info, mutual "
        "information, nd score, fn value, "
        "statistical parity difference, l2 distortion, mean l2 distortion, mia auc, "
        "mia accuracy, attack accuracy, attack auc, infraction penalty, mean "
        "prediction",
    ),
)
# In a name that also says on what was measured (valid_0's l2, val_poisson, eval-quantile):
# objectives of xgboost, LightGBM and Keras. By themselves they are parameters.
_OF_BOOSTERS = (
    (
        Noun("lower", _POSITIVE, True),
        "l1, l2, l2 root, huber, fair, quantile, multi class, regression l1, "
        "regression l2",
    ),
    (Noun("lower", _FREE, True), "poisson, tweedie, gamma, cross entropy lambda"),
)


def _phrases(
    table: tuple[tuple[Noun, str], ...],
) -> Iterator[tuple[str, Noun]]:
    for noun, phrases in table:
        for phrase in phrases.split(","):
            yield "".join(phrase.split()), noun


# How often something happens is as good as what happens: compile_rate, timeout_rate.
_EVENTS: tuple[tuple[Noun, str], ...] = (
    (
        Noun("higher", _RATE, True),
        "success, successful, win, won, pass, passed, passing, solve, solved, "
        "resolve, resolved, compile, compiled, compilation, compilable, execution, "
        "executable, hit, completion, completed, correct, valid, validity, goal "
        "reached, goal reach, goal, reached, recovery, survival, preference, "
        "preferred, detection, det, instruction following, compliance, following, "
        "grasp, arrival, finish, finished, retrieval, uniqueness, "
        "unique, match, matched, recognition, identification, true accept, agreement, "
        "win or tie, verified, parse, parsing, parsed, satisfaction, "
        "feasible, feasibility, recall, precision, accuracy, coherent, novelty, click "
        "through",
    ),
    (
        Noun("lower", _RATE, True),
        "failure, fail, failed, failing, error, err, crash, collision, collide, "
        "violation, miss, missed, false alarm, missed alarm, hallucination, "
        "hallucinated, timeout, time out, fall, falling, unsafe, invalid, exception, "
        "contradiction, harmful, harm, toxic, jailbreak, repetition, rep, "
        "memorization, lose, losing, infraction, wrong, incorrect, unsolved, "
        "unresolved, bad pixel, bad, outlier, off road, offroad, drop out, syntax "
        "error, runtime error, misclassified, mistake, misclassification, "
        "disengagement, intervention, defect, fault, infeasible, infeasibility, "
        "duplicate, duplication, overlap error, false discovery, churn",
    ),
)
_OFTEN = ("rate", "rates", "ratio", "fraction", "frac", "percentage", "probability")


def _rates() -> Iterator[tuple[str, Noun]]:
    for event, noun in _phrases(_EVENTS):
        for often in _OFTEN:
            yield event + often, noun
        yield "frac" + event, noun
        yield "fraction" + event, noun


NOUNS: dict[str, Noun] = {**dict(_rates()), **dict(_phrases(_TABLE))}
OF_BOOSTERS: dict[str, Noun] = dict(_phrases(_OF_BOOSTERS))
