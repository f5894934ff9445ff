// Builds the page from its block of JSON.

import "./page.css";
import { Data } from "./data";
import { h, named, segments } from "./dom";
import { experts } from "./experts";
import { gain } from "./gain";
import { groups } from "./groups";
import { layers } from "./layers";
import { missing } from "./missing";
import { minus, whole } from "./number";
import { outliers } from "./outliers";
import { scatter } from "./scatter";
import { type Page, parse } from "./schema";
import { spy } from "./spy";
import { type Show, Store } from "./store";
import { summary } from "./summary";
import { table } from "./table";
import { term } from "./term";
import { theme } from "./theme";
import { Tip } from "./tip";
import { tour } from "./tour";

type Text = (string | Node)[];

function section(id: string, title: string, lead: Text, ...content: (Node | null)[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead.length ? h("p", { class: "lead" }, ...lead) : null,
    ...content,
  );
}

function findings(all: string[]): HTMLElement {
  return h("ul", { class: "findings", "aria-label": "What was found" }, ...all.map((text) => h("li", {}, ...named(minus(text)))));
}

const GROUPS = [
  "Rows fall into groups where a direction shows a real valley between them. The tables list the columns in which the mean of a group differs from that of the other rows, in the units of the column. All intervals hold together with a chance of 95\u00a0%.",
];
const MISSING = ["What is missing where, and what the model expects there, given the values that each row has. This is right where cells are missing at random: whether one is missing may depend on the values that its row has, but not on the missing value."];
const NO_DIRECTIONS = ["The data look Gaussian: no direction differs from a Gaussian by more than chance."];

const directions = (): Text => [
  "The model is Gaussian except along a few ",
  term("direction", "directions"),
  ". Along each of them, an ",
  term("expert"),
  " replaces the Gaussian (dashed) with a density that fits the rows better (solid; thin lines are the groups of a mixture). Drag over the bars to select rows. In the Q–Q plot, points on the diagonal mean a perfect fit; about 95\u00a0% lie in the band if the model is right.",
];
const gains = (): Text => ["The ", term("gain"), " of an ", term("expert"), " is the increase in the mean ln p of the training rows, in ", term("nat", "nats"), "."];
const layered = (): Text => [
  "The directions above are the first that were found. Each ",
  term("layer"),
  " of the stack makes the rows more Gaussian, and the next one looks at what is left; ln p adds up over the layers.",
];
const odd = (page: Page): Text =>
  page.outliers.rows.some(({ judgement }) => judgement)
    ? ["Rows that lie far from the core of the data, by the ", term("detector"), " that “upoe outliers” fits. Each value stands beside what the other values of its row predict, with a 90\u00a0% interval."]
    : ["The least probable rows."];

/** The groups, those along the scatter plot's first two axes, or ln p, whatever there is first. */
function startingColour(page: Page, data: Data): string {
  if (data.groups) return data.groups.id;
  return page.rows.clusters.some(({ expert }) => expert < 2) ? data.clusters[0].id : "lnp";
}

function start(page: Page): void {
  const data = new Data(page);
  const store = new Store(data.count, startingColour(page, data));
  const toggle = theme(store);
  const tip = new Tip(data);
  const { section: rows, bar } = table(data, store);
  const gaussian = page.experts.length === 0;
  const sampled = page.rows.total > data.count;

  const shown: [string, string, HTMLElement | null][] = [
    ["summary", "Summary", section("summary", "Summary", [], summary(page))],
    ["groups", "Groups", page.groups && section("groups", "Groups", data.groups ? GROUPS : [], groups(store, page.groups, data.groups?.codes() ?? []))],
    ["outliers", "Odd rows", section("outliers", "Odd rows", odd(page), outliers(data, store))],
    ["missing", "Missing", page.missing && section("missing", "Missing cells", MISSING, missing(data, store, page.missing))],
    [
      "scatter",
      "Scatter",
      section(
        "scatter",
        "Scatter",
        [`Plot any two projections or columns.${sampled ? ` ${whole(data.count)} of ${whole(page.rows.total)} rows are shown: a random sample that includes all listed rows.` : ""}`],
        scatter(data, store, tip),
      ),
    ],
    ["experts", "Directions", section("experts", gaussian ? "No directions" : "Directions", gaussian ? NO_DIRECTIONS : directions(), gaussian ? null : experts(data, store))],
    ["gain", "Gain", gaussian ? null : section("gain", "Gain of each expert", gains(), gain(page))],
    ["layers", "Layers", page.layers && section("layers", "Layers", layered(), layers(store, page.layers))],
    ["tour", "Tour", section("tour", "Tour", ["The tour rotates the data smoothly through two-dimensional views. It can show structure that no pair of axes shows."], tour(data, store, tip))],
    ["rows", "Rows", section("rows", "Selected rows", [], rows)],
  ];
  const there = shown.filter(([, , content]) => content !== null);
  const links = there.map(([id, label]) => h("a", { href: `#${id}` }, label));
  const samples = page.samples
    ? segments(
        "Show",
        [
          { value: "data", label: "Data" },
          { value: "both", label: "Both" },
          { value: "samples", label: "Samples", hint: "rows drawn from the model" },
        ],
        "data",
        (show) => store.setShow(show as Show),
      )
    : null;
  samples?.classList.add("show");

  document.getElementById("app")!.replaceChildren(
    h("a", { class: "skip", href: "#summary" }, "Skip to the summary"),
    h("div", { class: "top", role: "region", "aria-label": "Sections and view" }, h("nav", { "aria-label": "Sections" }, ...links), samples, toggle),
    h("header", { class: "title" }, h("p", { class: "kicker" }, "Projection pursuit density estimate"), h("h1", {}, page.title), findings(page.summary.findings)),
    h("main", {}, ...there.map(([, , content]) => content)),
    h("footer", {}, h("p", {}, `Made by upoe ${page.summary.version}. This file is self-contained: it needs no network and sends no data.`)),
    bar,
  );
  spy(links);
}

start(parse(document.getElementById("upoe-page")!.textContent!));
