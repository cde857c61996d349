// SPDX-License-Identifier: MIT
//
// The top of the page: its name, its parts as tabs, and what concerns the whole: language, light or dark, the link.

import type { App, State, Words } from "./app";
import { fill, h } from "./dom";
import { copyButton } from "./save";
import { tabs } from "./state";
import { Tabs } from "./tabs";
import { keepTheme, nextTheme } from "./theme";
import { words } from "./words";

const themeWords: Record<string, Words> = { light: words.light, dark: words.dark };

export class Header {
  private readonly tabs: Tabs;
  private readonly theme: HTMLButtonElement;
  private shown = "";

  constructor(root: HTMLElement, private readonly app: App) {
    const list = h("nav", {}, h("div", { class: "tabs main-tabs" }));
    this.tabs = new Tabs(list.firstElementChild as HTMLElement, app.t(words.sections), (tab) => app.setState({ tab }));
    const language = h("button", {
      type: "button", class: "quiet", id: "language", lang: app.lang === "zh" ? "en" : "zh-CN", "aria-label": app.t(words.languageLabel),
      onclick: () => { app.setState({ lang: app.lang === "zh" ? "en" : "zh" }); document.getElementById("language")?.focus(); },
    }, app.t(words.language));
    this.theme = h("button", {
      type: "button", class: "quiet", id: "theme",
      onclick: () => { const theme = nextTheme(app.state.theme); keepTheme(theme); app.setState({ theme }); },
    });
    fill(root,
      h("div", { class: "title" }, h("h1", {}, "posenc"), h("p", {}, app.t(words.tagline))),
      h("div", { class: "tools" }, copyButton(app, app.t(words.copyLink), () => location.href.split("#")[0] + app.link({ theme: "" })),
        language, this.theme),
      list);
  }

  update(state: Readonly<State>): void {
    const said = this.app.t(words.theme).replace("NOW", this.app.t(themeWords[state.theme] ?? words.system));
    this.theme.textContent = { light: "☀", dark: "☾" }[state.theme] ?? "◐";
    this.theme.title = said;
    this.theme.setAttribute("aria-label", said);
    this.tabs.show(tabs.map((name) => ({ name, title: this.app.t(words[name]), panel: name })), state.tab);
    if (state.tab === this.shown) return;
    this.shown = state.tab;
    const { root } = this.tabs, chosen = root.querySelector<HTMLElement>("[aria-selected=true]"); // on a phone the row of tabs is scrolled
    if (chosen && root.parentElement) root.parentElement.scrollLeft = chosen.offsetLeft - root.offsetLeft - chosen.offsetWidth;
  }
}
