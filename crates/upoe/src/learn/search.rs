//! The search for the best new direction: many starts share each pass, and the worst are dropped.

use super::lockstep::{Start, decided, found, spare};
use super::objective::{Geometry, Objective};
use super::outcome::{Learned, State};
use super::profile::{Profile, refitted};
use super::ranking::{SAME, apart, by_gain, by_value, drop_doubles, net};
use super::session::{Session, Step};
use super::settings::Settings;
use super::{sample, starts};
use crate::engine::Candidate;
use crate::error::Result;
use crate::expert::{Expert, Family, Learnable};
use crate::linalg::dot;
use rayon::prelude::*;

/// Starts per family that are walked to the end.
const FINALISTS: usize = 4;
/// Steps between two cuts of the field.
const STRIDE: usize = 4;
/// Starts that a search over many rows leaves for the searches after it.
const RESERVE: usize = 16;
/// Directions that look best at once and enter the race of their family.
const PROMISING: usize = 16;
/// Columns and striking directions that later searches start from as well.
const POOL: usize = 64;
/// Directions with at least this cosine would walk to the same end.
const ALIKE: f64 = 0.95;
/// Rows per dimension that mixtures need where other families are tried, too. With fewer, some direction
/// has a few rows so close together that a narrow component gains more than any structure.
const ROWS_FOR_MIXTURES: f64 = 30.0;
/// The share of a tilt's gain that a Student-t must have to walk in its place.
const NEARLY: f64 = 0.7;
/// The share of what noise gains by turning a direction that is not worth a step.
const UNSURE: f64 = 0.05;
/// Steps on all rows from what was found on a sample of them.
const DECIDING: usize = 5;
/// Families that differ by no more than this, in nats per row less their prices, are close.
const CLOSE: f64 = 1e-3;
/// A direction on which the tilt gains this much less than on the best one is not walked further.
const HOPELESS: f64 = 0.02;

/// The best directions orthogonal to the frozen ones: of each family tried the best few, best
/// first.
///
/// Few rows are searched again for every direction. Of many rows a sample screens the starts, and
/// those that come second are kept in `reserve`: the next directions start from them, and new starts
/// are drawn only when the reserve runs out. All rows decide between the finalists.
pub fn search(
    session: &mut Session,
    state: &State,
    frozen: &[Vec<f64>],
    reserve: &mut Vec<Learned>,
) -> Step<Vec<Vec<Learned>>> {
    let (all, lead, sample) = (session.train, session.lead, session.sample);
    let train = lead.unwrap_or(all);
    let (settings, columns) = (session.settings, session.columns);
    let mut watch = |value: f64| session.pass(state, frozen.len(), value);
    let free = (train.dims() - frozen.len()) as f64;
    let several = settings.families.only().is_none();
    let scarce = several && train.weight() < ROWS_FOR_MIXTURES * free;
    let families = settings.families.iter().filter(|f| !(scarce && *f == Family::Mixture));
    let full = Objective::new(train, frozen, Geometry::Orthonormal);
    let mut search = Search {
        families: families.collect(),
        screening: full.over(sample.unwrap_or(train)),
        full,
        sampled: sample.is_some(),
        settings,
        columns,
        frozen: frozen.len(),
        watch: &mut watch,
    };
    let found = match search.families.contains(&Family::Tilt) {
        true if search.sampled => search.led_by_sample(reserve),
        true => search.led(reserve),
        false => search.alone(reserve),
    }?;
    if lead.is_none() {
        return Ok(found);
    }
    search.full = search.full.over(all);
    search.decided(found)
}

/// What a search works with.
struct Search<'a> {
    families: Vec<Family>,
    /// All rows.
    full: Objective<'a>,
    /// A sample of them where they are many, otherwise all.
    screening: Objective<'a>,
    sampled: bool,
    settings: &'a Settings,
    columns: &'a [Vec<f64>],
    /// How many directions are frozen.
    frozen: usize,
    watch: &'a mut dyn FnMut(f64) -> bool,
}

