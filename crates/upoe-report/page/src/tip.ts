// A tooltip with the row under the pointer, also announced to screen readers.

import type { Data } from "./data";
import { h } from "./dom";

export class Tip {
  private box = h("div", { class: "tip", "aria-hidden": "true", hidden: true });
  private voice = h("div", { class: "hidden", role: "status", "aria-live": "polite" });
  private data: Data;

  constructor(data: Data) {
    this.data = data;
    document.body.append(this.box, this.voice);
  }

  say(text: string): void {
    this.voice.textContent = text;
  }

  hide(): void {
    this.box.hidden = true;
  }

  show(row: number, clientX: number, clientY: number, speak = false): void {
    if (row < 0) return this.hide();
    const { data } = this;
    const facts: [string, string][] = [["ln p", data.logDensity.text(data.logDensity.values()[row])]];
    for (const text of data.texts.slice(0, 4)) facts.push([text.label, text.levels[text.codes()[row]] ?? "–"]);
    const columns = data.columns.slice(0, 8);
    for (const column of columns) facts.push([column.label, column.text(column.values()[row])]);
    const left = data.columns.length - columns.length;
    const body = h("dl", {});
    for (const [name, value] of facts) body.append(h("dt", {}, clip(name)), h("dd", {}, clip(value)));
    this.box.replaceChildren(
      h("strong", {}, `Row ${data.number[row]}`),
      body,
      ...(left > 0 ? [h("p", {}, `and ${left} more columns`)] : []),
    );
    if (speak) this.say(`Row ${data.number[row]}: ${facts.map((fact) => fact.join(" ")).join(", ")}`);
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const x = clientX + 16 + width > innerWidth ? clientX - width - 16 : clientX + 16;
    const y = Math.min(clientY + 12, innerHeight - height - 8);
    this.box.style.transform = `translate(${Math.round(Math.max(4, x))}px, ${Math.round(Math.max(4, y))}px)`;
  }
}

function clip(text: string): string {
  const characters = [...text];
  return characters.length > 40 ? `${characters.slice(0, 39).join("")}…` : text;
}
