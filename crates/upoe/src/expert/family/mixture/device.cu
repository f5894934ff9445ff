// A mixture of Student-t components on a device: the statistics of `mixture.rs`, in the same order.
// Numbers: how many components; for each μ, 1/s, 1/ν, β, ln π + ln of the peak, 2β/(ν s).

__device__ inline double mixture_height(const double *c, double z, double &u, double &q, double &log)
{
    u = (z - c[0]) * c[1];
    q = u * u * c[2];
    log = log1p(q);
    return c[4] - c[3] * log;
}

// Up to MOST components; their logarithms and shares stay in registers.
template <int MOST>
__device__ inline double few_components(const double *p, int n, double z, double weight, double *sums)
{
    double log[MOST], share[MOST], u, q, top = -INFINITY, total = 0.0, slope = 0.0;
#pragma unroll
    for (int a = 0; a < MOST; a++) {
        if (a >= n) break;
        share[a] = mixture_height(p + 6 * a, z, u, q, log[a]);
        top = share[a] > top ? share[a] : top;
    }
#pragma unroll
    for (int a = 0; a < MOST; a++) {
        if (a >= n) break;
        const double *c = p + 6 * a;
        share[a] = exp(share[a] - top);
        total += share[a];
        u = (z - c[0]) * c[1];
        slope += share[a] * c[5] * u / (1.0 + u * u * c[2]);
    }
    const double inverse = 1.0 / total;
    slope *= inverse;
    add(sums, weight * (-top - ::log(total)));
    add(sums + 1, weight * slope * slope);
#pragma unroll
    for (int a = 0; a < MOST; a++) {
        if (a >= n) break;
        const double *c = p + 6 * a;
        u = (z - c[0]) * c[1];
        const double r = weight * share[a] * inverse, w = 1.0 / (1.0 + u * u * c[2]);
        double *own = sums + 2 + 5 * a;
        add(own, r);
        add(own + 1, r * w);
        add(own + 2, r * w * u);
        add(own + 3, r * w * u * u);
        add(own + 4, r * log[a]);
    }
    return slope;
}

// Any number of components; heights are computed again instead of kept.
__device__ __noinline__ double many_components(const double *p, int n, double z, double weight, double *sums)
{
    double u, q, log, top = -INFINITY, total = 0.0, slope = 0.0;
    for (int a = 0; a < n; a++) {
        const double height = mixture_height(p + 6 * a, z, u, q, log);
        top = height > top ? height : top;
    }
    for (int a = 0; a < n; a++) {
        const double share = exp(mixture_height(p + 6 * a, z, u, q, log) - top);
        total += share;
        slope += share * p[6 * a + 5] * u / (1.0 + q);
    }
    const double inverse = 1.0 / total;
    slope *= inverse;
    add(sums, weight * (-top - ::log(total)));
    add(sums + 1, weight * slope * slope);
    for (int a = 0; a < n; a++) {
        const double share = exp(mixture_height(p + 6 * a, z, u, q, log) - top);
        const double r = weight * share * inverse, w = 1.0 / (1.0 + q);
        double *own = sums + 2 + 5 * a;
        add(own, r);
        add(own + 1, r * w);
        add(own + 2, r * w * u);
        add(own + 3, r * w * u * u);
        add(own + 4, r * log);
    }
    return slope;
}

__device__ inline double mixture_term(const double *p, double z, double weight, bool, State &, double *sums)
{
    const int n = (int)p[0];
    return n <= 3 ? few_components<3>(p + 1, n, z, weight, sums)
                  : many_components(p + 1, n, z, weight, sums);
}

__device__ inline void mixture_end(State &, double *) {}

__device__ inline double mixture_ln_density(const double *p, double z)
{
    const int n = (int)p[0];
    double u, q, log, top = -INFINITY, total = 0.0;
    for (int a = 0; a < n; a++) {
        const double height = mixture_height(p + 1 + 6 * a, z, u, q, log);
        top = height > top ? height : top;
    }
    if (top == -INFINITY) return top;
    for (int a = 0; a < n; a++) {
        total += exp(mixture_height(p + 1 + 6 * a, z, u, q, log) - top);
    }
    return top + ::log(total);
}
