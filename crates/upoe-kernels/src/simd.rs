//! Vectors of `f32` or `f64` for one generic kernel, and the run-time choice of
//! instruction set (AVX-512, AVX2 with FMA, NEON, or plain scalar code).

use pulp::{Arch, MemMask, Simd, WithSimd};
#[cfg(target_arch = "x86_64")]
use std::any::TypeId;
use std::sync::OnceLock;

/// The best instruction set of this machine.
#[inline]
pub(crate) fn best() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(Arch::new)
}

/// Runs `f`, once, compiled for the best instruction set of this machine: loops that are
/// inlined into it are vectorised accordingly.
///
/// Mark the closure, and what it calls, `#[inline(always)]`: a large closure otherwise stays
/// a function of its own, compiled for the oldest processor. Note that the compiler does
/// not vectorise a running sum; see [`map_sums`](crate::map_sums).
#[inline]
pub fn dispatch<R>(f: impl FnMut() -> R) -> R {
    dispatch_on(best(), f)
}

/// The same on a given instruction set.
#[inline]
pub(crate) fn dispatch_on<R>(arch: Arch, f: impl FnMut() -> R) -> R {
    // `FnOnce` would come with a shim around the closure that need not be inlined.
    struct Call<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for Call<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    arch.dispatch(Call(f))
}

/// Prefetches the cache line at `at`, where the processor can; if it is needed later, into the
/// second-level cache. Any address is allowed: this never faults.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T, later: bool) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it reads nothing that the program sees and does not fault,
        // whatever the address; every x86-64 processor has it.
        unsafe {
            if later {
                _mm_prefetch::<_MM_HINT_T1>(at.cast());
            } else {
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, later);
}

/// Every instruction set this machine has, the plain one included: what tests run through.
#[cfg(test)]
pub(crate) fn all() -> Vec<Arch> {
    let mut all = vec![Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(pulp::x86::V3::try_new().map(Arch::V3));
        all.extend(pulp::x86::V4::try_new().map(Arch::V4));
    }
    #[cfg(target_arch = "aarch64")]
    all.extend(pulp::aarch64::Neon::try_new().map(Arch::Neon));
    all
}

/// An element type with its vectors. Sealed: `f32` and `f64`.
pub trait Lane: Copy + Default + Send + Sync + 'static {
    /// A vector register of this element.
    type Vector<S: Simd>: Copy;
    /// Selects the first lanes of a vector.
    type Mask<S: Simd>: Copy;

    /// Elements in a vector.
    fn lanes<S: Simd>() -> usize;
    /// The mask of the first `n` lanes.
    fn first<S: Simd>(simd: S, n: usize) -> Self::Mask<S>;
    /// All lanes `x`.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// # Safety
    /// `lanes` elements can be read at `at`; no alignment is needed.
    unsafe fn load<S: Simd>(simd: S, at: *const Self) -> Self::Vector<S>;
    /// # Safety
    /// The elements that `mask` selects can be read at `at`. The others become 0.
    unsafe fn load_first<S: Simd>(simd: S, mask: Self::Mask<S>, at: *const Self)
    -> Self::Vector<S>;
    /// # Safety
    /// `lanes` elements can be written at `to`; no alignment is needed.
    unsafe fn store<S: Simd>(simd: S, v: Self::Vector<S>, to: *mut Self);
    /// `a · b + c`, fused where the instruction set can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Writes the sum of each vector's lanes: that of `v[i][j]` to `z[j * stride + i]`.
    ///
    /// # Safety
    /// All these can be written.
    unsafe fn store_sums<S: Simd, const R: usize, const C: usize>(
        simd: S,
        v: &[[Self::Vector<S>; C]; R],
        z: *mut f64,
        stride: usize,
    );
    /// Adds each lane to the double at `to`.
    ///
    /// # Safety
    /// `lanes` doubles can be read and written at `to`.
    unsafe fn add_to<S: Simd>(simd: S, v: Self::Vector<S>, to: *mut f64);
}

