//! How far learning is.

use std::time::{Duration, Instant};

use upoe::{Event, State};

use crate::describe::probability;
use crate::progress::{Progress, duration};

/// Says how far learning is.
pub struct Watch<'a> {
    progress: &'a Progress,
    most: Option<usize>,
    /// Experts there were at the start, and when that was.
    first: usize,
    /// Experts already reported.
    told: usize,
    start: Instant,
    expert_start: Instant,
    said: Instant,
    passes: usize,
    total: f64,
}

impl<'a> Watch<'a> {
    /// From a state on, to at most `most` experts.
    pub fn new(progress: &'a Progress, most: Option<usize>, state: &State) -> Self {
        let now = Instant::now();
        let (first, total) = (state.experts.len(), state.experts.iter().map(|e| e.gain).sum());
        let (start, expert_start, said) = (now, now, now);
        Watch { progress, most, first, told: first, start, expert_start, said, passes: 0, total }
    }

    /// Says what there is to say about an event.
    pub fn see(&mut self, event: &Event) {
        match event {
            Event::Pass { expert, gain, .. } => {
                self.passes += 1;
                if self.said.elapsed() >= self.every() {
                    self.said = Instant::now();
                    let best = if gain.is_finite() {
                        format!(": gain {:.4}", gain)
                    } else {
                        String::new()
                    };
                    self.progress.stage(&format!(
                        "learning expert {}{best}; so far {:.4} nats per row, {}{}, pass {}",
                        self.of(*expert),
                        self.total,
                        duration(self.start.elapsed().as_secs_f64()),
                        self.left(*expert),
                        self.passes,
                    ));
                }
            }
            Event::Learned(state) => {
                self.total = state.experts.iter().map(|e| e.gain).sum();
                let spent = duration(self.expert_start.elapsed().as_secs_f64());
                let new = state.experts.iter().enumerate().skip(self.told);
                let together = if new.len() > 1 { " for all" } else { "" };
                for (j, learned) in new {
                    let p = learned.p_value.map(|p| format!(", p {}", probability(p)));
                    self.progress.say(&format!(
                        "expert {}: gain {:.4} nats per row{}, {}, {} passes in {spent}{together}",
                        self.of(j),
                        learned.gain,
                        p.unwrap_or_default(),
                        learned.expert().family().name(),
                        self.passes,
                    ));
                }
                self.told = state.experts.len();
                (self.passes, self.expert_start) = (0, Instant::now());
            }
            Event::Layer { layer, radial, record } => {
                self.total += if *layer > 0 || *radial { record.gain() } else { 0.0 };
                let what = match (radial, record.gains.len()) {
                    (true, _) => "a radial expert".to_owned(),
                    (false, 1) => "one direction".to_owned(),
                    (false, n) => format!("{n} directions"),
                };
                self.progress.say(&format!(
                    "layer {}: {what}, gain {:.4} nats per row, in {}",
                    layer + 1,
                    record.gain(),
                    duration(self.expert_start.elapsed().as_secs_f64()),
                ));
                (self.passes, self.expert_start) = (0, Instant::now());
            }
            Event::Pool { done, total } if self.said.elapsed() >= self.every() => {
                self.said = Instant::now();
                self.progress.stage(&format!(
                    "pooling stacks and mixtures: {done} of {total} parts, {}",
                    duration(self.start.elapsed().as_secs_f64())
                ));
            }
            _ => {}
        }
    }

    fn every(&self) -> Duration {
        Duration::from_millis(if self.progress.is_live() { 100 } else { 10_000 })
    }

    fn of(&self, expert: usize) -> String {
        self.most.map_or((expert + 1).to_string(), |most| format!("{} of {most}", expert + 1))
    }

    /// The time left, once there is an expert to judge by.
    fn left(&self, expert: usize) -> String {
        let done = expert.saturating_sub(self.first);
        match self.most {
            Some(most) if done > 0 => {
                let spent = self.expert_start.duration_since(self.start).as_secs_f64();
                let all = spent / done as f64 * (most - self.first) as f64;
                let left = (all - self.start.elapsed().as_secs_f64()).max(0.0);
                format!(", {} left", duration(left))
            }
            _ => String::new(),
        }
    }
}
