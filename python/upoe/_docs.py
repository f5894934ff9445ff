"""What the estimators' parameters and attributes mean, written once for all three."""

from __future__ import annotations

import inspect
from typing import Callable, TypeVar

from ._settings import CHOICES

T = TypeVar("T")


def _one_of(name: str) -> str:
    return "{" + ", ".join(f'"{word}"' for word in CHOICES[name]) + "}"


# The type of each parameter, and what it does. Defaults come from the signatures.
_PARAMETERS = {
    "n_experts": (
        'int or "auto"',
        'The largest number of experts; "auto" leaves the number to the stop rule.',
    ),
    "n_components": (
        "int or None",
        """The number of sources; None takes as many as the data have dimensions. No PCA is needed
        to find fewer sources than columns: the other dimensions stay in the model, as Gaussian.""",
    ),
    "method": (
        '{"core", "density"}',
        """"core" is the distance from a robust core with the rarity of each value; "density" is ln p.
        Parameters from `n_tail_samples` to `device` matter to "density" only.""",
    ),
    "alpha": (
        "float",
        "A row whose p-value is at most `alpha` is an outlier; not used with `contamination`.",
    ),
    "contamination": (
        "float or None",
        "The share of the training rows that are outliers, in (0, 0.5]; None uses `alpha`.",
    ),
    "n_tail_samples": ("int", "How many rows are drawn from the model to find the threshold."),
    "quality": (
        _one_of("quality") + " or None",
        """"fast" is one layer: Gaussian except along directions. "good" is a stack of layers, grown until
        what is left is Gaussian noise. "best" is a pool of stacks and mixtures. None is "fast".""",
    ),
    "depth": (
        'int, "auto" or None',
        """The largest number of layers; "auto" goes on until what is left is Gaussian noise. None is 1
        for the quality "fast" and "auto" for the others.""",
    ),
    "n_dims": (
        "int, float or None",
        """Dimensions kept by sphering: a number of them, a share of the variance in (0, 1], or None
        for all that have variance. Dropped dimensions are modelled as isotropic Gaussian noise, so
        the density is still one over all columns.""",
    ),
    "family": (
        _one_of("family"),
        """The family of the experts; "auto" chooses for each direction the family with the best
        penalised gain.""",
    ),
    "mixture_size": ("int", "The number of components of a mixture."),
    "fix_mu": (
        "float, sequence of float or None",
        """Locations that are fixed, in sphered units: one for "student-t", one per component for
        "mixture".""",
    ),
    "fix_beta": (
        "float or None",
        'The shape parameter beta, if it is fixed, of "student-t" and "mixture" experts.',
    ),
    "learner": (
        _one_of("learner"),
        """How directions are learned: one at a time and orthonormal ("pursuit"), one at a time and
        free ("sequential"), or all together ("parallel").""",
    ),
    "parallel_start": (_one_of("parallel_start"), "Where the parallel learner starts."),
    "stop": (
        _one_of("stop") + " or None",
        """The rule that decides whether another expert is added. "null": it must gain more than it
        would on Gaussian noise. "train": it must gain something on the training rows. "holdout": it
        must gain something on the held-out rows. "bic": it must gain more than its parameters cost.
        None is "train" where the number of experts is given, and "null" otherwise.""",
    ),
    "holdout": (
        "float or None",
        "The share of rows that is held out, for the stop rule or only for the reported figures.",
    ),
    "n_starts": ('int or "auto"', "The number of starts for each direction."),
    "max_iter": ("int", "The largest number of steps of one descent."),
    "tol": (
        "float",
        "A descent ends when no entry of the gradient is larger than this; over many rows also "
        "where what is left to gain is noise.",
    ),
    "recipe": (
        _one_of("recipe"),
        """"best" is L-BFGS from many starts; "paper" is the paper's gradient steps on batches of 100
        rows.""",
    ),
    "precision": (
        _one_of("precision"),
        "How sphered rows are stored while the model is learned; sums are always in f64.",
    ),
    "device": (
        '"cpu", "auto", "cuda" or "cuda:N"',
        """Where the model is learned. "cuda" is the first NVIDIA GPU, "cuda:1" the second; "auto" takes
        a GPU for large tables where there is one. The result is the CPU's up to rounding.""",
    ),
    "strategy": (
        '{"mean", "median"}',
        "What missing cells are filled in with, where they are not drawn.",
    ),
    "sample_posterior": (
        "bool",
        """Whether to fill in a draw from the density of the missing cells, instead of the mean or the
        median; with another `random_state` it is another draw.""",
    ),
    "missing_values": ("int or float", "What stands for a missing cell; NaN is always one where it is NaN."),
    "add_indicator": (
        "bool",
        "Whether to add a column of 0 and 1 for each column that had missing cells in the fit.",
    ),
    "keep_empty_features": (
        "bool",
        "Whether columns without any value in the fit are filled with 0, instead of left out.",
    ),
    "random_state": (
        "int, RandomState instance or None",
        "The seed. None is 0, so a fit can always be repeated.",
    ),
    "n_jobs": (
        "int or None",
        """The number of threads; None and -1 use all cores. The results are the same, to the bit,
        for any number.""",
    ),
    "verbose": ("int", "Whether to show progress and a summary."),
}