macro_rules! lane {
    ($t:ty, $v:ident, $m:ident, $mask:ident, $bits:ty, $lanes:ident, $splat:ident, $load:ident,
     $fma:ident, $sum:ident, $four_by_four:ident) => {
        impl Lane for $t {
            type Vector<S: Simd> = S::$v;
            type Mask<S: Simd> = MemMask<S::$m>;

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn first<S: Simd>(simd: S, n: usize) -> Self::Mask<S> {
                // Keep the lane mask alone: `MemMask` may also carry a call to an
                // out-of-line loader, which is slower than a masked load.
                MemMask::new(simd.$mask(0, n as $bits).mask())
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S> {
                simd.$splat(x)
            }
            #[inline(always)]
            unsafe fn load<S: Simd>(_: S, at: *const Self) -> Self::Vector<S> {
                // SAFETY: the caller vouches for `lanes` elements: a vector is as many and nothing
                // else, any bits are a valid one (it is `Pod`), and no alignment is assumed.
                unsafe { at.cast::<S::$v>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn load_first<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                at: *const Self,
            ) -> Self::Vector<S> {
                // SAFETY: the caller vouches for the selected elements; a masked load does not
                // touch the others.
                unsafe { simd.$load(mask, at) }
            }
            #[inline(always)]
            unsafe fn store<S: Simd>(_: S, v: Self::Vector<S>, to: *mut Self) {
                // SAFETY: the caller vouches for `lanes` elements, which is what a vector is; no
                // alignment is assumed.
                unsafe { to.cast::<S::$v>().write_unaligned(v) }
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            unsafe fn store_sums<S: Simd, const R: usize, const C: usize>(
                simd: S,
                v: &[[Self::Vector<S>; C]; R],
                z: *mut f64,
                stride: usize,
            ) {
                #[cfg(target_arch = "x86_64")]
                if R == 4 && C == 4 && TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>() {
                    // SAFETY: S is AVX-512, of which a value exists only where the processor has
                    // it; R C = 16, so `v` is sixteen of its vectors, row by row, and the same
                    // bytes as the array it is read as. With R = C = 4 the function writes
                    // z[j stride + i] for i, j < 4: what the caller vouches for.
                    return unsafe {
                        avx512::$four_by_four(std::mem::transmute_copy(v), z, stride)
                    };
                }
                for (i, v) in v.iter().enumerate() {
                    for (j, &v) in v.iter().enumerate() {
                        // SAFETY: i < R and j < C, for which the caller vouches.
                        unsafe { *z.add(j * stride + i) = f64::from(simd.$sum(v)) };
                    }
                }
            }
            #[inline(always)]
            unsafe fn add_to<S: Simd>(_: S, v: Self::Vector<S>, to: *mut f64) {
                let v = &raw const v;
                // SAFETY: a vector is `lanes` elements of plain data, aligned for each of them,
                // and lives until the end of this function.
                let v = unsafe { std::slice::from_raw_parts(v.cast::<$t>(), S::$lanes) };
                // SAFETY: the caller vouches for `lanes` doubles, aligned since they lie in a slice
                // of doubles; nothing else refers to them, since `v` is a copy.
                let to = unsafe { std::slice::from_raw_parts_mut(to, S::$lanes) };
                for (to, &v) in to.iter_mut().zip(v) {
                    *to += f64::from(v);
                }
            }
        }
    };
}

lane!(
    f32,
    f32s,
    m32s,
    mask_between_m32s,
    u32,
    F32_LANES,
    splat_f32s,
    mask_load_ptr_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    store_sums_f32
);
lane!(
    f64,
    f64s,
    m64s,
    mask_between_m64s,
    u64,
    F64_LANES,
    splat_f64s,
    mask_load_ptr_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    store_sums_f64
);

/// Sixteen sums of lanes at a time: halves are added, quarters, and so on, as when one vector is
/// added up, but of several vectors side by side.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// The sums of `v[4 i + j]` go to `z[j * stride + i]`.
    ///
    /// # Safety
    /// The processor has AVX-512F, and `z` can be written there: i, j < 4.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn store_sums_f32(v: [__m512; 16], z: *mut f64, stride: usize) {
        let halves = |a, b| {
            let low = _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b);
            _mm512_add_ps(low, _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b))
        };
        let quarters = |a, b| {
            let low = _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b);
            _mm512_add_ps(low, _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b))
        };
        let pairs = |a, b| {
            let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
            let (low, high) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high))
        };
        // Of vectors 4 i … 4 i + 3, each lane of 128 bits one: the sums of four of its lanes.
        let row =
            |i: usize| quarters(halves(v[4 * i], v[4 * i + 1]), halves(v[4 * i + 2], v[4 * i + 3]));
        let (a, b) = (pairs(row(0), row(1)), pairs(row(2), row(3)));
        let low = _mm512_shuffle_ps::<0b10_00_10_00>(a, b);
        let sums = _mm512_add_ps(low, _mm512_shuffle_ps::<0b11_01_11_01>(a, b));
        let two = _mm512_cvtps_pd(_mm512_castps512_ps256(sums));
        let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(sums)));
        for (j, two) in [two, _mm512_cvtps_pd(high)].into_iter().enumerate() {
            // SAFETY: four doubles, unaligned, at 2 j stride and (2 j + 1) stride, where j < 2: rows
            // 0 to 3, for which the caller vouches.
            unsafe {
                _mm256_storeu_pd(z.add(2 * j * stride), _mm512_castpd512_pd256(two));
                let second = _mm512_extractf64x4_pd::<1>(two);
                _mm256_storeu_pd(z.add((2 * j + 1) * stride), second);
            }
        }
    }

    /// The same for doubles.
    ///
    /// # Safety
    /// The processor has AVX-512F, and `z` can be written there: i, j < 4.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn store_sums_f64(v: [__m512d; 16], z: *mut f64, stride: usize) {
        let halves = |a, b| {
            let low = _mm512_shuffle_f64x2::<0b01_00_01_00>(a, b);
            _mm512_add_pd(low, _mm512_shuffle_f64x2::<0b11_10_11_10>(a, b))
        };
        let quarters = |a, b| {
            let low = _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b);
            _mm512_add_pd(low, _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b))
        };
        let row =
            |i: usize| quarters(halves(v[4 * i], v[4 * i + 1]), halves(v[4 * i + 2], v[4 * i + 3]));
        for i in [0, 2] {
            let (a, b) = (row(i), row(i + 1));
            let sums = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (low, high) = (_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
            // SAFETY: two doubles, unaligned, at i = 0 and 2 of each of the rows 0 to 3, for which
            // the caller vouches.
            unsafe {
                _mm_storeu_pd(z.add(i), _mm256_castpd256_pd128(low));
                _mm_storeu_pd(z.add(stride + i), _mm256_extractf128_pd::<1>(low));
                _mm_storeu_pd(z.add(2 * stride + i), _mm256_castpd256_pd128(high));
                _mm_storeu_pd(z.add(3 * stride + i), _mm256_extractf128_pd::<1>(high));
            }
        }
    }
}
