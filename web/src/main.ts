// SPDX-License-Identifier: MIT
//
// The page starts: the tool is loaded, the link is read, the parts are made; then every change of the state is shown.

import type { App, Lang, Ran, Slider, SliderWanted, State, Wanted, Words } from "./app";
import { Background, serve } from "./background";
import { ClaimsPanel } from "./claims";
import { byId, fill, h } from "./dom";
import { Explore } from "./explore";
import { AtMost, eachFrame, measured, noted } from "./frame";
import { renderGlossary } from "./glossary";
import { Header } from "./header";
import { inks } from "./inks";
import { ModelPanel, takeDrops } from "./model";
import { Pace } from "./pace";
import { Placed } from "./placed";
import { readRegistry, type Registry } from "./registry";
import { registryZh } from "./registry.zh";
import { renderSheet } from "./sheet";
import { makeSlider } from "./slider";
import { firstState, isLink, readLink, tabs, writeLink } from "./state";
import { keptTheme, onTheme, showTheme } from "./theme";
import { loadModule, toolOf, type Tool } from "./tool";
import { renderStory } from "./story";
import { words } from "./words";

declare const repository: string; // its address, where the build was told one
const ours = "posenc"; // what an entry of the history holds that the page has written itself

class Page implements App {
  state: State;
  readonly kept = new Map<string, unknown>();
  private readonly first: State;
  private readonly registry: Registry;
  private header!: Header;
  private explore: Explore | null = null;
  private made = new Set<string>(); // tabs that have been filled
  private readonly placed = new Placed(this);
  private readonly soon = eachFrame(() => this.show());
  private readonly keep = new AtMost(() => history.replaceState(ours, "", this.link({})), 350);
  private readonly leading = new WeakMap<HTMLAnchorElement, () => Partial<State>>();

  private readonly tool: Tool;
  private readonly background: Background;
  private readonly live: Background; // for what is measured of what is in sight
  private readonly front: Background; // for what is drawn
  private readonly pace: Pace;

  constructor(module: WebAssembly.Module, lang: Lang) {
    this.tool = toolOf(module);
    this.background = new Background(module, "waiting");
    this.live = new Background(module, "waiting");
    this.front = new Background(module, "drawing");
    this.first = firstState(lang);
    this.state = readLink(location.hash, { ...this.first, theme: keptTheme() });
    this.registry = readRegistry((args) => this.run(args));
    this.pace = new Pace(this.registry);
    inks(this);
    addEventListener("hashchange", (event) => this.follow(new URL(event.newURL).hash)); // before those of the parts: they ask the state
    this.build();
    byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
    for (const kind of ["pointerdown", "focusin", "contextmenu", "click"]) addEventListener(kind, (e) => this.freshen(e), { capture: true });
    takeDrops(this);
    onTheme(() => this.show());
    addEventListener("resize", eachFrame(() => this.show()));
  }

