/* SPDX-License-Identifier: MIT */
#include "zoo/facts_table.h"
const zoo_fact zoo_facts_other[] = { { "bloom", .family = "alibi", .hidden = 64, .heads = 8, .layers = 2 } };
const size_t zoo_facts_other_count = sizeof zoo_facts_other / sizeof *zoo_facts_other;
const zoo_fact zoo_facts_remote[] = { { "Yi", .at = "huggingface.co/01-ai/Yi-6B", .theta = 5000000 } };
const size_t zoo_facts_remote_count = sizeof zoo_facts_remote / sizeof *zoo_facts_remote;
const zoo_fact zoo_facts_parts[] = { { "llava", .parts = "text_config=llama|vision_config=clip_vision_model" } };
const size_t zoo_facts_parts_count = sizeof zoo_facts_parts / sizeof *zoo_facts_parts;
