//! The map that makes a one-dimensional density standard normal: z → g(z) = Φ⁻¹(F(z)).
//!
//! F and Φ⁻¹ take microseconds. A table of g with its first two derivatives, exact at its nodes, gives g
//! to 1e-11 in nanoseconds: nodes are added until the quintic through two of them passes halfway between
//! them as closely as that. Beyond the table g is computed.

use super::quintic;
use crate::expert::{Expert, Marginal, normal};
use crate::linalg::HALF_LN_TAU;

/// The table covers |g| up to this.
const COVERED: f64 = 7.5;
/// How close a quintic must pass.
const CLOSE: f64 = 1e-11;
/// Nodes to begin with.
const FIRST: usize = 24;
/// How often an interval is halved at most.
const DEEPEST: usize = 14;
/// Farther out than this no g is told apart.
const FARTHEST: f64 = 37.0;

/// The map of one expert to a standard normal, and back.
#[derive(Clone, Debug)]
pub struct Gaussianiser {
    expert: Expert,
    /// z = centre + scale · sinh t: power laws in z are smooth in t.
    centre: f64,
    scale: f64,
    nodes: Vec<Node>,
}

/// g at t, with its first two derivatives by t.
#[derive(Clone, Copy, Debug)]
struct Node {
    t: f64,
    g: [f64; 3],
}

/// Where a value is mapped to.
#[derive(Clone, Copy, Debug)]
pub struct Mapped {
    /// g(z).
    pub g: f64,
    /// ln g′(z) = ln T(z) − ln φ(g).
    pub ln_slope: f64,
}

impl Gaussianiser {
    pub fn new(expert: Expert) -> Self {
        let centre = expert.quantile(0.5);
        let scale = (expert.quantile(0.75) - expert.quantile(0.25)).max(1e-9) / 1.349;
        let mut map = Gaussianiser { expert, centre, scale, nodes: Vec::new() };
        let tail = normal::upper(COVERED);
        let ends = [map.expert.quantile(tail), map.upper_quantile(tail)].map(|z| map.t(z));
        let at = |i: usize| ends[0] + (ends[1] - ends[0]) * i as f64 / FIRST as f64;
        let mut left = map.node(at(0));
        let mut nodes = vec![left];
        for i in 1..=FIRST {
            let right = map.node(at(i));
            map.fill(&mut nodes, left, right, 0);
            nodes.push(right);
            left = right;
        }
        map.nodes = nodes;
        map
    }

    pub fn expert(&self) -> &Expert {
        &self.expert
    }

    /// The z that is exceeded with this small chance.
    fn upper_quantile(&self, tail: f64) -> f64 {
        let mass = |z: f64, upper: bool| {
            if upper { self.expert.cdf(-z) } else { self.expert.upper_tail(-z) }
        };
        -normal::invert(tail, mass, |z| self.expert.ln_density(-z).exp())
    }

    fn t(&self, z: f64) -> f64 {
        ((z - self.centre) / self.scale).asinh()
    }

    fn z(&self, t: f64) -> f64 {
        self.centre + self.scale * t.sinh()
    }

    /// g(z), from the smaller tail.
    fn exact(&self, z: f64) -> f64 {
        let (lower, upper) = (self.expert.cdf(z), self.expert.upper_tail(z));
        let g = if lower < upper { normal::quantile(lower) } else { -normal::quantile(upper) };
        g.clamp(-FARTHEST, FARTHEST)
    }

    fn node(&self, t: f64) -> Node {
        let z = self.z(t);
        let g = self.exact(z);
        let stretch = self.scale * t.cosh();
        let first = (self.expert.ln_density(z) + 0.5 * g * g + HALF_LN_TAU).exp() * stretch;
        let second = first * (t.tanh() - self.expert.energy_slope(z) * stretch + g * first);
        Node { t, g: [g, first, second] }
    }

    /// Adds nodes between two until the table is close.
    fn fill(&self, nodes: &mut Vec<Node>, left: Node, right: Node, depth: usize) {
        let middle = self.node(0.5 * (left.t + right.t));
        let off = (between(&left, &right, 0.5)[0] - middle.g[0]).abs();
        if off < CLOSE || depth == DEEPEST {
            return;
        }
        self.fill(nodes, left, middle, depth + 1);
        nodes.push(middle);
        self.fill(nodes, middle, right, depth + 1);
    }

    /// g(z) and the logarithm of its slope.
    pub fn map(&self, z: f64) -> Mapped {
        let g = self.value(z);
        let ln_slope = self.expert.ln_density(z) + 0.5 * g * g + HALF_LN_TAU;
        Mapped { g, ln_slope }
    }

    fn value(&self, z: f64) -> f64 {
        let t = self.t(z);
        let last = self.nodes.len() - 1;
        if !(t > self.nodes[0].t && t < self.nodes[last].t) {
            return self.exact(z);
        }
        let next = self.nodes.partition_point(|n| n.t < t);
        let (left, right) = (&self.nodes[next - 1], &self.nodes[next]);
        between(left, right, (t - left.t) / (right.t - left.t))[0]
    }

    /// The z with g(z) = g.
    pub fn inverse(&self, g: f64) -> f64 {
        let last = self.nodes.len() - 1;
        if !(g > self.nodes[0].g[0] && g < self.nodes[last].g[0]) {
            let tail = normal::upper(g.abs());
            return if g < 0.0 { self.expert.quantile(tail) } else { self.upper_quantile(tail) };
        }
        let next = self.nodes.partition_point(|n| n.g[0] < g).max(1);
        let (left, right) = (&self.nodes[next - 1], &self.nodes[next]);
        // Newton steps on the quintic, inside a bracket that always shrinks.
        let (mut low, mut high) = (0.0, 1.0);
        let mut u = (g - left.g[0]) / (right.g[0] - left.g[0]);
        for _ in 0..60 {
            let [value, slope] = between(left, right, u);
            if value < g {
                low = u
            } else {
                high = u
            }
            let newton = u - (value - g) / slope;
            let step = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (step - u).abs() < 1e-16 {
                break;
            }
            u = step;
        }
        self.z(left.t + u * (right.t - left.t))
    }
}

/// The quintic through two nodes at the share u of the way between them: its value and slope.
fn between(left: &Node, right: &Node, u: f64) -> [f64; 2] {
    quintic::between(&left.g, &right.g, right.t - left.t, u)
}
