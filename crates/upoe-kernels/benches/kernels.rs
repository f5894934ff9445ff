//! Micro-benchmarks of the kernels; `std` is what the standard library takes for the same.
//!
//!     cargo bench -p upoe-kernels
//!     cargo bench -p upoe-kernels -- exp     # those whose name contains a word

use divan::{Bencher, black_box, counter::ItemsCount};
use upoe_kernels::{Packed, Real, Term, affine, dispatch, exp, ln, ln_1p, map_sums, pass, scatter};

fn main() {
    divan::main();
}

/// Numbers spread evenly over (0, 6).
fn numbers<T: Real>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64(6.0 * (0.5 + i as f64 * 0.618_034).fract())).collect()
}

/// 1024 calls of a function, compiled for the machine's instructions.
fn elementwise(bencher: Bencher, f: impl Fn(f64) -> f64 + Copy + Sync) {
    let (xs, mut ys) = (numbers::<f64>(1024), vec![0.0; 1024]);
    bencher.counter(ItemsCount::new(xs.len())).bench_local(|| {
        dispatch(
            #[inline(always)]
            || ys.iter_mut().zip(&xs).for_each(|(y, &x)| *y = f(x)),
        );
        black_box(&mut ys);
    });
}

macro_rules! elementwise {
    ($($name:ident = $f:expr, $std:ident = $g:expr;)+) => {$(
        #[divan::bench]
        fn $name(bencher: Bencher) {
            elementwise(bencher, #[inline(always)] |x| $f(x));
        }

        #[divan::bench]
        fn $std(bencher: Bencher) {
            elementwise(bencher, #[inline(always)] |x| $g(x));
        }
    )+};
}

elementwise! {
    ln_ours = ln, ln_std = f64::ln;
    ln_1p_ours = ln_1p, ln_1p_std = f64::ln_1p;
    exp_ours = exp, exp_std = f64::exp;
}

/// A Student-t energy β ln(1 + q), q = ½ θ² z², and its score.
struct Energy;

impl Term for Energy {
    fn n_sums(&self) -> usize {
        2
    }

    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        map_sums(
            z,
            weights,
            scores,
            sums,
            #[inline(always)]
            |z| {
                let q = 0.5 * z * z;
                let r = 1.0 / (1.0 + q);
                (2.0 * z * r, [2.0 * ln_1p(q), q * r])
            },
        );
    }
}

#[divan::bench]
fn term(bencher: Bencher) {
    let (z, mut scores, mut sums) = (numbers::<f64>(1024), vec![0.0; 1024], [0.0; 2]);
    bencher
        .counter(ItemsCount::new(z.len()))
        .bench_local(|| Energy.block(&z, None, &mut scores, &mut sums));
}

/// Many starts on a small table.
#[divan::bench(args = [8, 64, 512])]
fn pass_of_200_x_5(bencher: Bencher, k: usize) {
    let rows = Packed::new(numbers::<f64>(200 * 5), 5);
    let directions = numbers::<f64>(k * 5);
    let terms = vec![&Energy as &dyn Term; k];
    bencher
        .counter(ItemsCount::new(200 * k))
        .bench_local(|| pass(black_box(&rows), None, &directions, &terms));
}

/// Rows and columns of the two products that sphering needs.
const N: usize = 20_000;
const COLS: usize = 100;

#[divan::bench(types = [f32, f64])]
fn scatter_of_20000_x_100<T: Real>(bencher: Bencher) {
    let (rows, shift) = (numbers::<T>(N * COLS), numbers::<f64>(COLS));
    bencher.bench_local(|| scatter(black_box(&rows), COLS, None, &shift));
}

#[divan::bench(types = [f32, f64])]
fn affine_of_20000_x_100<T: Real>(bencher: Bencher) {
    let (rows, shift) = (numbers::<T>(N * COLS), numbers::<f64>(COLS));
    let matrix = numbers::<f64>(COLS * COLS);
    bencher.bench_local(|| affine::<T, T>(black_box(&rows), COLS, &shift, &matrix));
}
