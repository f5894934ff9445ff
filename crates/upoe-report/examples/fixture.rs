//! Writes pages from made-up numbers, for working on the front end and its tests:
//! `cargo run -p upoe-report --example fixture -- DIRECTORY`.
//!
//! The densities here are mixtures of Gaussians, whatever the expert is called:
//! what is tested is the page, not the model.

use std::{env, fs, path::Path};

use upoe_report::{
    Axis, Clusters, Codes, Column, Curve, Estimate, Expert, Floats, GainPath, Histogram, Image,
    Likelihood, Outlier, Page, Parameter, Quantiles, Rows, Samples, Setting, Summary, Values, html,
};

const HOSTILE: &str =
    "</script><img src=x onerror=\"window.hacked=1\"></script ><!--<script>\u{2028}&amp;'\"";

fn main() -> std::io::Result<()> {
    let directory = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let write = |name: &str, page: &Page| fs::write(Path::new(&directory).join(name), html(page));
    fs::create_dir_all(&directory)?;
    write("crabs.html", &Recipe::new("Crabs", 200, 200, 5, 2).page())?;
    write("large.html", &Recipe::new("Detector", 120_000, 50_000, 24, 20).page())?;
    write("gaussian.html", &Recipe::new("Noise", 300, 300, 4, 0).page())?;
    write("one.html", &Recipe::new("One direction", 400, 400, 6, 1).page())?;
    write("tour.html", &Recipe::new("Olive oils", 572, 572, 8, 4).page())?;
    let mut image = Recipe::new("Faces", 1965, 1965, 28 * 20, 6).page();
    image.image = Some(Image { height: 28, width: 20 });
    write("image.html", &image)?;
    let mut hostile = Recipe::new(HOSTILE, 60, 60, 3, 2).page();
    hostile.summary.headline = HOSTILE.into();
    hostile.summary.stop_reason = HOSTILE.into();
    hostile.summary.notices.push(HOSTILE.into());
    hostile.summary.settings.push(Setting { name: HOSTILE.into(), value: HOSTILE.into() });
    for axis in &mut hostile.summary.columns {
        axis.name = format!("{}{HOSTILE}", axis.name);
    }
    for column in &mut hostile.rows.columns {
        column.name = format!("{}{HOSTILE}", column.name);
        if let Values::Text { levels, .. } = &mut column.values {
            levels.iter_mut().for_each(|level| level.push_str(HOSTILE));
        }
    }
    for expert in &mut hostile.experts {
        expert.words = HOSTILE.into();
        expert.kind = HOSTILE.into();
        expert.parameters[0].name = HOSTILE.into();
    }
    write("hostile.html", &hostile)
}

/// A small generator (SplitMix64), so that fixtures are the same everywhere.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A one-dimensional mixture of Gaussians: share, mean, standard deviation.
#[derive(Clone)]
struct Mixture(Vec<[f64; 3]>);

impl Mixture {
    /// Groups, heavy tails or a skew, by turns.
    fn of(index: usize) -> Self {
        let fade = 1.0 / (1.0 + 0.08 * index as f64);
        match index % 3 {
            0 => Self(vec![[0.52, -0.9 * fade, 0.45 / fade], [0.48, 0.95 * fade, 0.42 / fade]]),
            1 => Self(vec![[0.4, -1.05, 0.5], [0.6, 0.7, 0.55]]),
            _ => Self(vec![[0.85, 0.0, 0.68], [0.15, 0.0, 1.95]]),
        }
    }

    fn groups(&self) -> bool {
        self.0[0][1] != self.0[1][1]
    }

    fn component(&self, k: usize, z: f64) -> f64 {
        let [share, mean, sd] = self.0[k];
        share * gaussian((z - mean) / sd) / sd
    }

    fn density(&self, z: f64) -> f64 {
        (0..self.0.len()).map(|k| self.component(k, z)).sum()
    }

    fn sample(&self, random: &mut Random) -> f64 {
        let k = usize::from(random.uniform() > self.0[0][0]);
        self.0[k][1] + self.0[k][2] * random.normal()
    }
}

