// SPDX-License-Identifier: MIT
//
// Handing things to the reader: files made by the tool's own writers, and text for the clipboard.

import type { App } from "./app";
import { h } from "./dom";
import { words } from "./words";

export function saveFile(name: string, bytes: Uint8Array | string, type: string): void {
  const url = URL.createObjectURL(new Blob([bytes as BlobPart], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The clipboard where the browser allows it (a page from disk may not have it), else a selection to copy from. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "hidden", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function copyButton(app: App, label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", () => {
    void copyText(text()).then((done) => {
      button.textContent = app.t(done ? words.copied : words.notCopied);
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  });
  return button;
}
