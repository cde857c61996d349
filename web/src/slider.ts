// SPDX-License-Identifier: MIT
//
// A slider and the number it stands for. The slider may run in equal ratios; the field takes any number in range.

import type { Slider, SliderWanted } from "./app";
import { h, newId } from "./dom";
import { eachFrame } from "./frame";

const ticks = 1000; // of a slider that runs in ratios

/** 8192 as 8192, 1048576 as 1048576, 0.00031 as 0.00031: what a spec can hold. */
function plain(value: number): string {
  return String(Number(value.toPrecision(12)));
}

export function makeSlider(el: HTMLElement, wanted: SliderWanted, onChange: (value: number) => void): Slider {
  const { min, max, most = max, log = false, step = 1 } = wanted;
  const id = newId("slider");
  const ratio = log && min > 0 ? Math.log(max / min) : 0;
  const whole = Number.isInteger(step);
  const toTick = (v: number): number => (ratio ? (ticks * Math.log(Math.max(v, min) / min)) / ratio : v);
  const fromTick = (t: number): number => {
    if (!ratio) return t;
    const v = min * Math.exp((ratio * t) / ticks);
    return whole ? Math.round(v / step) * step : Number(v.toPrecision(3));
  };
  let value = wanted.value;

  const range = h("input", {
    type: "range", id: `${id}-range`, min: ratio ? 0 : min, max: ratio ? ticks : max, step: ratio ? 1 : step,
    "aria-label": wanted.label,
  });
  const field = h("input", {
    type: "number", id, min, max: most, step: whole ? 1 : "any", inputmode: whole ? "numeric" : "decimal",
    placeholder: wanted.none ?? null, "aria-describedby": wanted.help ? `${id}-help` : null,
  });
  const show = (): void => {
    const none = Number.isNaN(value);
    root.classList.toggle("none", none);
    field.value = none ? "" : plain(value);
    range.value = String(toTick(none ? min : value));
    range.setAttribute("aria-valuetext", none ? field.placeholder : plain(value));
  };
  const tell = eachFrame(() => onChange(value));
  range.addEventListener("input", () => {
    value = fromTick(Number(range.value));
    root.classList.remove("none");
    field.value = plain(value);
    range.setAttribute("aria-valuetext", field.value);
    tell();
  });
  field.addEventListener("input", () => {
    const typed = field.valueAsNumber;
    if (!(typed >= min && typed <= most) || (whole && typed % 1)) return;
    value = typed;
    root.classList.remove("none");
    range.value = String(toTick(value));
    tell();
  });
  field.addEventListener("blur", show);
  const root = h("div", { class: "slider" },
    h("label", { for: id }, wanted.label), field, range,
    wanted.help ? h("p", { class: "help", id: `${id}-help` }, wanted.help) : null);
  show();
  el.append(root);
  return { root, get: () => value, set: (v) => { if (!Object.is(v, value)) { value = v; show(); } } };
}
