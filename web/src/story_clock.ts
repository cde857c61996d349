// SPDX-License-Identifier: MIT
//
// One position of a table as something that moves: a bar, lamps, hands of dials, arrows of a query and a key. The numbers are
// the tool's, read once as a table; a frame only moves shapes.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import type { Clock } from "./story_scene";

const words = {
  word: { en: "a word's number", zh: "词向量的一个分量" },
  code: { en: "its code", zh: "位置编码" },
  position: { en: "position", zh: "位置" },
  pair: { en: "pair", zh: "第" },
  of: { en: "", zh: "对" },
  query: { en: "query", zh: "查询" },
  key: { en: "key", zh: "键" },
  between: { en: "angle between them", zh: "两者的夹角" },
};

type Hand = [number, number]; // x, y

/** The numbers that a clock shows, by position. */
interface Table {
  key: string;
  rows: number[][]; // of codes
  hands: Hand[][]; // by position, then by dial
}

const tables = new WeakMap<HTMLElement, Table>();

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

function read(data: number[][] | number[][][], clock: Clock): Omit<Table, "key"> {
  if (!clock.hands && clock.look !== "bar" && clock.look !== "lamps") {
    const [cos = [], sin = []] = data as number[][][];
    return { rows: [], hands: cos.map((row, t) => row.map((x, i): Hand => [x, sin[t]?.[i] ?? 0])) };
  }
  const rows = data as number[][];
  return { rows, hands: rows.map((row) => (clock.hands ?? []).map(([x, y]): Hand => [row[x] ?? 0, row[y] ?? 0])) };
}

/** A hand, which is called with where it points. */
function hand(kind: string, radius: number): { el: SVGElement; point(to: Hand | undefined): void } {
  const line = svg("line", { x1: 0, y1: 0, x2: radius, y2: 0 }), tip = svg("circle", { r: 4, cx: radius, cy: 0 });
  const el = svg("g", { class: `hand ${kind}` }, line, tip);
  return {
    el,
    point: (to) => {
      const [x, y] = to ?? [1, 0];
      for (const [shape, a, b] of [[line, "x2", "y2"], [tip, "cx", "cy"]] as const) {
        shape.setAttribute(a, String(radius * x));
        shape.setAttribute(b, String(-radius * y)); // counter-clockwise, as mathematics turns
      }
    },
  };
}

/** The shorter way round from one hand to another. */
function arc(radius: number): { el: SVGElement; span(from: Hand | undefined, to: Hand | undefined): void } {
  const el = svg("path", { class: "between" });
  return {
    el,
    span: ([x, y] = [1, 0], [u, v] = [1, 0]) => {
      const clockwise = x * v < y * u ? 1 : 0;
      el.setAttribute("d", `M ${radius * x} ${-radius * y} A ${radius} ${radius} 0 0 ${clockwise} ${radius * u} ${-radius * v}`);
    },
  };
}

type Move = (at: number, other: number) => void;

/** The position near `from` whose hand points most nearly to (x, y). */
function nearest(hands: readonly Hand[][], dial: number, from: number, x: number, y: number): number {
  let best = from, most = -Infinity;
  for (let t = Math.max(0, from - 32); t <= Math.min(hands.length - 1, from + 32); t++) {
    const [hx, hy] = hands[t]?.[dial] ?? [0, 0], near = hx * x + hy * y - 1e-6 * Math.abs(t - from);
    if (near > most) [best, most] = [t, near];
  }
  return best;
}

