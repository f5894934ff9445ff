// Words that are explained where they stand, when they are pointed at, tapped or focused.

import { fresh, h } from "./dom";

const MARGIN = 8;

/** A word with its meaning from the glossary; `text` is how it is written here. */
export function term(word: string, text = word): HTMLElement {
  const id = fresh("meaning");
  const meaning = h("span", { class: "meaning", id, role: "tooltip", hidden: true }, GLOSSARY[word] ?? "");
  const place = (): void => {
    if (meaning.hidden) return;
    const at = button.getBoundingClientRect();
    const { width, height } = meaning.getBoundingClientRect();
    const left = Math.max(MARGIN, Math.min(at.left, document.documentElement.clientWidth - width - MARGIN));
    const below = at.bottom + 4 + height < innerHeight;
    meaning.style.transform = `translate(${Math.round(left)}px, ${Math.round(below ? at.bottom + 4 : at.top - height - 4)}px)`;
  };
  const open = (): void => {
    meaning.hidden = false;
    place();
  };
  const close = (): void => void (meaning.hidden = true);
  const button = h("button", {
    type: "button",
    class: "term",
    "aria-describedby": id,
    pointerenter: open,
    pointerleave: close,
    focus: open,
    blur: close,
    click: open,
    keydown: (event: KeyboardEvent) => {
      if (event.key === "Escape") close();
    },
  }, text);
  // Focus may have brought the word into view.
  addEventListener("scroll", place, { passive: true });
  return h("span", {}, button, meaning);
}
