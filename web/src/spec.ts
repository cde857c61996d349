// SPDX-License-Identifier: MIT
//
// The text of a spec as the form sees it: name[:key=value[,key=value...]][+name...]. What it means, and whether it is
// right, the tool says.

export interface Part {
  name: string;
  keys: Map<string, string>;
}

export function readSpec(text: string): Part[] {
  return text.trim().split("+").map((part) => {
    const colon = part.indexOf(":");
    const keys = new Map<string, string>();
    if (colon >= 0)
      for (const pair of part.slice(colon + 1).split(",")) {
        const equals = pair.indexOf("=");
        if (equals > 0) keys.set(pair.slice(0, equals), pair.slice(equals + 1));
      }
    return { name: colon >= 0 ? part.slice(0, colon) : part, keys };
  });
}

export function writeSpec(parts: readonly Part[]): string {
  return parts.map(({ name, keys }) => {
    const pairs = [...keys].map(([key, value]) => `${key}=${value}`);
    return pairs.length ? `${name}:${pairs.join(",")}` : name;
  }).join("+");
}
