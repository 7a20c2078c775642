"""Optimizers and learning rate schedules."""
from saraph.optim import lr_scheduler, swa_utils
from saraph.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from saraph.optim.adaptive import ASGD, Adadelta, Adafactor, Adagrad, RMSprop, Rprop
from saraph.optim.lbfgs import LBFGS
from saraph.optim.muon import Muon
from saraph.optim.optimizer import Optimizer
from saraph.optim.sgd import SGD

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop",
           "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils"]
