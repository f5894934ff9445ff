//! The pass against what the machine can do: read bandwidth and multiply-add peak, measured
//! in turns with it. One JSON object a line.
//!
//!     cargo bench -p upoe --bench pass
//!     cargo bench -p upoe --bench pass -- 20000 400     # rows and columns

use std::hint::black_box;
use std::time::Instant;
use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::{Expert, Mixture, StudentT};
use upoe_kernels::{Aligned, Real, dispatch};

/// Seconds of `n` runs of each, taking turns, after one round that is not counted; each in rising
/// order.
fn seconds<const M: usize>(n: usize, mut f: [&mut dyn FnMut(); M]) -> [Vec<f64>; M] {
    let mut out = [const { Vec::new() }; M];
    for round in 0..=n {
        for (f, out) in f.iter_mut().zip(&mut out) {
            let start = Instant::now();
            f();
            if round > 0 {
                out.push(start.elapsed().as_secs_f64());
            }
        }
    }
    out.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    out
}

fn median(times: &[f64]) -> f64 {
    times[times.len() / 2]
}

/// All threads read `x`, each its own part, and add it up.
fn read(x: &[f64]) {
    rayon::broadcast(|thread| {
        let size = x.len() / thread.num_threads();
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
}

/// Multiply-adds in registers, by all threads: how many, counted twice.
fn multiply_add<T: Real>(fused: impl Fn(T, T, T) -> T + Copy + Send + Sync) -> f64 {
    // 16 vectors of 64 bytes.
    const STEPS: usize = 3_000_000;
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
    (2 * (1024 / size_of::<T>()) * STEPS * rayon::current_num_threads()) as f64
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

fn passes<T: Real>(
    precision: &str,
    n: usize,
    cols: usize,
    fused: impl Fn(T, T, T) -> T + Copy + Send + Sync,
) {
    let threads = rayon::current_num_threads();
    let engine = Memory::<T>::new(numbers(n * cols), cols, None).expect("whole rows");
    let memory = Aligned::from(numbers::<f64>(n * cols));
    let bytes = (n * cols * size_of::<T>()) as f64;
    for (name, expert) in experts() {
        for k in [1, 16, 32] {
            let directions: Vec<f64> = numbers(k * cols);
            let candidates: Vec<Candidate> = directions
                .chunks(cols)
                .map(|w| Candidate::new(w.iter().map(|w| 0.1 * w).collect(), expert.clone()))
                .collect();
            let mut operations = 0.0;
            let [times, reading, multiplying] = seconds(
                if k == 1 { 31 } else { 11 },
                [
                    &mut || drop(black_box(engine.sums(&candidates))),
                    &mut || read(&memory),
                    &mut || operations = multiply_add(fused),
                ],
            );
            let (read, peak) =
                ((8 * memory.len()) as f64 / median(&reading), operations / median(&multiplying));
            let (median, flops) = (median(&times), 4.0 * (n * cols * k) as f64);
            println!(
                "{{\"rows\": {n}, \"columns\": {cols}, \"threads\": {threads}, \
                 \"precision\": \"{precision}\", \"expert\": \"{name}\", \"k\": {k}, \
                 \"median\": {median:.3e}, \"least\": {:.3e}, \"most\": {:.3e}, \"runs\": {}, \
                 \"gb_s\": {:.2}, \"gflop_s\": {:.2}, \"read_gb_s\": {:.2}, \
                 \"peak_gflop_s\": {:.1}, \"of_bandwidth\": {:.3}, \"of_peak\": {:.3}}}",
                times[0],
                times[times.len() - 1],
                times.len(),
                bytes / median / 1e9,
                flops / median / 1e9,
                read / 1e9,
                peak / 1e9,
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
            passes::<f32>("f32", n, cols, f32::mul_add);
            passes::<f64>("f64", n, cols, f64::mul_add);
        });
    }
}
