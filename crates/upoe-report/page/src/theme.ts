// Light and dark colours. The system's setting applies until the reader chooses.

import { h } from "./dom";
import { redrawAll } from "./picture";
import type { Store } from "./store";

export function theme(store: Store): HTMLButtonElement {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen: string | null = null;
  const apply = (name: string): void => {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
    store.tell("theme");
  };
  const current = (): string => chosen ?? (system.matches ? "dark" : "light");
  const button = h("button", { type: "button", class: "theme", click: () => {
    chosen = current() === "dark" ? "light" : "dark";
    apply(chosen);
  } });
  system.addEventListener("change", () => apply(current()));
  // Before printing, everything is unfolded, and drawn in light colours.
  let folded: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details")].filter(({ open }) => !open);
    for (const part of folded) part.open = true;
    apply("light");
    store.flush();
    redrawAll();
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    apply(current());
  });
  apply(current());
  return button;
}
