"""XGBoost along its rounds: processor seconds and held-out loss.

    python3 bench/xgboost_path.py TRAIN HELD-OUT ROUNDS DEPTH ETA [MOST]

TRAIN and HELD-OUT are libsvm files.  One thread, histograms.  Prints the round of the least held-out loss, that loss,
the processor seconds up to it (of which reading), and the leaves of its trees.  Stops when 20 rounds in a row bring
nothing, or after MOST processor seconds.
"""
# SPDX-License-Identifier: MIT
import sys
import time

import xgboost


class Clock(xgboost.callback.TrainingCallback):
    def __init__(self, most):
        self.most = most
        self.seconds = []

    def after_iteration(self, model, epoch, evals_log):
        self.seconds.append(time.process_time())
        return self.seconds[-1] > self.most


def main():
    train, held_out, rounds, depth, eta = sys.argv[1:6]
    clock = Clock(float(sys.argv[6]) if len(sys.argv) > 6 else 1e9)
    started = time.process_time()
    data = xgboost.DMatrix(train + "?format=libsvm", nthread=1)
    dev = xgboost.DMatrix(held_out + "?format=libsvm", nthread=1)
    read = time.process_time()
    parameters = {
        "objective": "binary:logistic",
        "eval_metric": "logloss",
        "max_depth": int(depth),
        "eta": float(eta),
        "tree_method": "hist",
        "nthread": 1,
    }
    log = {}
    model = xgboost.train(parameters, data, int(rounds), [(dev, "dev")], evals_result=log, verbose_eval=False,
                          callbacks=[clock, xgboost.callback.EarlyStopping(20)])
    losses = log["dev"]["logloss"]
    best = min(range(len(losses)), key=losses.__getitem__)
    leaves = sum(tree.count("leaf=") for tree in model.get_dump()[: best + 1])
    print(f"{best + 1} {losses[best]:.6f} {clock.seconds[best] - started:.2f} {read - started:.2f} {leaves}")


main()
