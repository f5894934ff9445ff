//! The pass against what the machine can do: read bandwidth and multiply-add peak, measured
//! here in the same run. One JSON object a line.
//!
//!     cargo bench -p upoe --bench pass
//!     cargo bench -p upoe --bench pass -- 20000 400     # rows and columns

use std::hint::black_box;
use std::time::Instant;
use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::{Expert, Mixture, StudentT};
use upoe_kernels::{Aligned, Real, dispatch};

/// Seconds of `n` runs, after one that is not counted, in rising order.
fn seconds(n: usize, mut f: impl FnMut()) -> Vec<f64> {
    f();
    let mut seconds: Vec<f64> = (0..n)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

/// Bytes a second when all threads read `x`, each its own part, and add it up: the best of
/// many runs.
fn bandwidth(x: &[f64], threads: usize) -> f64 {
    let size = x.len() / threads;
    let best = seconds(40, || {
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
    })[0];
    (size * threads * 8) as f64 / best
}

/// Multiply-adds counted twice, a second, in registers, all threads together: the best of many
/// runs.
fn peak<T: Real>(threads: usize, fused: impl Fn(T, T, T) -> T + Copy + Send + Sync) -> f64 {
    // 16 vectors of 64 bytes.
    const STEPS: usize = 20_000;
    let best = seconds(40, || {
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
    })[0];
    (2 * (1024 / size_of::<T>()) * STEPS * threads) as f64 / best
}

/// Uniform numbers in [−1, 1).
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

fn experts() -> [(&'static str, Expert); 2] {
    let t = |mu| StudentT::with_scale(mu, 0.7, 3.0).expect("a valid expert");
    let mixture = Mixture::new(vec![0.4, 0.6], vec![t(-1.0), t(1.0)]).expect("a valid expert");
    [("student-t", t(0.0).into()), ("mixture", mixture.into())]
}

fn passes<T: Real>(precision: &str, n: usize, cols: usize, threads: usize, read: f64, peak: f64) {
    let engine = Memory::<T>::new(numbers(n * cols), cols, None).expect("whole rows");
    let bytes = (n * cols * size_of::<T>()) as f64;
    for (name, expert) in experts() {
        for k in [1, 16, 32] {
            let directions: Vec<f64> = numbers(k * cols);
            let candidates: Vec<Candidate> = directions
                .chunks(cols)
                .map(|w| Candidate {
                    direction: w.iter().map(|w| 0.1 * w).collect(),
                    expert: expert.clone(),
                })
                .collect();
            let times = seconds(if k == 1 { 31 } else { 11 }, || {
                black_box(engine.sums(&candidates));
            });
            let (median, flops) = (times[times.len() / 2], 4.0 * (n * cols * k) as f64);
            println!(
                "{{\"threads\": {threads}, \"precision\": \"{precision}\", \"expert\": \"{name}\", \
                 \"k\": {k}, \"median\": {median:.3e}, \"least\": {:.3e}, \"most\": {:.3e}, \
                 \"runs\": {}, \"gb_s\": {:.2}, \"gflop_s\": {:.2}, \"of_bandwidth\": {:.3}, \
                 \"of_peak\": {:.3}}}",
                times[0],
                times[times.len() - 1],
                times.len(),
                bytes / median / 1e9,
                flops / median / 1e9,
                bytes / median / read,
                flops / median / peak,
            );
        }
    }
}

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let n: usize = given.next().unwrap_or(100_000);
    let cols: usize = given.next().unwrap_or(400);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let read = bandwidth(&Aligned::from(numbers::<f64>(n * cols)), threads);
            let single = peak::<f32>(threads, f32::mul_add);
            let double = peak::<f64>(threads, f64::mul_add);
            println!(
                "{{\"rows\": {n}, \"columns\": {cols}, \"threads\": {threads}, \
                 \"read_gb_s\": {:.2}, \"peak_f32\": {:.1}, \"peak_f64\": {:.1}}}",
                read / 1e9,
                single / 1e9,
                double / 1e9
            );
            passes::<f32>("f32", n, cols, threads, read, single);
            passes::<f64>("f64", n, cols, threads, read, double);
        });
    }
}