function dials(el: HTMLElement, table: Table, clock: Clock, app: App, drag: (which: "at" | "other", t: number) => void): Move {
  const count = table.hands[0]?.length ?? 0, arrows = clock.look === "arrows", moves: Move[] = [];
  let now = 0, far = 0;
  const faces = Array.from({ length: count }, (_, dial) => {
    const query = hand("query", 44), key = hand("key", 44), between = arc(26);
    const face = svg("svg", { viewBox: "-54 -54 108 108", role: "img", "aria-label": `${app.t(words.pair)} ${dial} ${app.t(words.of)}` },
      svg("circle", { r: 50, class: "face" }), ...(arrows ? [between.el, key.el] : []), query.el);
    moves.push((at, other) => {
      const to = table.hands[at]?.[dial], from = table.hands[other]?.[dial];
      query.point(to);
      if (!arrows) return;
      key.point(from);
      between.span(from, to);
    });
    let held: "at" | "other" | null = null;
    const pull = (e: PointerEvent): void => {
      const box = face.getBoundingClientRect(), x = e.clientX - box.left - box.width / 2, y = box.top + box.height / 2 - e.clientY;
      const near = (t: number): number => { const [hx, hy] = table.hands[t]?.[dial] ?? [0, 0]; return hx * x + hy * y; };
      held ??= arrows && near(far) > near(now) ? "other" : "at";
      drag(held, nearest(table.hands, dial, held === "at" ? now : far, x, y));
    };
    face.addEventListener("pointerdown", (e) => { face.setPointerCapture(e.pointerId); pull(e); });
    face.addEventListener("pointermove", (e) => { if (held) pull(e); });
    for (const end of ["pointerup", "pointercancel"]) face.addEventListener(end, () => { held = null; });
    return h("figure", { class: "dial" }, face, h("figcaption", {}, `${app.t(words.pair)} ${dial} ${app.t(words.of)}`));
  });
  const legend = arrows && h("p", { class: "legend" }, ...(["query", "key", "between"] as const).map((k) => h("span", { class: k }, app.t(words[k]))));
  fill(el, h("div", { class: "dials" }, ...faces), legend);
  return (at, other) => { [now, far] = [at, other]; for (const move of moves) move(at, other); };
}

/** One number beside one of a word, whose numbers are about 1; both on the scale of the table's largest number. */
function bar(el: HTMLElement, table: Table, app: App): Move {
  const word = h("div", { class: "pillar word" }), code = h("div", { class: "pillar" }), number = h("output", { class: "big" });
  fill(el, h("div", { class: "pillars" }, h("div", {}, word, h("p", {}, app.t(words.word), " ≈ 1")), h("div", {}, code, h("p", {}, app.t(words.code), " = ", number))));
  const most = Math.max(1, ...table.rows.map(([value = 0]) => value));
  const high = (pillar: HTMLElement, value: number): void => pillar.style.setProperty("--of", String(value / most));
  high(word, 1);
  return (at) => {
    const value = table.rows[at]?.[0] ?? 0;
    number.textContent = String(value);
    high(code, value);
  };
}

const past = 12; // rows of lamps

/** Bits as lamps, the lowest at the right; the positions before stand above. */
function lamps(el: HTMLElement, table: Table, app: App): Move {
  const width = table.rows[0]?.length ?? 0;
  const lines = Array.from({ length: past }, () => ({ name: h("th", { scope: "row" }), cells: Array.from({ length: width }, () => h("td", {})) }));
  fill(el, h("table", { class: "lamps", "aria-label": app.t(words.code) }, h("tbody", {}, ...lines.map((l) => h("tr", {}, l.name, ...l.cells)))));
  return (at) => lines.forEach(({ name, cells }, i) => {
    const t = at - (past - 1 - i), row = table.rows[t], before = table.rows[t - 1];
    name.textContent = row ? `${t}` : "";
    cells.forEach((cell, c) => {
      const bit = row?.[width - 1 - c], turned = before !== undefined && bit !== before[width - 1 - c];
      cell.className = bit === undefined ? "empty" : bit ? (turned ? "on turned" : "on") : turned ? "turned" : "";
      cell.textContent = bit === undefined ? "" : String(bit);
    });
  });
}

const moving = new WeakMap<HTMLElement, Move>();

/** drag: the reader has pulled a hand to another position. */
export function clockOutput(el: HTMLElement, clock: Clock, command: string[], at: number, other: number, app: App,
                            drag: (which: "at" | "other", t: number) => void): void {
  const key = command.join(" ");
  if (tables.get(el)?.key !== key) {
    const ran = app.run([...command, "--json"]);
    if (ran.code) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
    const table = { key, ...read((JSON.parse(ran.text) as { data: number[][] }).data, clock) };
    tables.set(el, table);
    moving.set(el, clock.look === "bar" ? bar(el, table, app) : clock.look === "lamps" ? lamps(el, table, app) : dials(el, table, clock, app, drag));
  }
  moving.get(el)?.(at, other);
}
