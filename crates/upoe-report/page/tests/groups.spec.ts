// The groups: their tables, their colours, which rows they hold.

import { agreed, codes, expect, listed, open, settle, test } from "./support";

test("groups have tables with the words and numbers of the command", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  const groups = page.groups!;
  expect(groups.groups.length).toBeGreaterThan(1);
  const cards = tab.locator("#groups .group-card");
  await expect(cards).toHaveCount(groups.groups.length);
  const plain = (text: string): string => text.replace(/−/g, "-").replace(/\u00a0/g, " ");
  for (const [k, group] of groups.groups.entries()) {
    const card = cards.nth(k);
    await expect(card.locator(".words")).toHaveText(group.name);
    expect(plain((await card.locator("p.fine").textContent())!)).toBe(`${group.rows} rows, ${(100 * group.share).toFixed(0)} %`);
    const lines = (await card.locator("tbody tr").allTextContents()).map(plain);
    expect(lines.length).toBe(group.differences.length);
    group.differences.forEach(({ column, given, difference, low, high }, at) => {
      expect(lines[at].startsWith(given === null ? column : `${column} for its ${given}`)).toBe(true);
      expect(lines[at].endsWith(`${difference}${low} to ${high}`)).toBe(true);
    });
  }
  const said = (await tab.locator("#groups .agreement li").allTextContents()).map(plain);
  expect(said).toEqual(groups.agreement.map(({ words }) => words.replace(/`/g, "")));
  expect(said.length).toBeGreaterThan(0);
});

test("groups colour the scatter plot and the tour, and can be selected", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  const { groups, labels } = page.groups!;
  await expect(tab.locator("#scatter").getByLabel("Colour by")).toHaveValue("groups");
  for (const cloud of ["#scatter", "#tour"]) {
    const legend = tab.locator(`${cloud} .legend`);
    for (const [k] of groups.entries()) await expect(legend).toContainText(`${k + 1}: `);
  }
  const own = codes(labels);
  const number = codes(page.rows.number);
  for (const [k, { rows }] of groups.entries()) {
    await tab.getByRole("button", { name: `Select group ${k + 1}` }).click();
    await settle(tab);
    expect(await agreed(tab, page)).toBe(rows);
    expect(await listed(tab)).toEqual([...number].filter((_, row) => own[row] === k));
  }
});

test("a page without groups says so", async ({ page: tab }) => {
  const page = await open(tab, "gaussian");
  await expect(tab.locator("#groups")).toContainText(page.groups!.none!);
  await expect(tab.locator("#groups .group-card")).toHaveCount(0);
  await expect(tab.locator("#scatter").getByLabel("Colour by")).toHaveValue("lnp");
});
