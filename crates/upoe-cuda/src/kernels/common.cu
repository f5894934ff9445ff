// What all kernels share. `Real` is the precision of the rows: float or double.

typedef long long i64;

#define ALL 0xffffffffu
#define INFINITY __longlong_as_double(0x7ff0000000000000ll)
#define LN_2 0.693147180559945309417
#define THREADS 256
#define WARPS (THREADS / 32)

__device__ inline int lane() { return threadIdx.x & 31; }

// The sum over a warp, known to all lanes.
__device__ inline double warp_sum(double x)
{
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// Adds a warp's numbers to one of its sums.
__device__ inline void add(double *sum, double x)
{
    x = warp_sum(x);
    if (lane() == 0) *sum += x;
}

// The sums over a warp of N numbers per lane, N a power of two up to 32: lane i has that of number
// i N / 32. Each step halves the numbers, so that this takes N shuffles instead of 5 N. A recursion over
// types, because the numbers must stay in registers.
template <typename T, int N, int STEP>
struct Sums {
    __device__ static inline T of(T *x)
    {
        const bool upper = lane() & STEP;
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            const T kept = upper ? x[i + N / 2] : x[i];
            const T sent = upper ? x[i] : x[i + N / 2];
            x[i] = kept + __shfl_xor_sync(ALL, sent, STEP);
        }
        return Sums<T, N / 2, STEP / 2>::of(x);
    }
};

template <typename T, int STEP>
struct Sums<T, 1, STEP> {
    __device__ static inline T of(T *x)
    {
        T sum = x[0];
#pragma unroll
        for (int step = STEP; step > 0; step >>= 1) sum += __shfl_xor_sync(ALL, sum, step);
        return sum;
    }
};

// What a lane keeps of an expert's statistics between rows.
struct State {
    double sum[6];
    double product;
    int exponent;
    __device__ State() : product(1.0), exponent(0)
    {
        for (int i = 0; i < 6; i++) sum[i] = 0.0;
    }
};
