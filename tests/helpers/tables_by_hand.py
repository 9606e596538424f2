"""Tables as people make them, each with the trials that must come out.

A case is the text of a file, or an object, and the truth: for every run its algorithm,
task and curves. Where the table leaves something open, `answer` is the fix that must be
among those that are suggested; typed literally, it must give the truth.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    content: Any
    truth: list[tuple]  # (algorithm, task, {metric: value or [(step, value), ...]})
    keywords: dict = field(default_factory=dict)
    answer: dict | None = None  # None: read without a question
    suffix: str = ".csv"
    status: dict = field(default_factory=dict)  # how many trials ended how
    refused: bool = False  # no reading is right


def csv(head, *rows, sep=","):
    lines = [sep.join(map(str, row)) for row in rows]
    return "\n".join([head.replace(",", sep), *lines]) + "\n"


ACC = {("a", 0): 0.91, ("a", 1): 0.88, ("b", 0): 0.75, ("b", 1): 0.79}
LOSS = {("a", 0): 0.31, ("a", 1): 0.35, ("b", 0): 0.62, ("b", 1): 0.57}
RUNS = list(ACC)
SCORES = [(m, "all", {"accuracy": v}) for (m, _), v in ACC.items()]
BOTH = [(m, "all", {"accuracy": ACC[m, s], "loss": LOSS[m, s]}) for m, s in RUNS]
CURVE = {(m, s): [(e, round(v - 0.1 * (3 - e), 4)) for e in (1, 2, 3)] for (m, s), v in ACC.items()}  # fmt: skip
CURVES = [(m, "all", {"accuracy": CURVE[m, s]}) for m, s in RUNS]
STEPS = [(m, s, e, v) for (m, s), c in CURVE.items() for e, v in c]
FALLING = [0.9, 0.7, 0.6, 0.55, 0.52, 0.5, 0.49]


def melted(head="model,seed,metric,value", **columns):
    rows = []
    for m, s in RUNS:
        for name, table in (("accuracy", ACC), ("loss", LOSS)):
            rows.append((m, s, name, table[m, s], *columns.values()))
    return csv(",".join([head, *columns]), *rows)


def matrix(k, rng):
    return rng.integers(1, 20, (2, k, k))


RNG = np.random.default_rng(7)
TWO, TEN = matrix(2, RNG), matrix(10, RNG)


def acc_of(counts):
    return float(np.trace(counts) / counts.sum())


COUNTED = [
    ("a", "all", {"accuracy": acc_of(TWO[0])}),
    ("b", "all", {"accuracy": acc_of(TWO[1])}),
]
COUNTED_10 = [
    ("a", "all", {"accuracy": acc_of(TEN[0])}),
    ("b", "all", {"accuracy": acc_of(TEN[1])}),
]
RIGHT = {
    ("m1", q): int(q % 4 > 0) for q in range(20)
} | {("m2", q): int(q % 3 > 0) for q in range(20)}  # fmt: skip
ANSWERED = [
    ("m1", "all", {"accuracy": np.mean([RIGHT["m1", q] for q in range(20)])}),
    ("m2", "all", {"accuracy": np.mean([RIGHT["m2", q] for q in range(20)])}),
]
ANSWERED_AND_ONE = [(m, t, {"accuracy": (20 * v["accuracy"] + 1) / 21}) for m, t, v in ANSWERED]  # fmt: skip
ZIGZAG = [("x", 3, 10 * i, i / 10) for i in range(1, 6)]
ZAGZIG = [("x", 3, 10 * i + 5, 0.9 - i / 10) for i in range(1, 6)]
TWO_RUNS = [
    ("x", "all", {"return": [(10 * i, i / 10) for i in range(1, 6)]}),
    ("x", "all", {"return": [(10 * i + 5, 0.9 - i / 10) for i in range(1, 6)]}),
]

CASES = [
    # --- the usual ones ---
    Case("wide", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items())), SCORES),
    Case("wide with two metrics", csv("model,seed,accuracy,loss", *((m, s, ACC[m, s], LOSS[m, s]) for m, s in RUNS)), BOTH),
    Case("long", csv("model,seed,epoch,accuracy", *STEPS), CURVES),
    Case("long, rows shuffled", csv("model,seed,epoch,accuracy", *(STEPS[i] for i in RNG.permutation(len(STEPS)))), CURVES),
    Case("long, newest first", csv("model,seed,epoch,accuracy", *STEPS[::-1]), CURVES),
    Case("long, by step", csv("model,seed,epoch,accuracy", *sorted(STEPS, key=lambda r: r[2])), CURVES),
    Case("tabs", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), sep="\t"), SCORES, suffix=".tsv"),
    Case("semicolons", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), sep=";"), SCORES),
    Case("no seeds", csv("model,accuracy", *((m, v) for (m, _), v in ACC.items())), SCORES),
    Case("with an index column", csv("Unnamed: 0,model,seed,accuracy", *((i, m, s, v) for i, ((m, s), v) in enumerate(ACC.items()))), SCORES),
    Case("test and train scores", csv("model,seed,fit_time,score_time,test_score,train_score", *((m, s, 0.1 + v, 0.2, v, 0.99) for (m, s), v in ACC.items())), [(m, t, {"test_score": v["accuracy"], "train_score": 0.99}) for m, t, v in SCORES]),
    *(Case(f"a {rate}", csv(f"model,seed,{rate},games", *((m, s, v, 100) for (m, s), v in ACC.items())), [(m, t, {rate: v["accuracy"]}) for m, t, v in SCORES]) for rate in ("win_rate", "pass_rate", "success_rate")),
    Case("remarks at the top", "# made on Monday, late\n\n" + csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items())), SCORES),
    Case("a blank line at the top", "\n" + csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), sep=";"), SCORES),
    Case("row numbers under a sign", csv("#,model,seed,accuracy", *((i, m, s, v) for i, ((m, s), v) in enumerate(ACC.items()))), SCORES),
    # --- one row per metric ---
    Case("melted", melted(), BOTH),
    Case("melted, other names", melted("model,seed,variable,score"), BOTH),
    Case("melted, by measure", melted("model,seed,measure,result"), BOTH),
    Case("melted with times", csv("model,seed,metric,value,timestamp", *((m, s, n, t[m, s], f"2024-01-0{i + 1} 10:0{j}") for i, (m, s) in enumerate(RUNS) for j, (n, t) in enumerate((("accuracy", ACC), ("loss", LOSS))))), BOTH),
    Case("melted with row numbers", csv("id,model,seed,metric,value", *((2 * i + j, m, s, n, t[m, s]) for i, (m, s) in enumerate(RUNS) for j, (n, t) in enumerate((("accuracy", ACC), ("loss", LOSS))))), BOTH),
    Case("melted, one metric", csv("model,seed,metric,value", *((m, s, "accuracy", v) for (m, s), v in ACC.items())), SCORES),
    Case("melted curves", csv("model,seed,epoch,metric,value", *((*r[:3], "accuracy", r[3]) for r in STEPS), *((m, s, e, "loss", round(1 - v, 4)) for m, s, e, v in STEPS)), [(m, "all", {"accuracy": CURVE[m, s], "loss": [(e, round(1 - v, 4)) for e, v in CURVE[m, s]]}) for m, s in RUNS]),
    Case("melted with metrics of unknown name", csv("model,task,seed,metric,value", ("a", "x", 0, "zorp", 0.5), ("a", "x", 1, "zorp", 0.6), ("a", "y", 0, "accuracy", 0.7), ("a", "y", 1, "accuracy", 0.8)), [("a", "x", {"zorp": 0.5}), ("a", "x", {"zorp": 0.6}), ("a", "y", {"accuracy": 0.7}), ("a", "y", {"accuracy": 0.8})]),
    Case("melted, read as one metric", melted(), SCORES, {"metrics": {"value": "higher"}}, {"where": {"metric": "accuracy"}}),
    Case("melted, metric as part of the trial", melted(), SCORES, {"trial": ["seed", "metric"]}, {"where": {"metric": "accuracy"}}),
    *(Case(f"melted, by {column}", melted(f"model,seed,{column},value"), BOTH) for column in ("name", "type", "criterion", "score_type", "quantity", "what", "indicator", "eval_metric", "evaluation_metric")),
    *(Case(f"melted, with a {value}", melted(f"model,seed,metric,{value}"), BOTH) for value in ("mean", "performance", "outcome")),
    Case("runs that are called by a type", csv("model,type,value", *((m, f"t{s}", v) for (m, s), v in ACC.items())), [(m, t, {"value": v["accuracy"]}) for m, t, v in SCORES], answer={"trial": "type"}),
    Case("a distance is no metric of runs", csv("model,seed,metric,accuracy", *((m, s, "cosine" if s else "euclidean", v) for (m, s), v in ACC.items())), SCORES),
    # --- one column per algorithm or task ---
    Case("wide by algorithm", csv("seed,ppo,sac,td3", (0, 0.5, 0.6, 0.7), (1, 0.52, 0.63, 0.71)), [(n, "all", {"score": v}) for n, vs in (("ppo", (0.5, 0.52)), ("sac", (0.6, 0.63)), ("td3", (0.7, 0.71))) for v in vs], answer={"algorithm": ["ppo", "sac", "td3"]}),
    Case("wide by algorithm, curves", csv("seed,step,ppo,sac", *((s, t, 0.1 * t + s, 0.2 * t + s) for s in (0, 1) for t in (1, 2, 3))), [(n, "all", {"score": [(t, k * t + s) for t in (1, 2, 3)]}) for n, k in (("ppo", 0.1), ("sac", 0.2)) for s in (0, 1)], answer={"algorithm": ["ppo", "sac"]}),
    Case("wide by task", csv("model,seed,mnist,svhn", ("a", 0, 0.9, 0.8), ("a", 1, 0.92, 0.81), ("b", 0, 0.7, 0.6), ("b", 1, 0.71, 0.63)), [(m, t, {"score": v}) for m, t, v in (("a", "mnist", 0.9), ("a", "svhn", 0.8), ("a", "mnist", 0.92), ("a", "svhn", 0.81), ("b", "mnist", 0.7), ("b", "svhn", 0.6), ("b", "mnist", 0.71), ("b", "svhn", 0.63))], answer={"task": ["mnist", "svhn"]}),
    Case("whole scores by algorithm", csv("game,DQN,PPO", ("Pong", 20, 21), ("Breakout", 300, 400)), [("DQN", "Pong", {"score": 20}), ("PPO", "Pong", {"score": 21}), ("DQN", "Breakout", {"score": 300}), ("PPO", "Breakout", {"score": 400})], answer={"algorithm": ["DQN", "PPO"]}),
    Case("whole and broken scores by algorithm", csv("game,DQN,PPO", ("Pong", 20.5, 21), ("Breakout", 300.5, 400)), [("DQN", "Pong", {"score": 20.5}), ("PPO", "Pong", {"score": 21}), ("DQN", "Breakout", {"score": 300.5}), ("PPO", "Breakout", {"score": 400})], answer={"algorithm": ["DQN", "PPO"]}),
    Case("algorithms called like hyperparameters", csv("seed,random,entropy", (0, 0.5, 0.6), (1, 0.62, 0.61)), [(n, "all", {"score": v}) for n, vs in (("random", (0.5, 0.62)), ("entropy", (0.6, 0.61))) for v in vs], answer={"algorithm": ["random", "entropy"]}),
    Case("hyperparameters beside a score of unknown name", csv("model,seed,lr,zorp", ("a", 0, 0.1, 0.5), ("a", 1, 0.1, 0.6), ("b", 0, 0.2, 0.7), ("b", 1, 0.2, 0.8)), [("a", "all", {"zorp": 0.5}), ("a", "all", {"zorp": 0.6}), ("b", "all", {"zorp": 0.7}), ("b", "all", {"zorp": 0.8})]),
    *(Case(f"runs as columns {a} and {b}", csv(f"model,{a},{b}", ("a", 0.91, 0.88), ("b", 0.75, 0.79)), [(m, t, {"score": v["accuracy"]}) for m, t, v in SCORES]) for a, b in (("seed_0", "seed_1"), ("fold_1", "fold_2"))),
    Case("runs as columns run1 and run2", csv("model,run1,run2", ("a", 0.91, 0.88), ("b", 0.75, 0.79)), [(m, t, {"score": v["accuracy"]}) for m, t, v in SCORES], answer={"trial": ["run1", "run2"]}),
    Case("runs as columns with their mean", csv("model,seed_0,seed_1,mean,std", ("a", 0.91, 0.88, 0.895, 0.01), ("b", 0.75, 0.79, 0.77, 0.02)), [(m, t, {"score": v["accuracy"]}) for m, t, v in SCORES]),
    Case("runs as numbered columns", {"model": ["a", "b"], "0": [0.91, 0.75], "1": [0.88, 0.79]}, [(m, t, {"score": v["accuracy"]}) for m, t, v in SCORES], answer={"trial": ["0", "1"]}),
    Case("curves of runs as columns", csv("model,epoch,seed_0,seed_1", *((m, e, CURVE[m, 0][e - 1][1], CURVE[m, 1][e - 1][1]) for m in "ab" for e in (1, 2, 3))), [(m, t, {"score": v["accuracy"]}) for m, t, v in CURVES]),
    *(Case(f"scores by algorithm, such as {a}", csv(f"seed,{a},{b}", (0, 0.5, 0.6), (1, 0.52, 0.63)), [(n, "all", {metric: v}) for n, vs in (("ppo", (0.5, 0.52)), ("sac", (0.6, 0.63))) for v in vs], {"algorithm": [a, b]}) for a, b, metric in (("acc_ppo", "acc_sac", "acc"), ("ppo_return", "sac_return", "return"))),
    Case("losses of one model", csv("seed,epoch,loss,loss_cls,loss_box", *((s, e, 1 / e, 0.4 / e, 0.6 / e) for s in (0, 1) for e in (1, 2, 3))), [("all", "all", {"loss": [(e, 1 / e) for e in (1, 2, 3)], "loss_cls": [(e, 0.4 / e) for e in (1, 2, 3)], "loss_box": [(e, 0.6 / e) for e in (1, 2, 3)]})] * 2),
    Case("macro and micro", csv("seed,f1_macro,f1_micro", (0, 0.5, 0.6), (1, 0.52, 0.63)), [("all", "all", {"f1_macro": a, "f1_micro": b}) for a, b in ((0.5, 0.6), (0.52, 0.63))]),
    # --- confusion counts ---
    Case("true, predicted, count", csv("model,seed,true,predicted,count", *((m, 0, i, j, TWO[k, i, j]) for k, m in enumerate("ab") for i in (0, 1) for j in (0, 1))), COUNTED),
    Case("actual, pred, n in words", csv("model,actual,pred,n", *((m, ["no", "yes"][i], ["no", "yes"][j], TWO[k, i, j]) for k, m in enumerate("ab") for i in (0, 1) for j in (0, 1))), COUNTED),
    Case("one row per prediction", csv("model,y_true,y_pred", *((m, i, j) for k, m in enumerate("ab") for i in (0, 1) for j in (0, 1) for _ in range(TWO[k, i, j]))), COUNTED),
    Case("tp fp fn tn", csv("model,seed,tp,fp,fn,tn", *((m, 0, TWO[k, 1, 1], TWO[k, 0, 1], TWO[k, 1, 0], TWO[k, 0, 0]) for k, m in enumerate("ab"))), COUNTED),
    Case("10 x 10 in columns", csv("model,seed," + ",".join(f"cm_{i}_{j}" for i in range(10) for j in range(10)), *((m, 0, *TEN[k].ravel()) for k, m in enumerate("ab"))), COUNTED_10),
    Case("2 x 2 in columns", csv("model,seed,c00,c01,c10,c11", *((m, 0, *TWO[k].ravel()) for k, m in enumerate("ab"))), COUNTED),
    Case("matrix with words", csv("model,cat->cat,cat->dog,dog->cat,dog->dog", *((m, *TWO[k].ravel()) for k, m in enumerate("ab"))), COUNTED),
    Case("true_x_pred_y", csv("model,true_0_pred_0,true_0_pred_1,true_1_pred_0,true_1_pred_1", *((m, *TWO[k].ravel()) for k, m in enumerate("ab"))), COUNTED),
    # --- one row per example ---
    Case("correct by question", csv("model,question,correct", *((m, q, c) for (m, q), c in RIGHT.items())), ANSWERED),
    Case("correct by id, booleans", csv("model,id,correct", *((m, f"q{q:02}", bool(c)) for (m, q), c in RIGHT.items())), ANSWERED),
    Case("resolved instances with their repository", csv("model,instance_id,repo,resolved", *((m, f"i{q}", f"r{q % 3}", c) for (m, q), c in RIGHT.items())), ANSWERED),
    Case("true and predicted classes by id", csv("model,id,label,pred", *((m, i, 1, c) for (m, i), c in RIGHT.items()), ("m1", 20, 0, 0), ("m2", 20, 0, 0)), ANSWERED_AND_ONE),
    Case("classes with a probability", csv("model,y_true,y_pred,prob", *((m, 1, c, 0.3 + i / 40) for (m, i), c in RIGHT.items()), ("m1", 0, 0, 0.1), ("m2", 0, 0, 0.2)), ANSWERED_AND_ONE),
    Case("classes with a text", csv("model,text,label,pred", *((m, f"words {i}", 1, c) for (m, i), c in RIGHT.items()), ("m1", "no words", 0, 0), ("m2", "no words", 0, 0)), ANSWERED_AND_ONE),
    Case("classes of several seeds", csv("model,seed,id,label,pred", *((m, s, i, 1, c) for (m, i), c in RIGHT.items() for s in (0, 1)), *((m, s, 20, 0, 0) for m in ("m1", "m2") for s in (0, 1))), [*ANSWERED_AND_ONE, *ANSWERED_AND_ONE]),
    Case("correct with tokens", csv("model,subject,question_id,correct,tokens", *((m, f"s{q % 2}", q, c, 10 + (q * 7) % 5 + len(m) * (m == "m2")) for (m, q), c in RIGHT.items())), ANSWERED),
    Case("correct with what was answered", csv("model,question_id,response,correct", *((m, q, f"{m} says {q}", c) for (m, q), c in RIGHT.items())), ANSWERED),
    *(Case(f"correct by {item}", csv(f"model,{item},correct", *((m, q, c) for (m, q), c in RIGHT.items())), ANSWERED) for item in ("prompt_id", "uid", "sample")),
    Case("passed by task_id", csv("model,task_id,passed", *((m, f"HumanEval/{q}", c) for (m, q), c in RIGHT.items())), ANSWERED),
    Case("correct in two styles", csv("model,style,question,correct", *((m, s, q, c) for (m, q), c in RIGHT.items() for s in ("cot", "plain"))), [*ANSWERED, *ANSWERED], answer={"trial": "style"}),
    Case("overlap by image", csv("model,image_id,iou", *((m, q, 0.5 + q / 50) for m, q in RIGHT)), [], refused=True),
    Case("overlap by file", csv("model,filename,dice", *((m, f"{q}.png", 0.5 + q / 50) for m, q in RIGHT)), [], refused=True),
    Case("files of runs", csv("model,filename,accuracy", *((m, f"{m}-{s}.log", v) for (m, s), v in ACC.items())), SCORES),
    Case("gain by query", csv("query_id,ndcg", *((q, 0.5 + q / 50) for q in range(20))), [], refused=True),
    Case("images that are runs", csv("model,image_id,iou", *((m, s, v) for (m, s), v in ACC.items())), [(m, t, {"iou": v["accuracy"]}) for m, t, v in SCORES], {"trial": "image_id"}),
    # --- sizes ---
    Case("n is a size", csv("model,seed,n,error", *((m, s, n, round(1 / n + s / 100, 4)) for m in "ab" for s in (0, 1) for n in (50, 100, 200))), [(m, "all", {"error": [(n, round(1 / n + s / 100, 4)) for n in (50, 100, 200)]}) for m in "ab" for s in (0, 1)]),
    Case("num_examples is a size", csv("model,seed,num_examples,error", *((m, s, n, round(1 / n + s / 100, 4)) for m in "ab" for s in (0, 1) for n in (50, 100, 200))), [(m, "all", {"error": [(n, round(1 / n + s / 100, 4)) for n in (50, 100, 200)]}) for m in "ab" for s in (0, 1)]),
    Case("sizes without runs", csv("model,size,error", *((m, n, e) for m in "ab" for n, e in ((50, 0.3), (50, 0.31), (100, 0.2), (100, 0.22)))), [(m, "all", {"error": [(n, e)]}) for m in "ab" for n, e in ((50, 0.3), (50, 0.31), (100, 0.2), (100, 0.22))], answer={"trial": []}),
    # --- means and spreads ---
    Case("mean and std", csv("model,task,mean,std", ("a", "t", 0.9, 0.01), ("b", "t", 0.8, 0.02)), [], refused=True),
    Case("acc_mean and acc_std", csv("model,acc_mean,acc_std", ("a", 0.9, 0.01), ("b", 0.8, 0.02)), [], refused=True),
    Case("plus and minus", "model,accuracy\na,0.90 ± 0.01\nb,0.85 ± 0.02\n", [], refused=True),
    Case("mean curves", csv("model,step,reward_mean,reward_std", *((m, t, t, 0.1) for m in "ab" for t in (1, 2, 3))), [], refused=True),
    Case("a mean among the seeds", "model,seed,accuracy\na,0,0.91\na,1,0.88\na,mean,0.895\nb,0,0.75\nb,1,0.79\nb,mean,0.77\n", SCORES, answer={"where": {"seed": ["0", "1"]}}),
    Case("mean and std among the folds", "model,fold,accuracy\na,fold 1,0.91\na,fold 2,0.88\na,Avg.,0.895\na,STD,0.01\nb,fold 1,0.75\nb,fold 2,0.79\nb,Avg.,0.77\nb,STD,0.02\n", SCORES, answer={"where": {"fold": ["fold 1", "fold 2"]}}),
    Case("an average among the tasks", "dataset,model,accuracy\nx,a,0.91\ny,a,0.88\nAverage,a,0.895\nx,b,0.75\ny,b,0.79\nAverage,b,0.77\n", [("a", "x", {"accuracy": 0.91}), ("a", "y", {"accuracy": 0.88}), ("b", "x", {"accuracy": 0.75}), ("b", "y", {"accuracy": 0.79})], answer={"where": {"dataset": ["x", "y"]}}),
    Case("runs that are called mean and max", "model,run,accuracy\na,mean,0.91\na,max,0.88\nb,mean,0.75\nb,max,0.79\n", SCORES),
    # --- numbers in odd writing ---
    Case("percent signs", "model,seed,accuracy\na,0,91%\na,1,88.0%\nb,0,75 %\nb,1,79%\n", SCORES),
    Case("decimal commas", "model;seed;accuracy\na;0;0,91\na;1;0,88\nb;0;0,75\nb;1;0,79\n", SCORES),
    Case("decimal commas in quotes", 'model,seed,accuracy\na,0,"0,91"\na,1,"0,88"\nb,0,"0,75"\nb,1,"0,79"\n', SCORES),
    Case("commas of thousands", 'model,seed,return\na,0,"1,234"\na,1,"2,345"\nb,0,"3,456"\nb,1,"1,111"\n', [("a", "all", {"return": 1234}), ("a", "all", {"return": 2345}), ("b", "all", {"return": 3456}), ("b", "all", {"return": 1111})], answer={"decimal": "."}),
    Case("in percent", csv("model,seed,accuracy", *((m, s, 100 * v) for (m, s), v in ACC.items())), SCORES, answer={"unit": "percent"}),
    Case("half in percent", csv("model,seed,accuracy", *((m, s, 100 * v if m == "a" else v) for (m, s), v in ACC.items())), SCORES, answer={"unit": "mixed"}),
    Case("a and A", "model,seed,accuracy\na,0,0.91\nA,1,0.88\nb,0,0.75\nB,1,0.79\n", SCORES, answer={"names": "casefold"}),
    # --- how runs ended ---
    Case("diverged", "model,seed,accuracy,diverged\na,0,0.91,False\na,1,0.88,False\nb,0,0.75,False\nb,1,,True\n", [*SCORES[:3], ("b", "all", {})], status={"ok": 3, "failed": 1}),
    Case("diverged although it scored", "model,seed,accuracy,diverged\na,0,0.91,0\na,1,0.88,0\nb,0,0.75,0\nb,1,0.79,1\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("finished", "model,seed,accuracy,finished\na,0,0.91,yes\na,1,0.88,yes\nb,0,0.75,yes\nb,1,0.79,no\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("a flag that is named", "model,seed,accuracy,blew_up\na,0,0.91,no\na,1,0.88,no\nb,0,0.75,no\nb,1,0.79,yes\n", SCORES, {"status": "blew_up=yes"}, status={"ok": 3, "failed": 1}),
    Case("words of one's own", "model,seed,accuracy,status\na,0,0.91,fine\na,1,0.88,fine\nb,0,0.75,fine\nb,1,0.79,kaputt\n", SCORES, answer={"status": "status=kaputt"}, status={"ok": 3, "failed": 1}),
    Case("words in place of scores", "model,seed,accuracy\na,0,0.91\na,1,0.88\nb,0,0.75\nb,1,diverged\n", [*SCORES[:3], ("b", "all", {})], status={"ok": 3, "failed": 1}),
    Case("a status of its own name", "model,seed,accuracy,run_status\na,0,0.91,completed\na,1,0.88,completed\nb,0,0.75,completed\nb,1,0.79,failed\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("an outcome", "model,seed,accuracy,outcome\na,0,0.91,success\na,1,0.88,success\nb,0,0.75,success\nb,1,0.79,timeout\n", SCORES, status={"ok": 3, "timeout": 1}),
    Case("an exit code", "model,seed,accuracy,exit_code\na,0,0.91,0\na,1,0.88,0\nb,0,0.75,0\nb,1,0.79,-9\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("the message of an error", "model,seed,accuracy,error_message\na,0,0.91,\na,1,0.88,\nb,0,0.75,\nb,1,0.79,CUDA out of memory\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("an error in words", "model,seed,accuracy,error\na,0,0.91,\na,1,0.88,\nb,0,0.75,\nb,1,0.79,ValueError\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("an error in numbers", "model,seed,error\na,0,0.91\na,1,0.88\nb,0,0.75\nb,1,0.79\n", [(m, t, {"error": v["accuracy"]}) for m, t, v in SCORES], status={"ok": 4}),
    Case("timeout", "model,seed,accuracy,timeout\na,0,0.91,False\na,1,0.88,False\nb,0,0.75,False\nb,1,0.79,True\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("a limit of hours", "model,seed,accuracy,timeout\na,0,0.91,1\na,1,0.88,1\nb,0,0.75,1\nb,1,0.79,1\n", SCORES, status={"ok": 4}),
    Case("converged, a failure", "model,seed,accuracy,converged\na,0,0.91,True\na,1,0.88,True\nb,0,0.75,True\nb,1,0.79,False\n", SCORES, answer={"status": "converged=False"}, status={"ok": 3, "failed": 1}),
    Case("converged, a label", "model,seed,accuracy,converged\na,0,0.91,1\na,1,0.88,1\nb,0,0.75,1\nb,1,0.79,0\n", SCORES, answer={"status": "none"}, status={"ok": 4}),
    Case("all converged", "model,seed,accuracy,converged\na,0,0.91,True\na,1,0.88,True\nb,0,0.75,True\nb,1,0.79,True\n", SCORES, status={"ok": 4}),
    Case("pass and fail", "model,seed,accuracy,status\na,0,0.91,PASS\na,1,0.88,PASS\nb,0,0.75,PASS\nb,1,0.79,FAIL\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("a known and an odd word", "model,seed,accuracy,status\na,0,0.91,converged\na,1,0.88,converged\nb,0,0.75,converged\nb,1,0.79,diverged\n", SCORES, answer={"status": "status=diverged"}, status={"ok": 3, "failed": 1}),
    Case("an odd word beside a timeout", "model,seed,accuracy,status\na,0,0.91,fine\na,1,0.88,fine\nb,0,0.75,timeout\nb,1,0.79,kaputt\n", SCORES, answer={"status": "status=kaputt"}, status={"ok": 2, "timeout": 1, "failed": 1}),
    Case("two flags", "model,seed,accuracy,diverged,crashed\na,0,0.91,0,0\na,1,0.88,0,0\nb,0,0.75,1,0\nb,1,0.79,0,1\n", SCORES, status={"ok": 2, "failed": 2}),
    Case("completed, but diverged", "model,seed,accuracy,status,diverged\na,0,0.91,completed,False\na,1,0.88,completed,False\nb,0,0.75,crashed,False\nb,1,0.79,completed,True\n", SCORES, status={"ok": 2, "crashed": 1, "failed": 1}),
    Case("diverged in the midst of a run", csv("model,seed,epoch,accuracy,diverged", *((*r, r[:3] == ("b", 1, 2)) for r in STEPS)), CURVES, status={"ok": 3, "failed": 1}),
    Case("finished at the end of a run", csv("model,seed,epoch,accuracy,finished", *((*r, r[2] == 3 and r[:2] != ("b", 1)) for r in STEPS)), CURVES, status={"ok": 3, "failed": 1}),
    Case("converged in the end", csv("model,seed,epoch,accuracy,converged", *((*r, r[2] == 3) for r in STEPS)), CURVES, status={"ok": 4}),
    Case("status in numbers", "model,seed,accuracy,status\na,0,0.91,0\na,1,0.88,0\nb,0,0.75,0\nb,1,0.79,1\n", SCORES, answer={"status": "status=1"}, status={"ok": 3, "failed": 1}),
    Case("killed", "model,seed,accuracy,killed\na,0,0.91,no\na,1,0.88,no\nb,0,0.75,no\nb,1,0.79,yes\n", SCORES, status={"ok": 3, "failed": 1}),
    Case("pruned", "model,seed,accuracy,pruned\na,0,0.91,False\na,1,0.88,False\nb,0,0.75,False\nb,1,0.79,True\n", SCORES, answer={"status": "none"}, status={"ok": 4}),
    Case("a state of a scheduler", "model,seed,accuracy,slurm_state\na,0,0.91,COMPLETED\na,1,0.88,COMPLETED\nb,0,0.75,COMPLETED\nb,1,0.79,OUT_OF_MEMORY\n", SCORES, status={"ok": 3, "crashed": 1}),
    # --- names that look like numbers ---
    Case("versions", "model,accuracy\n1.1,0.91\n1.1,0.88\n1.10,0.75\n1.10,0.79\n", [("1.1", "all", {"accuracy": 0.91}), ("1.1", "all", {"accuracy": 0.88}), ("1.10", "all", {"accuracy": 0.75}), ("1.10", "all", {"accuracy": 0.79})]),
    Case("commits", "commit,accuracy\n89e1234,0.91\n89e1234,0.88\n12e4567,0.75\n12e4567,0.79\n", [("89e1234", "all", {"accuracy": 0.91}), ("89e1234", "all", {"accuracy": 0.88}), ("12e4567", "all", {"accuracy": 0.75}), ("12e4567", "all", {"accuracy": 0.79})], {"algorithm": "commit"}),
    Case("runs with leading zeros", csv("model,run,step,accuracy", ("a", "01", 1, 0.1), ("a", "01", 2, 0.2), ("a", "1", 1, 0.3), ("a", "1", 2, 0.4)), [("a", "all", {"accuracy": [(1, 0.1), (2, 0.2)]}), ("a", "all", {"accuracy": [(1, 0.3), (2, 0.4)]})]),
    Case("seeds with a point and without", csv("model,seed,step,accuracy", ("a", "1", 1, 0.1), ("a", "1.0", 2, 0.2), ("a", "2", 1, 0.3), ("a", "2", 2, 0.4)), [("a", "all", {"accuracy": [(1, 0.1), (2, 0.2)]}), ("a", "all", {"accuracy": [(1, 0.3), (2, 0.4)]})]),
    # --- what a run is ---
    Case("two runs with one seed", csv("algo,seed,run,step,return", *((a, s, "r1", t, v) for a, s, t, v in ZIGZAG), *((a, s, "r2", t, v) for a, s, t, v in ZAGZIG)), TWO_RUNS),
    Case("two runs with one seed, seed named", csv("algo,seed,run,step,return", *((a, s, "r1", t, v) for a, s, t, v in ZIGZAG), *((a, s, "r2", t, v) for a, s, t, v in ZAGZIG)), TWO_RUNS, {"trial": "seed"}, {"trial": ["seed", "run"]}),
    Case("two runs that only differ in lr", csv("algo,seed,lr,step,return", *sorted([(a, s, 0.1, t, v) for a, s, t, v in ZIGZAG] + [(a, s, 0.2, t, v) for a, s, t, v in ZAGZIG], key=lambda r: r[3])), TWO_RUNS, answer={"trial": ["seed", "lr"]}),
    Case("settings repeated over seeds", csv("model,lr,seed,accuracy", *((m, lr, s, v + lr) for (m, s), v in ACC.items() for lr in (0.01, 0.02))), [(m, "all", {"accuracy": v + lr}) for (m, _), v in ACC.items() for lr in (0.01, 0.02)]),
    Case("settings with numbers, repeated over seeds", csv("model,config,lr,seed,accuracy", *((m, k, lr, s, v + lr) for (m, s), v in ACC.items() for k, lr in enumerate((0.01, 0.02)))), [(m, "all", {"accuracy": v + lr}) for (m, _), v in ACC.items() for lr in (0.01, 0.02)]),
    Case("curves of settings repeated over seeds", csv("model,lr,seed,epoch,accuracy", *((m, lr, s, e, v + lr) for m, s, e, v in STEPS for lr in (0.01, 0.02))), [(m, "all", {"accuracy": [(e, v + lr) for e, v in CURVE[m, s]]}) for m, s in RUNS for lr in (0.01, 0.02)]),
    Case("a rate that falls along a run", csv("model,seed,epoch,lr,accuracy", *((m, s, e, 0.1**e, v) for m, s, e, v in STEPS)), CURVES),
    Case("settings beside a column of unknown name", csv("model,zorp,lr,seed,accuracy", *((m, z, lr, s, v + lr) for (m, s), v in ACC.items() for z, lr in (("x", 0.01), ("y", 0.02)))), [(m, z, {"accuracy": v + lr}) for (m, _), v in ACC.items() for z, lr in (("x", 0.01), ("y", 0.02))], answer={"task": "zorp"}),
    Case("runs by a column of unknown name", csv("algo,zorp,step,return", *((a, "r1", t, v) for a, _, t, v in ZIGZAG), *((a, "r2", t, v + 0.01) for a, _, t, v in ZIGZAG)), [TWO_RUNS[0], ("x", "all", {"return": [(10 * i, i / 10 + 0.01) for i in range(1, 6)]})], answer={"trial": "zorp"}),
    Case("train and test rows", csv("algo,seed,step,phase,return", *((a, s, t, "train", 0.0) for a, s, t, _ in ZIGZAG), *((a, s, t, "test", v) for a, s, t, v in ZIGZAG)), TWO_RUNS[:1], answer={"where": {"phase": "test"}}),
    Case("train and test rows at other steps", csv("algo,seed,step,phase,return", *((a, s, t, "train", v) for a, s, t, v in ZIGZAG), *((a, s, t, "test", v) for a, s, t, v in ZAGZIG)), TWO_RUNS[1:], answer={"where": {"phase": "test"}}),
    Case("the same row twice", csv("model,seed,accuracy", ("a", 0, 0.9), ("a", 0, 0.8)), [], refused=True),
    Case("rows that begin again", csv("algo,seed,step,return", *((a, s, t, v) for a, s, t, v in ZIGZAG), *((a, s, t, v) for a, s, t, v in ZAGZIG)), [("x", "all", {"return": sorted(TWO_RUNS[0][2]["return"] + TWO_RUNS[1][2]["return"])})], answer={"trial": ["seed"]}),
    Case("batches of epochs", csv("model,seed,epoch,batch,loss", *((m, s, e, b, LOSS[m, s] - 0.1 * e - 0.01 * b) for m, s in RUNS for e in (0, 1) for b in (0, 1, 2))), [(m, "all", {"loss": [(3 * e + b, LOSS[m, s] - 0.1 * e - 0.01 * b) for e in (0, 1) for b in (0, 1, 2)]}) for m, s in RUNS], answer={"step": "epoch+batch"}),
    Case("steps that begin again in every epoch", csv("model,seed,epoch,step,loss", *((m, s, e, b, LOSS[m, s] - 0.1 * e - 0.01 * b) for m, s in RUNS for e in (0, 1) for b in (0, 1, 2))), [(m, "all", {"loss": [(3 * e + b, LOSS[m, s] - 0.1 * e - 0.01 * b) for e in (0, 1) for b in (0, 1, 2)]}) for m, s in RUNS], answer={"step": "epoch+step"}),
    Case("batches without epochs", csv("model,seed,batch,loss", *((m, s, b, LOSS[m, s] - 0.01 * b) for m, s in RUNS for b in (0, 1, 2))), [(m, "all", {"loss": [(b, LOSS[m, s] - 0.01 * b) for b in (0, 1, 2)]}) for m, s in RUNS], answer={"step": "batch"}),
    Case("models and methods", csv("model,method,seed,accuracy", *((m, x, s, v + d) for (m, s), v in ACC.items() for x, d in (("x", 0), ("y", 0.01)))), [(f"{m}/{x}", "all", {"accuracy": v + d}) for (m, _), v in ACC.items() for x, d in (("x", 0), ("y", 0.01))], answer={"algorithm": "model+method"}),
    Case("data sets and tasks", csv("dataset,task,model,seed,accuracy", *((x, t, m, s, v + d) for (m, s), v in ACC.items() for x, t, d in (("x", "u", 0), ("x", "v", 0.01), ("y", "u", 0.02)))), [(m, f"{t}/{x}", {"accuracy": v + d}) for (m, _), v in ACC.items() for x, t, d in (("x", "u", 0), ("x", "v", 0.01), ("y", "u", 0.02))], answer={"task": "task+dataset"}),
    Case("two switches", csv("aug,ema,seed,accuracy", *((a, e, s, 0.5 + 0.1 * i + 0.01 * s) for i, (a, e) in enumerate((("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes"))) for s in (0, 1))), [(f"{a}/{e}", "all", {"accuracy": 0.5 + 0.1 * i + 0.01 * s}) for i, (a, e) in enumerate((("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes"))) for s in (0, 1)], answer={"algorithm": "aug+ema"}),
    Case("settings of short names", csv("model,wd,lam,seed,accuracy", *((m, w, x, s, v + w + x) for (m, s), v in ACC.items() for w, x in ((0.01, 0.02), (0.03, 0.01)))), [(m, "all", {"accuracy": v + w + x}) for (m, _), v in ACC.items() for w, x in ((0.01, 0.02), (0.03, 0.01))]),
    # --- sums, shares, counts in words ---
    Case("an interval beside a score", csv("model,accuracy,ci_low,ci_high", ("a", 0.9, 0.8, 0.95), ("b", 0.8, 0.7, 0.9)), [], refused=True),
    Case("a spread beside a score", csv("model,accuracy,std", ("a", 0.9, 0.01), ("b", 0.8, 0.02)), [], refused=True),
    Case("how many seeds there were", csv("algo,env,mean_return,n_seeds", ("a", "x", 9.5, 5), ("b", "x", 8.5, 5)), [], refused=True),
    Case("a spread within each run", csv("model,seed,accuracy,std", *((m, s, v, 0.01) for (m, s), v in ACC.items())), SCORES),
    Case("the best among the seeds", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), ("a", "best", 0.91), ("b", "best", 0.79)), SCORES, answer={"where": {"seed": ["0", "1"]}}),
    Case("a mean without a seed", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), ("a", "", 0.895), ("b", "", 0.77)), SCORES, answer={"where": {"seed": [0, 1]}}),
    Case("an average among the models", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), ("Average", 0, 0.83), ("Average", 1, 0.835)), SCORES, answer={"where": {"model": ["a", "b"]}}),
    Case("a baseline without seeds", csv("model,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items()), ("majority", "", 0.5)), [*SCORES, ("majority", "all", {"accuracy": 0.5})]),
    Case("correct and total", csv("model,task,correct,total", ("a", "x", 90, 100), ("a", "y", 45, 50), ("b", "x", 80, 100), ("b", "y", 48, 50)), [("a", "x", {"accuracy": 0.9}), ("a", "y", {"accuracy": 0.9}), ("b", "x", {"accuracy": 0.8}), ("b", "y", {"accuracy": 0.96})]),
    *(Case(f"sizes such as {some[0]}", csv("model,train_size,seed,accuracy", *((m, t, s, v + i / 100) for (m, s), v in ACC.items() for i, t in enumerate(some))), [(m, "all", {"accuracy": [(n, v + i / 100) for i, n in enumerate(sizes)]}) for (m, _), v in ACC.items()]) for some, sizes in ((("1k", "10k"), (1e3, 1e4)), (("1_000", "2_000"), (1e3, 2e3)), (("1/8", "1/4"), (0.125, 0.25)))),
    Case("sizes and a word", csv("model,train_size,seed,accuracy", *((m, t, s, v + i / 100) for (m, s), v in ACC.items() for i, t in enumerate((100, 1000, "full")))), [(m, "all", {"accuracy": [(100, v), (1000, v + 0.01)]}) for (m, _), v in ACC.items()], answer={"where": {"train_size": ["100", "1000"]}}),
    Case("percent in the name", csv("model,seed,accuracy (%)", *((m, s, round(100 * v)) for (m, s), v in ACC.items())), [(m, t, {"accuracy (%)": v["accuracy"]}) for m, t, v in SCORES]),
    *(Case(f"steps as columns such as {head.split(',')[0]}", csv(f"model,seed,{head}", *((m, s, *(v for _, v in CURVE[m, s])) for m, s in RUNS)), [(m, "all", {"score": [(n, v) for n, (_, v) in zip(steps, CURVE[m, s], strict=True)]}) for m, s in RUNS], answer={"step": head.split(",")}) for head, steps in (("epoch_1,epoch_2,epoch_3", (1, 2, 3)), ("n=100,n=200,n=400", (100, 200, 400)), ("1000,2000,3000", (1000, 2000, 3000)))),
    Case("recall at several ranks", csv("model,seed,recall@1,recall@5,recall@10", *((m, s, v, v + 0.01, v + 0.02) for (m, s), v in ACC.items())), [(m, t, {"recall@1": v["accuracy"], "recall@5": v["accuracy"] + 0.01, "recall@10": v["accuracy"] + 0.02}) for m, t, v in SCORES]),
    Case("ids that all models share", csv("model,id,f1", *((m, f"q{7 * i}", 0.5 + i / 50) for m in "ab" for i in range(12))), [], refused=True),
    Case("a sheet of benchmarks", csv("model,seed,mmlu,arc", *((m, s, v, v - 0.05) for (m, s), v in ACC.items())), [(m, t, {"mmlu": v["accuracy"], "arc": v["accuracy"] - 0.05}) for m, t, v in SCORES]),
    Case("questions of two benchmarks", csv("model,benchmark,question_id,correct", *((m, b, f"{b}-{q}", c) for (m, q), c in RIGHT.items() for b in ("gsm8k", "math"))), [(m, b, v) for m, _, v in ANSWERED for b in ("gsm8k", "math")]),
    Case("answers of one model", csv("question_id,correct", *((q, c) for (m, q), c in RIGHT.items() if m == "m1")), [("all", "all", ANSWERED[0][2])]),
    Case("a sweep with a schedule", csv("model,wd,seed,epoch,lr,accuracy", *((m, w, s, e, 0.1 / e, v + w) for m, s, e, v in STEPS for w in (0.01, 0.02))), [(m, "all", {"accuracy": [(e, v + w) for e, v in CURVE[m, s]]}) for m, s in RUNS for w in (0.01, 0.02)]),
    Case("epochs at which settings stopped", csv("model,lr,seed,epochs,accuracy", *((m, x, s, 10 + 7 * i + j, v + x) for i, ((m, s), v) in enumerate(ACC.items()) for j, x in enumerate((0.01, 0.02)))), [(m, "all", {"accuracy": v + x}) for (m, _), v in ACC.items() for x in (0.01, 0.02)]),
    Case("optimizers alone", csv("optimizer,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items())), SCORES, answer={"algorithm": "optimizer"}),
    Case("noise at which all were evaluated", csv("method,noise,seed,accuracy", *((m, x, s, v - x) for (m, s), v in ACC.items() for x in (0.1, 0.2))), [(m, str(x), {"accuracy": v - x}) for (m, _), v in ACC.items() for x in (0.1, 0.2)], answer={"task": "noise"}),
    Case("modalities with a sweep", csv("model,lr,modality,seed,accuracy", *((m, x, t, s, v + x + d) for (m, s), v in ACC.items() for x in (0.01, 0.02) for t, d in (("ct", 0), ("mr", 0.01)))), [(m, t, {"accuracy": v + x + d}) for (m, _), v in ACC.items() for x in (0.01, 0.02) for t, d in (("ct", 0), ("mr", 0.01))], answer={"task": "modality"}),
    Case("losses in words", csv("model,loss,seed,accuracy", *((m, x, s, v + d) for (m, s), v in ACC.items() for x, d in (("ce", 0), ("focal", 0.01)))), [(f"{m}/{x}", "all", {"accuracy": v + d}) for (m, _), v in ACC.items() for x, d in (("ce", 0), ("focal", 0.01))], answer={"algorithm": "model+loss"}),
    Case("releases of models", "model,release,accuracy\na,1.1,0.91\na,1.1,0.88\na,1.10,0.75\na,1.10,0.79\n", [("a/1.1", "all", {"accuracy": 0.91}), ("a/1.1", "all", {"accuracy": 0.88}), ("a/1.10", "all", {"accuracy": 0.75}), ("a/1.10", "all", {"accuracy": 0.79})], {"algorithm": "model+release"}),
    Case("layers of an early exit", csv("model,exit,seed,accuracy", *((m, x, s, v + x / 100) for (m, s), v in ACC.items() for x in (3, 6))), [(m, "all", {"accuracy": v + x / 100}) for (m, _), v in ACC.items() for x in (3, 6)], {"trial": ["seed", "exit"]}, status={"ok": 8}),
    Case("episodes that crashed", csv("agent,seed,episode,reward,crashed", *((m, s, e, v, int(e == 1)) for m, s, e, v in STEPS)), [(m, "all", {"reward": CURVE[m, s]}) for m, s in RUNS], answer={"status": "none"}, status={"ok": 4}),
    Case("numbered questions", csv("model,id,f1", *((m, i, 0.5 + i / 500) for m in "ab" for i in range(100))), [], refused=True),
    Case("sizes of models", csv("model,params,seed,accuracy", *((m, 7_000_000 if m == "a" else 13_000_000, s, v) for (m, s), v in ACC.items())), SCORES),
    Case("percent with broken numbers", csv("model,seed,accuracy", *((m, s, 100 * v + 0.5) for (m, s), v in ACC.items())), [(m, t, {"accuracy": v["accuracy"] + 0.005}) for m, t, v in SCORES]),
    Case("a method called Average", csv("method,seed,accuracy", *((m, s, v) for m, d in (("TIES", 0), ("Average", 0.3), ("DARE", 0.1)) for s, v in ((0, 0.5 + d), (1, 0.52 + d)))), [(m, "all", {"accuracy": v}) for m, d in (("TIES", 0), ("Average", 0.3), ("DARE", 0.1)) for v in (0.5 + d, 0.52 + d)]),
    # --- columns of unknown meaning ---
    Case("languages", csv("model,lang,bleu", ("a", "de", 0.5), ("a", "fr", 0.3), ("b", "de", 0.6), ("b", "fr", 0.4)), [("a", "de", {"bleu": 0.5}), ("a", "fr", {"bleu": 0.3}), ("b", "de", {"bleu": 0.6}), ("b", "fr", {"bleu": 0.4})], answer={"task": "lang"}),
    Case("languages and seeds", csv("model,lang,seed,accuracy", *((m, t, s, ACC[m, s]) for m, s in RUNS for t in ("de", "fr"))), [(m, t, {"accuracy": ACC[m, s]}) for m, s in RUNS for t in ("de", "fr")], answer={"task": "lang"}),
    Case("methods of one model", csv("model,method,acc", ("bert", "lora", 0.8), ("bert", "full", 0.9), ("bert", "lora", 0.81), ("bert", "full", 0.91)), [("lora", "all", {"acc": 0.8}), ("full", "all", {"acc": 0.9}), ("lora", "all", {"acc": 0.81}), ("full", "all", {"acc": 0.91})], answer={"algorithm": "method"}),
    Case("parts without seeds", csv("model,split,accuracy", ("a", "train", 0.99), ("a", "test", 0.7), ("b", "train", 0.98), ("b", "test", 0.75)), [("a", "all", {"accuracy": 0.7}), ("b", "all", {"accuracy": 0.75})], answer={"where": {"split": "test"}}),
    Case("sizes of unknown name", csv("model,shots,accuracy", *((m, n, v + n / 1000) for m, v in (("a", 0.5), ("b", 0.6)) for n in (5, 10, 50))), [(m, "all", {"accuracy": [(n, v + n / 1000) for n in (5, 10, 50)]}) for m, v in (("a", 0.5), ("b", 0.6))], answer={"step": "shots"}),
    Case("steps of unknown name", csv("algo,seed,total_env_frames,return", *((a, s, t, v + s) for a in "xy" for s in (1, 2) for t, v in ((1000, 5.0), (2000, 6.0)))), [(a, "all", {"return": [(1000, 5.0 + s), (2000, 6.0 + s)]}) for a in "xy" for s in (1, 2)], answer={"step": "total_env_frames"}),
    Case("experiments with seeds", csv("experiment,seed,accuracy", *((m, s, v) for (m, s), v in ACC.items())), SCORES, answer={"algorithm": "experiment"}),
    Case("epochs at which runs stopped", csv("model,epoch,accuracy", ("a", 37, 0.9), ("a", 52, 0.8), ("a", 41, 0.85), ("b", 60, 0.7), ("b", 33, 0.75), ("b", 48, 0.72)), [(m, "all", {"accuracy": v}) for m, v in (("a", 0.9), ("a", 0.8), ("a", 0.85), ("b", 0.7), ("b", 0.75), ("b", 0.72))], answer={"trial": "epoch"}),
    Case("words without a head", csv(",seed,accuracy", *((m, 2 * i + s, v) for i, m in enumerate("ab") for s, v in ((0, ACC[m, 0]), (1, ACC[m, 1])))), SCORES, answer={"algorithm": "index"}),
    # --- steps that look like runs ---
    Case("Keras history as a dict", {"loss": [1.0, 0.6, 0.5, 0.45], "val_loss": [1.1, 0.8, 0.9, 0.7]}, [("all", "all", {"loss": list(enumerate([1.0, 0.6, 0.5, 0.45])), "val_loss": list(enumerate([1.1, 0.8, 0.9, 0.7]))})]),
    Case("scores alone, a curve", "accuracy\n0.1\n0.5\n0.3\n", [("all", "all", {"accuracy": [(0, 0.1), (1, 0.5), (2, 0.3)]})], answer={"step": "row"}),
    Case("scores alone, runs", "accuracy\n0.1\n0.5\n0.3\n", [("all", "all", {"accuracy": v}) for v in (0.1, 0.5, 0.3)], answer={"trial": []}),
    Case("a curve without steps", csv("model,loss", *(("a", v) for v in FALLING)), [("a", "all", {"loss": list(enumerate(FALLING))})], answer={"step": "row"}),
    Case("an index of unknown name", csv("model,t,loss", *((m, i, v + k) for k, m in enumerate("ab") for i, v in enumerate((0.9, 0.7, 0.8, 0.6)))), [(m, "all", {"loss": [(i, v + k) for i, v in enumerate((0.9, 0.7, 0.8, 0.6))]}) for k, m in enumerate("ab")], answer={"step": "t"}),
    Case("epochs of one run", csv("epoch,loss,val_loss", *((i, v, v + 0.1) for i, v in enumerate(FALLING))), [("all", "all", {"loss": list(enumerate(FALLING)), "val_loss": [(i, v + 0.1) for i, v in enumerate(FALLING)]})]),
    # --- choosing ---
    Case("rows of one experiment", csv("experiment,model,seed,accuracy", *(("cifar", m, s, v) for (m, s), v in ACC.items()), *(("mnist", m, s, 0.5) for m, s in ACC)), SCORES, {"where": {"experiment": "cifar"}}),
    Case("an experiment that is not there", csv("experiment,model,seed,accuracy", *(("cifar", m, s, v) for (m, s), v in ACC.items()), *(("mnist", m, s, 0.5) for m, s in ACC)), SCORES, {"where": {"experiment": "cfiar"}}, {"where": {"experiment": "cifar"}}),
]  # fmt: skip
