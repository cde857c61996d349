// SPDX-License-Identifier: MIT
import { loadTool } from "./tool";

async function main(): Promise<void> {
  const tool = await loadTool();
  const out = document.getElementById("out");
  if (out) out.textContent = tool.run(["table", "rope", "-n", "4"]).text;
}

void main();
