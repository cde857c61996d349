// SPDX-License-Identifier: MIT
//
// Trained models at work: the attention of the reader's sentence, and what happens past the trained length.

import { sentence, type App, type Ran } from "./app";
import { fill, h, newId } from "./dom";
import { readFigures } from "./figure";
import { whenQuiet } from "./frame";
import { Picture } from "./picture";
import { keyOf, nameOf, read, trainedModels, type Trained } from "./trained";
import { words as common } from "./words";

const words = {
  model: { en: "Model trained with", zh: "训练时用的编码" },
  models: { en: "Models", zh: "模型" },
  reader: { en: "The first text is read by", zh: "第一段文本由它来读" },
  other: { en: "The second text is read by", zh: "第二段文本由它来读" },
  sentence: { en: "Your sentence", zh: "你的句子" },
  layer: { en: "Layer", zh: "层" },
  head: { en: "Head", zh: "头" },
  length: { en: "Length, times the trained one", zh: "长度（训练长度的倍数）" },
  method: { en: "RoPE, changed while it runs", zh: "运行时改动 RoPE" },
  none: { en: "as trained", zh: "不改" },
  without: { en: "This page was built without trained models.", zh: "构建本页时没有带上训练好的模型。" },
  reads: { en: "What MODEL makes of the end of a text of N bytes", zh: "MODEL 读一段 N 字节文本的结尾" },
  score: { en: "BITS bits per byte, RIGHT of COUNT right.", zh: "每字节 BITS 比特，COUNT 个里猜对 RIGHT 个。" },
  legend: { en: "The stronger the colour behind a letter, the less it was expected; underlined: the model's first guess was right.",
    zh: "底色越浓，越出乎模型意料；有下划线的，模型猜对了。" },
  terms: { en: "A trained model: the score of each pair of letters in its first layer, in four terms on one scale. Of each row the mean is taken off, because the softmax does not see it.",
    zh: "训练好的模型：第一层里每一对字母的分数，拆成四项，同一标尺。每一行减去了均值，因为 softmax 看不到它。" },
};

const most = 60; // bytes of a sentence
const cell = 14, around = 130; // pixels of a byte's cell with its letter, and of what stands beside a map
const reach = 32; // distances whose bias is shown
const shortest = 16; // bytes of a sentence whose terms are shown

interface SaidText {
  bytes: { byte: number; bits: number; right: boolean }[];
  bits: number;
  right: number;
}

function chooser(label: string, options: [string, string][], value: string, changed: (value: string) => void): HTMLElement {
  const id = newId("model"), select = h("select", { id, onchange: () => changed(select.value) }, ...options.map(([v, text]) => h("option", { value: v, selected: v === value }, text)));
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
}

/** What the reader has set in a figure: it writes it where links find it, and draws anew. */
class Settings {
  constructor(private readonly values: Map<string, string>, private readonly keep: () => void) {}

  get(id: string): string {
    return this.values.get(id) ?? "";
  }
  set(id: string, value: string | number): void {
    this.values.set(id, String(value));
    this.keep();
  }
  /** A whole number of a link, from 0 to the largest there is. */
  number(id: string, largest: number): number {
    const value = Number(this.get(id));
    return Number.isInteger(value) ? Math.max(0, Math.min(value, largest)) : 0;
  }
  model(id: string, models: readonly Trained[]): Trained {
    return models.find((m) => keyOf(m) === this.get(id)) ?? models[0] as Trained;
  }
}

/** Puts the figures of `read` into el, or the sentence of what failed. A figure whose cells are to be told apart is as wide
 *  as it was drawn, and its box is scrolled. */
function drawn(el: HTMLElement, app: App): (ran: Ran) => void {
  let pictures: Picture[] = [];
  return (ran) => {
    el.classList.remove("old");
    const figures = ran.code ? [] : readFigures(ran.text);
    if (!figures.length) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
    if (pictures.length !== figures.length) pictures = figures.map(() => new Picture(app, [], true));
    figures.forEach((f, i) => {
      pictures[i]?.draw(f);
      if (pictures[i] && f.matrix) pictures[i].root.style.minWidth = `${f.width}px`;
    });
    if (pictures.some((p) => p.root.parentElement !== el)) fill(el, ...pictures.map((p) => p.root));
  };
}

function width(el: HTMLElement, widest: number, least = 280): string {
  return `${Math.floor(Math.max(least, Math.min(el.clientWidth || 640, widest)))}`;
}

function modelField(label: string, id: string, models: readonly Trained[], settings: Settings, draw: () => void, app: App): HTMLElement {
  return chooser(label, models.map((m) => [keyOf(m), nameOf(m, app)]), keyOf(settings.model(id, models)), (v) => { settings.set(id, v); draw(); });
}

