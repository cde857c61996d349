// SPDX-License-Identifier: MIT
//
// A slider and the number it stands for. The slider may run in equal ratios, with 0 at its foot where it begins there; the
// field takes any number in range, or any at all where someone else judges it.

import type { Slider, SliderWanted } from "./app";
import { h, newId } from "./dom";
import { eachFrame } from "./frame";

const ticks = 1000; // of a slider that runs in ratios

/** 8192 as 8192, 1048576 as 1048576, 0.00031 as 0.00031: what a spec can hold. */
function plain(value: number): string {
  return String(Number(value.toPrecision(12)));
}

interface Scale {
  low: number; // of the range element
  high: number;
  step: number;
  toTick(value: number): number;
  fromTick(tick: number): number;
}

function scaleOf({ min, max, log = false, step = 1 }: SliderWanted): Scale {
  if (!log || min < 0) return { low: min, high: max, step, toTick: (v) => v, fromTick: (t) => t };
  const whole = Number.isInteger(step), first = min > 0 ? min : whole ? 1 : 0.001; // the least above the foot
  const ratio = Math.log(max / first), foot = min > 0 ? 0 : 1;
  return {
    low: 0, high: ticks, step: 1,
    toTick: (v) => (v < first ? 0 : foot + ((ticks - foot) * Math.log(v / first)) / ratio),
    fromTick: (t) => {
      if (t < foot) return min;
      const v = first * Math.exp((ratio * (t - foot)) / (ticks - foot));
      return whole ? Math.round(v / step) * step : Number(v.toPrecision(3));
    },
  };
}

/** outside: the sentence for a number that is not between these. */
export function makeSlider(el: HTMLElement, wanted: SliderWanted, outside: (low: string, high: string) => string,
                           onChange: (value: number) => void): Slider {
  const { min, max, most = max, step = 1, free = false } = wanted;
  const id = newId("slider");
  const whole = Number.isInteger(step);
  const { low, high, step: tick, toTick, fromTick } = scaleOf(wanted);
  let value = wanted.value;

  const range = h("input", {
    type: "range", id: `${id}-range`, min: low, max: high, step: tick,
    "aria-label": (wanted.side ? `${wanted.side}: ` : "") + wanted.label,
  });
  const field = h("input", {
    type: "number", id, min: free ? null : min, max: free ? null : most, step: whole && !free ? 1 : "any", inputmode: whole ? "numeric" : "decimal",
    placeholder: wanted.none ?? null, "aria-describedby": wanted.help ? `${id}-help ${id}-error` : `${id}-error`,
  });
  const error = h("p", { class: "error", id: `${id}-error`, role: "status" });
  const refuse = (why: string): void => {
    error.textContent = why;
    field.setAttribute("aria-invalid", String(why !== ""));
  };
  const show = (): void => {
    refuse("");
    const none = Number.isNaN(value);
    root.classList.toggle("none", none);
    field.value = none ? "" : plain(value);
    range.value = String(toTick(none ? min : value));
    range.setAttribute("aria-valuetext", none ? field.placeholder : plain(value));
  };
  let untold = false; // the reader's number is on its way: what comes from outside is older
  const telling = eachFrame(() => { untold = false; onChange(value); });
  const tell = (): void => { untold = true; telling(); };
  range.addEventListener("input", () => {
    value = fromTick(Number(range.value));
    root.classList.remove("none");
    field.value = plain(value);
    range.setAttribute("aria-valuetext", field.value);
    refuse("");
    tell();
  });
  field.addEventListener("input", () => {
    const typed = field.valueAsNumber, none = Number.isNaN(typed);
    const fits = none ? wanted.none !== undefined && !field.validity.badInput : free || (typed >= min && typed <= most && !(whole && typed % 1));
    refuse(fits || (none && !field.validity.badInput) ? "" : outside(plain(min), plain(most)));
    if (!fits) return;
    value = typed;
    root.classList.toggle("none", none);
    range.value = String(toTick(none ? min : value));
    tell();
  });
  field.addEventListener("blur", show);
  const root = h("div", { class: "slider" },
    h("label", { for: id }, wanted.side ? h("span", { class: "hidden" }, `${wanted.side}: `) : null, wanted.label), field, range, error,
    wanted.help ? h("p", { class: "help", id: `${id}-help` }, wanted.help) : null);
  show();
  el.append(root);
  return { root, get: () => value, set: (v) => { if (!untold && !Object.is(v, value)) { value = v; show(); } } };
}
