// The spaces that can be toured.

import type { Data } from "./data";
import { quantiles, reach } from "./number";

/** The most axes in a tour. With more, every plane looks like noise. */
const MOST = 40;

export interface Space {
  id: string;
  label: string;
  axes: { label: string; rows: Float32Array; samples: Float32Array | null }[];
  /** Half the width of the picture, in units of the space. */
  reach: number;
}

export function spaces(data: Data): Space[] {
  const size = (ends: number[]): number => Math.max(...ends.map(Math.abs));
  // Covers most rows, but no more than a plot of this axis alone does.
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
    out.push({ id: "columns", label: "the standardised columns", axes, reach: widest(axes) });
  }
  return out;
}

/** A remark if there are too few experts for a tour of their projections. */
export function remark(experts: number, all: Space[]): string {
  const columns = all.some((space) => space.id === "columns");
  if (experts >= 3) return "";
  if (experts === 2) return `Two experts span only one plane, so the tour rotates within it.${columns ? " Choose the columns to see other planes." : ""}`;
  const why = experts ? "One expert gives only one projection" : "The model has no experts";
  return `${why}, so ${columns ? "this is a tour of the columns" : "there is nothing to tour"}.`;
}
