"""
Compiled parts of upoe.
"""

from _typeshed import SupportsGetItem
from numpy import bool_, float32, float64
from numpy.typing import NDArray
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["__version__", "Expert", "Model", "choices", "defaults", "detectable", "fit", "held_out"]

__version__: Final[str]

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
    def directions(self, /) -> NDArray[float64]:
        """
        W, in sphered space: (J, dimensions).
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
    def inverse_transform(self, /, z: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The rows of highest Gaussian density with these projections.
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
    def path(self, /) -> NDArray[float64]:
        """
        Mean ln p in sphered space after 0…J experts: (J + 1, 2), training and held-out rows.
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
    @property
    def training(self, /) -> str:
        """
        What it was trained on, and how well it did, as JSON.
        """
    def transform(self, /, x: NDArray[float64] | NDArray[float32], threads: SupportsIndex | None) -> NDArray[float64]:
        """
        The projections of rows: (n, J).
        """
    @property
    def whitening(self, /) -> NDArray[float64]:
        """
        A: (dimensions, features).
        """

def choices() -> dict[str, list[str]]:
    """
    The words that each setting takes, by the name of the estimators' parameter.
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

def fit(x: NDArray[float64] | NDArray[float32], weights: NDArray[float64] | None, blocks: SupportsGetItem[int, SupportsIndex] | None, holdout: NDArray[float64] | NDArray[float32] | None, holdout_weights: NDArray[float64] | None, holdout_blocks: SupportsGetItem[int, SupportsIndex] | None, settings: str, names: SupportsGetItem[int, str] | None, progress: Any | None) -> Model:
    """
    Fits a model. `settings` is JSON, `names` the columns' names, and
    `progress(expert, passes, gain)` is called a few times per second. The arrays must be private:
    C-contiguous, and known to no other thread.
    """

def held_out(rows: SupportsIndex, groups: SupportsGetItem[int, str] | None, share: SupportsFloat | SupportsIndex | None, seed: SupportsIndex) -> NDArray[bool_]:
    """
    Marks rows to hold out: a share of them at random, or whole groups until the share is
    reached. Which ones depends on the seed, the number of rows and the groups alone.
    """
