/* SPDX-License-Identifier: MIT
 *
 * Where a model's class does not read rope_parameters, whatever its engine can do; and how transformers called the keys
 * before version 5. */
#include "zoo/engine_keys.h"

#include "zoo/facts.h"
#include "zoo/spec_read.h"

#include <stdio.h>
#include <string.h>

/* Read in models/TYPE of transformers 5.17.0, and in vLLM's chatglm.py. */
static const struct {
    const char *engine, *types;
    const char *when; /* on the spec */
    const char *text;
} closed[] = {
    { "transformers", "gptj|codegen", "",
      "its class reads rotary_dim, how many elements turn, and nothing else: base 10000 and no scaling are in its "
      "code" },
    { "transformers", "roformer|clvp|dinov3_vit|vjepa2|wav2vec2-bert|wav2vec2-conformer|sapiens2", "",
      "its class reads no rope_parameters: base and scaling are in its code" },
    { "transformers", "deepseek_v4", "",
      "its class reads rope_parameters by the names main and compress; what the config has there stays in force" },
    { "transformers", "phi3|phi3_v|phi4mm|phi4_multimodal", "scaling!=none|longrope",
      "its class takes longrope only (and takes yarn for it)" },
    { "vllm", "chatglm", "", "its class reads rope_ratio, by which it multiplies base 10000, and no rope_parameters" },
};

static bool is_one_of(const char *name, const char *list)
{
    return zoo_is_one_of((zoo_slice){ name, strlen(name) }, list, strlen(list));
}

static bool is_remote(const char *type)
{
    char source[120];
    const zoo_fact *f = zoo_fact_find(type);
    return f && strncmp(zoo_fact_source(source, f), "transformers", 12) != 0;
}

const char *zoo_engine_closed(const zoo_engine *engine, const zoo_part *part)
{
    bool remote = engine == zoo_engine_at(ZOO_TRANSFORMERS) && is_remote(part->type);
    int g = zoo_main_group(part);
    if (g < 0)
        return NULL;
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (!strcmp(closed[i].engine, engine->name) && is_one_of(part->type, closed[i].types) &&
            zoo_spec_meets(part->group[g].spec, closed[i].when))
            return closed[i].text;
    return remote ? "transformers has no class for it: the code beside the weights decides which keys count "
                    "(trust_remote_code)"
                  : NULL;
}

const char *zoo_engine_remark(const zoo_engine *engine, const zoo_part *part)
{
    int g = zoo_main_group(part);
    if (g < 0 || engine != zoo_engine_at(ZOO_TRANSFORMERS))
        return g < 0 ? NULL : engine->remark;
    const char *spec = part->group[g].spec;
    /* By the kind of layer, and of GPT-NeoX (rotary_pct, rotary_emb_base), the names were other ones. */
    if (zoo_engine_closed(engine, part) || zoo_by_kind(part) ||
        is_one_of(part->type, "gpt_neox|gptneox|gpt_neox_japanese"))
        return NULL;
    return zoo_spec_meets(spec, "dims,range!=trailing")
               ? "before version 5: the same keys under rope_scaling, but rope_theta and partial_rotary_factor beside "
                 "it"
               : "before version 5: the same keys under rope_scaling, but rope_theta beside it";
}