# The same for attributes. A class may use another word for `n_experts_`.
_ATTRIBUTES = {
    "density_": ("UPoE", "The fitted density."),
    "empty_features_": (
        "ndarray of int",
        "The columns that had no value in the fit.",
    ),
    "indicator_features_": (
        "ndarray of int",
        "The columns that had missing cells in the fit.",
    ),
    "offset_": (
        "float",
        "The threshold: `decision_function(X) = score_samples(X) - offset_`.",
    ),
    "training_p_values_": (
        "ndarray of shape (n_samples,)",
        """Of the method "core": the probability that an ordinary row is as odd as each training row,
        which is judged without it. `training_oddness_` is how odd it is.""",
    ),
    "components_": (
        "ndarray of shape (n_experts_, n_features)",
        "The filters: `transform(X) = (X - mean_) @ components_.T`.",
    ),
    "mixing_": (
        "ndarray of shape (n_features, n_experts_)",
        "The patterns: how the columns change with each projection.",
    ),
    "layers_": (
        "list of Layer",
        """The layers of a stack, each with `kind` ("directions" or "radial"), `gain`, `holdout_gain`,
        `gains`, `p_values` and `n_dims`; empty where there is one layer.""",
    ),
    "members_": (
        "list of (str, float)",
        "What a pool is made of, and the share of each; empty where there is no pool.",
    ),
    "groups_": (
        "list of Group",
        """The groups among the training rows, the largest first, each with `name`, `training_rows`,
        `share`, `profile` (the columns in which it differs from all other rows, with intervals) and
        `named_by`. One group where there is no significant valley; `n_merged_groups_` says how many
        were too small and were merged into others.""",
    ),
    "mean_": ("ndarray of shape (n_features,)", "The mean of the training rows."),
    "whitening_": ("ndarray of shape (n_dims, n_features)", "The sphering matrix A."),
    "directions_": (
        "ndarray of shape (n_experts_, n_dims)",
        "The directions in sphered space.",
    ),
    "experts_": (
        "list of Expert",
        "The experts, with `family`, `parameters`, `log_density(z)`, `cdf(z)` and more.",
    ),
    "gains_": (
        "ndarray of shape (n_experts_,)",
        "What each expert adds to the mean ln p of the training rows, in nats.",
    ),
    "p_values_": (
        "ndarray of shape (n_experts_,)",
        """The probability that Gaussian noise gives as large a gain; NaN where the stop rule does
        not test it.""",
    ),
    "n_experts_": ("int", "The number of experts."),
    "n_components_": ("int", "The number of sources found."),
    "n_iter_": ("int", "The largest number of steps that an expert's last descent took."),
    "path_": (
        "ndarray of shape (n_experts_ + 1, 2)",
        """Mean ln p in sphered space with 0, 1, ... experts, of the training rows and of the held-out
        rows.""",
    ),
    "stop_reason_": (
        "str",
        "Why no further expert was added, in one word; `stop_message_` is the sentence.",
    ),
    "notices_": ("list of str", "What a user should know about the fit."),
    "training_": ("dict", "What the model was trained on, and its mean ln p."),
    "n_features_in_": ("int", "The number of columns."),
    "feature_names_in_": (
        "ndarray of shape (n_features_in_,)",
        "The names of the columns, where X has names and all of them are strings.",
    ),
}

# The attributes that all classes document, between their first and their last ones.
SHARED = ["components_", "mixing_", "mean_", "whitening_", "directions_", "experts_", "gains_"]
LAST = ["stop_reason_", "notices_", "training_", "n_features_in_", "feature_names_in_"]


def documented(*attributes: str, count: str = "n_experts_") -> Callable[[type[T]], type[T]]:
    """Adds the sections Parameters and Attributes to the docstring of a class, before "See Also".

    Parameters are those of `__init__`, in its order; `count` is the class's word for the number
    of experts.
    """

    def decorate(kind: type[T]) -> type[T]:
        signature = inspect.signature(kind.__init__).parameters  # type: ignore[misc]
        parameters = []
        for name, parameter in signature.items():
            if name != "self":
                type_, text = _PARAMETERS[name]
                default = parameter.default
                shown = f'"{default}"' if isinstance(default, str) else repr(default)
                parameters.append(_item(name, f"{type_}, default={shown}", text))
        described = [_item(name, *_ATTRIBUTES[name]) for name in attributes]
        sections = (
            "Parameters\n----------\n" + "\n".join(parameters),
            "Attributes\n----------\n" + "\n".join(described).replace("n_experts_", count),
        )
        doc = inspect.cleandoc(kind.__doc__ or "")  # python -OO leaves none
        before, mark, after = doc.partition("See Also\n--------\n")
        kind.__doc__ = before + "\n\n".join(sections) + "\n\n" + mark + after
        return kind

    return decorate


def _item(name: str, type_: str, text: str) -> str:
    lines = "\n".join(f"    {line.strip()}" for line in text.splitlines())
    return f"{name} : {type_}\n{lines}"
