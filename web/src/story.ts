// SPDX-License-Identifier: MIT
//
// The story: one scroll from two dogs to long texts. A link names a scene and what the reader has set in it.

import type { App } from "./app";
import { fill, h } from "./dom";
import { copyButton } from "./save";
import { paragraph, marked } from "./marked";
import { onLink } from "./onlink";
import { scenes } from "./scenes";
import { readDemos, renderDemo, writeDemos } from "./story_demo";
import type { Scene } from "./story_scene";

const words = {
  contents: { en: "Contents", zh: "目录" },
  more: { en: "The whole argument, with formulas", zh: "完整推导（含公式）" },
  tries: { en: "Try this", zh: "动手试试" },
  link: { en: "Link to this part", zh: "此处的链接" },
  next: { en: "Where to go on", zh: "接下来去哪里" },
  embed: { en: "Copy this figure's link", zh: "复制此图的链接" },
};

/** What the reader has set in each scene, as links have it. */
function demosOf(app: App): Map<string, string> {
  const kept = (app.kept.get("story") as Map<string, string> | undefined) ?? new Map<string, string>();
  app.kept.set("story", kept);
  return kept;
}

function toScene(a: HTMLAnchorElement, scene: Scene, app: App): HTMLElement {
  return app.leads(a, () => ({ tab: "story", step: scene.id, figure: 0, demo: demosOf(app).get(scene.id) ?? "" }));
}

function contents(app: App): HTMLElement {
  const list = h("ol", {}, ...scenes.map((s) => h("li", {}, toScene(h("a", { "data-scene": s.id }, app.t(s.title)), s, app))));
  return h("nav", { class: "contents", "aria-label": app.t(words.contents) },
    h("details", { open: matchMedia("(min-width: 901px)").matches }, h("summary", {}, app.t(words.contents)), list));
}

function more(scene: Scene, app: App): HTMLElement {
  return h("details", { class: "more" }, h("summary", {}, app.t(words.more)), ...scene.text[app.lang].map((p) => paragraph(p, app, scene.formulas)),
    scene.tries && h("aside", { class: "try" }, h("h3", {}, app.t(words.tries)), h("p", {}, ...marked(app.t(scene.tries), app, scene.formulas))));
}

function article(scene: Scene, app: App): HTMLElement {
  const said = app.state.demo.startsWith(`${scene.id}.`) ? app.state.demo : demosOf(app).get(scene.id) ?? "";
  demosOf(app).set(scene.id, said);
  const values = readDemos(said.slice(scene.id.length + 1), scene.demos, app);
  const keep = (): void => {
    const changed = writeDemos(values, scene.demos, app), demo = changed && `${scene.id}.${changed}`;
    demosOf(app).set(scene.id, demo);
    app.setState({ step: scene.id, demo, figure: app.state.embed ? app.state.figure : 0 });
  };
  const figures = scene.demos.map((d, n) => {
    const el = renderDemo(d, scene.formulas, values[n] ?? new Map<string, string>(), keep, app);
    const link = (): string => location.href.split("#")[0] + app.link({ theme: "", tab: "story", step: scene.id, demo: demosOf(app).get(scene.id) ?? "", figure: n + 1, embed: true });
    el.append(h("p", { class: "figure-link" }, copyButton(app, app.t(words.embed), link)));
    return el;
  });
  const title = app.t(scene.title), anchor = toScene(h("a", { class: "anchor", "aria-label": `${app.t(words.link)}: ${app.t(scene.title)}` }, "#"), scene, app);
  return h("article", { class: "scene", id: `scene-${scene.id}`, "data-scene": scene.id },
    h("h2", { tabindex: -1 }, title.slice(0, -2), h("span", { class: "end" }, title.slice(-2), anchor)), h("p", { class: "lead" }, ...marked(app.t(scene.lead), app, scene.formulas)), scene.shown && paragraph(`{${scene.shown}}`, app, scene.formulas),
    ...figures, more(scene, app), scene.next && h("nav", { class: "next", "aria-label": app.t(words.next) }, h("h3", {}, app.t(words.next)),
      h("ul", {}, ...scene.next.map(({ label, to }) => h("li", {}, app.leads(h("a", {}, app.t(label)), () => ({ step: "", demo: "", figure: 0, ...to })))))));
}

/** Marks the scene that is being read. */
function follow(root: HTMLElement): void {
  const watch = new IntersectionObserver((entries) => {
    for (const e of entries)
      if (e.isIntersecting)
        for (const a of root.querySelectorAll<HTMLElement>(".contents a")) {
          if (a.dataset.scene === (e.target as HTMLElement).dataset.scene) a.setAttribute("aria-current", "step");
          else a.removeAttribute("aria-current");
        }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const scene of root.querySelectorAll(".scene")) watch.observe(scene);
}

const holding = 3000; // milliseconds in which what is drawn late must not push a scene away

/** Brings a scene to the top and keeps it there while others are drawn and grow, until the reader moves or has read a moment. */
function arrive(there: HTMLElement, grows: Element): void {
  const go = (): void => there.scrollIntoView({ block: "start", behavior: "instant" });
  const held = new ResizeObserver(go), acts = ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"];
  const end = (): void => {
    held.disconnect();
    for (const act of acts) removeEventListener(act, end);
  };
  go();
  held.observe(grows);
  for (const act of acts) addEventListener(act, end, { passive: true });
  setTimeout(end, holding);
}

/** Marks the figure of a scene that a frame shows: the first where the link names none. */
function only(scene: HTMLElement | undefined, figure: number): void {
  const all = scene?.querySelectorAll(".demo") ?? [], shown = all[Math.max(0, figure - 1)] ?? all[0];
  for (const demo of all) demo.classList.toggle("here", demo === shown);
}

export function renderStory(root: HTMLElement, app: App): void {
  const shown = new Map(scenes.map((s) => [s.id, article(s, app)]));
  const list = h("div", { class: "scenes" }, ...shown.values());
  const nav = contents(app);
  fill(root, nav, list);
  follow(root);
  const goTo = (): void => {
    const { tab, step, demo, figure, embed } = app.state, scene = scenes.find((s) => s.id === step), before = shown.get(step);
    if (tab !== "story") return;
    for (const [id, el] of shown) el.classList.toggle("here", id === (scene ?? scenes[0])?.id);
    if (embed) only(shown.get((scene ?? scenes[0])?.id ?? ""), figure);
    if (!scene || !before) return;
    let there = before;
    if (demo !== (demosOf(app).get(step) ?? "")) {
      there = article(scene, app);
      before.replaceWith(there);
      there.classList.add("here");
      shown.set(step, there);
      if (embed) only(there, figure);
    }
    const asked = there.querySelectorAll<HTMLElement>(".demo")[figure - 1];
    if (asked instanceof HTMLDetailsElement) asked.open = true;
    arrive(asked ?? there, list);
    there.querySelector("h2")?.focus({ preventScroll: true });
  };
  onLink(root, goTo);
  nav.addEventListener("click", (event) => { // the scene that the address names already, from where the reader has gone
    const a = (event.target as Element).closest("a");
    if (a && a.hash === location.hash) goTo();
  });
  if (app.state.step) requestAnimationFrame(goTo);
  else goTo();
}
