"""
Compiled parts of upoe.
"""

from _typeshed import SupportsGetItem
from numpy import bool_, float32, float64
from numpy.typing import NDArray
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["__version__", "Detector", "Expert", "Model", "Partition", "choices", "compare", "defaults", "detectable", "dials", "draw_given", "draw_missing", "exceeded_by", "expect", "fit", "fit_cluster", "fit_detector", "held_out", "impute", "look", "missing", "quantiles_given", "report", "sample_rows", "score_given", "sphere"]

__version__: Final[str]

@final
class Detector:
    """
    A fitted detector.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[bytes]]: ...
    def __repr__(self, /) -> str: ...
    @property
    def constant(self, /) -> list[int]:
        """
        The columns that are constant in the training rows.
        """
    @property
    def directions(self, /) -> NDArray[float64]:
        """
        The heavy directions in the data's own columns: (J, features). A row's projection on one is
        its distance from the core's centre, in units of the core's deviation.
        """
    def explain(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> tuple[tuple[NDArray[float64], float, NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]], tuple[NDArray[float64], NDArray[float64], NDArray[float64]], list[str]]:
        """
        Why rows are odd, and what each column should be given the others.
        """
    @property
    def feature_names(self, /) -> list[str] | None:
        """
        The columns' names, where they have any.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Detector:
        """
        A detector from the bytes of its file.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Detector:
        """
        Reads a detector file.
        """
    @property
    def n_features(self, /) -> int:
        """
        How many columns a row has.
        """
    def oddness(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> tuple[NDArray[float64], NDArray[float64]]:
        """
        How odd rows are, and the p-value of each as a new row.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the detector file.
        """
    @property
    def settings(self, /) -> tuple[int, int]:
        """
        (heavy directions, seed) of the fit.
        """
    def threshold(self, /, alpha: SupportsFloat | SupportsIndex) -> float:
        """
        Rows odder than this have a p-value of at most `alpha`.
        """
    def to_bytes(self, /) -> bytes:
        """
        The bytes of the detector file.
        """
    @property
    def training_rows(self, /) -> float:
        """
        How many training rows there were.
        """
    @property
    def verdict(self, /) -> tuple[float, float | None, float]:
        """
        (alpha, contamination, threshold): which rows are called odd.
        """

@final
class Expert:
    """
    A learned expert: a normalised density of one projection z.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[str]]: ...
    def __repr__(self, /) -> str: ...
    def cdf(self, /, z: NDArray[float64]) -> NDArray[float64]:
        """
        P(Z ≤ z) of an array of projections.
        """
    @property
    def converged(self, /) -> bool:
        """
        Whether that ended at its tolerance.
        """
    @property
    def degrees_of_freedom(self, /) -> list[float] | None:
        """
        The degrees of freedom of a Student-t, or of each component of a mixture; none of a tilt.
        """
    @property
    def direction(self, /) -> NDArray[float64]:
        """
        The direction in sphered space.
        """
    @property
    def entropy(self, /) -> float:
        """
        The entropy in nats.
        """
    @property
    def family(self, /) -> str:
        """
        The family: "student-t", "mixture" or "tilt".
        """
    @staticmethod
    def from_json(json: str) -> Expert:
        """
        An expert from what pickle keeps of it.
        """
    @property
    def gain(self, /) -> float:
        """
        What it added to the mean ln p of the training rows, in nats: positive is better.
        """
    @property
    def kind(self, /) -> str:
        """
        The family, by its former name.
        """
    @property
    def kurtosis(self, /) -> float:
        """
        The excess kurtosis.
        """
    def log_density(self, /, z: NDArray[float64]) -> NDArray[float64]:
        """
        ln T(z) of an array of projections.
        """
    @property
    def mean(self, /) -> float:
        """
        The mean.
        """
    @property
    def n_iter(self, /) -> int:
        """
        Steps its last descent took.
        """
    @property
    def p_value(self, /) -> float | None:
        """
        The chance that Gaussian rows would give as large a gain, where the stop rule says.
        """
    @property
    def parameters(self, /) -> dict[str, Any]:
        """
        The parameters by name: a number, or a list with one for each component.
        """
    def quantile(self, /, p: NDArray[float64]) -> NDArray[float64]:
        """
        The z with P(Z ≤ z) = p, of an array of probabilities.
        """
    def responsibilities(self, /, z: NDArray[float64]) -> NDArray[float64]:
        """
        The probability of each component given z: (n, components), one column of ones where
        the expert is not a mixture.
        """
    @property
    def says(self, /) -> str:
        """
        What it found, in words.
        """
    @property
    def scale(self, /) -> list[float] | None:
        """
        The scale of a Student-t, or of each component of a mixture, in the unit of z; none of a tilt.
        """
    @property
    def variance(self, /) -> float:
        """
        The variance.
        """