fn gaussian(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

struct Recipe {
    title: String,
    total: usize,
    shown: usize,
    /// Columns are z · mixing + mean; the first J sphered coordinates are experts'.
    mixing: Vec<Vec<f64>>,
    experts: Vec<Mixture>,
    random: Random,
}

impl Recipe {
    fn new(title: &str, total: usize, shown: usize, columns: usize, experts: usize) -> Self {
        let mut random = Random(7 + columns as u64);
        let smooth = columns > 100;
        let mixing = (0..columns)
            .map(|source| {
                (0..columns)
                    .map(|column| {
                        if smooth {
                            let (y, x) = ((column / 20) as f64, (column % 20) as f64);
                            let (cy, cx) = ((source * 5 % 28) as f64, (3 + source * 7 % 15) as f64);
                            let d = ((y - cy).powi(2) + (x - cx).powi(2)) / 20.0;
                            (1.0 - d) * (-d / 2.0).exp()
                        } else {
                            random.normal() * (1.0 + column as f64)
                        }
                    })
                    .collect()
            })
            .collect();
        Self {
            title: title.to_owned(),
            total,
            shown,
            mixing,
            experts: (0..experts).map(Mixture::of).collect(),
            random,
        }
    }

    fn columns(&self) -> usize {
        self.mixing.len()
    }

    /// Sphered coordinates and ln p of `n` rows.
    fn draw(&mut self, n: usize, outliers: bool) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut rows = vec![];
        let mut log_density = vec![];
        for i in 0..n {
            let row: Vec<f64> = (0..self.columns())
                .map(|d| {
                    let z = match self.experts.get(d) {
                        Some(expert) => expert.sample(&mut self.random),
                        None => self.random.normal(),
                    };
                    if outliers && i % (n / 5) == 17 { z * 1.8 + 0.6 } else { z }
                })
                .collect();
            log_density.push(row.iter().enumerate().map(|(d, &z)| self.term(d, z)).sum());
            rows.push(row);
        }
        (rows, log_density)
    }

    fn term(&self, d: usize, z: f64) -> f64 {
        self.experts.get(d).map_or_else(|| gaussian(z), |expert| expert.density(z)).ln()
    }

    fn cells(&self, row: &[f64]) -> Vec<f64> {
        (0..self.columns())
            .map(|c| {
                10.0 * (c + 1) as f64
                    + row.iter().zip(&self.mixing).map(|(z, mixing)| z * mixing[c]).sum::<f64>()
            })
            .collect()
    }

    fn page(mut self) -> Page {
        let (rows, log_density) = self.draw(self.shown, true);
        let (sampled, sampled_density) = self.draw(self.shown.min(2000), false);
        let d = self.columns();
        let j = self.experts.len();
        let names: Vec<String> = match d {
            5 => ["FL", "RW", "CL", "CW", "BD"].map(String::from).to_vec(),
            d if d > 100 => (0..d).map(|c| format!("pixel {}", c + 1)).collect(),
            _ => (0..d).map(|c| format!("channel {}", c + 1)).collect(),
        };
        let mut path = vec![-1.4189 * d as f64];
        for expert in 0..j {
            path.push(path[expert] + 0.36 / (1.0 + expert as f64 * 0.7));
        }
        let penalised: Vec<f64> =
            path.iter().enumerate().map(|(k, value)| value - 0.02 * k as f64).collect();
        let likelihood = Likelihood {
            train: path[j],
            gaussian_train: path[0],
            holdout: Some(Estimate { mean: path[j] - 0.06, standard_error: 0.021 }),
            gaussian_holdout: Some(path[0] - 0.03),
        };
        let headline = match j {
            0 => "These rows look Gaussian: no direction stands out from chance.".to_owned(),
            1 => "One direction tells these rows from a Gaussian: two groups along it.".to_owned(),
            2 => "Two directions tell these rows from a Gaussian, and both split them into two \
                  groups: four groups in all."
                .to_owned(),
            _ => format!("{j} directions tell these rows from a Gaussian."),
        };
        Page {
            title: self.title.clone(),
            summary: Summary {
                headline,
                rows: self.total,
                holdout_rows: 40,
                columns: (0..d)
                    .map(|c| Axis {
                        name: names[c].clone(),
                        mean: 10.0 * (c + 1) as f64,
                        standard_deviation: self
                            .mixing
                            .iter()
                            .map(|mixing| mixing[c].powi(2))
                            .sum::<f64>()
                            .sqrt(),
                    })
                    .collect(),
                dims: d,
                stop_reason: "the next expert gains no more than it would on Gaussian rows \
                              (p = 0.41)"
                    .to_owned(),
                seconds: 0.183,
                log_likelihood: likelihood.clone(),
                log_density: likelihood,
                settings: [
                    ("learner", "pursuit"),
                    ("family", "auto"),
                    ("stop", "null"),
                    ("seed", "1"),
                ]
                .map(|(name, value)| Setting { name: name.into(), value: value.into() })
                .to_vec(),
                version: "0.1.0".to_owned(),
                notices: if self.total > self.shown {
                    vec!["Column “run” is text and was left out.".to_owned()]
                } else {
                    vec![]
                },
            },
            path: GainPath {
                holdout: Some(
                    path.iter().enumerate().map(|(k, v)| v - 0.03 - 0.015 * k as f64).collect(),
                ),
                train: path,
                penalised: Some(penalised),
                optimum: j,
                rule: "An expert stays if its gain is in the top 5 % of gains on Gaussian rows."
                    .to_owned(),
            },
            experts: (0..j).map(|k| self.expert(k, &rows)).collect(),
            rows: self.rows(&rows, &log_density, &names),
            samples: Some(Samples {
                log_density: sampled_density.iter().copied().collect(),
                projections: (0..j).map(|k| sampled.iter().map(|z| z[k]).collect()).collect(),
                columns: if d > 100 {
                    vec![]
                } else {
                    let cells: Vec<_> = sampled.iter().map(|row| self.cells(row)).collect();
                    (0..d).map(|c| cells.iter().map(|row| row[c]).collect()).collect()
                },
            }),
            outliers: self.outliers(&rows, &log_density),
            image: None,
        }
    }

    fn expert(&self, k: usize, rows: &[Vec<f64>]) -> Expert {
        let expert = &self.experts[k];
        let mut z: Vec<f64> = rows.iter().map(|row| row[k]).collect();
        z.sort_by(f64::total_cmp);
        let (low, high) = (z[0], z[z.len() - 1]);
        let bins = if z.len() < 1000 { 24 } else { 60 };
        let width = (high - low) / bins as f64;
        let mut counts = vec![0.0; bins];
        for value in &z {
            counts[(((value - low) / width) as usize).min(bins - 1)] += 1.0;
        }
        let (from, to) = (low - 0.5, high + 0.5);
        let at = |i: usize| from + (to - from) * i as f64 / 240.0;
        let grid = |f: &dyn Fn(f64) -> f64| (0..=240).map(|i| f(at(i))).collect::<Floats>();
        let n = z.len();
        let points = n.min(150);
        let probability = |i: usize| (i as f64 + 0.5) / points as f64;
        let model: Vec<f64> = (0..points).map(|i| quantile(expert, probability(i))).collect();
        let error = |i: usize| {
            let p = probability(i);
            1.96 * (p * (1.0 - p) / n as f64).sqrt() / expert.density(model[i]).max(1e-3)
        };
        let [share, mean, sd] = expert.0[0];
        let parameter = |name: &str, value| Parameter { name: name.into(), value, note: None };
        Expert {
            kind: if expert.groups() { "mixture" } else { "student-t" }.to_owned(),
            words: if expert.groups() {
                format!("two groups, {:.0} % and {:.0} %", 100.0 * share, 100.0 - 100.0 * share)
            } else {
                "heavy tails: about Student-t with 3.1 degrees of freedom".to_owned()
            },
            parameters: vec![
                parameter("share of group 1", share),
                parameter("centre of group 1", mean),
                Parameter { note: Some("fixed".into()), ..parameter("width of group 1", sd) },
            ],
            q: -0.36 / (1.0 + k as f64 * 0.7),
            p_value: Some(0.001),
            negentropy: Some(0.34),
            histogram: Histogram { from: low, width, counts },
            curve: Curve {
                from,
                to,
                fitted: grid(&|z| expert.density(z)),
                gaussian: grid(&gaussian),
                components: if expert.groups() {
                    (0..2).map(|g| grid(&|z| expert.component(g, z))).collect()
                } else {
                    vec![]
                },
            },
            quantiles: Quantiles {
                data: (0..points).map(|i| z[(probability(i) * n as f64) as usize]).collect(),
                low: (0..points).map(|i| model[i] - error(i)).collect(),
                high: (0..points).map(|i| model[i] + error(i)).collect(),
                model: model.iter().copied().collect(),
            },
            loadings: self.mixing[k]
                .iter()
                .enumerate()
                .map(|(c, value)| value / (1.0 + c as f64).powi(2) / 2.0)
                .collect(),
            pattern: self.mixing[k].iter().copied().collect(),
        }
    }

    fn rows(&self, rows: &[Vec<f64>], log_density: &[f64], names: &[String]) -> Rows {
        let step = self.total / self.shown;
        let cells: Vec<_> = rows.iter().map(|row| self.cells(row)).collect();
        let mut columns: Vec<Column> = vec![];
        for (name, levels, k) in
            [("species", ["blue", "orange"], 0), ("sex", ["female", "male"], 1)]
        {
            if k < self.experts.len() {
                columns.push(Column {
                    name: name.into(),
                    modelled: None,
                    values: Values::Text {
                        levels: levels.map(String::from).to_vec(),
                        codes: rows.iter().map(|row| u32::from(row[k] > 0.1)).collect(),
                    },
                });
            }
        }
        for (c, name) in names.iter().enumerate().take(60) {
            columns.push(Column {
                name: name.clone(),
                modelled: Some(c),
                values: Values::Number { values: cells.iter().map(|row| row[c]).collect() },
            });
        }
        Rows {
            total: self.total,
            number: (0..rows.len()).map(|i| (1 + i * step) as u32).collect(),
            log_density: log_density.iter().copied().collect(),
            projections: (0..self.experts.len())
                .map(|k| rows.iter().map(|row| row[k]).collect())
                .collect(),
            clusters: (0..self.experts.len())
                .filter(|&k| self.experts[k].groups())
                .map(|k| Clusters {
                    expert: k,
                    groups: 2,
                    labels: Codes(
                        rows.iter()
                            .map(|row| {
                                let expert = &self.experts[k];
                                u32::from(expert.component(1, row[k]) > expert.component(0, row[k]))
                            })
                            .collect(),
                    ),
                })
                .collect(),
            columns,
        }
    }

    fn outliers(&self, rows: &[Vec<f64>], log_density: &[f64]) -> Vec<Outlier> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| log_density[a].total_cmp(&log_density[b]));
        let j = self.experts.len();
        order
            .into_iter()
            .take(8)
            .map(|position| {
                let moves: Vec<f64> = rows[position]
                    .iter()
                    .enumerate()
                    .map(|(d, &z)| self.term(d, z) - self.term(d, 0.0))
                    .collect();
                let experts = moves[..j].to_vec();
                let rest: f64 = moves[j..].iter().sum();
                let split: Vec<Floats> = (0..=j)
                    .map(|part| {
                        let value = if part < j { experts[part] } else { rest };
                        let mixing = &self.mixing[part.min(self.columns() - 1)];
                        let total: f64 = mixing.iter().map(|m| m.abs() + 0.1).sum();
                        mixing.iter().map(|m| value * (m.abs() + 0.1) / total).collect()
                    })
                    .collect();
                Outlier {
                    position,
                    log_density: log_density[position],
                    tail: Some(0.002),
                    baseline: log_density[position] - moves.iter().sum::<f64>(),
                    columns: (0..self.columns())
                        .map(|c| split.iter().map(|part| f64::from(part.0[c])).sum())
                        .collect(),
                    experts,
                    rest,
                    split: if self.columns() > 100 { vec![] } else { split },
                    values: self.cells(&rows[position]).into_iter().collect(),
                }
            })
            .collect()
    }
}

/// Inverts the distribution function, summed on a fine grid.
fn quantile(expert: &Mixture, probability: f64) -> f64 {
    let step = 0.005;
    let (mut z, mut sum) = (-9.0, 0.0);
    while z < 9.0 && sum + expert.density(z) * step < probability {
        sum += expert.density(z) * step;
        z += step;
    }
    z
}
