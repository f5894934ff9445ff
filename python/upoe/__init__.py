"""Under-complete products of experts: projection pursuit with an exact likelihood.

`UPoE` is a density and a transformer, `UPoEDetector` finds outliers, `UPoEICA` finds sources.
They are scikit-learn estimators where scikit-learn is installed, and behave alike where not.
"""

from ._base import ConvergenceWarning, NotFittedError, UPoEWarning
from ._detector import UPoEDetector
from ._estimator import UPoE
from ._explanation import Explanation
from ._ica import UPoEICA
from ._upoe import Expert, __version__, detectable

__all__ = [
    "ConvergenceWarning",
    "Expert",
    "Explanation",
    "NotFittedError",
    "UPoE",
    "UPoEDetector",
    "UPoEICA",
    "UPoEWarning",
    "__version__",
    "detectable",
]
