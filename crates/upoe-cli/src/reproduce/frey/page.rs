//! The page of the Frey faces.

use super::super::outlet::signed;
use super::Found;
use super::claims::{BLOCK, Claims, Difference};
use super::paths::{Curves, LEARNERS};
use upoe::evaluate::Mean;

/// What the paper shows, what we see, where they differ.
pub fn page(found: &Found, pictures: &[String; 3]) -> String {
    let [random, blocks, differences] = pictures;
    let (by_rows, by_blocks) = (Claims::of(&found.random), Claims::of(&found.blocks));
    let splits = found.random.len();
    let first = if splits > 1 {
        format!(" ({splits} splits; the first in the table)")
    } else {
        String::new()
    };
    let mut page = format!(
        "# Frey faces: figure 1

**The paper** shows the log-likelihood of 1000 training and 965 test faces, sphered and reduced to
50 dimensions, against the number of Student-t projections for three learners: all together (PAR),
one at a time by the same rule (SEQ), and pursuit (PP). \"Although the parallel procedure
outperforms the sequential methods on training data, there is no significant difference on the
test data.\"

**We see**{first}, mean ln p in sphered space, nats per face, training / test rows:

{table}
{random}
",
        table = table(&found.random[0]),
    );
    page += &format!("**First claim, parallel is best on training data**: {}\n\n", lead(&by_rows));
    page += &format!(
        "**Second claim, no significant difference on test data**: {} Standard errors take {BLOCK} \
         successive frames as one, since neighbours look alike.\n\n{}\n{differences}\n",
        verdict(&by_rows),
        difference_table(&by_rows, splits),
    );
    page += &format!(
        "## Rows that are really new

Frames come from a video and neighbours look alike, so a random split tests on near copies of
training rows. Here ten of twenty blocks of successive frames train and the others test:

{table}
{blocks}
First claim: {lead} Second claim: {verdict}

{differences}
",
        table = table(&found.blocks[0]),
        lead = lead(&by_blocks),
        verdict = verdict(&by_blocks),
        differences = difference_table(&by_blocks, splits),
    );
    page + &others(found)
}

fn table(curves: &Curves) -> String {
    let mut table = String::from("| projections | PAR | PP | SEQ |\n|---|---|---|---|\n");
    for j in [0, 1, 5, 10, 20, 30, 40, 50].into_iter().filter(|j| *j <= curves.most()) {
        let cell = |l: usize| {
            let path = &curves.paths[l];
            format!("{} / {}", signed(path.train[j], 3), signed(path.test[j], 3))
        };
        table += &format!("| {j} | {} | {} | {} |\n", cell(0), cell(1), cell(2));
    }
    let seconds: Vec<String> = curves
        .paths
        .iter()
        .zip(LEARNERS)
        .map(|(path, (name, _))| {
            format!("{name} {:.0} s, {} projections", path.seconds, path.experts)
        })
        .collect();
    table + &format!("\nLearned in: {} (side by side).\n", seconds.join("; "))
}

fn lead(claims: &Claims) -> String {
    let most = claims.differences.last().map_or(0, |d| d.projections);
    let half = most.min(10);
    let more = |pair: &str, j: usize| claims.get(pair, j).map_or(f64::NAN, |d| d.train);
    let holds = match claims.leads_from {
        from @ ..=10 => format!("it holds, from {from} projections on."),
        from if from <= most => format!("it holds only from {from} projections on."),
        _ => "it does not hold.".into(),
    };
    format!(
        "{holds} With {most} projections PAR is {} nats above PP and {} above SEQ; with {half}, {} and {}. \
         The least lead over the better of the two at any number above one is {} nats (at {}).",
        signed(more("PAR − PP", most), 2),
        signed(more("PAR − SEQ", most), 2),
        signed(more("PAR − PP", half), 2),
        signed(more("PAR − SEQ", half), 2),
        signed(claims.least_lead, 3),
        claims.least_lead_at,
    )
}

