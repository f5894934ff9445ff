//! The page of the natural images.

use super::super::outlet::signed;
use super::super::statistics::mean;
use super::Found;
use super::gabor::Summary;
use crate::progress::{duration, grouped};

/// What the paper shows, what we see, where they differ.
pub fn page(found: &Found, pictures: &[String]) -> String {
    let run = &found.run;
    let experts = found.filters.len();
    let gains = |path: &[f64]| mean(&(0..experts).map(|j| run.gain(path, j)).collect::<Vec<_>>());
    let (filters, patterns) = (Summary::of(&found.gabors[0]), Summary::of(&found.gabors[1]));
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let points = |p: [f64; 3], places: usize| p.map(|p| format!("{p:.places$}")).join(", ");
    let mut page = format!(
        "# Natural images: figure 4

**The paper** takes 100,000 patches of 30 × 30 pixels from natural images, centred, sphered and
reduced to 400 dimensions, and learns 100 directions by pursuit in batches of 100 with an adaptive
step: \"a few hours on a 1-Gz PC\". It shows 25 filters (rows of WA), \"qualitatively similar to
the Gabor-like receptive fields found using ICA\".

**We take** {patches} patches of images 1–11 at random places, less the mean patch (a patch keeps
its own brightness), {dims} dimensions ({kept} of the variance), Student-t experts with μ = 0, rows
in single precision; {held} patches of images 12 and 13, which learning never sees, are held out.
{experts} directions took {time} with the recipe `{recipe}`, sphering included.

{figure}
**We see** the same: filters that are localised and oriented. A Gabor function has R² over 0.6 for
{filter_share} of the filters (median {filter_median:.2}) and for {pattern_share} of the patterns (median
{pattern_median:.2}). Of those over 0.6:

| 10, 50, 90 % points of | filters | patterns |
|---|---|---|
| frequency, cycles per pixel | {filter_f} | {pattern_f} |
| size √(σᵤσᵥ), pixels | {filter_s} | {pattern_s} |
| orientations in 8 parts of 180°, from upright bars on | {filter_o:?} | {pattern_o:?} |
| their concentration, 0 is even | {filter_c:.2} | {pattern_c:.2} |

Orientations cover the half circle, upright bars most (the images show trees). The filters' frequencies lie close
together, near the highest that {dims} dimensions hold: sphering lifts what has little variance, and pursuit looks
for heavy tails there first. The patterns, which are what a filter responds to in the images, are larger and
smoother.

{gabor}
{all}
{patterns}
## Gains

An expert adds {train:.4} nats per patch on training patches and {out:.4} on the held-out images in the
mean; all of them together {total:.3} held-out nats. β lies between {b0:.2} and {b1:.2}. Gain on the
training patches is not gain: only the held-out figure says what was learned. The held-out images have more of what
is rare in the others: the Gaussian alone gives their patches {g1} nats in sphered space, the training patches
{g0}.

{gain}
",
        patches = grouped(found.patches),
        held = grouped(found.held_out),
        dims = found.dims,
        kept = format_args!("{:.1} %", 100.0 * found.kept_variance),
        time = duration(run.seconds.last().copied().unwrap_or(0.0)),
        recipe = run.recipe,
        figure = pictures[0],
        filter_share = percent(filters.share),
        filter_median = filters.median_r2,
        filter_f = points(filters.frequencies, 2),
        filter_s = points(filters.sizes, 1),
        filter_o = filters.orientations,
        filter_c = filters.concentration,
        pattern_share = percent(patterns.share),
        pattern_median = patterns.median_r2,
        pattern_f = points(patterns.frequencies, 2),
        pattern_s = points(patterns.sizes, 1),
        pattern_o = patterns.orientations,
        pattern_c = patterns.concentration,
        gabor = pictures[3],
        all = pictures[1],
        patterns = pictures[2],
        train = gains(&run.train),
        out = gains(&run.held_out),
        total = run.total(),
        b0 = found.beta.iter().copied().fold(f64::INFINITY, f64::min),
        b1 = found.beta.iter().copied().fold(0.0, f64::max),
        g0 = signed(run.train[0], 1),
        g1 = signed(run.held_out[0], 1),
        gain = pictures[4],
    );
    page += &format!("## Time\n\n{}\n{}\n", time(found), pictures[5]);
    page + &others(found, pictures)
}

fn time(found: &Found) -> String {
    let run = &found.run;
    let Some(other) = &found.compared else {
        return format!(
            "This run reached its held-out gain of {:.3} nats in {}. Another run's results.json, given \
             with `--compare`, is drawn beside it.\n",
            run.total(),
            duration(run.seconds.last().copied().unwrap_or(0.0))
        );
    };
    let least = run.total().min(other.total());
    let when = |run: &super::Run| run.reaches(least).map_or("never".into(), duration);
    let same = run.held_out.len() == other.held_out.len();
    let share = if same {
        format!(" ({:.1} % of the other)", 100.0 * run.total() / other.total())
    } else {
        format!(" (with {} and {} experts)", run.held_out.len() - 1, other.held_out.len() - 1)
    };
    format!(
        "To a held-out gain of {least:.3} nats per patch, the less of the two runs: recipe `{}` {}, recipe \
         `{}` {}. At the end they have {:.3} and {:.3}{share}. The paper speaks of a few hours on a 1 GHz \
         PC.\n",
        run.recipe,
        when(run),
        other.recipe,
        when(other),
        run.total(),
        other.total(),
    )
}

fn others(found: &Found, pictures: &[String]) -> String {
    let run = &found.run;
    let mut page = String::from("## Beyond the paper\n\n");
    match &found.others {
        Some(others) => {
            let best: f64 = others.fastica.iter().take(found.filters.len()).sum();
            page += &format!(
                "FastICA ({}) learns all {} directions of the same sphered patches together; its best \
                 {} with Student-t experts fitted to them gain {best:.3} held-out nats, ours {:.3}.\n\n{}\n\
                 Gaussian mixtures in the same sphered space, held-out gain over the Gaussian in nats per \
                 patch, for each kind of covariance the best size tried:\n\n| mixture | gain |\n|---|---|\n",
                others.made_with,
                found.dims,
                others.fastica.len().min(found.filters.len()),
                run.total(),
                pictures.get(6).map_or("", String::as_str),
            );
            for mixture in &others.mixtures {
                let gain = mixture.test - run.held_out[0];
                page += &format!("| {} | {} |\n", mixture.method, signed(gain, 2));
            }
            page += "\nA mixture of a few variances says at once whether a patch is flat or busy, in all \
                     directions; products of one-dimensional experts along 100 of them cannot. What \
                     ours gives that the mixture does not are the directions.\n\n";
        }
        None => {
            page += "FastICA and Gaussian mixtures on the same patches: `bench/peers.py` makes them from \
                     patches.csv, and `--peers` draws them.\n\n";
        }
    }
    page += "Over all 900 pixels (what sphering drops is isotropic noise), mean ln p of 500 held-out \
             patches:\n\n| method | ln p | s.e. |\n|---|---|---|\n";
    for (name, e) in &found.pixels {
        page += &format!("| {name} | {} | {:.1} |\n", signed(e.mean, 1), e.standard_error);
    }
    page
}
