//! The pass against what the machine can do: read bandwidth and multiply-add peak, measured
//! here in the same run. Best of many runs, since other programs disturb every one.
//!
//!     cargo bench -p upoe-kernels
//!     cargo bench -p upoe-kernels -- 20000 400     # rows and columns

use std::hint::black_box;
use std::time::Instant;
use upoe_kernels::{Real, Term, affine, dispatch, exp, ln, ln_1p, map_sums, pass, scatter};

/// A Student-t expert: E(z) = β ln(1 + ½ θ² z²).
struct StudentT {
    beta: f64,
    theta: f64,
}

impl Term for StudentT {
    fn n_sums(&self) -> usize {
        3
    }
    fn block(&self, z: &[f64], weights: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        let Self { beta, theta } = *self;
        let half = 0.5 * theta * theta;
        map_sums(
            z,
            weights,
            scores,
            sums,
            #[inline(always)]
            move |z| {
                let q = half * z * z;
                let r = 1.0 / (1.0 + q);
                (2.0 * beta * half * z * r, [beta * ln_1p(q), q * r, z * r])
            },
        );
    }
}

/// A term that costs next to nothing.
struct Square;

impl Term for Square {
    fn n_sums(&self) -> usize {
        1
    }
    fn block(&self, z: &[f64], _: Option<&[f64]>, scores: &mut [f64], sums: &mut [f64]) {
        scores.copy_from_slice(z);
        sums[0] += z[0];
    }
}

/// Seconds of the fastest of `n` runs.
fn best(n: usize, mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..n).map(time).fold(f64::INFINITY, f64::min)
}

/// Bytes a second when all threads read `x`, each its own part, and add it up.
fn bandwidth(x: &[f64], threads: usize) -> f64 {
    let size = x.len() / threads;
    let seconds = best(40, || {
        rayon::broadcast(|thread| {
            let part = &x[thread.index() * size..][..size];
            black_box(dispatch(
                #[inline(always)]
                || {
                    let mut sums = [0.0; 64];
                    for x in part.as_chunks::<64>().0 {
                        for (sum, x) in sums.iter_mut().zip(x) {
                            *sum += x;
                        }
                    }
                    sums
                },
            ));
        });
    });
    (size * threads * 8) as f64 / seconds
}

/// Multiply-adds counted twice, a second, in registers; all threads together.
fn peak<T: Real>(threads: usize, fused: impl Fn(T, T, T) -> T + Copy + Send + Sync) -> f64 {
    // 16 vectors of 64 bytes.
    const STEPS: usize = 20_000;
    let n = 1024 / size_of::<T>();
    let seconds = best(40, || {
        rayon::broadcast(|_| {
            black_box(dispatch(
                #[inline(always)]
                || {
                    let mut sums = [T::default(); 256];
                    let (a, b) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(1e-3)));
                    for _ in 0..STEPS {
                        for sum in &mut sums[..1024 / size_of::<T>()] {
                            *sum = fused(*sum, a, b);
                        }
                    }
                    sums
                },
            ));
        });
    });
    (2 * n * STEPS * threads) as f64 / seconds
}

fn numbers<T: Real>(n: usize) -> Vec<T> {
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..n).map(|_| next()).collect()
}

fn passes<T: Real>(name: &str, n: usize, cols: usize, read: f64, peak: f64) {
    let rows = numbers::<T>(n * cols);
    let bytes = (n * cols * size_of::<T>()) as f64;
    for k in [1, 2, 4, 16, 32] {
        let directions: Vec<f64> = numbers::<f64>(k * cols).iter().map(|w| w * 0.1).collect();
        let term = StudentT { beta: 2.0, theta: 1.0 };
        let terms: [(&str, &dyn Term); 2] = [("cheap", &Square), ("Student-t", &term)];
        for (which, term) in terms {
            let terms = vec![term; k];
            let seconds = best(if k > 4 { 7 } else { 15 }, || {
                black_box(pass(&rows, cols, None, &directions, &terms));
            });
            let flops = 4.0 * (n * cols * k) as f64 / seconds;
            println!(
                "{name} K = {k:2} {which:9} {:8.3} ms  {:6.1} GB/s ({:3.0} %)  {:6.1} GFLOP/s ({:3.0} %)",
                seconds * 1e3,
                bytes / seconds / 1e9,
                100.0 * bytes / seconds / read,
                flops / 1e9,
                100.0 * flops / peak,
            );
        }
    }
}