fn verdict(claims: &Claims) -> String {
    let judged: Vec<&Difference> =
        claims.differences.iter().filter(|d| d.pair.starts_with("PAR")).collect();
    let count = |t: &dyn Fn(&Difference) -> f64| {
        let beyond = |sign: f64| judged.iter().filter(|d| sign * t(d) > 2.0).count();
        (beyond(1.0), beyond(-1.0))
    };
    let n = judged.len();
    let first = match count(&|d| d.test.mean / d.test.standard_error) {
        (0, 0) => format!("it holds: none of {n} paired differences exceeds two standard errors."),
        (better, worse) => format!(
            "it does not hold here: of {n} paired differences between PAR and the others, PAR is \
             better by more than two standard errors in {better} and worse in {worse}."
        ),
    };
    if judged.iter().all(|d| d.over_splits.is_none()) {
        return first;
    }
    let (better, worse) = count(&|d| d.over_splits.map_or(0.0, |e| e.mean / e.standard_error));
    first
        + &format!(
            " Over splits, PAR is better by two standard errors in {better} and worse in {worse}."
        )
}

fn difference_table(claims: &Claims, splits: usize) -> String {
    let over = if splits > 1 { " over splits |" } else { "" };
    let line = if splits > 1 { "---|" } else { "" };
    let mut table =
        format!("| test rows | projections | difference | s.e. |{over}\n|---|---|---|---|{line}\n");
    for d in claims
        .differences
        .iter()
        .filter(|d| [10, 20, 30, 50].contains(&d.projections) || d.projections < 10)
    {
        let over = d.over_splits.map_or(String::new(), |e| {
            format!(" {} ± {:.3} |", signed(e.mean, 3), e.standard_error)
        });
        table += &format!(
            "| {} | {} | {} | {:.3} |{over}\n",
            d.pair,
            d.projections,
            signed(d.test.mean, 3),
            d.test.standard_error
        );
    }
    if splits > 1 {
        table += "\nOver splits: mean and standard error with the correction for splits that share \
                  rows (Nadeau and Bengio 2003).\n";
    }
    table
}

fn others(found: &Found) -> String {
    let mut page = String::from("## Beyond the paper\n\n");
    let paths = &found.random[0].paths;
    let last = |l: usize| signed(paths[l].test[found.random[0].most()], 2);
    if let Some(others) = &found.others {
        let fastica = others.fastica.last().copied().unwrap_or_default();
        page += &format!(
            "On the same test rows, in sphered space ({}): a Gaussian reaches {}; FastICA's \
             directions, with Student-t experts fitted to as many of them, {} ({} on training rows); PP {}, \
             SEQ {}, PAR {}. Gaussian mixtures, for each kind of covariance the size that is best on \
             the test rows:\n\n| mixture | train | test | s.e. |\n|---|---|---|---|\n",
            others.made_with,
            signed(paths[0].test[0], 2),
            signed(fastica.1, 2),
            signed(fastica.0, 2),
            last(1),
            last(2),
            last(0),
        );
        for m in &others.mixtures {
            page += &format!(
                "| {} | {} | {} | {:.2} |\n",
                m.method,
                signed(m.train, 2),
                signed(m.test, 2),
                m.standard_error
            );
        }
        page.push('\n');
    } else {
        page += "The results of other methods are of another split; `bench/peers.py` makes them for \
                 this one from train_rows.txt.\n\n";
    }
    let list = |list: &[(usize, Mean)]| -> String {
        let one = |(dims, e): &(usize, Mean)| format!("{dims}: {}", signed(e.mean, 1));
        list.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    page + &format!(
        "Over all 560 pixels (what sphering drops is isotropic noise), mean ln p of the test rows by \
         dimensions kept. PPCA, which is the model without experts: {}. Pursuit with {} experts: {}. \
         The experts add what they add in sphered space; how many dimensions are kept matters more.\n",
        list(&found.pixels.ppca),
        found.random[0].most(),
        list(&found.pixels.ours),
    )
}