@final
class Model:
    """
    A fitted model.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[bytes]]: ...
    def __repr__(self, /) -> str: ...
    @property
    def components(self, /) -> NDArray[float64]:
        """
        W A: (J, features).
        """
    @property
    def correlations(self, /) -> NDArray[float64]:
        """
        The correlation of each column with each projection: (J, features).
        """
    @property
    def directions(self, /) -> NDArray[float64]:
        """
        W, in sphered space: (J, dimensions).
        """
    def expected(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        Each value beside what the others make of it: (n, features, 5) of expected, low, high, surprise
        and blame; NaN for columns that the others determine.
        """
    @property
    def experts(self, /) -> list[Expert]:
        """
        The experts.
        """
    def explain(self, /, x: NDArray[float64] | NDArray[float32], split: bool, threads: SupportsIndex | None) -> tuple[NDArray[float64], float, NDArray[float64], NDArray[float64], NDArray[float64], tuple[NDArray[float64], NDArray[float64]] | None]:
        """
        The parts of ln p: (log_density, baseline, experts, rest, columns), and with `split`
        (experts_by_column, rest_by_column).
        """
    @property
    def feature_names(self, /) -> list[str] | None:
        """
        The columns' names, where they were given any.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Model:
        """
        A model from the bytes of its file.
        """
    def from_normal(self, /, z: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The rows that a stack maps to these standard normal ones.
        """
    @property
    def groups(self, /) -> str | None:
        """
        The groups with their profiles, and how many small ones were merged, as JSON; None where they were
        not looked for.
        """
    def inverse_transform(self, /, z: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The rows of highest Gaussian density with these projections.
        """
    @property
    def layers(self, /) -> list[tuple[str, float, float | None, list[float], list[float | None], int]]:
        """
        The layers of the stack, where there is one: (kind, gain, gain on held-out rows, gains of its experts,
        their p-values, dimensions).
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """
        Reads a model file.
        """
    @property
    def mean(self, /) -> NDArray[float64]:
        """
        m.
        """
    @property
    def members(self, /) -> list[tuple[str, float]]:
        """
        The members of the pool, where there is one: (kind, share), `kind` "stack" or "mixture".
        """
    @property
    def mixing(self, /) -> NDArray[float64]:
        """
        A⁺W#: (features, J).
        """
    @property
    def n_features(self, /) -> int:
        """
        The number of columns.
        """
    @property
    def notices(self, /) -> list[tuple[bool, str]]:
        """
        What a user should know: (whether it is about convergence, sentence).
        """
    def outside(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> str | None:
        """
        Why rows have ln p = −∞, where they lie outside the subspace of the training rows.
        """
    @property
    def part_names(self, /) -> list[str]:
        """
        The names of the parts that `explain` gives before the rest.
        """
    @property
    def path(self, /) -> NDArray[float64]:
        """
        Mean ln p in sphered space after 0…J experts: (J + 1, 2), training and held-out rows.
        """
    def probabilities(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The chance of each row to be of each group: (n, groups).
        """
    @property
    def rank(self, /) -> int:
        """
        Dimensions of the data that have variance.
        """
    def sample(self, /, n: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> NDArray[float64]:
        """
        `n` rows drawn from the model.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the model file.
        """
    def score(self, /, x: NDArray[float64] | NDArray[float32], sphered: bool, threads: SupportsIndex | None) -> NDArray[float64]:
        """
        ln p of rows: over their own columns, or in sphered space.
        """
    def score_present(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> tuple[NDArray[float64], NDArray[float64]]:
        """
        ln p of the cells that are there (NaN is a missing one), and the standard errors.
        """
    @property
    def settings(self, /) -> str:
        """
        What the fit was asked to do, as JSON.
        """
    @property
    def stop(self, /) -> tuple[str, str]:
        """
        Why no further expert was added: (word, sentence).
        """
    def tail(self, /, x: NDArray[float64] | NDArray[float32], samples: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The probability of rows no more probable than each of these, from drawn rows.
        """
    def threshold(self, /, alpha: SupportsFloat | SupportsIndex, samples: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> float:
        """
        The ln p below which a row is in the tail of probability `alpha`.
        """
    def to_bytes(self, /) -> bytes:
        """
        The bytes of the model file.
        """
    def to_normal(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The standard normal rows that a stack maps rows to: (n, dimensions).
        """
    @property
    def training(self, /) -> str:
        """
        What it was trained on, and how well it did, as JSON.
        """
    def transform(self, /, x: NDArray[float64] | NDArray[float32], missing: bool, threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The projections of rows: (n, J). Cells may be `missing` (NaN); otherwise they are refused.
        """
    @property
    def whitening(self, /) -> NDArray[float64]:
        """
        A: (dimensions, features).
        """
    @staticmethod
    def words(name: str, observed: SupportsFloat | SupportsIndex, expected: SupportsFloat | SupportsIndex, low: SupportsFloat | SupportsIndex, high: SupportsFloat | SupportsIndex) -> str:
        """
        A value beside its expected one, in words.
        """

@final
class Partition:
    """
    Sphered rows that a worker keeps.
    """
    def __reduce__(self, /) -> tuple[Any, tuple[bytes]]: ...
    def answer(self, /, question: bytes) -> bytes:
        """
        The answer to a question of `fit_cluster`.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Partition:
        """
        The partition of such bytes.
        """
    @property
    def index(self, /) -> int:
        """
        Which partition it is, from 0.
        """
    def to_bytes(self, /) -> bytes:
        """
        All of it as bytes.
        """

def choices() -> dict[str, list[str]]:
    """
    The words that each setting takes, by the name of the estimators' parameter.
    """

def compare(model: Model | None, a: NDArray[float64] | NDArray[float32] | None, b: NDArray[float64] | NDArray[float32], names: SupportsGetItem[int, str] | None, level: SupportsFloat | SupportsIndex, exchanges: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> str:
    """
    Compares rows with those of a table, or with a model; the result is JSON. The arrays must be private:
    C-contiguous, and known to no other thread.
    """

def defaults() -> str:
    """
    The settings of a fit that is asked for nothing, as JSON.
    """

def detectable(n_rows: SupportsIndex, n_dims: SupportsIndex) -> dict[str, float | None]:
    """
    What a default fit of `n_rows` independent rows in `n_dims` dimensions can find, in nats per row:
    `noise` is the gain that Gaussian rows exceed in 5 % of samples, `gain` the smallest one of a
    direction that is found in 80 %. A direction with two equal groups has that gain if they lie
    `groups` of their standard deviations apart, one with heavy tails if it has
    `degrees_of_freedom`; None where nothing is enough.
    """

def dials(json: str) -> tuple[str, int | None]:
    """
    The estimators' `quality` and `depth` of the settings of a fit: (quality, layers or None for auto).
    """

def draw_given(model: Model, given: tuple[SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex]], SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]]], n: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> tuple[NDArray[float64], float]:
    """
    `n` whole rows that fulfil a condition: (n, features), and the share of the rows drawn that lie in its
    ranges.
    """

def draw_missing(model: Model, x: NDArray[float64] | NDArray[float32], draws: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> NDArray[float64]:
    """
    Rows with their missing cells drawn: (n, draws, features). The array must be private.
    """

def exceeded_by(oddness: NDArray[float64], weights: NDArray[float64] | None, share: SupportsFloat | SupportsIndex) -> float:
    """
    The oddness that a share of the rows exceeds, halfway between two rows.
    """

def expect(model: Model, x: NDArray[float64] | NDArray[float32], target: SupportsIndex, interval: SupportsFloat | SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None) -> NDArray[float64]:
    """
    A column from the others: (n, 4) of mean, median, low and high. The array must be private, and NaN in
    that column.
    """

def fit(x: NDArray[float64] | NDArray[float32], weights: NDArray[float64] | None, blocks: SupportsGetItem[int, SupportsIndex] | None, holdout: NDArray[float64] | NDArray[float32] | None, holdout_weights: NDArray[float64] | None, holdout_blocks: SupportsGetItem[int, SupportsIndex] | None, settings: str, device: str, groups: bool, names: SupportsGetItem[int, str] | None, missing: bool, progress: Any | None) -> Model:
    """
    Fits a model. `settings` is JSON, `device` where it is learned, `groups` says whether they are
    looked for, `names` are the columns' names, and
    `progress(expert, passes, gain)` is called a few times per second. NaN is a missing cell where cells
    may be `missing`. The arrays must be private:
    C-contiguous, and known to no other thread.
    """

def fit_cluster(cluster: Any, holdout: SupportsFloat | SupportsIndex | None, settings: str, names: SupportsGetItem[int, str] | None, progress: Any | None) -> Model:
    """
    Fits a model to rows that `cluster` reaches: an object with the methods `look(question)`,
    `sphere(plan)` and `ask(question)`. Each takes bytes; `look` and `ask` return one answer in bytes
    per partition, in the order of the partitions. `holdout` is the share of rows held out.
    """

def fit_detector(x: NDArray[float64] | NDArray[float32], weights: NDArray[float64] | None, blocks: SupportsGetItem[int, SupportsIndex] | None, directions: SupportsIndex, seed: SupportsIndex, alpha: SupportsFloat | SupportsIndex, contamination: SupportsFloat | SupportsIndex | None, names: SupportsGetItem[int, str] | None, threads: SupportsIndex | None) -> tuple[Detector, NDArray[float64], NDArray[float64]]:
    """
    Fits a detector with `directions` heavy directions. The arrays must be private: C-contiguous, and
    known to no other thread.
    """

def held_out(rows: SupportsIndex, groups: SupportsGetItem[int, str] | None, share: SupportsFloat | SupportsIndex | None, seed: SupportsIndex) -> NDArray[bool_]:
    """
    Marks rows to hold out: a share of them at random, or whole groups until the share is
    reached. Which ones depends on the seed, the number of rows and the groups alone.
    """

def impute(model: Model, x: NDArray[float64] | NDArray[float32], median: bool, interval: SupportsFloat | SupportsIndex | None, seed: SupportsIndex, threads: SupportsIndex | None) -> NDArray[float64]:
    """
    Rows with their missing cells filled in by means or medians: (n, features, 1), or (n, features, 3) with
    the ends of an interval. The array must be private.
    """

def look(index: SupportsIndex, x: NDArray[float64] | NDArray[float32], weights: NDArray[float64] | None, names: SupportsGetItem[int, str], question: bytes) -> bytes:
    """
    What partition `index` says of its rows before they are sphered, in answer to a question of
    `fit_cluster`. The arrays must be private: C-contiguous, and known to no other thread.
    """

def missing(x: NDArray[float64] | NDArray[float32], names: SupportsGetItem[int, str] | None) -> str | None:
    """
    What is missing where, in a sentence; None where nothing is. The array must be private.
    """

def quantiles_given(model: Model, given: tuple[SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex]], SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]]], probabilities: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> tuple[float, list[float]] | None:
    """
    The exact mean and quantiles of the one column that is not given; None where there are more.
    """

def report(model: Model, x: NDArray[float64] | NDArray[float32], title: str, labels: SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]], threads: SupportsIndex | None) -> str:
    """
    The page of a model and rows, with columns of labels that are not modelled.
    """

def sample_rows(rows: SupportsIndex, columns: SupportsIndex) -> int | None:
    """
    How many rows a sample has that most steps of a fit of rows × columns are made on; None where the rows
    are not many more.
    """

def score_given(model: Model, given: tuple[SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex]], SupportsGetItem[int, tuple[SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]]], share: SupportsFloat | SupportsIndex, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
    """
    ln of the density of the columns that are not given. `x` has whole rows; `share` is the probability
    of the condition's ranges. The array must be private.
    """

def sphere(index: SupportsIndex, x: NDArray[float64] | NDArray[float32], weights: NDArray[float64] | None, plan: bytes) -> Partition:
    """
    The sphered rows of partition `index`, by a plan of `fit_cluster`.
    """