/// Scatter and sphering of `f32` rows, counted as a symmetric and a full product.
fn moments(n: usize, cols: usize, peak: f64) {
    let rows = numbers::<f32>(n * cols);
    let (shift, matrix) = (numbers::<f64>(cols), numbers::<f64>(cols * cols));
    let report = |name: &str, seconds: f64, flops: f64| {
        println!(
            "{name} {:8.1} ms  {:6.1} GFLOP/s ({:3.0} %)",
            seconds * 1e3,
            flops / seconds / 1e9,
            100.0 * flops / seconds / peak
        );
    };
    let flops = (n * cols * cols) as f64;
    let seconds = best(3, || {
        black_box(scatter(&rows, cols, None, &shift));
    });
    report("scatter", seconds, flops);
    let seconds = best(3, || {
        black_box(affine::<f32, f32>(&rows, cols, &shift, &matrix));
    });
    report("affine ", seconds, 2.0 * flops);
}

fn elementwise() {
    let xs: Vec<f64> = numbers::<f64>(1024).iter().map(|x| 3.0 * (x + 1.001)).collect();
    let mut out = vec![0.0; xs.len()];
    macro_rules! row {
        ($name:literal, $ours:expr, $theirs:expr) => {
            let ours = best(2000, || {
                dispatch(|| out.iter_mut().zip(&xs).for_each(|(y, &x)| *y = $ours(x)));
                black_box(&mut out);
            });
            let theirs = best(2000, || {
                out.iter_mut().zip(&xs).for_each(|(y, &x)| *y = $theirs(x));
                black_box(&mut out);
            });
            let each = 1e9 / xs.len() as f64;
            println!("{} {:.2} ns, std {:.2} ns", $name, ours * each, theirs * each);
        };
    }
    row!("ln   ", ln, f64::ln);
    row!("ln_1p", ln_1p, f64::ln_1p);
    row!("exp  ", exp, f64::exp);
    let term = StudentT { beta: 2.0, theta: 1.0 };
    let mut sums = [0.0; 3];
    let seconds = best(2000, || term.block(&xs[..128], None, &mut out[..128], &mut sums));
    println!("Student-t term {:.2} ns", seconds * 1e9 / 128.0);
}

fn main() {
    let mut numbers_given = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let n: usize = numbers_given.next().unwrap_or(100_000);
    let cols: usize = numbers_given.next().unwrap_or(400);
    println!("{n} × {cols}");
    elementwise();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let read = bandwidth(&numbers::<f64>(n * cols), threads);
            let (p32, p64) =
                (peak::<f32>(threads, f32::mul_add), peak::<f64>(threads, f64::mul_add));
            println!(
                "\n{threads} thread(s): read {:.1} GB/s, peak {:.0} (f32), {:.0} (f64) GFLOP/s",
                read / 1e9,
                p32 / 1e9,
                p64 / 1e9
            );
            passes::<f32>("f32", n, cols, read, p32);
            passes::<f64>("f64", n, cols, read, p64);
            moments(n, cols, p64);
            let (small, k) = (numbers::<f64>(200 * 5), 500);
            let term = StudentT { beta: 2.0, theta: 1.0 };
            let (directions, terms) = (numbers::<f64>(k * 5), vec![&term as &dyn Term; k]);
            let seconds = best(200, || {
                black_box(pass(&small, 5, None, &directions, &terms));
            });
            println!(
                "200 × 5, K = 500: {:.1} µs, {:.2} ns a projection",
                seconds * 1e6,
                seconds * 1e4
            );
        });
    }
}
