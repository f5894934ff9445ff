// Marks the link of the section on screen, and jumps without a blank moment.

/** The last section that begins above a third of the window; at the page's end, the last one. */
function current(sections: HTMLElement[]): HTMLElement | undefined {
  const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
  if (scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2) return sections.at(-1);
  const begun = sections.filter((section) => section.getBoundingClientRect().top <= clientHeight / 3);
  return begun.at(-1) ?? sections[0];
}

export function spy(links: HTMLAnchorElement[]): void {
  const sections = links.map((link) => document.querySelector<HTMLElement>(link.hash)!);
  let jumped: HTMLElement | null = null;
  const mark = (): void => {
    const here = jumped ?? current(sections);
    links.forEach((link, at) => {
      if (sections[at] !== here) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "location");
        // The bar scrolls sideways on a phone.
        const bar = link.parentElement!;
        bar.scrollLeft = link.offsetLeft - bar.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
      }
    });
  };
  let pending = false;
  addEventListener(
    "scroll",
    () => {
      if (pending) return;
      pending = true;
      requestAnimationFrame(() => {
        pending = false;
        mark();
      });
    },
    { passive: true },
  );
  // A short last section may not reach the top: what was asked for is marked until the reader scrolls.
  links.forEach((link, at) => link.addEventListener("click", () => {
    jumped = sections[at];
    mark();
  }));
  for (const event of ["wheel", "touchmove", "keydown"]) addEventListener(event, () => (jumped = null), { passive: true });
  addEventListener("resize", mark);
  mark();
}
