// Pages can be read with any colours, by keyboard, by screen readers and on paper.

import AxeBuilder from "@axe-core/playwright";
import { expect, type Name, open, PAGES, settle, test, unfold } from "./support";

/** What axe-core objects to, one line per rule and element; all rules, or those named. */
async function objections(tab: Parameters<typeof open>[0], ...rules: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page: tab });
  const { violations } = await (rules.length ? axe.withRules(rules) : axe).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html.slice(0, 120)}`));
}

for (const name of Object.keys(PAGES) as Name[])
  test(`${name}: axe-core has no objection, in light and in dark`, async ({ page: tab }) => {
    test.setTimeout(240_000);
    await tab.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await open(tab, name);
    await unfold(tab);
    // With rows selected there are a bar, a table and what differs.
    await tab.getByLabel("Row numbers").fill("1-10");
    await tab.getByLabel("Row numbers").press("Enter");
    await settle(tab);
    expect(await objections(tab)).toEqual([]);
    await tab.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await settle(tab);
    expect(await objections(tab, "color-contrast")).toEqual([]);
  });

test("words are explained when they are pointed at, focused or tapped", async ({ page: tab }) => {
  await open(tab, "demo");
  const word = tab.locator("#experts .lead").getByRole("button", { name: "expert", exact: true });
  const meaning = tab.locator("#experts .lead .meaning:visible");
  await expect(meaning).toHaveCount(0);
  await word.hover();
  await expect(meaning).toContainText("density");
  await tab.mouse.move(1, 1);
  await expect(meaning).toHaveCount(0);
  await word.focus();
  await expect(meaning).toHaveCount(1);
  await expect(word).toHaveAccessibleDescription((await meaning.textContent())!);
  await tab.keyboard.press("Escape");
  await expect(meaning).toHaveCount(0);
  await word.click();
  await expect(meaning).toHaveCount(1);
  // It stays on a phone's screen.
  await tab.setViewportSize({ width: 390, height: 800 });
  await tab.locator("#summary details").evaluate((part) => ((part as HTMLDetailsElement).open = true));
  for (const button of await tab.locator("button.term:visible").all()) {
    await button.scrollIntoViewIfNeeded();
    await settle(tab);
    await button.hover();
    const box = (await button.locator("xpath=following-sibling::*").boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  }
});

test("the bar marks the section that is on screen", async ({ page: tab }) => {
  await open(tab, "demo");
  const links = tab.locator("nav a");
  const current = tab.locator("nav a[aria-current]");
  await expect(current).toHaveText("Summary");
  for (const link of await links.all()) {
    await link.click();
    await settle(tab);
    await expect(current).toHaveCount(1);
    await expect(current).toHaveText((await link.textContent())!);
  }
  for (const id of ["gain", "groups", "outliers"]) {
    await tab.locator(`#${id} h2`).evaluate((title) => scrollTo(0, title.getBoundingClientRect().top + scrollY - 100));
    await tab.mouse.wheel(0, 1);
    await settle(tab);
    await expect(current).toHaveAttribute("href", `#${id}`);
  }
});

test("a jump shows the section at once", async ({ page: tab }) => {
  await open(tab, "demo");
  const at = await tab.evaluate(async () => {
    document.querySelector<HTMLAnchorElement>('nav a[href="#tour"]')!.click();
    await new Promise(requestAnimationFrame);
    return document.querySelector("#tour")!.getBoundingClientRect().top;
  });
  expect(Math.abs(at)).toBeLessThan(150);
});

test("every control is reached by keyboard", async ({ page: tab }) => {
  await tab.emulateMedia({ reducedMotion: "reduce" });
  await open(tab, "missing");
  await unfold(tab);
  // One radio button of a group is reached; arrow keys reach the others.
  const all = await tab.evaluate(() => {
    const wanted = [...document.querySelectorAll<HTMLElement>("a[href], button, select, input, summary, [tabindex='0']")].filter(
      (element) => element.checkVisibility() && !(element instanceof HTMLInputElement && element.type === "radio" && !element.checked),
    );
    wanted.forEach((element, at) => (element.dataset.wanted = String(at)));
    return wanted.length;
  });
  const reached = new Set<string>();
  for (let k = 0; k < all + 10; k++) {
    await tab.keyboard.press("Tab");
    reached.add(await tab.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.wanted ?? ""));
  }
  const missed = await tab.evaluate(
    (found) => [...document.querySelectorAll<HTMLElement>("[data-wanted]")].filter((element) => !found.includes(element.dataset.wanted!)).map((element) => element.outerHTML.slice(0, 100)),
    [...reached],
  );
  expect(missed).toEqual([]);
});

test("what is folded away is printed, and controls are not", async ({ page: tab }) => {
  await tab.emulateMedia({ colorScheme: "dark" });
  await open(tab, "demo");
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await tab.emulateMedia({ media: "print" });
  await settle(tab);
  await expect(tab.locator("#summary .facts")).toBeVisible();
  for (const picture of await tab.locator("figure.picture:visible svg").all())
    expect(await picture.locator("> *:not(desc)").count()).toBeGreaterThan(0);
  for (const row of await tab.locator(".group-card tbody tr").all()) await expect(row).toBeVisible();
  for (const kind of ["select", "input", "nav", ".save", ".quiet"]) await expect(tab.locator(`${kind}:visible`)).toHaveCount(0);
  expect(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
  await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  expect(await tab.locator("#summary details[open]").count()).toBe(0);
});

test("changes: axe-core has no objection, and the page fits a phone", async ({ page: tab }) => {
  await tab.setViewportSize({ width: 390, height: 800 });
  await tab.goto(`file://${process.env.UPOE_PAGES}/changes.html`);
  await expect(tab.locator("h1")).toContainText("differs");
  expect(await tab.locator("section svg").count()).toBeGreaterThan(0);
  for (const colorScheme of ["light", "dark"] as const) {
    await tab.emulateMedia({ colorScheme });
    expect(await objections(tab)).toEqual([]);
  }
  expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  // Labels in pictures are not much smaller than other text.
  const size = await tab.locator("section svg text").first().evaluate((text) => text.getBoundingClientRect().height);
  expect(size).toBeGreaterThan(8);
  await tab.emulateMedia({ media: "print" });
  expect(await tab.evaluate(() => getComputedStyle(document.body).color)).toBe("rgb(32, 32, 32)");
});
