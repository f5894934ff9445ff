//! Under-complete products of experts: projection-pursuit density estimation with an exact likelihood.
