// SPDX-License-Identifier: MIT
//
// What the page carries besides its script: inside it (gzip in base64), or a file beside it. It is unpacked when it is asked for.

export async function asset(name: string): Promise<ArrayBuffer> {
  const find = (): HTMLElement | null => document.getElementById(`posenc-${name}`);
  if (!find() && document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  const inside = find();
  if (!inside) {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}, a file beside the page, could not be read: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
  }
  const packed = Uint8Array.from(atob((inside.textContent ?? "").trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
