/* SPDX-License-Identifier: MIT
 *
 * A llama2.c header: sizes only. What its run.c does with positions is one thing for all files. */
#include "zoo/read.h"

#define REF "llama2.c run.c"

pe_status zoo_read_llama2c(zoo_builder *b, const io_llama2c *h)
{
    zoo_part *p;
    zoo_spec *spec = b->spec;
    pe_shape shape = { h->heads, h->kv_heads, h->head_size, h->dim };
    zoo_spec_start(spec, "rope");
    zoo_spec_real(spec, "theta", b->options->theta > 0 ? b->options->theta : 10000);
    zoo_spec_word(spec, "pairs", b->options->pairs ? b->options->pairs : "adjacent");
    ZOO_TRY(zoo_add_part(b, &p, "", "llama2.c", h->layers));
    p->trained = b->options->trained ? b->options->trained : h->seq_len;
    p->served = h->seq_len;
    for (int64_t n = 0; n < h->layers; n++)
        ZOO_TRY(zoo_set_layer(b, p, n, spec->text, shape, "", 0));
    if (b->options->theta > 0 || b->options->pairs)
        return PE_OK;
    return zoo_note_add(b, ZOO_FACT, "", REF,
                        "the header holds sizes only; llama2.c turns adjacent pairs by a base of "
                        "10000");
}
