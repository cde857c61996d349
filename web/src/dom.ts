// SPDX-License-Identifier: MIT
//
// Elements by function. Text is always text; the one reader of markup is for the tool's own drawings.

export type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);

/** h("button", { type: "button", onclick: f, "aria-label": "x" }, "text"): functions become listeners, true an empty
 *  attribute, false and null none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") el.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value === true) el.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) el.setAttribute(name, String(value));
  }
  el.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return el;
}

/** Replaces what el holds. */
export function fill(el: Element, ...children: Child[]): void {
  el.replaceChildren(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
}

/** The element of this id, which the page must have. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const el = document.getElementById(id);
  if (!el) throw new Error(`the page has no #${id}`);
  return el as T;
}

/** A part of a whole, for a style. */
export function percent(part: number, whole: number): string {
  return `${(100 * part) / whole}%`;
}

let made = 0;
export function newId(stem: string): string {
  return `${stem}-${++made}`;
}

/** A drawing of the tool (which escapes what it writes) as an element. */
export function svgElement(text: string): SVGSVGElement {
  const holder = document.createElement("template");
  holder.innerHTML = text;
  const svg = holder.content.querySelector("svg");
  if (!svg) throw new Error("not an SVG");
  return svg;
}