  get lang(): Lang {
    return this.state.lang;
  }
  t(w: Words): string {
    return w[this.lang];
  }
  about(english: string): string {
    return this.lang === "zh" ? (registryZh[english] ?? english) : english;
  }
  run(args: readonly string[], files: Readonly<Record<string, string>> = {}): Ran {
    const bytes = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]));
    return this.tool.run(args, undefined, bytes);
  }
  later(args: readonly string[], owner: object, done: (ran: Ran) => void, live = false, files?: ReadonlyMap<string, Uint8Array>): void {
    (live ? this.live : this.background).run(args, owner, done, files);
  }
  newest(args: readonly string[], owner: object, done: (ran: Ran) => void): boolean {
    this.forget(owner);
    const slow = this.pace.isSlow(args), start = performance.now();
    if (slow) this.front.run(args, owner, (ran) => {
      this.pace.took(args, ran.ms ?? 0);
      noted("command", start, { args, code: ran.code, bytes: ran.out.length });
      done(ran);
    });
    else {
      const ran = this.run(args);
      this.pace.took(args, performance.now() - start);
      done(ran);
    }
    return slow;
  }
  forget(owner: object): void {
    for (const worker of [this.background, this.live, this.front]) worker.forget(owner);
  }
  picture(el: HTMLElement, wanted: Wanted): void {
    this.placed.draw(el, wanted);
  }
  slider(el: HTMLElement, wanted: SliderWanted, onChange: (value: number) => void): Slider {
    return makeSlider(el, wanted, (low, high) => this.t(words.outside).replace("LOW", low).replace("HIGH", high), onChange);
  }
  link(change: Partial<State>): string {
    return writeLink({ ...this.state, ...change }, this.first);
  }

  leads(a: HTMLAnchorElement, change: () => Partial<State>): HTMLAnchorElement {
    this.leading.set(a, change);
    a.href = this.link(change());
    return a;
  }

  /** A link that is about to be followed or copied starts from the state of now. */
  private freshen(event: Event): void {
    const a = (event.target as Element | null)?.closest?.("a");
    const change = a && this.leading.get(a);
    if (a && change) a.href = this.link(change());
  }

  setState(change: Partial<State>, place = false): void {
    const before = this.state, after = { ...before, ...change };
    const moves = place || after.tab !== before.tab || after.view !== before.view;
    if (moves) this.keep.now(); // the place that is left, as it is now
    this.state = after;
    if (moves) history.pushState(ours, "", this.link({}));
    else this.keep.ask();
    if (this.state.lang !== before.lang) this.build();
    else if (this.state.tab !== before.tab) { this.show(); scrollTo({ top: 0 }); } else this.soon();
  }

  /** A link that was typed or clicked, or an entry of our own gone back to, which leaves language and theme as they are. The
   *  address may hold our own again by now. */
  private follow(hash: string): void {
    const { lang, theme } = this.state;
    this.keep.cancel();
    if (isLink(hash)) this.state = readLink(hash, { ...this.first, theme: keptTheme() });
    if (history.state === ours) this.state = { ...this.state, lang, theme };
    this.keep.ask();
    if (this.state.lang !== lang) this.build();
    else this.show();
  }

  /** Everything anew, in the language of the state. */
  private build(): void {
    document.documentElement.lang = this.lang === "zh" ? "zh-CN" : "en";
    document.title = this.t(words.title);
    byId("skip").textContent = this.t(words.skip);
    this.made = new Set();
    this.explore?.stop();
    for (const worker of [this.background, this.live, this.front]) worker.clear();
    this.header = new Header(byId("top"), this);
    this.explore = new Explore(byId("explore"), this, this.registry, this.first);
    fill(byId("foot"), h("p", {}, this.t(words.footer)), h("p", {}, `${this.t(words.source)} · ${this.registry.version}`, repository && " · ", repository && h("a", { href: repository }, this.t(words.repository))),
      this.leads(h("a", { class: "whole", target: "_blank" }, this.t(words.whole)), () => ({ embed: false })));
    this.show();
  }

  private show(): void {
    const { tab, embed } = this.state;
    showTheme(this.state.theme);
    document.documentElement.classList.toggle("embed", embed);
    this.header.update(this.state);
    for (const name of tabs) byId(name).hidden = name !== tab;
    if (tab === "explore") measured("redraw", () => this.explore?.update(this.state));
    else this.explore?.rest();
    if (tab !== "explore" && !this.made.has(tab)) {
      this.made.add(tab);
      this.make(tab, byId(tab));
    }
  }

  private make(tab: string, root: HTMLElement): void {
    fill(root);
    if (tab === "story") renderStory(root, this);
    if (tab === "model") new ModelPanel(root, this);
    if (tab === "sheet") void renderSheet(root, this.registry, this);
    if (tab === "claims") new ClaimsPanel(root, this);
    if (tab === "glossary") renderGlossary(root, this);
  }
}

async function start(): Promise<void> {
  const lang: Lang = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  try {
    new Page(await loadModule(), lang);
    document.documentElement.dataset.ready = "";
  } catch (why) {
    fill(byId("main"), h("p", { class: "error", role: "alert" }, `${words.broken[lang]}: ${String(why)}`));
    throw why;
  }
}

if (typeof document === "undefined") serve();
else void start();
