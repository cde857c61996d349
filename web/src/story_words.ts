// SPDX-License-Identifier: MIT
//
// A sentence whose words change places: dragged by mouse or finger, or moved by the arrow keys.

import type { App } from "./app";
import { fill, h, newId } from "./dom";

const words = {
  place: { en: "WORD, place N of ALL; arrow keys move it", zh: "WORD，第 N 个，共 ALL 个；用方向键移动" },
  moved: { en: "WORD is now at place N of ALL", zh: "WORD 移到第 N 个，共 ALL 个" },
};

export function wordsField(label: string, text: string, app: App, onChange: (text: string) => void): HTMLElement {
  const sentence = text.split(/\s+/).filter(Boolean);
  const list = h("ol", { class: "chips" }), id = newId("words"), said = h("span", { class: "hidden", "aria-live": "polite" });
  const name = (template: keyof typeof words, at: number): string =>
    app.t(words[template]).replace("WORD", sentence[at] ?? "").replace("N", `${at + 1}`).replace("ALL", `${sentence.length}`);
  const lay = (focused: number): void => {
    fill(list, ...sentence.map((word, at) => h("li", {}, h("button", { type: "button", class: "chip", "data-at": at, "aria-label": name("place", at) }, word))));
    if (focused >= 0) list.querySelector<HTMLElement>(`[data-at="${focused}"]`)?.focus();
  };
  const move = (from: number, to: number): boolean => {
    if (to < 0 || to >= sentence.length || from === to) return false;
    sentence.splice(to, 0, ...sentence.splice(from, 1));
    lay(to);
    said.textContent = name("moved", to);
    onChange(sentence.join(" "));
    return true;
  };
  const placeOf = (target: EventTarget | null): number => Number((target as HTMLElement | null)?.closest<HTMLElement>(".chip")?.dataset.at ?? -1);

  let dragged = -1;
  const mark = (): void => list.querySelectorAll<HTMLElement>(".chip").forEach((c, at) => c.classList.toggle("dragged", at === dragged));
  list.addEventListener("pointerdown", (e) => {
    dragged = placeOf(e.target);
    if (dragged >= 0) { list.setPointerCapture(e.pointerId); mark(); }
  });
  list.addEventListener("pointermove", (e) => {
    if (dragged < 0) return;
    const over = placeOf(document.elementFromPoint(e.clientX, e.clientY));
    if (over >= 0 && move(dragged, over)) dragged = over;
    mark();
  });
  for (const end of ["pointerup", "pointercancel"]) list.addEventListener(end, () => { dragged = -1; mark(); });
  list.addEventListener("keydown", (e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key], at = placeOf(e.target);
    if (by === undefined || at < 0) return;
    e.preventDefault();
    move(at, at + by);
  });
  lay(-1);
  return h("div", { class: "field words", role: "group", "aria-labelledby": id }, h("span", { id }, label), list, said);
}
