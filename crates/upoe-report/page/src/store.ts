// State shared by the views: the selected rows, the row under the pointer, what is
// shown and in which colours. Listeners are called at most once per frame.

export type Change = "selection" | "hover" | "show" | "colour" | "theme";
export type Show = "data" | "both" | "samples";
export type Combine = "replace" | "add" | "remove";

export class Store {
  /** 1 for a selected row. */
  readonly mask: Uint8Array;
  /** Number of selected rows. */
  selected = 0;
  /** Row under the pointer, or −1. */
  hover = -1;
  show: Show = "data";
  /** Id of the quantity or grouping that colours points. */
  colour: string;

  private listeners = new Map<Change, (() => void)[]>();
  private pending = new Set<Change>();

  constructor(rows: number, colour: string) {
    this.mask = new Uint8Array(rows);
    this.colour = colour;
  }

  on(changes: Change[], listener: () => void): void {
    for (const change of changes) this.listeners.set(change, [...(this.listeners.get(change) ?? []), listener]);
  }

  tell(change: Change): void {
    if (!this.pending.size) requestAnimationFrame(() => this.flush());
    this.pending.add(change);
  }

  /** Calls the listeners of pending changes now, for example before printing. */
  flush(): void {
    const called = new Set<() => void>();
    for (const change of this.pending) for (const listener of this.listeners.get(change) ?? []) called.add(listener);
    this.pending.clear();
    for (const listener of called) listener();
  }

  select(test: (row: number) => boolean, combine: Combine = "replace"): void {
    const { mask } = this;
    let selected = 0;
    for (let row = 0; row < mask.length; row++) {
      if (combine === "replace") mask[row] = test(row) ? 1 : 0;
      else if (test(row)) mask[row] = combine === "add" ? 1 : 0;
      selected += mask[row];
    }
    this.selected = selected;
    this.tell("selection");
  }

  clear(): void {
    this.select(() => false);
  }

  setHover(row: number): void {
    if (row === this.hover) return;
    this.hover = row;
    this.tell("hover");
  }

  setShow(show: Show): void {
    this.show = show;
    this.tell("show");
  }

  setColour(colour: string): void {
    this.colour = colour;
    this.tell("colour");
  }
}

/** Shift adds to the selection, Alt removes from it. */
export const combineOf = (event: { shiftKey: boolean; altKey: boolean }): Combine =>
  event.altKey ? "remove" : event.shiftKey ? "add" : "replace";
