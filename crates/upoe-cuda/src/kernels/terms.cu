// Experts of all families: their slopes and statistics, and the kernel for many candidates.

// A candidate's expert; four integers per candidate come from `pass.rs`.
struct Expert {
    int family;  // the position of its family in `FAMILIES`, or −1 for none
    int numbers; // where its numbers start
    int sums;    // where its statistics start
    int count;   // how many statistics it has
};

// The slope at z, with weighted statistics added; called by all lanes of a warp together.
__device__ inline double term(const Expert &e, const double *p, double z, double weight, bool weighted,
                              State &state, double *sums)
{
    switch (e.family) {
    case 0: return student_t_term(p, z, weight, weighted, state, sums);
    case 1: return mixture_term(p, z, weight, weighted, state, sums);
    case 2: return tilt_term(p, z, weight, weighted, state, sums);
    default: return 0.0;
    }
}

// Adds what is still in registers to the warp's sums.
__device__ inline void end(const Expert &e, State &state, double *sums)
{
    switch (e.family) {
    case 0: student_t_end(state, sums); break;
    case 1: mixture_end(state, sums); break;
    case 2: tilt_end(state, sums); break;
    }
    __syncwarp();
}

__device__ inline double ln_density(const Expert &e, const double *p, double z)
{
    switch (e.family) {
    case 0: return student_t_ln_density(p, z);
    case 1: return mixture_ln_density(p, z);
    case 2: return tilt_ln_density(p, z);
    default: return 0.0;
    }
}

// Rows that one block works through, for one candidate.
#define CHUNK 4096

// Projections become weighted slopes in place; statistics go to `parts`, one set per chunk of rows.
// z has one column of `stride` numbers per candidate; rows from `rows` on are padding.
extern "C" __global__ void __launch_bounds__(THREADS)
terms(Real *z, i64 stride, i64 rows, const double *weights, const double *numbers,
      const Expert *experts, double *parts, int total, int widest)
{
    extern __shared__ double kept[]; // WARPS × widest
    const Expert expert = experts[blockIdx.y];
    if (expert.family < 0) { // the CPU will do it
        for (int i = threadIdx.x; i < expert.count; i += THREADS) {
            parts[(i64)blockIdx.x * total + expert.sums + i] = 0.0;
        }
        return;
    }
    const double *p = numbers + expert.numbers;
    const int warp = threadIdx.x / 32;
    double *own = kept + warp * widest;
    for (int i = lane(); i < expert.count; i += 32) own[i] = 0.0;
    __syncwarp();
    State state;
    Real *column = z + stride * blockIdx.y;
    const i64 first = (i64)blockIdx.x * CHUNK;
    const i64 last = first + CHUNK < stride ? first + CHUNK : stride;
    for (i64 row = first + 32 * warp + lane(); row - lane() < last; row += THREADS) {
        const bool counts = row < rows;
        const double weight = counts ? (weights ? weights[row] : 1.0) : 0.0;
        const double at = counts ? (double)column[row] : 0.0;
        const double slope = term(expert, p, at, weight, weights != nullptr, state, own);
        if (row < last) column[row] = (Real)(weight * slope);
    }
    end(expert, state, own);
    __syncthreads();
    for (int i = threadIdx.x; i < expert.count; i += THREADS) {
        double sum = 0.0;
        for (int w = 0; w < WARPS; w++) sum += kept[w * widest + i];
        parts[(i64)blockIdx.x * total + expert.sums + i] = sum;
    }
}

// Adds up parts in a fixed order: out[i] = Σ parts[p][i] (added to what is there, for later chunks of
// rows). A block has 32 outputs × 16 shares of the parts.
template <typename T>
__device__ inline void reduced(const T *parts, i64 count, int n_parts, double *out, bool more)
{
    __shared__ double shares[16][33];
    const int column = threadIdx.x & 31, share = threadIdx.x >> 5;
    const i64 i = (i64)blockIdx.x * 32 + column;
    double sum = 0.0;
    if (i < count) {
#pragma unroll 4
        for (int p = share; p < n_parts; p += 16) sum += (double)parts[p * count + i];
    }
    shares[share][column] = sum;
    __syncthreads();
    if (share == 0 && i < count) {
        double total = shares[0][column];
        for (int s = 1; s < 16; s++) total += shares[s][column];
        out[i] = more ? out[i] + total : total;
    }
}

extern "C" __global__ void __launch_bounds__(512)
reduce_real(const Real *parts, i64 count, int n_parts, double *out, int more)
{
    reduced<Real>(parts, count, n_parts, out, more != 0);
}

extern "C" __global__ void __launch_bounds__(512)
reduce_double(const double *parts, i64 count, int n_parts, double *out, int more)
{
    reduced<double>(parts, count, n_parts, out, more != 0);
}

// Two sets of parts at once, their results one after the other.
extern "C" __global__ void __launch_bounds__(512)
reduce_both(const double *a, i64 count_a, int parts_a, const double *b, i64 count_b, int parts_b, double *out)
{
    if (blockIdx.y == 0) {
        reduced<double>(a, count_a, parts_a, out, false);
    } else {
        reduced<double>(b, count_b, parts_b, out + count_a, false);
    }
}

// ln p of sphered rows: Σ ln T(z) over the experts, −½ z² over the other axes, and a constant. z has
// one column of `stride` numbers per axis, the experts' first.
extern "C" __global__ void __launch_bounds__(THREADS)
score(const Real *z, i64 stride, i64 rows, int axes, int n_experts, const double *numbers,
      const Expert *experts, double constant, double *out)
{
    const i64 row = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    double total = 0.0, square = 0.0;
    for (int j = 0; j < n_experts; j++) {
        total += ln_density(experts[j], numbers + experts[j].numbers, (double)z[stride * j + row]);
    }
    for (int j = n_experts; j < axes; j++) {
        const double x = (double)z[stride * j + row];
        square += x * x;
    }
    total += constant - 0.5 * square;
    out[row] = total == total ? total : -INFINITY;
}
