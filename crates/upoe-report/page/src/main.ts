// Builds the page from its block of JSON.

import "./page.css";
import { Data } from "./data";
import { h, segments } from "./dom";
import { experts } from "./experts";
import { gain } from "./gain";
import { groups } from "./groups";
import { layers } from "./layers";
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

  const sections = [
    section("summary", "Summary", "", summary(page)),
    page.groups
      ? section(
          "groups",
          "Groups",
          data.groups
            ? "Rows fall into groups where a direction shows a real valley between them. The tables list the columns in which the mean of a group differs from that of the other rows, in the units of the column. All intervals hold together with a chance of 95\u00a0%."
            : "",
          groups(store, page.groups, data.groups?.codes() ?? []),
        )
      : null,
    section(
      "gain",
      "Gain of each expert",
      gaussian
        ? "The model has no experts, so it is the Gaussian and the curve has one point."
        : "The model is Gaussian except along a few directions. Along each of them, an expert replaces the Gaussian with a density that fits the rows better. Its gain is the increase in the mean ln p of the training rows.",
      gain(page),
    ),
    section(
      "experts",
      gaussian ? "No experts" : page.experts.length === 1 ? "The expert" : "The experts",
      gaussian
        ? "The data look Gaussian: no direction differs from a Gaussian by more than chance. The plots below show the columns."
        : "The histogram shows the rows projected on the expert's direction. The solid line is the fitted density, the dashed line is the Gaussian it replaces, and thin lines are the groups of a mixture. Drag over the bars to select rows. Under “Fit”, points on the diagonal mean a perfect fit; about 95 % lie in the band if the model is right.",
      gaussian ? null : experts(data, store),
    ),
    page.layers
      ? section(
          "layers",
          "Layers",
          "The directions above are the first that were found. Each layer of the stack makes the rows more Gaussian, and the next one looks at what is left; ln p adds up over the layers.",
          layers(store, page.layers),
        )
      : null,
    section(
      "scatter",
      "Scatter",
      `Plot any two projections or columns.${sampled ? ` ${whole(data.count)} of ${whole(page.rows.total)} rows are shown: a random sample that includes all listed outliers.` : ""}`,
      scatter(data, store, tip),
    ),
    section("tour", "Tour", "The tour rotates the data smoothly through two-dimensional views. It can show structure that no pair of axes shows.", tour(data, store, tip)),
    section(
      "outliers",
      "Outliers",
      `The least probable rows. The bars show how much each expert and each column changes ln p, compared with ${page.layers ? "rows drawn from the model" : "a row at the mean of the data"}. The changes add up exactly.${gaussian || page.layers ? "" : " Press an expert to split its change by column."}`,
      outliers(data, store),
    ),
    section("rows", "Selected rows", "", rows),
  ];
  const links = [
    ["summary", "Summary"],
    ...(page.groups ? [["groups", "Groups"]] : []),
    ["gain", "Gain"],
    ["experts", "Experts"],
    ...(page.layers ? [["layers", "Layers"]] : []),
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
    h("header", { class: "title" }, h("p", { class: "kicker" }, "Projection pursuit density estimate"), h("h1", {}, page.title), h("p", { class: "headline" }, page.summary.headline.replace(/ %/g, "\u00a0%"))),
    h("main", {}, ...sections.filter((part) => part !== null)),
    h("footer", {}, h("p", {}, `Made by upoe ${page.summary.version}. This file is self-contained: it needs no network and sends no data.`)),
    bar,
  );
  follow(links);
}

/** Highlights the link of the section on screen. */
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
