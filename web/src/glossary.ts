// SPDX-License-Identifier: MIT
//
// The glossary: terms of glossary_terms.ts, searched in both languages at once. A link names its term.

import type { App } from "./app";
import { fill, h } from "./dom";
import { terms, type Term } from "./glossary_terms";
import { onLink } from "./onlink";
import { marked } from "./marked";

const words = {
  title: { en: "Glossary", zh: "术语表" },
  search: { en: "Search the terms", zh: "搜索术语" },
  none: { en: "No term matches.", zh: "没有匹配的术语。" },
  open: { en: "Show it", zh: "看图" },
  link: { en: "Link to this term", zh: "此术语的链接" },
};

/** All of a term that a search looks at, in small letters. */
function haystack(t: Term): string {
  return [t.id, t.name.en, t.name.zh, t.also ?? "", t.text.en, t.text.zh].join(" ").toLowerCase();
}

/** The terms that hold every word asked for, those with it in their names first. */
export function found(asked: string, all: readonly Term[] = terms): Term[] {
  const wanted = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const named = (t: Term): boolean => wanted.some((w) => `${t.id} ${t.name.en} ${t.name.zh} ${t.also ?? ""}`.toLowerCase().includes(w));
  const hits = all.filter((t) => wanted.every((w) => haystack(t).includes(w)));
  return [...hits.filter(named), ...hits.filter((t) => !named(t))];
}

function entry(t: Term, app: App): HTMLElement {
  const { id, open: there } = t;
  const anchor = app.leads(h("a", { class: "anchor", "aria-label": `${app.t(words.link)}: ${app.t(t.name)}` }, "#"), () => ({ tab: "glossary", term: id }));
  const open = there && app.leads(h("a", { class: "open" }, app.t(words.open)), () => there);
  return h("div", { class: "entry", id: `term-${t.id}` },
    h("dt", {}, app.t(t.name), " ", anchor),
    h("dd", {}, ...marked(app.t(t.text), app), open && " ", open));
}

export function renderGlossary(root: HTMLElement, app: App): void {
  const list = h("dl", { class: "glossary" });
  const count = h("p", { class: "faint", role: "status" });
  const search = h("input", { type: "search", placeholder: app.t(words.search), "aria-label": app.t(words.search) });
  const show = (): void => {
    const hits = found(search.value);
    fill(list, ...hits.map((t) => entry(t, app)));
    fill(count, hits.length ? `${hits.length} / ${terms.length}` : app.t(words.none));
  };
  search.addEventListener("input", show);
  fill(root, h("h2", {}, app.t(words.title)), search, count, list);
  show();
  const goTo = (): void => {
    const asked = app.state.tab === "glossary" && app.state.term ? root.querySelector(`#term-${CSS.escape(app.state.term)}`) : null;
    root.querySelector(".asked")?.classList.remove("asked");
    asked?.classList.add("asked");
    asked?.scrollIntoView({ block: "center" });
  };
  onLink(root, () => {
    if (app.state.tab !== "glossary") return;
    search.value = "";
    show();
    goTo();
  });
  requestAnimationFrame(goTo);
}
