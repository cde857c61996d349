// SPDX-License-Identifier: MIT
//
// The guided tour: one step at a time, named in the link, arrows before and after.

import type { App } from "./app";
import { fill, h } from "./dom";
import { readDemos, renderDemo, writeDemos } from "./tour_demo";
import { onLink } from "./tour_link";
import type { Step, Table } from "./tour_step";
import { steps } from "./tour_steps";
import { marked, paragraph } from "./tour_text";

const words = {
  contents: { en: "Steps of the tour", zh: "导览目录" },
  previous: { en: "Back: ", zh: "上一步：" },
  next: { en: "Next: ", zh: "下一步：" },
  tries: { en: "Try this", zh: "动手试试" },
};

/** What the reader has set in each step, as links have it. */
function demosOf(app: App): Map<string, string> {
  const kept = (app.kept.get("tour") as Map<string, string> | undefined) ?? new Map<string, string>();
  app.kept.set("tour", kept);
  return kept;
}

function toStep(a: HTMLAnchorElement, step: Step, app: App): HTMLElement {
  return app.leads(a, () => ({ tab: "tour", step: step.id, demo: demosOf(app).get(step.id) ?? "" }));
}

function go(to: Step | undefined, label: string, rel: string, app: App): HTMLElement {
  if (!to) return h("span", {});
  return toStep(h("a", { rel, class: "button" }, label + app.t(to.title)), to, app);
}

function contents(at: number, app: App): HTMLElement {
  return h("nav", { class: "contents", "aria-label": app.t(words.contents) }, h("ol", { start: 0 }, ...steps.map((s, n) => h("li", {},
    toStep(h("a", { "aria-current": n === at ? "step" : null }, app.t(s.title)), s, app)))));
}

function table(t: Table, app: App): HTMLElement {
  return h("figure", {}, h("figcaption", {}, app.t(t.caption)), h("div", { class: "wide" }, h("table", { class: "results" },
    h("thead", {}, h("tr", {}, ...t.columns.map((c) => h("th", { scope: "col" }, app.t(c))))),
    h("tbody", {}, ...t.rows.map((r) => h("tr", { "data-row": r.row },
      h("th", { scope: "row" }, app.t(r.name)), ...r.values.map((v) => h("td", { class: "number" }, v))))))));
}

function article(step: Step, at: number, app: App): HTMLElement {
  const values = readDemos(app.state.demo.startsWith(`${step.id}.`) ? app.state.demo.slice(step.id.length + 1) : "", step.demos, app);
  const keep = (): void => {
    const changed = writeDemos(values, step.demos, app), demo = changed && `${step.id}.${changed}`;
    demosOf(app).set(step.id, demo);
    app.setState({ demo });
  };
  const demos = step.demos.map((d, n) => renderDemo(d, step.formulas, values[n] ?? new Map<string, string>(), keep, app));
  return h("article", { class: "step", "data-step": step.id },
    h("h2", { tabindex: -1 }, `${at} · ${app.t(step.title)}`),
    ...step.text[app.lang].map((p) => paragraph(p, app, step.formulas)),
    step.table ? table(step.table, app) : null,
    ...demos,
    h("aside", { class: "try" }, h("h3", {}, app.t(words.tries)), h("p", {}, ...marked(app.t(step.tries), app, step.formulas))),
    h("nav", { class: "ends" }, go(steps[at - 1], app.t(words.previous), "prev", app), go(steps[at + 1], app.t(words.next), "next", app)));
}

function show(root: HTMLElement, app: App): void {
  const at = Math.max(0, steps.findIndex((s) => s.id === app.state.step));
  const step = steps[at];
  if (step) fill(root, contents(at, app), article(step, at, app));
}

export function renderTour(root: HTMLElement, app: App): void {
  show(root, app);
  onLink(root, () => {
    const before = root.querySelector("article")?.dataset;
    if (app.state.tab !== "tour" || !before) return;
    const same = (app.state.step || steps[0]?.id) === before.step;
    show(root, app);
    if (same) return;
    scrollTo({ top: 0 });
    root.querySelector("h2")?.focus({ preventScroll: true }); // a reader who went on starts at the top
  });
}
