// SPDX-License-Identifier: MIT
//
// `posenc extend --json` as a table: each method, what it leaves unseen, what it changes for short prompts.

import type { App, State } from "./app";
import { h } from "./dom";
import { words } from "./words";

interface Method {
  method: string;
  paper: string;
  applies: boolean;
  why?: string;
  spec: string;
  serves: boolean;
  leaving_pairs: number;
  logits: number;
  short_prompts: { same: boolean; changed_pairs: number; logits: number };
}

interface Plan {
  verdict: string;
  why: string | null;
  spec: string;
  target: number;
  recommended?: string;
  methods?: Method[];
  settings?: { engine: string; command?: string; config?: unknown; remark: string | null }[];
}

function row(app: App, plan: Plan, shape: Partial<State>, m: Method): HTMLElement {
  const name = h("th", { scope: "row" }, m.method, " ",
    m.method === plan.recommended ? h("span", { class: "badge good" }, app.t(words.recommended)) : null);
  if (!m.applies) return h("tr", {}, name, h("td", { colspan: "5", class: "faint", lang: "en" }, m.why ?? ""));
  const { same, changed_pairs, logits } = m.short_prompts;
  const short = same ? app.t(words.same)
    : changed_pairs ? `${changed_pairs} ${app.t(words.changedPairs)}` : `${app.t(words.onlyLogits)} ${logits.toPrecision(4)}`;
  return h("tr", {}, name,
    h("td", {}, app.t(m.serves ? words.yes : words.no)), h("td", {}, `${m.leaving_pairs}`), h("td", {}, short),
    h("td", {}, m.logits.toPrecision(4)),
    h("td", {}, h("button", {
      type: "button", class: "quiet", title: m.spec,
      onclick: () => app.setState({ ...shape, tab: "explore", view: "wavelengths", n: plan.target, a: plan.spec, b: m.spec }),
    }, app.t(words.asB))));
}

/** The plan in a sentence of the page's language; the tool's reason, which is English, follows it. */
function advice(app: App, plan: Plan): HTMLElement {
  const leaving = plan.methods?.find((m) => m.method === "none")?.leaving_pairs;
  const said = !plan.recommended || leaving === undefined ? ""
    : app.t(leaving ? words.plan : words.planNone).replace("TARGET", `${plan.target}`).replace("COUNT", `${leaving}`).replace("METHOD", plan.recommended);
  return h("p", {}, said && h("strong", {}, said), said && " ", plan.why && h("span", { lang: "en" }, plan.why));
}

/** shape: the model's, to look at the plan with. */
export function extendTable(app: App, json: string, shape: Partial<State>): HTMLElement {
  const plan = JSON.parse(json) as Plan;
  const out = h("div", {});
  if (plan.why) out.append(advice(app, plan));
  if (plan.methods)
    out.append(h("div", { class: "wide" }, h("table", {},
      h("thead", {}, h("tr", {}, ...[words.method, words.serves, words.leaving, words.shortPrompts, words.logits]
        .map((w) => h("th", { scope: "col" }, app.t(w))), h("td", {}))),
      h("tbody", {}, ...plan.methods.map((m) => row(app, plan, shape, m))))));
  if (plan.settings?.length)
    out.append(h("details", {}, h("summary", {}, app.t(words.settings)), ...plan.settings.map((s) => h("section", {},
      h("h4", {}, s.engine), h("pre", { tabindex: "0" }, s.command ?? JSON.stringify(s.config, null, 2)),
      s.remark && h("p", { class: "faint", lang: "en" }, s.remark)))));
  return out;
}
