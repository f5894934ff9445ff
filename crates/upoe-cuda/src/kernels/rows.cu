// Rows on their way to the device and back, and sums over them that need no expert.

// Copies rows of d numbers to rows of `stride`, from `first` on; what is beyond d is zero.
template <typename From>
__device__ inline void placed(const From *from, i64 n, int d, Real *rows, int stride, i64 first)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * stride) return;
    const i64 row = i / stride;
    const int c = (int)(i - row * stride);
    rows[(first + row) * stride + c] = c < d ? (Real)from[row * d + c] : (Real)0;
}

extern "C" __global__ void place_double(const double *from, i64 n, int d, Real *rows, int stride, i64 first)
{
    placed<double>(from, n, d, rows, stride, first);
}

extern "C" __global__ void place_float(const float *from, i64 n, int d, Real *rows, int stride, i64 first)
{
    placed<float>(from, n, d, rows, stride, first);
}

// Chosen rows, in double precision and without padding.
extern "C" __global__ void pick(const Real *rows, int stride, int d, const i64 *chosen, i64 n, double *out)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * d) return;
    const i64 row = i / d;
    out[i] = (double)rows[chosen[row] * stride + (i - row * d)];
}

// Chosen rows as they are.
extern "C" __global__ void subset(const Real *rows, int stride, const i64 *chosen, i64 n, Real *out)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * stride) return;
    const i64 row = i / stride;
    out[i] = rows[chosen[row] * stride + (i - row * stride)];
}

// Rows less a mean, in double precision.
template <typename From>
__device__ inline void centred(const From *from, i64 n, int d, const double *mean, double *out)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n * d) out[i] = (double)from[i] - mean[i % d];
}

extern "C" __global__ void centre_double(const double *from, i64 n, int d, const double *mean, double *out)
{
    centred<double>(from, n, d, mean, out);
}

extern "C" __global__ void centre_float(const float *from, i64 n, int d, const double *mean, double *out)
{
    centred<float>(from, n, d, mean, out);
}

// The same with the rows of `factors` scaled, for products of rows with weighted rows.
extern "C" __global__ void scale_rows(const double *from, i64 n, int d, const double *factors, double *out)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n * d) out[i] = from[i] * factors[i / d];
}

// One warp per row: ‖x‖² of padded rows.
extern "C" __global__ void squares(const Real *rows, int stride, i64 n, double *out)
{
    const i64 row = ((i64)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (row >= n) return;
    double sum = 0.0;
    for (int c = lane(); c < stride; c += 32) {
        const double x = (double)rows[row * stride + c];
        sum += x * x;
    }
    sum = warp_sum(sum);
    if (lane() == 0) out[row] = sum;
}

// One warp per row: (‖x‖² − free) / n of rows without padding.
extern "C" __global__ void shares(const double *rows, int d, i64 n, double free, double over, double *out)
{
    const i64 row = ((i64)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (row >= n) return;
    double sum = 0.0;
    for (int c = lane(); c < d; c += 32) sum += rows[row * d + c] * rows[row * d + c];
    sum = warp_sum(sum);
    if (lane() == 0) out[row] = (sum - free) * over;
}

// Weighted sums of columns: each block adds up its own rows and writes one part.
extern "C" __global__ void __launch_bounds__(THREADS)
column_sums(const double *rows, i64 n, int d, const double *weights, double *parts, int per_block)
{
    const i64 first = (i64)blockIdx.x * per_block;
    const i64 last = first + per_block < n ? first + per_block : n;
    for (int c = threadIdx.x; c < d; c += THREADS) {
        double sum = 0.0;
        for (i64 row = first; row < last; row++) {
            sum += (weights ? weights[row] : 1.0) * rows[row * d + c];
        }
        parts[(i64)blockIdx.x * d + c] = sum;
    }
}

// y ← y − z span: rows without their part along K orthonormal directions (K × d); z is rows × K, column
// by column.
extern "C" __global__ void removed(double *rows, i64 n, int d, const double *span, int k, const double *z)
{
    const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n * d) return;
    const i64 row = i / d;
    const int c = (int)(i - row * d);
    double x = rows[i];
    for (int a = 0; a < k; a++) x -= z[a * n + row] * span[a * d + c];
    rows[i] = x;
}

// Σ weight · square over all rows, by one block in a fixed order.
extern "C" __global__ void __launch_bounds__(THREADS)
square_sum(const double *squares, const double *weights, i64 n, double *out)
{
    __shared__ double sums[THREADS];
    double sum = 0.0;
    for (i64 i = threadIdx.x; i < n; i += THREADS) {
        const double weight = weights ? weights[i] : 1.0;
        if (weight > 0.0) sum += weight * squares[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double total = 0.0;
        for (int i = 0; i < THREADS; i++) total += sums[i];
        *out = total;
    }
}
