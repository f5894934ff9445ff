// The tour moves, stops, rotates and keeps its speed; the switch shows samples.

import { drag, expect, floats, frame, ink, open, settle, test } from "./support";

for (const name of ["demo", "four", "gaussian"] as const) {
  test(`${name}: the tour moves, pauses and rotates by hand`, async ({ page: tab }) => {
    await open(tab, name);
    const stage = tab.locator("#tour .stage");
    await stage.scrollIntoViewIfNeeded();
    const where = (): Promise<string | null> => stage.getAttribute("data-frame");
    const canvas = tab.locator("#tour canvas");
    const first = await where();
    const picture = await ink(canvas);
    await expect.poll(where).not.toBe(first);
    await expect.poll(async () => (await ink(canvas)).hash).not.toBe(picture.hash);

    await tab.locator("#tour").getByRole("button", { name: "Pause" }).click();
    await settle(tab);
    const still = await where();
    const frozen = await ink(canvas);
    await tab.waitForTimeout(300);
    expect(await where()).toBe(still);
    expect((await ink(canvas)).hash).toBe(frozen.hash);

    const box = (await stage.boundingBox())!;
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 20, { steps: 5 });
    await tab.mouse.up();
    await settle(tab);
    const turned = await where();
    expect(turned).not.toBe(still);
    const [a, b] = halves(turned!.split(" ").map(Number));
    expect(dot(a, a)).toBeCloseTo(1, 2);
    expect(dot(b, b)).toBeCloseTo(1, 2);
    expect(dot(a, b)).toBeCloseTo(0, 2);

    await stage.focus();
    await tab.keyboard.press(" ");
    await expect.poll(where).not.toBe(turned);
    await expect(tab.locator("#tour").getByRole("button", { name: "Pause" })).toBeVisible();
  });
}

const halves = (values: number[]): [number[], number[]] => [values.slice(0, values.length / 2), values.slice(values.length / 2)];
const dot = (a: number[], b: number[]): number => a.reduce((sum, value, i) => sum + value * b[i], 0);

test("the tour starts paused if the reader prefers reduced motion", async ({ page: tab }) => {
  await tab.emulateMedia({ reducedMotion: "reduce" });
  await open(tab, "four");
  const stage = tab.locator("#tour .stage");
  await stage.scrollIntoViewIfNeeded();
  const first = await stage.getAttribute("data-frame");
  await tab.waitForTimeout(400);
  expect(await stage.getAttribute("data-frame")).toBe(first);
  await expect(tab.locator("#tour").getByRole("button", { name: "Play" })).toBeVisible();
});

test("the tour is faster at a higher speed", async ({ page: tab }) => {
  await open(tab, "four");
  const stage = tab.locator("#tour .stage");
  await stage.scrollIntoViewIfNeeded();
  const speed = tab.getByLabel("Speed");
  const travelled = async (value: string): Promise<number> => {
    await speed.fill(value);
    return tab.evaluate(async () => {
      const element = document.querySelector<HTMLElement>("#tour .stage")!;
      const read = (): number[] => element.dataset.frame!.split(" ").map(Number);
      let [last, sum] = [read(), 0];
      const end = performance.now() + 700;
      while (performance.now() < end) {
        await new Promise(requestAnimationFrame);
        const now = read();
        sum += Math.hypot(...now.map((entry, i) => entry - last[i]));
        last = now;
      }
      return sum;
    });
  };
  const slow = await travelled("0.1");
  const fast = await travelled("1.5");
  expect(slow).toBeGreaterThan(0);
  expect(fast).toBeGreaterThan(3 * slow);
});

for (const name of ["demo", "gaussian"] as const)
  test(`${name}: the switch overlays rows drawn from the model`, async ({ page: tab }) => {
    const page = await open(tab, name);
    test.skip(!page.samples, "no samples");
    const canvas = tab.locator("#scatter canvas");
    const outlines = tab.locator(".histogram .outline");
    const data = await ink(canvas);
    await expect(outlines).toHaveCount(0);
    await tab.locator(".show").getByText("Both", { exact: true }).click();
    await settle(tab);
    const both = await ink(canvas);
    expect(both.hash).not.toBe(data.hash);
    await expect(outlines).toHaveCount(await tab.locator(".histogram").count());
    await tab.locator(".show").getByText("Samples", { exact: true }).click();
    await settle(tab);
    const samples = await ink(canvas);
    expect(samples.hash).not.toBe(both.hash);
    expect(samples.colours).toBeGreaterThan(3);
    await expect(tab.locator(".histogram .bars rect")).toHaveCount(0);
    await tab.locator(".show").getByText("Data", { exact: true }).click();
    await settle(tab);
    expect((await ink(canvas)).hash).toBe(data.hash);
    await expect(outlines).toHaveCount(0);
  });

test("every axis and colour can be chosen", async ({ page: tab }) => {
  await open(tab, "demo");
  const canvas = tab.locator("#scatter canvas");
  for (const label of ["Horizontal axis", "Vertical axis", "Colour by"]) {
    const select = tab.locator("#scatter").getByLabel(label);
    const values = await select.locator("option").evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    expect(values.length).toBeGreaterThan(2);
    const seen = new Set<number>();
    for (const value of values) {
      await select.selectOption(value);
      await settle(tab);
      seen.add((await ink(canvas)).hash);
    }
    expect(seen.size).toBeGreaterThan(values.length / 2);
  }
});

test("50,000 rows stay smooth", async ({ page: tab }) => {
  const page = await open(tab, "large");
  expect(floats(page.rows.log_density).length).toBe(50_000);
  expect(page.rows.total).toBe(60_000);
  await tab.locator("#tour .stage").scrollIntoViewIfNeeded();
  const first = await tab.locator("#tour .stage").getAttribute("data-frame");
  await expect.poll(() => tab.locator("#tour .stage").getAttribute("data-frame")).not.toBe(first);
  const rate = await tab.evaluate(async () => {
    const start = performance.now();
    let frames = 0;
    while (performance.now() - start < 1500) {
      await new Promise(requestAnimationFrame);
      frames++;
    }
    return (1000 * frames) / (performance.now() - start);
  });
  // A low bound for two shared cores without a GPU. Alone on the machine it is 40 or more.
  expect(rate).toBeGreaterThan(8);
  const at = await frame(tab.locator("#scatter .stage"));
  const before = Date.now();
  await drag(tab, at, [[0, 0], [1, 1]]);
  expect(Date.now() - before).toBeLessThan(3000);
  await expect(tab.locator("#scatter .stage")).toHaveAttribute("data-selected", "50000");

  // The switch works with as many rows, too.
  const data = await ink(tab.locator("#scatter canvas"));
  await tab.locator(".show").getByText("Both", { exact: true }).click();
  await settle(tab);
  expect((await ink(tab.locator("#scatter canvas"))).hash).not.toBe(data.hash);
});