impl Search<'_> {
    /// Every family by itself.
    fn alone(&mut self, reserve: &mut Vec<Learned>) -> Step<Vec<Vec<Learned>>> {
        let mut pool =
            self.outside(reserve.extract_if(.., |s| s.expert().family() == Family::Tilt));
        let mut families = Vec::new();
        let mut spares = Vec::new();
        for family in self.families.clone() {
            let mut kept = self.outside(reserve.extract_if(.., |s| s.expert().family() == family));
            let mut field: Vec<Candidate> = Vec::new();
            if kept.len() < FINALISTS {
                if self.frozen == 0 && pool.is_empty() {
                    pool = self.pool()?;
                }
                let n = starts::number(&self.full, self.settings);
                let mut directions = self.drawn(n)?;
                directions.extend(pool.iter().take(n / 4).map(|s| s.direction().to_vec()));
                field.extend(kept.drain(..).map(|s| s.candidate));
                field.extend(self.race(self.templated(family, &directions)?)?);
            } else {
                field.extend(kept.drain(..FINALISTS).map(|s| s.candidate));
            }
            let (best, rest) = self.finish(field)?;
            kept.extend(rest);
            by_gain(&mut kept);
            spares.extend(kept);
            families.push(best);
        }
        // Later directions of few rows are searched from other starts each.
        spares.extend(pool.into_iter().filter(|_| self.sampled));
        *reserve = spares;
        Ok(families)
    }

    /// The tilt leads over few rows, because it follows any shape; each family also starts at the others'
    /// winners.
    fn led(&mut self, reserve: &mut Vec<Learned>) -> Step<Vec<Vec<Learned>>> {
        let mut known = self.outside(reserve.drain(..));
        if known.is_empty() {
            known.extend(self.pool()?);
        }
        let (promising, mut students) = self.promising(&known)?;
        *reserve = known;
        let raced = self.race(promising.iter().map(|p| p.candidate.clone()).collect())?;
        let raced = raced.into_iter().map(|c| c.direction).collect();
        let field = self.full.profiles(raced, usize::MAX)?;
        let (mut lead, _) = self.finish(field.into_iter().map(|p| p.candidate).collect())?;
        if self.families.len() == 1 {
            return Ok(vec![lead]);
        }
        let at = |found: &Learned| found.direction().to_vec();
        let mut shown = self.full.profiles(lead.iter().map(at).collect(), usize::MAX)?;
        shown.extend(promising.into_iter().take(FINALISTS));
        let mut families = Vec::new();
        for (family, suited) in self.suited(&shown)? {
            let mut own =
                if family == Family::StudentT { std::mem::take(&mut students) } else { vec![] };
            own.extend(suited.into_iter().take(FINALISTS).map(|s| s.candidate));
            families.push(self.finish(own)?.0);
        }
        let winners: Vec<Vec<f64>> = families.iter().filter_map(|f| f.first().map(at)).collect();
        for profile in self.full.profiles(winners, usize::MAX)? {
            let w = &profile.candidate.direction;
            let met = lead.iter().any(|l| dot(l.direction(), w).abs() > SAME);
            if !met && profile.gain > lead[0].gain - HOPELESS {
                lead.extend(self.finish(vec![profile.candidate])?.0);
                by_gain(&mut lead);
            }
        }
        families.push(lead);
        Ok(families)
    }

    /// The tilt leads over many rows: a sample screens the starts, all rows choose between what it found,
    /// and only the best of all families is learned to the end.
    fn led_by_sample(&mut self, reserve: &mut Vec<Learned>) -> Step<Vec<Vec<Learned>>> {
        let mut known = self.outside(reserve.drain(..));
        let field: Vec<Vec<f64>> = if known.len() >= FINALISTS {
            let some = known.drain(..(2 * FINALISTS).min(known.len()));
            some.map(|s| s.candidate.direction).collect()
        } else {
            known.extend(self.pool()?);
            let (promising, students) = self.promising(&known)?;
            known.clear();
            let raced = self.race(promising.into_iter().map(|p| p.candidate).collect())?;
            raced.into_iter().chain(students).map(|c| c.direction).collect()
        };
        let mut profiles = apart(self.full.profiles(field, usize::MAX)?, ALIKE);
        let rest = profiles.split_off(FINALISTS.min(profiles.len()));
        let mut ends = self.settle(profiles)?;
        let spares = ends.split_off(1.min(ends.len()));
        let spares = rest.into_iter().chain(spares);
        known.extend(spares.map(|p| Learned::new(p.candidate, p.gain)));
        by_gain(&mut known);
        *reserve = known;
        let suited = self.suited(&ends)?;
        let mut families: Vec<Vec<Learned>> = suited.into_iter().map(|(_, found)| found).collect();
        // The gain of an answer is without the penalty.
        let lead = |p: Profile| {
            let gain = p.gain + p.candidate.expert.penalty();
            Learned::new(p.candidate, gain)
        };
        families.push(ends.into_iter().map(lead).collect());
        self.polish(&mut families)?;
        Ok(families)
    }

    /// What was found on a sample, learned to the end on all rows: the best of each family, in few passes
    /// that they share.
    fn decided(&mut self, found: Vec<Vec<Learned>>) -> Step<Vec<Vec<Learned>>> {
        let (full, settings) = (&self.full, self.settings);
        let best = found.into_iter().filter_map(|family| family.into_iter().next());
        let mut starts: Vec<Start> = best
            .map(|best| full.start_content(best.candidate, settings.tol, self.worthless()))
            .collect();
        full.walk(&mut starts, DECIDING.min(settings.max_iter), self.watch)?;
        Ok(starts.iter().map(|start| vec![decided(full, start)]).collect())
    }

    /// The profiles of the most promising starts, and the finalists of Student-t's own race, where it is
    /// tried.
    fn promising(&mut self, known: &[Learned]) -> Step<(Vec<Profile>, Vec<Candidate>)> {
        let mut directions = self.drawn(starts::number(&self.full, self.settings))?;
        let mut students = Vec::new();
        if self.families.contains(&Family::StudentT) {
            students = self.race(self.templated(Family::StudentT, &directions)?)?;
        }
        directions.extend(known.iter().map(|s| s.candidate.direction.clone()));
        // Who asks for few starts wants a rough answer soon.
        let most = self.settings.starts.map_or(PROMISING, |starts| PROMISING.min(2 * starts));
        Ok((self.screening.profiles(directions, most)?, students))
    }

    /// Walks finalists over many rows: the profiles where they end, best first. Where a Student-t fits nearly
    /// as well as the tilt it walks instead, because it has two parameters and arrives in a fraction of the
    /// steps.
    fn settle(&mut self, finalists: Vec<Profile>) -> Step<Vec<Profile>> {
        let (full, settings, worthless) = (&self.full, self.settings, self.worthless());
        let weight = full.engine().weight();
        let rough = settings.tol.max(1e-3);
        let mut field = Vec::new();
        for profile in finalists {
            let student = profile.best(settings, Family::StudentT, weight)?;
            let student = student.filter(|s| s.gain > NEARLY * profile.gain);
            let from = student.map_or(profile.candidate, |s| s.candidate);
            field.push(full.start_content(from, rough, worthless));
        }
        // Until none is expected to overtake the best; the others are kept where they are.
        for _ in 0..settings.max_iter.div_ceil(STRIDE) {
            full.walk(&mut field, STRIDE, self.watch)?;
            by_value(&mut field);
            let best = field.first().map_or(f64::INFINITY, Start::value);
            if field.iter().all(|s| s.converged() || s.hope() > best) {
                break;
            }
        }
        let ends = field.iter().map(|s| full.answer(s).swap_remove(0).direction).collect();
        Ok(apart(full.profiles(ends, usize::MAX)?, SAME))
    }

    /// What is not worth another step over many rows. A direction is known only up to what noise gains by
    /// turning it, which is about D/2 nats over all rows.
    fn worthless(&self) -> f64 {
        let free = (self.full.engine().dims() - self.frozen) as f64;
        UNSURE * free / self.full.engine().weight()
    }

    /// Learns the best of all families to the end, and with it those that come close, so that neither the
    /// seed nor a step more decides between them.
    fn polish(&mut self, families: &mut [Vec<Learned>]) -> Step<()> {
        let (weight, tolerance) = (self.full.engine().weight(), self.settings.tol);
        let value = |f: &Vec<Learned>| f.first().map_or(f64::NEG_INFINITY, |f| net(f, weight));
        let best = families.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let is_close = |f: &&mut Vec<Learned>| !f.is_empty() && value(f) >= best - CLOSE;
        let close: Vec<&mut Vec<Learned>> = families.iter_mut().filter(is_close).collect();
        let worthless = self.worthless() / if close.len() > 1 { 10.0 } else { 1.0 };
        let from = |f: &&mut Vec<Learned>| {
            self.full.start_content(f[0].candidate.clone(), tolerance, worthless)
        };
        let mut starts: Vec<Start> = close.iter().map(from).collect();
        self.full.walk(&mut starts, self.settings.max_iter, self.watch)?;
        for (family, start) in close.into_iter().zip(&starts) {
            family[0] = found(&self.full, start);
        }
        Ok(())
    }

    /// For each family but the tilt the fits to some profiles, by falling gain on all rows.
    fn suited(&self, shown: &[Profile]) -> Step<Vec<(Family, Vec<Learned>)>> {
        let weight = self.full.engine().weight();
        let families = self.families.iter().copied().filter(|f| *f != Family::Tilt);
        let mut candidates = Vec::new();
        for family in families.clone() {
            let suit = |profile: &Profile| profile.best(self.settings, family, weight);
            let suited: Step<Vec<Option<Learned>>> = shown.par_iter().map(suit).collect();
            candidates.extend(suited?.into_iter().flatten().map(|s| s.candidate));
        }
        let mut found = refitted(self.full.engine(), candidates, 1)?;
        by_gain(&mut found);
        let of =
            |family: Family| found.iter().filter(move |l| l.expert().family() == family).cloned();
        Ok(families.map(|family| (family, of(family).collect())).collect())
    }

    /// Starts in reserve, outside the directions that are frozen since.
    fn outside(&self, known: impl Iterator<Item = Learned>) -> Vec<Learned> {
        let outside = |mut s: Learned| {
            s.candidate.direction = self.full.outside(s.candidate.direction)?;
            Some(s)
        };
        known.filter_map(outside).collect()
    }

    /// Columns and striking directions, by falling gain of the tilt that fits each.
    fn pool(&self) -> Result<Vec<Learned>> {
        let larger = if self.sampled { sample::larger(self.full.engine())? } else { None };
        let most = larger.as_deref().map(|rows| self.full.over(rows));
        let mut directions = starts::striking(most.as_ref().unwrap_or(&self.full), self.frozen)?;
        directions.extend(self.columns.iter().filter_map(|w| self.full.outside(w.clone())));
        let profiles = self.screening.profiles(directions, POOL)?.into_iter();
        Ok(profiles.map(|p| Learned::new(p.candidate, p.gain)).collect())
    }

    fn drawn(&self, n: usize) -> Result<Vec<Vec<f64>>> {
        starts::drawn(&self.full, self.settings, n, self.frozen)
    }

    /// Every template of a family at every direction.
    fn templated(&self, family: Family, directions: &[Vec<f64>]) -> Result<Vec<Candidate>> {
        let templates = self.settings.templates(family, self.full.engine().weight())?;
        let at_all = |t: &Expert| -> Vec<Candidate> {
            directions.iter().map(|w| Candidate::new(w.clone(), t.clone())).collect()
        };
        Ok(templates.iter().flat_map(at_all).collect())
    }

    /// The best few of many starts of a family, after a race; on a sample where rows are many.
    fn race(&mut self, field: Vec<Candidate>) -> Step<Vec<Candidate>> {
        let objective = &self.screening;
        let (keep, tolerance) = if self.sampled { (RESERVE, 1e-2) } else { (FINALISTS, 1e-3) };
        let mut field: Vec<Start> =
            field.into_iter().map(|c| objective.start(vec![c], tolerance)).collect();
        while field.len() > keep {
            objective.walk(&mut field, STRIDE, self.watch)?;
            by_value(&mut field);
            field.truncate(keep.max(field.len() / 2));
            if field.iter().all(|s| s.steepness() <= tolerance) {
                break;
            }
            drop_doubles(objective, &mut field);
        }
        drop_doubles(objective, &mut field);
        field.truncate(keep);
        // On a sample the finalists are walked to the end, because it costs little.
        if self.sampled {
            objective.walk(&mut field, self.settings.max_iter, self.watch)?;
        }
        Ok(field.iter().map(|s| objective.answer(s).swap_remove(0)).collect())
    }

    /// Walks some starts of one family on all rows: the best, finished, and where rows are many those
    /// that came second.
    fn finish(&mut self, field: Vec<Candidate>) -> Step<(Vec<Learned>, Vec<Learned>)> {
        let (full, settings) = (&self.full, self.settings);
        let rough = settings.tol.max(1e-3);
        let mut field: Vec<Start> = field.into_iter().map(|c| full.start(vec![c], rough)).collect();
        full.walk(&mut field, settings.max_iter, self.watch)?;
        by_value(&mut field);
        drop_doubles(full, &mut field);
        // A rough tolerance can hide small differences. With few rows all close starts continue; with
        // many rows that would cost too much.
        let best = field.first().map_or(0.0, Start::value);
        let close = field.iter().take_while(|s| s.value() <= best + 1e-3).count();
        let rest = field.split_off(if self.sampled { 1.min(close) } else { close });
        let rest = if self.sampled { &rest[..] } else { &[] };
        let spares = rest.iter().map(|s| spare(full, s)).collect();
        field.iter_mut().for_each(|s| s.tighten(settings.tol));
        full.walk(&mut field, settings.max_iter, self.watch)?;
        by_value(&mut field);
        Ok((field.iter().map(|s| found(full, s)).collect(), spares))
    }
}
