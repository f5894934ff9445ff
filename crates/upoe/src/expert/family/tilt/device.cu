// A tilt on a device: the statistics of `tilt/learning.rs`, in the same order.
// Numbers: the last cell, 1/spacing, the place of z = 0, 1/s of asinh, s/spacing, ln Z; then a cubic
// of four numbers for each cell.

// The cell of z, where z lies in it (v), and the slope of its place by z.
__device__ inline int tilt_locate(const double *p, double z, double &v, double &rate)
{
    const double scaled = fabs(z) * p[3];
    const double u = scaled < 1e150 ? scaled : 1e150;
    const double root = sqrt(1.0 + u * u);
    const double place = p[2] + copysign(p[4] * log(u + root), z);
    rate = p[1] / root;
    const double inside = place > 0.0 ? (place < p[0] ? place : p[0]) : 0.0;
    const int cell = (int)inside;
    v = place - (cell > 1 ? cell : 1);
    return cell;
}

// Lanes whose z lie in the same cell form a group. The first lane of each group adds up its group in
// the order of lanes, so that no two lanes write to one cell and the order never changes.
__device__ inline double tilt_term(const double *p, double z, double weight, bool, State &state, double *sums)
{
    double v, rate;
    const int cell = tilt_locate(p, z, v, rate);
    const double *c = p + 6 + 4 * cell;
    const double slope = -rate * (c[1] + v * (2.0 * c[2] + v * 3.0 * c[3]));
    state.sum[0] += weight * slope * slope;
    const unsigned group = __match_any_sync(ALL, cell);
    unsigned left = lane() == __ffs(group) - 1 ? group : 0;
    const bool first = left != 0;
    double m0 = 0.0, m1 = 0.0, m2 = 0.0, m3 = 0.0;
    while (__any_sync(ALL, left != 0)) {
        const int from = left != 0 ? __ffs(left) - 1 : lane();
        const double w = __shfl_sync(ALL, weight, from), x = __shfl_sync(ALL, v, from);
        if (left != 0) {
            m0 += w;
            m1 += w * x;
            m2 += w * x * x;
            m3 += w * x * x * x;
            left &= left - 1;
        }
    }
    if (first) {
        double *own = sums + 1 + 4 * cell;
        own[0] += m0;
        own[1] += m1;
        own[2] += m2;
        own[3] += m3;
    }
    __syncwarp();
    return slope;
}

__device__ inline void tilt_end(State &state, double *sums)
{
    const double total = warp_sum(state.sum[0]);
    if (lane() == 0) sums[0] += total;
}

__device__ inline double tilt_ln_density(const double *p, double z)
{
    double v, rate;
    if (isinf(z)) return -INFINITY;
    const double *c = p + 6 + 4 * tilt_locate(p, z, v, rate);
    return c[0] + v * (c[1] + v * (c[2] + v * c[3])) - p[5];
}
