// The axes with which the scatter plot begins: those along which its colours differ most.

import type { Data, Quantity } from "./data";

/** The share of a quantity's variance that lies between groups. */
export function between(values: ArrayLike<number>, codes: ArrayLike<number>): number {
  const groups = new Map<number, { n: number; sum: number }>();
  let n = 0;
  let sum = 0;
  let squares = 0;
  // About the first value, so that large values far from 0 keep their digits.
  const origin = values[0] || 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] - origin;
    if (!Number.isFinite(value)) continue;
    const group = groups.get(codes[i]) ?? { n: 0, sum: 0 };
    groups.set(codes[i], group);
    group.n++;
    group.sum += value;
    n++;
    sum += value;
    squares += value * value;
  }
  const total = squares - (sum * sum) / n;
  let explained = -(sum * sum) / n;
  for (const group of groups.values()) explained += (group.sum * group.sum) / group.n;
  return total > 0 ? explained / total : 0;
}

/** Two projections, or columns where there are fewer; of rows in groups, those that tell groups apart best. */
export function startingAxes(data: Data, colour: string): [Quantity, Quantity] {
  const among = data.projections.length >= 2 ? data.projections : data.quantities();
  const grouping = data.clusters.find(({ id }) => id === colour);
  if (!grouping || among.length < 3) return [among[0], among[1] ?? among[0]];
  const codes = grouping.codes();
  const ranked = among
    .map((quantity, at) => ({ quantity, at, share: between(quantity.values(), codes) }))
    .sort((a, b) => b.share - a.share || a.at - b.at)
    .slice(0, 2);
  // In the order in which they were found.
  const [first, second] = ranked.sort((a, b) => a.at - b.at);
  return [first.quantity, second.quantity];
}