function sentenceField(settings: Settings, draw: () => void, app: App): { field: HTMLElement; text(): string } {
  const id = newId("sentence"), soon = whenQuiet(draw, 150);
  const input = h("input", { type: "text", id, value: settings.get("words"), maxlength: most, spellcheck: "false", oninput: () => { if (input.value) { settings.set("words", input.value); soon(); } } });
  return { field: h("div", { class: "field" }, h("label", { for: id }, app.t(words.sentence)), input), text: () => [...settings.get("words")].slice(0, most).join("") };
}

function numberField(to: HTMLElement, label: string, id: string, largest: number, settings: Settings, draw: () => void, app: App): void {
  app.slider(to, { label, value: settings.number(id, largest), min: 0, max: largest }, (v) => { settings.set(id, v); draw(); });
}

/** A box that is scrolled sideways where a figure is wider, also by keys. */
function scrolling(app: App, name: string): HTMLElement {
  return h("div", { class: "output picture letters", tabindex: 0, role: "region", "aria-label": app.t({ en: "Figure", zh: "图" }) + `: ${name}` });
}

function attention(root: HTMLElement, models: readonly Trained[], settings: Settings, app: App): void {
  const out = scrolling(app, app.t(words.sentence)), show = drawn(out, app), [{ layers, heads }] = models as [Trained];
  const draw = (): void => {
    const model = settings.model("model", models), said = text(), bytes = new TextEncoder().encode(said).length;
    void read(app, out, [model.file], said, ["--view", "attention", "--length", `${most}`, "--layer", `${settings.number("layer", layers - 1)}`,
      "--head", `${settings.number("head", heads - 1)}`, "--width", width(out, 620, cell * Math.min(bytes, most) + around)], show);
  };
  const { field, text } = sentenceField(settings, draw, app);
  const controls = h("div", { class: "demo-controls" }, field, modelField(app.t(words.model), "model", models, settings, draw, app));
  numberField(controls, app.t(words.layer), "layer", layers - 1, settings, draw, app);
  numberField(controls, app.t(words.head), "head", heads - 1, settings, draw, app);
  fill(root, controls, out);
  draw();
}

/** The four terms of a score, of a model whose codes are added to the words. */
function terms(root: HTMLElement, models: readonly Trained[], settings: Settings, app: App): void {
  const added = models.filter((m) => /^(sinusoidal|learned)(:rows=\d+)?$/.test(m.spec)), [{ heads } = { heads: 1 }] = added;
  const out = h("div", { class: "output picture pairs" }), show = drawn(out, app);
  if (!added.length) return fill(root, h("p", {}, app.t(words.without)));
  const draw = (): void => {
    const room = out.clientWidth || 640;
    void read(app, out, [settings.model("model", added).file], text(), ["--view", "terms", "--length", `${shortest}`, "--head", `${settings.number("head", heads - 1)}`,
      "--width", `${Math.floor(room >= 600 ? room / 2 - 8 : Math.max(280, room))}`], show);
  };
  const { field, text } = sentenceField(settings, draw, app);
  const controls = h("div", { class: "demo-controls" }, field, modelField(app.t(words.model), "model", added, settings, draw, app));
  numberField(controls, app.t(words.head), "head", heads - 1, settings, draw, app);
  fill(root, controls, out, h("p", { class: "faint" }, app.t(words.terms)));
  draw();
}

/** What two trained models add to a score by distance: the one's lines are fixed, the other's were learned. */
function bias(root: HTMLElement, models: readonly Trained[], settings: Settings, app: App): void {
  const shown = models.filter((m) => ["alibi", "t5"].includes(keyOf(m))), [{ layers } = { layers: 1 }] = shown;
  const out = h("div", { class: "output picture pairs" }), show = drawn(out, app);
  if (shown.length < 2) return fill(root, h("p", {}, app.t(words.without)));
  const draw = (): void => {
    const room = out.clientWidth || 640;
    void read(app, out, shown.map((m) => m.file), "", ["--view", "bias", "--names", shown.map((m) => nameOf(m, app)).join(), "--length", `${reach}`,
      "--layer", `${settings.number("layer", layers - 1)}`, "--width", `${Math.floor(room >= 600 ? room / 2 - 8 : Math.max(280, room))}`], show);
  };
  const controls = h("div", { class: "demo-controls" });
  numberField(controls, app.t(words.layer), "layer", layers - 1, settings, draw, app);
  fill(root, controls, out);
  draw();
}

/** The spec that a method makes of RoPE at so many times its trained length; "": as it was trained. */
const methods: Record<string, (times: number, trained: number) => string> = {
  ntk: (times) => `rope:scaling=ntk,alpha=${times}`,
  yarn: (times, trained) => `rope:scaling=yarn,factor=${times},trained=${trained}`,
};

const names: Record<string, string> = { ntk: "NTK", yarn: "YaRN" };

