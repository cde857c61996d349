// SPDX-License-Identifier: MIT
//
// Trained models at work: the attention of the reader's sentence, and what happens past the trained length.

import { sentence, type App, type Ran } from "./app";
import { fill, h, newId } from "./dom";
import { readFigures } from "./figure";
import { whenQuiet } from "./frame";
import { Picture } from "./picture";
import { read, trainedModels, type Trained } from "./trained";
import { words as common } from "./words";

const words = {
  model: { en: "Model trained with", zh: "训练时用的编码" },
  models: { en: "Models", zh: "模型" },
  reader: { en: "The text below is read by the model trained with", zh: "下面的文本由哪个模型来读（训练时用的编码）" },
  sentence: { en: "Your sentence", zh: "你的句子" },
  first: { en: "The dog chased the other dog.", zh: "The dog chased the other dog." },
  layer: { en: "Layer", zh: "层" },
  head: { en: "Head", zh: "头" },
  length: { en: "Length, times the trained one", zh: "长度（训练长度的倍数）" },
  method: { en: "RoPE, changed while it runs", zh: "运行时改动 RoPE" },
  none: { en: "as trained", zh: "不改" },
  without: { en: "This page was built without trained models.", zh: "构建本页时没有带上训练好的模型。" },
  reads: { en: "What MODEL makes of the end of a text of N bytes", zh: "MODEL 读一段 N 字节文本的结尾" },
  legend: { en: "The darker a letter's ground, the less it was expected; underlined: the model's first guess was right. BITS bits per byte, RIGHT of COUNT right.",
    zh: "底色越深，越出乎模型意料；有下划线的，模型猜对了。每字节 BITS 比特，COUNT 个里猜对 RIGHT 个。" },
};

const most = 60; // bytes of a sentence

interface SaidText {
  bytes: { byte: number; bits: number; right: boolean }[];
  bits: number;
  right: number;
}

function chooser(label: string, options: [string, string][], value: string, changed: (value: string) => void): HTMLElement {
  const id = newId("model"), select = h("select", { id, onchange: () => changed(select.value) }, ...options.map(([v, text]) => h("option", { value: v, selected: v === value }, text)));
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
}

/** Puts a figure of `read` into el, or the sentence of what failed. */
function drawn(el: HTMLElement, app: App): (ran: Ran) => void {
  const picture = new Picture(app, [], true);
  return (ran) => {
    el.classList.remove("old");
    const [figure] = ran.code ? [] : readFigures(ran.text);
    if (!figure) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
    picture.draw(figure);
    fill(el, picture.root);
  };
}

function width(el: HTMLElement, widest: number): string {
  return `${Math.floor(Math.max(280, Math.min(el.clientWidth || 640, widest)))}`;
}

function attention(root: HTMLElement, models: readonly Trained[], app: App): void {
  const out = h("div", { class: "output picture" });
  let model = models.find((m) => m.spec.startsWith("rope")) ?? models[0] as Trained, text = app.t(words.first), layer = 0, head = 0;
  const show = drawn(out, app);
  const draw = (): void => void read(app, out, [model.file], [...text].slice(0, most).join(""),
    ["--view", "attention", "--length", `${most}`, "--layer", `${layer}`, "--head", `${head}`, "--width", width(out, 620)], show);
  const soon = whenQuiet(draw, 150), id = newId("sentence");
  const field = h("input", { type: "text", id, value: text, maxlength: most, spellcheck: "false", oninput: () => { text = field.value || app.t(words.first); soon(); } });
  const controls = h("div", { class: "demo-controls" }, h("div", { class: "field" }, h("label", { for: id }, app.t(words.sentence)), field),
    chooser(app.t(words.model), models.map((m) => [m.file, m.spec]), model.file, (v) => { model = models.find((m) => m.file === v) ?? model; draw(); }));
  app.slider(controls, { label: app.t(words.layer), value: 0, min: 0, max: model.layers - 1 }, (v) => { layer = v; draw(); });
  app.slider(controls, { label: app.t(words.head), value: 0, min: 0, max: model.heads - 1 }, (v) => { head = v; draw(); });
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

function length(root: HTMLElement, models: readonly Trained[], app: App): void {
  const out = h("div", { class: "output picture" }), text = h("div", { class: "output", "aria-live": "polite" });
  const on = new Set(models.filter((m) => /^(sinusoidal|rope|alibi|t5:direction=causal)$/.test(m.spec)).map((m) => m.file));
  let times = 4, method = "", told = models.find((m) => m.spec.startsWith("rope")) ?? models[0] as Trained;
  const show = drawn(out, app);
  const spelled = (m: Trained): string => {
    const changed = method && m.spec === "rope" && times > 1 ? methods[method]?.(times, m.trained) : "";
    return changed ? `${m.file}=${changed}` : m.file;
  };
  const draw = (): void => {
    out.classList.add("old");
    if (!out.firstChild) fill(out, h("p", {}, app.t(common.measuring)));
    const n = times * told.trained, chosen = models.filter((m) => on.has(m.file)).map(spelled);
    if (chosen.length) void read(app, out, chosen, "", ["--length", `${n}`, "--trained", `${told.trained}`, "--width", width(out, 700)], show);
    void read(app, text, [spelled(told)], "", ["--view", "text", "--json", "--length", `${n}`], (ran) => {
      const title = app.t(words.reads).replace("N", `${n}`).replace("MODEL", told.spec + (spelled(told) === told.file ? "" : ` + ${names[method] ?? ""}`));
      if (ran.code) return fill(text, h("h3", {}, title), h("p", { class: "error", role: "alert" }, sentence(ran)));
      const said = JSON.parse(ran.text) as SaidText;
      fill(text, h("h3", {}, title), coloured(said), h("p", { class: "faint" }, app.t(words.legend).replace("BITS", said.bits.toFixed(2)).replace("RIGHT", `${said.right}`).replace("COUNT", `${said.bytes.length}`)));
    });
    fill(text, h("p", { class: "faint" }, app.t(common.measuring)));
  };
  const soon = whenQuiet(draw, 250);
  const boxes = models.map((m) => {
    const id = newId("model"), box = h("input", { type: "checkbox", id, checked: on.has(m.file), onchange: () => { if (box.checked) on.add(m.file); else on.delete(m.file); soon(); } });
    return h("span", { class: "check" }, box, " ", h("label", { for: id }, m.spec));
  });
  const controls = h("div", { class: "demo-controls" }, h("fieldset", { class: "choices" }, h("legend", {}, app.t(words.models)), ...boxes));
  app.slider(controls, { label: app.t(words.length), value: times, min: 1, max: 16, log: true }, (v) => { times = v; soon(); });
  controls.append(
    chooser(app.t(words.method), [["", app.t(words.none)], ...Object.entries(names)], method, (v) => { method = v; draw(); }),
    chooser(app.t(words.reader), models.map((m) => [m.file, m.spec]), told.file, (v) => { told = models.find((m) => m.file === v) ?? told; draw(); }));
  fill(root, controls, out, text);
  draw();
}

/** What the scene of trained models shows; an element is filled once. */
export function modelsOutput(el: HTMLElement, what: "attention" | "length", app: App): void {
  if (el.firstChild) return;
  const box = h("div", { class: "models" });
  fill(el, box);
  trainedModels().then((models) => {
    if (!models.length) fill(box, h("p", {}, app.t(words.without)));
    else if (what === "attention") attention(box, models, app);
    else length(box, models, app);
  }).catch((why: unknown) => fill(el, h("p", { class: "error", role: "alert" }, String(why))));
}
