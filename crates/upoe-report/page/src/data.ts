// The page's rows as typed arrays, decoded on first use.

import { decimals, withDecimals } from "./number";
import type { Codes, Floats, Page } from "./schema";

function bytes(base64: string): ArrayBuffer {
  const binary = atob(base64);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out.buffer;
}

/** Numbers of a `Floats`. */
export const floats = (packed: Floats): Float32Array => new Float32Array(bytes(packed));

/** Numbers of a `Codes`. */
export function codes(packed: Codes): Uint8Array | Uint16Array | Uint32Array {
  const buffer = bytes(packed.data);
  if (packed.width === 1) return new Uint8Array(buffer);
  return packed.width === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function numbers(decode: () => Float32Array): Pick<Quantity, "values" | "text"> {
  const values = once(decode);
  const text = once(() => {
    const digits = decimals(values());
    return (value: number): string => withDecimals(value, digits);
  });
  return { values, text: (value) => text()(value) };
}

/** A quantity with one number per row: a projection, ln p or a numeric column. */
export interface Quantity {
  id: string;
  label: string;
  values: () => Float32Array;
  /** A value with the decimals that suit the quantity. */
  text: (value: number) => string;
  /** The values of the rows drawn from the model; null if the page has none. */
  samples: (() => Float32Array) | null;
}

/** A quantity of rows that the model is not drawn for. */
export function quantity(id: string, label: string, decode: () => Float32Array): Quantity {
  return { id, label, ...numbers(decode), samples: null };
}

/** A quantity with one label per row. */
export interface Grouping {
  id: string;
  label: string;
  levels: string[];
  codes: () => ArrayLike<number>;
  /** Whether the levels are in an order of their own; others are sorted by name. */
  sorted: boolean;
  /** Whether the levels are numbers, too many for a colour each. */
  amounts: boolean;
}

/** With more levels than this, numbers written as text are amounts. */
const MOST_LEVELS = 8;

export class Data {
  readonly page: Page;
  readonly count: number;
  readonly number: ArrayLike<number>;
  readonly logDensity: Quantity;
  readonly projections: Quantity[];
  readonly columns: Quantity[];
  readonly texts: Grouping[];
  /** Columns of text that are numbers: coloured as amounts. */
  readonly amounts: Quantity[] = [];
  readonly clusters: Grouping[];
  /** The groups that combine all directions, where there are some. */
  readonly groups: Grouping | null;

  constructor(page: Page) {
    this.page = page;
    const { rows, samples } = page;
    this.number = codes(rows.number);
    this.count = this.number.length;
    this.logDensity = {
      id: "lnp",
      label: "ln p",
      ...numbers(() => floats(rows.log_density)),
      samples: samples && once(() => floats(samples.log_density)),
    };
    this.projections = rows.projections.map((packed, k) => {
      const drawn = samples?.projections[k];
      return {
        id: `z${k}`,
        label: `z${subscript(k + 1)}`,
        ...numbers(() => floats(packed)),
        samples: drawn === undefined ? null : once(() => floats(drawn)),
      };
    });
    this.columns = [];
    this.texts = [];
    rows.columns.forEach((column, index) => {
      const values = column.values;
      const id = `c${index}`;
      if (values.type === "text") {
        const { levels } = values;
        const own = once(() => codes(values.codes));
        const amounts = levels.length > MOST_LEVELS && levels.every((level) => level === "" || Number.isFinite(Number(level)));
        this.texts.push({ id, label: column.name, levels, codes: own, sorted: false, amounts });
        if (amounts) {
          const number = levels.map((level) => (level === "" ? NaN : Number(level)));
          this.amounts.push(quantity(id, column.name, () => Float32Array.from(own(), (code) => number[code])));
        }
      } else {
        const drawn = column.modelled === null ? undefined : samples?.columns[column.modelled];
        this.columns.push({
          id,
          label: column.name,
          ...numbers(() => floats(values.values)),
          samples: drawn === undefined ? null : once(() => floats(drawn)),
        });
      }
    });
    this.clusters = rows.clusters.map((cluster) => ({
      id: `g${cluster.expert}`,
      label: `groups of expert ${cluster.expert + 1}`,
      levels: Array.from({ length: cluster.groups }, (_, group) => `group ${group + 1}`),
      codes: once(() => codes(cluster.labels)),
      sorted: true,
      amounts: false,
    }));
    const together = this.crossed(rows);
    if (together) this.clusters.unshift(together);
    const found = page.groups?.none === null ? page.groups : null;
    this.groups = found && {
      id: "groups",
      label: "groups",
      levels: found.groups.map(({ name }, k) => `${k + 1}: ${name}`),
      codes: once(() => codes(found.labels)),
      sorted: true,
      amounts: false,
    };
    if (this.groups) this.clusters.unshift(this.groups);
  }

  /** The combined groups of the first mixture experts, if there are at most eight combinations. */
  private crossed(rows: Page["rows"]): Grouping | null {
    if (rows.clusters.length < 2) return null;
    let size = 1;
    const used = rows.clusters.filter((cluster) => {
      if (size * cluster.groups > 8) return false;
      size *= cluster.groups;
      return true;
    });
    if (used.length < 2) return null;
    const levels = Array.from({ length: size }, (_, code) => {
      const parts = used.map((cluster) => {
        const group = (code % cluster.groups) + 1;
        code = Math.floor(code / cluster.groups);
        return group;
      });
      return parts.join(" & ");
    });
    return {
      id: "g",
      label: `groups of experts ${used.map((cluster) => cluster.expert + 1).join(" & ")}`,
      levels,
      sorted: true,
      amounts: false,
      codes: once(() => {
        const out = new Uint8Array(this.count);
        let step = 1;
        for (const cluster of used) {
          const labels = codes(cluster.labels);
          for (let i = 0; i < out.length; i++) out[i] += step * labels[i];
          step *= cluster.groups;
        }
        return out;
      }),
    };
  }

  /** Everything that can be an axis. */
  quantities(): Quantity[] {
    return [...this.projections, ...this.columns, this.logDensity];
  }

  /** Text that colours can tell apart: not one of which half of the rows have a text of their own. */
  colourable(): Grouping[] {
    return this.texts.filter(({ levels, amounts }) => amounts || levels.length <= Math.max(2, this.count / 2));
  }

  groupings(): Grouping[] {
    return [...this.clusters, ...this.texts];
  }
}

export function subscript(n: number): string {
  return String(n).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);
}