function coloured(said: SaidText): HTMLElement {
  return h("p", { class: "bytes" }, ...said.bytes.map(({ byte, bits, right }) => {
    const el = h("span", { class: right ? "right" : null, title: bits.toFixed(1) }, byte === 10 ? "↵\n" : byte < 128 ? String.fromCharCode(byte) : "·");
    el.style.setProperty("--cost", `${Math.min(55, 7 * bits)}%`);
    return el;
  }));
}

/** A box for what one model makes of the end of a text. */
function reading(app: App): { box: HTMLElement; show(file: string, name: string, n: number): void } {
  const box = h("div", { class: "output", "aria-live": "polite" });
  return {
    box,
    show: (file, name, n) => {
      const title = h("h3", {}, app.t(words.reads).replace("N", `${n}`).replace("MODEL", name));
      fill(box, title, h("p", { class: "faint" }, app.t(common.measuring)));
      void read(app, box, [file], "", ["--view", "text", "--json", "--length", `${n}`], (ran) => {
        if (ran.code) return fill(box, title, h("p", { class: "error", role: "alert" }, sentence(ran)));
        const said = JSON.parse(ran.text) as SaidText;
        fill(box, title, coloured(said), h("p", { class: "faint" }, app.t(words.score).replace("BITS", said.bits.toFixed(2)).replace("RIGHT", `${said.right}`).replace("COUNT", `${said.bytes.length}`)));
      });
    },
  };
}

function length(root: HTMLElement, models: readonly Trained[], settings: Settings, app: App): void {
  const out = h("div", { class: "output picture" }), show = drawn(out, app), readings = [reading(app), reading(app)], readers = ["reader", "other"];
  const on = new Set(settings.get("on").split(",")), trained = models[0]?.trained ?? 1;
  const times = (): number => Math.max(1, Math.min(Number(settings.get("times")) || 1, 16));
  const changed = (m: Trained): string => (m.spec === "rope" && times() > 1 ? (methods[settings.get("method")]?.(times(), m.trained) ?? "") : "");
  const named = (m: Trained): string => nameOf(m, app) + (changed(m) ? ` + ${names[settings.get("method")] ?? ""}` : "");
  const draw = (): void => {
    out.classList.add("old");
    if (!out.firstChild) fill(out, h("p", {}, app.t(common.measuring)));
    const n = times() * trained, chosen = models.filter((m) => on.has(keyOf(m)));
    const lines = chosen.flatMap((m) => [[m.file, nameOf(m, app)], ...(changed(m) ? [[`${m.file}=${changed(m)}`, named(m)]] : [])]);
    if (lines.length) void read(app, out, lines.map(([file = ""]) => file), "",
      ["--names", lines.map(([, name]) => name).join(), "--length", `${n}`, "--trained", `${trained}`, "--width", width(out, 700)], show);
    readings.forEach((r, i) => {
      const m = settings.model(readers[i] ?? "", models);
      r.show(changed(m) ? `${m.file}=${changed(m)}` : m.file, named(m), n);
    });
  };
  const soon = whenQuiet(draw, 250);
  const boxes = models.map((m) => {
    const id = newId("model"), key = keyOf(m), box = h("input", { type: "checkbox", id, checked: on.has(key), onchange: () => {
      if (box.checked) on.add(key); else on.delete(key);
      settings.set("on", models.map(keyOf).filter((k) => on.has(k)).join());
      soon();
    } });
    return h("span", { class: "check" }, box, " ", h("label", { for: id }, nameOf(m, app)));
  });
  const controls = h("div", { class: "demo-controls" }, h("fieldset", { class: "choices" }, h("legend", {}, app.t(words.models)), ...boxes));
  app.slider(controls, { label: app.t(words.length), value: times(), min: 1, max: 16, log: true }, (v) => { settings.set("times", v); soon(); });
  controls.append(
    chooser(app.t(words.method), [["", app.t(words.none)], ...Object.entries(names)], settings.get("method"), (v) => { settings.set("method", v); draw(); }),
    h("div", { class: "sides" }, ...readers.map((id, i) => modelField(app.t(i ? words.other : words.reader), id, models, settings, draw, app))));
  fill(root, controls, out, ...readings.map((r) => r.box), h("p", { class: "faint" }, app.t(words.legend)));
  draw();
}

const panels = { attention, length, terms, bias };

/** What the scenes of trained models show; an element is filled once. keep: what the reader has set is written into the link. */
export function modelsOutput(el: HTMLElement, what: keyof typeof panels, values: Map<string, string>, keep: () => void, app: App): void {
  if (el.firstChild) return;
  const box = h("div", { class: "models" });
  fill(el, box);
  trainedModels().then((models) => {
    if (models.length) panels[what](box, models, new Settings(values, keep), app);
    else fill(box, h("p", {}, app.t(words.without)));
  }).catch((why: unknown) => fill(el, h("p", { class: "error", role: "alert" }, String(why))));
}
