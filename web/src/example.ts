// SPDX-License-Identifier: MIT
//
// Files to begin with: of well-known models, the fields of their config.json that concern positions.

export interface Example {
  name: string;
  config: object;
}

const llama = {
  model_type: "llama", hidden_size: 4096, num_attention_heads: 32, num_key_value_heads: 8, num_hidden_layers: 32,
  rope_theta: 500000,
};

export const examples: Example[] = [
  { name: "Llama 3 8B", config: { ...llama, max_position_embeddings: 8192 } },
  {
    name: "Llama 3.1 8B",
    config: {
      ...llama, max_position_embeddings: 131072,
      rope_scaling: { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 },
    },
  },
  {
    name: "Mistral 7B v0.1",
    config: {
      model_type: "mistral", hidden_size: 4096, num_attention_heads: 32, num_key_value_heads: 8, num_hidden_layers: 32,
      max_position_embeddings: 32768, rope_theta: 10000, sliding_window: 4096,
    },
  },
  {
    name: "Qwen2.5 7B",
    config: {
      model_type: "qwen2", hidden_size: 3584, num_attention_heads: 28, num_key_value_heads: 4, num_hidden_layers: 28,
      max_position_embeddings: 32768, rope_theta: 1000000,
    },
  },
  { name: "BLOOM 7B1", config: { model_type: "bloom", hidden_size: 4096, n_head: 32, n_layer: 30 } },
  {
    name: "T5 small",
    config: {
      model_type: "t5", d_model: 512, d_kv: 64, num_heads: 8, num_layers: 6, relative_attention_num_buckets: 32,
      relative_attention_max_distance: 128,
    },
  },
  { name: "GPT-2", config: { model_type: "gpt2", n_embd: 768, n_head: 12, n_layer: 12, n_positions: 1024 } },
  {
    name: "BERT base",
    config: {
      model_type: "bert", hidden_size: 768, num_attention_heads: 12, num_hidden_layers: 12, max_position_embeddings: 512,
      position_embedding_type: "absolute",
    },
  },
];
