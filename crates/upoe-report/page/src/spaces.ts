// The spaces a tour can walk through.

import type { Data } from "./data";
import { quantiles, reach } from "./number";

/** Columns beyond these make a plane of noise: the tour takes the first. */
const MOST = 40;

export interface Space {
  id: string;
  label: string;
  axes: { label: string; rows: Float32Array; samples: Float32Array | null }[];
  /** Half the width of the picture, in the space's units. */
  reach: number;
}

export function spaces(data: Data): Space[] {
  const size = (ends: number[]): number => Math.max(...ends.map(Math.abs));
  // Most rows, and not farther than a picture of the axis alone would go.
  const extent = (rows: Float32Array): number => Math.min(size(quantiles(rows, [0.004, 0.996])), size(reach(rows)));
  const widest = (axes: Space["axes"]): number => 1.25 * Math.max(2, ...axes.map((axis) => extent(axis.rows)));
  const out: Space[] = [];
  if (data.projections.length >= 2) {
    const axes = data.projections.slice(0, MOST).map((z) => ({ label: z.label, rows: z.values(), samples: z.samples?.() ?? null }));
    out.push({ id: "experts", label: "the experts' projections", axes, reach: widest(axes) });
  }
  const modelled = data.page.rows.columns.flatMap((column, index) => (column.modelled === null ? [] : [{ id: `c${index}`, of: column.modelled }]));
  if (modelled.length >= 2) {
    const axes = modelled.slice(0, MOST).map(({ id, of }) => {
      const { mean, standard_deviation: spread } = data.page.summary.columns[of];
      const standard = (values: Float32Array): Float32Array => values.map((value) => (value - (mean ?? 0)) / (spread || 1));
      const column = data.columns.find((candidate) => candidate.id === id)!;
      return { label: column.label, rows: standard(column.values()), samples: column.samples && standard(column.samples()) };
    });
    out.push({ id: "columns", label: "the columns, standardised", axes, reach: widest(axes) });
  }
  return out;
}

/** What is to be said where the experts span no space of their own. */
export function remark(experts: number, all: Space[]): string {
  const columns = all.some((space) => space.id === "columns");
  if (experts >= 3) return "";
  if (experts === 2) return `Two experts span one plane, so the tour turns it${columns ? "; choose the columns to leave it" : ""}.`;
  const why = experts ? "One expert spans a line" : "There is no expert";
  return `${why}, so there is no experts' space to tour${columns ? ": this is a tour of the columns instead" : ""}.`;
}
