"""Under-complete products of experts: projection pursuit with an exact likelihood.

`UPoE` is a density and a transformer, `UPoEDetector` finds outliers, `UPoEICA` finds sources,
`UPoEImputer` fills in missing cells;
`compare` says what changed between two tables.
They are scikit-learn estimators where scikit-learn is installed, and behave alike where not.
"""

from ._base import ConvergenceWarning, NotFittedError, UPoEWarning
from ._compare import Change, Comparison, Drop, compare
from ._condition import Condition
from ._detector import UPoEDetector
from ._estimator import UPoE
from ._explanation import Explanation, Surprises
from ._groups import Difference, Group
from ._ica import UPoEICA
from ._imputer import UPoEImputer
from ._missing import Expected, Imputed
from ._oddity import Oddity
from ._upoe import Expert, __version__, detectable

__all__ = [
    "Change",
    "Comparison",
    "Condition",
    "ConvergenceWarning",
    "Difference",
    "Drop",
    "Expected",
    "Expert",
    "Explanation",
    "Group",
    "Imputed",
    "NotFittedError",
    "Oddity",
    "Surprises",
    "UPoE",
    "UPoEDetector",
    "UPoEICA",
    "UPoEImputer",
    "UPoEWarning",
    "__version__",
    "compare",
    "detectable",
]
