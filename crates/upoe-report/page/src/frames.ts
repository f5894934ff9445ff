// Planes in d dimensions, and the shortest path from one to another
// (the geodesic of Buja, Cook, Asimov and Hurley, 2005).

export type Vector = Float64Array;
/** Two orthonormal vectors that span the plane. */
export type Frame = [Vector, Vector];

const dot = (a: Vector, b: Vector): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

const combine = (a: Vector, s: number, b: Vector, t: number): Vector => a.map((value, i) => s * value + t * b[i]);

function unit(v: Vector): Vector | null {
  const size = Math.sqrt(dot(v, v));
  return size > 1e-9 ? v.map((value) => value / size) : null;
}

/** The part of `v` orthogonal to the given unit vectors, of unit length. */
function outside(v: Vector, ...basis: Vector[]): Vector | null {
  let rest = v;
  for (let pass = 0; pass < 2; pass++) for (const b of basis) rest = combine(rest, 1, b, -dot(rest, b));
  return unit(rest);
}

/** A small seeded random generator (mulberry32), so that the tour is the same each time. */
export function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const direction = (d: number, random: () => number): Vector =>
  Float64Array.from({ length: d }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

/** The plane of the first two coordinates. */
export function start(d: number): Frame {
  return [0, 1].map((axis) => Float64Array.from({ length: d }, (_, i) => (i === axis ? 1 : 0))) as Frame;
}

export function randomFrame(d: number, random: () => number): Frame {
  for (;;) {
    const a = unit(direction(d, random));
    const b = a && outside(direction(d, random), a);
    if (a && b) return [a, b];
  }
}

/** Rotates the two vectors within their plane. */
export function spin([a, b]: Frame, angle: number): Frame {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [combine(a, c, b, s), combine(b, c, a, -s)];
}

/** Rotates the plane towards a third direction, as a trackball does. */
export function roll([a, b]: Frame, depth: Vector, yaw: number, pitch: number): { frame: Frame; depth: Vector } {
  const a1 = combine(a, Math.cos(yaw), depth, -Math.sin(yaw));
  const d1 = combine(depth, Math.cos(yaw), a, Math.sin(yaw));
  const b1 = combine(b, Math.cos(pitch), d1, Math.sin(pitch));
  const d2 = combine(d1, Math.cos(pitch), b, -Math.sin(pitch));
  const first = unit(a1) ?? a;
  const second = outside(b1, first) ?? b;
  return { frame: [first, second], depth: outside(d2, first, second) ?? depth };
}

/** A direction outside the plane, for rolling. */
export function depthOf([a, b]: Frame, random: () => number): Vector | null {
  if (a.length < 3) return null;
  for (;;) {
    const found = outside(direction(a.length, random), a, b);
    if (found) return found;
  }
}

export interface Way {
  /** The larger principal angle. */
  length: number;
  /** The plane at the fraction t of the path, 0 ≤ t ≤ 1. */
  at: (t: number) => Frame;
}

/** The shortest path between two planes, without rotation within them. */
export function way(from: Frame, to: Frame): Way {
  // Singular values of the 2×2 matrix of inner products are cosines of the
  // principal angles; its singular vectors pair up directions of the planes.
  const [p, q, r, s] = [dot(from[0], to[0]), dot(from[0], to[1]), dot(from[1], to[0]), dot(from[1], to[1])];
  const sum = Math.atan2(r - q, p + s);
  const difference = Math.atan2(r + q, p - s);
  const left = (difference + sum) / 2;
  const right = (difference - sum) / 2;
  const g = spin(from, left);
  const h = spin(to, right);
  const turns = [0, 1].map((k) => {
    const cosine = dot(g[k], h[k]);
    const towards = outside(h[k], g[k]);
    return { angle: towards ? Math.acos(Math.min(1, Math.max(-1, cosine))) : 0, towards };
  });
  return {
    length: Math.max(turns[0].angle, turns[1].angle),
    at: (t) => {
      const turned = turns.map(({ angle, towards }, k) =>
        towards ? combine(g[k], Math.cos(t * angle), towards, Math.sin(t * angle)) : g[k],
      ) as Frame;
      return spin(turned, -left);
    },
  };
}
