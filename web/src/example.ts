// SPDX-License-Identifier: MIT
//
// A config.json to begin with: the fields of Llama 3 8B that concern positions.

export const exampleConfig = JSON.stringify({
  architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 4096, num_attention_heads: 32,
  num_key_value_heads: 8, num_hidden_layers: 32, max_position_embeddings: 8192, rope_theta: 500000.0,
}, null, 2);
