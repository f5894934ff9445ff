// The JSON block, as `Page` in ../../src/page.rs writes it. Keys follow docs/glossary.md.

/** A number, or null if it is not known (NaN). */
export type Real = number | null;
/** Base64 of little-endian f32. */
export type Floats = string;
/** Base64 of little-endian unsigned integers of `width` bytes. */
export interface Codes {
  width: 1 | 2 | 4;
  data: string;
}

export interface Page {
  title: string;
  summary: Summary;
  path: GainPath;
  experts: Expert[];
  rows: Rows;
  samples: Samples | null;
  outliers: Outliers;
  /** Null where every cell has a value. */
  missing: Missing | null;
  image: { height: number; width: number } | null;
  /** Null where the model has one layer. */
  layers: Layers | null;
  /** Null where the model file keeps none. */
  groups: Groups | null;
}

export interface Groups {
  /** That there are none, in words. */
  none: string | null;
  groups: {
    name: string;
    rows: number;
    share: number;
    differences: { column: string; given: string | null; mean: Real; difference: string; low: string; high: string }[];
  }[];
  labels: Codes;
  agreement: { column: string; matches: number; chance: number; words: string }[];
  /** That small groups were merged, in words. */
  merged: string | null;
}

export interface Layers {
  column_experts: string[];
  layers: {
    kind: string;
    words: string;
    gain: Real;
    holdout: Real;
    p_value: Real;
    radial: { dims: number; histogram: Histogram; curve: Expert["curve"]; values: Floats } | null;
  }[];
  members: { share: number; words: string }[];
}

export interface Summary {
  findings: string[];
  rows: number;
  holdout_rows: number;
  columns: { name: string; mean: Real; standard_deviation: Real }[];
  dims: number;
  stop_reason: string;
  seconds: Real;
  log_likelihood: Likelihood;
  log_density: Likelihood;
  settings: { name: string; value: string }[];
  version: string;
  notices: string[];
}

export interface Likelihood {
  train: Real;
  gaussian_train: Real;
  holdout: { mean: Real; standard_error: Real } | null;
  gaussian_holdout: Real;
}

export interface GainPath {
  train: Real[];
  holdout: Real[] | null;
  penalised: Real[] | null;
  optimum: number;
  rule: string;
  /** What the gains add up to, and why the model's gain is another where it is. */
  sum: string | null;
}

export interface Expert {
  family: string;
  words: string;
  parameters: { name: string; group: number | null; value: Real; note: string | null }[];
  /** In nats per row. */
  gain: Real;
  p_value: Real;
  histogram: Histogram;
  curve: { from: number; to: number; fitted: Floats; gaussian: Floats; components: Floats[] };
  quantiles: { model: Floats; data: Floats; low: Floats; high: Floats };
  correlation: Floats;
  filter: Floats;
  pattern: Floats;
}

export interface Histogram {
  from: number;
  width: number;
  /** The first and last bins include rows beyond them. */
  counts: number[];
  below: number;
  above: number;
}

export interface Rows {
  total: number;
  number: Codes;
  log_density: Floats;
  projections: Floats[];
  clusters: { expert: number; groups: number; labels: Codes }[];
  columns: Column[];
}

export interface Column {
  name: string;
  modelled: number | null;
  values: { type: "number"; values: Floats } | { type: "text"; levels: string[]; codes: Codes };
}

export interface Samples {
  log_density: Floats;
  projections: Floats[];
  columns: Floats[];
  drawn: number;
}

export interface Outliers {
  words: string;
  note: string | null;
  rows: Outlier[];
  /** Names of an outlier's `experts`; empty where they are the experts of the one layer. */
  parts: string[];
}

/** What the detector says of a row. */
export interface Judgement {
  odd: boolean;
  oddness: number;
  p_value: number;
  q_value: number;
  /** How many such rows chance alone would give, in words. */
  by_chance: string;
  reasons: string[];
}

/** A value of a row, or a missing one, beside its density given the row's other values. */
export interface Cell {
  /** Index into the summary's columns. */
  column: number;
  words: string;
  observed: Real;
  expected: Real;
  low: Real;
  high: Real;
  surprise: Real;
  from: number;
  to: number;
  /** Heights on an even grid, of which the highest is 255; empty where there is no density. */
  curve: Codes;
}

export interface Missing {
  rows: number;
  cells: number;
  columns: { name: string; cells: number; share: number }[];
  filled: { position: number; cells: Cell[] }[];
}

export interface Outlier {
  position: number;
  number: number;
  judgement: Judgement | null;
  log_density: Real;
  tail: Real;
  note: string | null;
  /** How far out it lies, where there is a radial expert. */
  far: string | null;
  cells: Cell[];
  baseline: Real;
  experts: Real[];
  rest: Real;
  columns: Floats;
  split: Floats[];
  values: Floats;
}

/** Reads the JSON block. JSON has no infinities, so they are written as text. */
export function parse(text: string): Page {
  const page = JSON.parse(text) as Page;
  const { summary, experts, outliers } = page;
  const places: object[] = [...outliers.rows, ...experts.flatMap((expert) => expert.parameters)];
  for (const likelihood of [summary.log_likelihood, summary.log_density]) places.push(likelihood, likelihood.holdout ?? {});
  for (const place of places as Record<string, unknown>[])
    for (const name of ["train", "gaussian_train", "gaussian_holdout", "mean", "value", "log_density"])
      if (place[name] === "-inf" || place[name] === "inf") place[name] = place[name] === "inf" ? Infinity : -Infinity;
  return page;
}
