// A Student-t on a device: the statistics of `student_t/learning.rs`, in the same order.
// Numbers: μ, 1/s, 1/ν, (ν + 1)/(ν s), β, ln of the peak.

// Statistics stay in registers until the end.
__device__ inline double student_t_term(const double *p, double z, double weight, bool weighted,
                                        State &state, double *)
{
    const double u = (z - p[0]) * p[1];
    const double q = u * u * p[2];
    const double w = 1.0 / (1.0 + q);
    const double slope = p[3] * u * w;
    state.sum[0] += weight * slope * slope;
    state.sum[1] += weight;
    state.sum[2] += weight * w;
    state.sum[3] += weight * w * u;
    state.sum[4] += weight * w * u * u;
    // With many degrees of freedom the digits of q count.
    if (weighted || p[2] <= 0.02 || !(q < 1e300)) {
        if (weight != 0.0) state.sum[5] += weight * log1p(q);
    } else if (weight != 0.0) {
        // Σ ln(1 + q) as the logarithm of a product, whose exponent is taken off at every step.
        const double product = state.product * (1.0 + q);
        const int high = __double2hiint(product);
        state.exponent += (high >> 20) - 1023;
        state.product = __hiloint2double((high & 0xfffff) | 0x3ff00000, __double2loint(product));
    }
    return slope;
}

__device__ inline void student_t_end(State &state, double *sums)
{
    state.sum[5] += log(state.product) + state.exponent * LN_2;
    for (int i = 0; i < 6; i++) {
        const double total = warp_sum(state.sum[i]);
        if (lane() == 0) sums[i] += total;
    }
}

__device__ inline double student_t_ln_density(const double *p, double z)
{
    const double u = (z - p[0]) * p[1];
    return p[5] - p[4] * log1p(u * u * p[2]);
}
