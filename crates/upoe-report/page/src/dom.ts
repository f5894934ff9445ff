// Creates elements. Text is always added as text nodes: nothing here parses HTML.

type Attribute = string | number | boolean | null | undefined | ((event: never) => void);
type Attributes = Record<string, Attribute>;
type Child = Node | string | null | undefined | false;

function dress(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  dress(element, attributes, children);
  return element;
}

/** Text in which names between backticks stand out. */
export const named = (text: string): (string | Node)[] =>
  text.replace(/ %/g, "\u00a0%").split(/`([^`]*)`/).map((part, at) => (at % 2 ? h("strong", {}, part) : part));

let serial = 0;
/** A unique id. */
export const fresh = (stem: string): string => `${stem}-${++serial}`;

/** A labelled drop-down. */
export function choice(
  label: string,
  groups: { label: string; options: { value: string; label: string }[] }[],
  value: string,
  change: (value: string) => void,
): HTMLElement {
  const id = fresh("choice");
  const select = h("select", { id, change: () => change(select.value) });
  for (const group of groups) {
    if (!group.options.length) continue;
    const options = group.options.map((option) =>
      h("option", { value: option.value, selected: option.value === value }, option.label),
    );
    if (groups.length > 1) select.append(h("optgroup", { label: group.label }, ...options));
    else select.append(...options);
  }
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
}

/** Lets a field take the whole width of its controls. */
export function wide(field: HTMLElement): HTMLElement {
  field.classList.add("wide");
  return field;
}

/** A row of buttons, one of which is pressed. */
export function segments(
  label: string,
  options: { value: string; label: string; hint?: string }[],
  value: string,
  change: (value: string) => void,
): HTMLElement {
  const name = fresh("segments");
  return h(
    "fieldset",
    { class: "segments" },
    h("legend", {}, label),
    ...options.map((option) =>
      h(
        "label",
        { title: option.hint },
        h("input", {
          type: "radio",
          name,
          value: option.value,
          checked: option.value === value,
          change: () => change(option.value),
        }),
        h("span", {}, option.label),
      ),
    ),
  );
}
