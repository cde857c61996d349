// SPDX-License-Identifier: MIT
//
// Parts that go on by links: the story to another scene, the glossary to another term.

const heard = new WeakMap<HTMLElement, () => void>();

/** Calls f whenever the page has followed a link, until the part in root is made anew. */
export function onLink(root: HTMLElement, f: () => void): void {
  const before = heard.get(root);
  if (before) removeEventListener("hashchange", before);
  heard.set(root, f);
  addEventListener("hashchange", f);
}
