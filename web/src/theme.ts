// SPDX-License-Identifier: MIT
//
// Light or dark: the system's, or the reader's choice, which is kept where the browser lets us keep things.

const kept = "posenc-theme";
const print = "print";

export function keptTheme(): string {
  try {
    return localStorage.getItem(kept) ?? "";
  } catch {
    return "";
  }
}

/** Paper is light. */
export function showTheme(chosen: string): void {
  const root = document.documentElement, theme = matchMedia(print).matches ? "light" : chosen;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
}

/** The reader's own choice; what a link says is only shown. */
export function keepTheme(theme: string): void {
  try {
    if (theme) localStorage.setItem(kept, theme);
    else localStorage.removeItem(kept);
  } catch {
    // a page from disk may not be allowed to keep anything
  }
}

/** The theme after this one: from the system's to the other one, then back to that of the system's name, then the system's. */
export function nextTheme(theme: string): string {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", other = system === "dark" ? "light" : "dark";
  return theme === "" ? other : theme === other ? system : "";
}

export function moves(): boolean {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Calls f where the system changes between light and dark, or the page goes to paper and back. */
export function onTheme(f: () => void): void {
  for (const asked of ["(prefers-color-scheme: dark)", print]) matchMedia(asked).addEventListener("change", f);
}
