// One pass for few candidates: every row is read once. A block keeps a tile of rows in shared memory,
// where it projects them (1), applies the experts (2) and adds up gradients (3), while the next tile is
// on its way. Each block adds up the tiles blockIdx, blockIdx + blocks, … in this order.

// Copies 16 bytes to shared memory without waiting, where the device can.
__device__ inline void copy_16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    *(float4 *)to = *(const float4 *)from;
#endif
}

// Waits for all copies of this thread.
__device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Rows after which single-precision sums go over to double precision.
#define FLUSH 256
// Rows that a warp projects at a time.
#define ROWS 4

// K candidates (those beyond the last one have no family); columns in up to N groups of THREADS.
template <int K, int N>
__device__ inline void few(const Real *rows, i64 n, int d, int tile, const double *weights,
                           const Real *directions, const double *numbers, const Expert *experts,
                           double *gradients, double *sums, int total, int widest)
{
    extern __shared__ float4 space[];
    Real *tiles = (Real *)space;                // 2 × tile × d
    Real *w = tiles + 2 * tile * d;             // K × d
    Real *z = w + K * d;                        // K × tile: projections
    Real *s = z + K * tile;                     // tile × K: weighted slopes
    double *kept = (double *)(s + K * tile);    // active × widest: statistics
    const int warp = threadIdx.x / 32, mine = warp % K;
    // Warps that have rows in step 2.
    const int active = K * ((tile + 31) / 32) < WARPS ? K * ((tile + 31) / 32) : WARPS;
    const Expert expert = experts[mine];
    const double *p = numbers + expert.numbers;
    double *own = kept + warp * widest;
    for (int i = lane(); warp < active && i < expert.count; i += 32) own[i] = 0.0;
    for (int i = threadIdx.x; i < K * d; i += THREADS) w[i] = directions[i];
    State state;

    // Threads of a group share the columns; groups share the rows of a tile.
    const int columns = d < THREADS ? (d + 31) / 32 * 32 : THREADS;
    const int groups = THREADS / columns, group = threadIdx.x / columns;
    const int column = threadIdx.x % columns;
    double *gradient = gradients + (i64)(blockIdx.x * groups + group) * K * d;
    Real g[K][N];
#pragma unroll
    for (int k = 0; k < K; k++) {
#pragma unroll
        for (int i = 0; i < N; i++) g[k][i] = 0;
    }
    bool flushed = false;
    int waiting = 0;

    const i64 n_tiles = (n + tile - 1) / tile;
    const int pieces = tile * d * (int)sizeof(Real) / 16;
    if (blockIdx.x < n_tiles) {
        const char *from = (const char *)(rows + (i64)blockIdx.x * tile * d);
        for (int i = threadIdx.x; i < pieces; i += THREADS) copy_16((char *)tiles + 16 * i, from + 16 * i);
    }
    int stage = 0;
    for (i64 t = blockIdx.x; t < n_tiles; t += gridDim.x, stage ^= 1) {
        const Real *x = tiles + stage * tile * d;
        wait_for_copies();
        __syncthreads();
        if (t + gridDim.x < n_tiles) {
            char *to = (char *)(tiles + (stage ^ 1) * tile * d);
            const char *from = (const char *)(rows + (t + gridDim.x) * tile * d);
            for (int i = threadIdx.x; i < pieces; i += THREADS) copy_16(to + 16 * i, from + 16 * i);
        }

        // 1. z = w x.
        for (int r = ROWS * warp; r < tile; r += ROWS * WARPS) {
            Real dots[ROWS * K];
#pragma unroll
            for (int i = 0; i < ROWS * K; i++) dots[i] = 0;
#pragma unroll 2
            for (int c = lane(); c < d; c += 32) {
                Real at[ROWS];
#pragma unroll
                for (int i = 0; i < ROWS; i++) at[i] = x[(r + i) * d + c];
#pragma unroll
                for (int k = 0; k < K; k++) {
                    const Real direction = w[k * d + c];
#pragma unroll
                    for (int i = 0; i < ROWS; i++) dots[i * K + k] += at[i] * direction;
                }
            }
            const Real sum = Sums<Real, ROWS * K, 16>::of(dots);
            const int per = 32 / (ROWS * K), which = lane() / per;
            if (lane() % per == 0) z[(which % K) * tile + r + which / K] = sum;
        }
        __syncthreads();

        // 2. Slopes and statistics: a warp always has the same candidate.
        for (int r = 32 * (warp / K); r < tile; r += 32 * (WARPS / K)) {
            const int at = r + lane();
            const i64 row = t * tile + at;
            const bool counts = at < tile && row < n;
            const double weight = counts ? (weights ? weights[row] : 1.0) : 0.0;
            const double projection = counts ? (double)z[mine * tile + at] : 0.0;
            const double slope = term(expert, p, projection, weight, weights != nullptr, state, own);
            if (at < tile) s[at * K + mine] = (Real)(weight * slope);
        }
        __syncthreads();

        // 3. Σ slope · x.
        if (group < groups) {
#pragma unroll 4
            for (int r = group; r < tile; r += groups) {
                Real slope[K];
#pragma unroll
                for (int k = 0; k < K; k++) slope[k] = s[r * K + k];
#pragma unroll
                for (int i = 0; i < N; i++) {
                    const int c = column + i * THREADS;
                    const Real at = c < d ? x[r * d + c] : (Real)0;
#pragma unroll
                    for (int k = 0; k < K; k++) g[k][i] += slope[k] * at;
                }
            }
            waiting += (tile + groups - 1) / groups;
            const bool last = t + gridDim.x >= n_tiles;
            if (last || (sizeof(Real) == 4 && waiting >= FLUSH)) {
#pragma unroll
                for (int k = 0; k < K; k++) {
#pragma unroll
                    for (int i = 0; i < N; i++) {
                        const int c = column + i * THREADS;
                        if (c < d) {
                            double *to = gradient + k * d + c;
                            *to = flushed ? *to + (double)g[k][i] : (double)g[k][i];
                        }
                        g[k][i] = 0;
                    }
                }
                flushed = true;
                waiting = 0;
            }
        }
    }

    if (warp < active) end(expert, state, own);
    __syncthreads();
    for (int k = 0; k < K; k++) {
        for (int i = threadIdx.x; i < experts[k].count; i += THREADS) {
            double sum = 0.0;
            for (int from = k; from < active; from += K) sum += kept[from * widest + i];
            sums[(i64)blockIdx.x * total + experts[k].sums + i] = sum;
        }
    }
}

#define FEW(K, N)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 2)                                         \
    few_##K##_##N(const Real *rows, i64 n, int d, int tile, const double *weights,                   \
                  const Real *directions, const double *numbers, const Expert *experts,              \
                  double *gradients, double *sums, int total, int widest)                            \
    {                                                                                                \
        few<K, N>(rows, n, d, tile, weights, directions, numbers, experts, gradients, sums, total,   \
                  widest);                                                                           \
    }

