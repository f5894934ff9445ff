// Puts the page together from its one block of numbers.

import "./page.css";
import { Data } from "./data";
import { h, segments } from "./dom";
import { experts } from "./experts";
import { gain } from "./gain";
import { whole } from "./number";
import { outliers } from "./outliers";
import { scatter } from "./scatter";
import { type Page, parse } from "./schema";
import { type Show, Store } from "./store";
import { summary } from "./summary";
import { table } from "./table";
import { theme } from "./theme";
import { Tip } from "./tip";
import { tour } from "./tour";

function section(id: string, title: string, lead: string, ...content: (Node | null)[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead ? h("p", { class: "lead" }, lead) : null,
    ...content,
  );
}

/** The groups that the scatter plot's first two axes show, or else ln p. */
function startingColour(page: Page, data: Data): string {
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

  const sections = [
    section("summary", "Summary", "", summary(page)),
    section(
      "gain",
      "How much each expert gains",
      gaussian
        ? "The curve has one point: no direction tells these rows from a Gaussian, so the model is the Gaussian."
        : "The model is Gaussian except along a few directions. Each of them, with its expert, makes the rows more probable; the curve climbs while directions tell the data from a Gaussian.",
      gain(page),
    ),
    section(
      "experts",
      gaussian ? "No experts" : page.experts.length === 1 ? "The expert" : "The experts",
      gaussian
        ? "The data look Gaussian: along no direction do they differ from a Gaussian by more than chance. What follows shows the columns themselves."
        : "Bars count the rows along the direction; the solid line is the fitted density, the dashed one the Gaussian it replaces, thin ones the groups of a mixture. Drag over the bars to select rows.",
      gaussian ? null : experts(data, store),
    ),
    section(
      "scatter",
      "Scatter",
      `Any two projections or columns.${sampled ? ` ${whole(data.count)} of ${whole(page.rows.total)} rows are shown, drawn at random; outliers are all here.` : ""}`,
      scatter(data, store, tip),
    ),
    section("tour", "Tour", "A smooth walk through planes of many dimensions: structure that no pair of axes shows turns into view.", tour(data, store, tip)),
    section(
      "outliers",
      "Outliers",
      `The least probable rows. Bars say how each expert and each column moves ln p away from its value at the data's mean; they add up exactly.${gaussian ? "" : " Press an expert to see its own split over the columns."}`,
      outliers(data, store),
    ),
    section("rows", "Selected rows", "", rows),
  ];
  const links = [
    ["summary", "Summary"],
    ["gain", "Gain"],
    ["experts", "Experts"],
    ["scatter", "Scatter"],
    ["tour", "Tour"],
    ["outliers", "Outliers"],
    ["rows", "Rows"],
  ].map(([id, label]) => h("a", { href: `#${id}` }, label));
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
    h("div", { class: "top" }, h("nav", { "aria-label": "Sections" }, ...links), samples, toggle),
    h("header", { class: "title" }, h("p", { class: "kicker" }, "Projection pursuit density"), h("h1", {}, page.title), h("p", { class: "headline" }, page.summary.headline.replace(/ %/g, "\u00a0%"))),
    h("main", {}, ...sections),
    h("footer", {}, h("p", {}, `Made by upoe ${page.summary.version}. This file is complete: it needs no network and sends nothing anywhere.`)),
    bar,
  );
  follow(links);
}

/** Marks the link of the section on screen. */
function follow(links: HTMLAnchorElement[]): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links) {
          if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "location");
          else link.removeAttribute("aria-current");
        }
      }
    },
    { rootMargin: "-30% 0px -60% 0px" },
  );
  document.querySelectorAll("section").forEach((element) => observer.observe(element));
}

start(parse(document.getElementById("upoe-page")!.textContent!));
