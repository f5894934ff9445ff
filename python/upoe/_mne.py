"""Sources as MNE-Python knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._ica import UPoEICA


def to_mne(sources: UPoEICA, info: Any) -> Any:
    """An `mne.preprocessing.ICA` with these sources."""
    try:
        from mne.preprocessing import ICA
    except ImportError as error:
        raise ImportError("to_mne needs MNE-Python: pip install 'upoe[mne]'") from error
    channels = list(info["ch_names"])
    if len(channels) != sources.n_features_in_:
        raise ValueError(
            f"info has {len(channels)} channels, but the sources were found in "
            f"{sources.n_features_in_}: select them first, for example by mne.pick_info"
        )
    known = getattr(sources, "feature_names_in_", None)
    if known is not None and list(known) != channels:
        raise ValueError(
            "the channels of info are not the columns of the fit, in their order: "
            f"{channels[:5]}… and {list(known)[:5]}…"
        )
    # MNE takes what is left of the other dimensions from principal components, which are at right
    # angles to each other. With sources in all dimensions nothing is left, and taking one out is exact.
    unmixing = np.vstack([sources.components_, sources._other_components()])
    count = len(unmixing)
    ica = ICA(n_components=count, method="infomax", random_state=0, max_iter=1)
    u, s, v = np.linalg.svd(unmixing, full_matrices=False)
    ica.method = "upoe"
    ica.current_fit = "raw"
    ica.ch_names = channels
    ica.info = info
    ica.n_components_ = count
    ica.n_pca_components = None
    ica._max_pca_components = None
    ica.n_samples_ = int(sources.training_["rows"])
    ica.n_iter_ = int(sources.n_iter_)
    ica.pre_whitener_ = np.ones((len(channels), 1))
    ica.pca_mean_ = np.array(sources.mean_)
    ica.pca_components_ = v
    ica.pca_explained_variance_ = 1.0 / s**2
    ica.unmixing_matrix_ = u * s
    ica.mixing_matrix_ = (u / s).T
    ica.reject_ = None
    ica._update_ica_names()
    return ica
