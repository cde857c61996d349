/* SPDX-License-Identifier: MIT
 *
 * The rotation before any scaling: how much of a head turns, by which base, which coordinate drives a pair, what
 * multiplies. */
#include "zoo/hf_rope.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THETA                                                                                                          \
    "rope_theta|rotary_emb_base|global_rope_theta|rope_global_theta|rope_theta_global|rotary_base|rope_base|rotary_"   \
    "embedding_base"
#define LOCAL "rope_local_base_freq|local_rope_theta|swa_rope_theta|rope_theta_local|rope_swa_theta"
#define SHARE "partial_rotary_factor|rotary_pct|rope_pct|rope_percent|rotary_percent|rotary_emb_fraction"
#define WIDTH "rotary_dim|rotary_ndims|rope_dim"

/* ---------------------------------------------------------------- width */

static pe_status find_share(hf_part *h, const hf_turning *t, double *share)
{
    const zoo_fact *f = h->fact;
    double fallback = t->local && f->local_fraction != 0 ? f->local_fraction : f->fraction;
    *share = NAN;
    ZOO_TRY(io_json_real(share, &t->dict, "partial_rotary_factor", IO_OPTIONAL, h->b->err));
    if (h->share != 0)
        *share = h->share;
    if (isnan(*share))
        ZOO_TRY(hf_real(h, share, SHARE, fallback != 1 ? fallback : 0));
    if (!isnan(*share) && !(*share > 0 && *share <= 1))
        return io_fail(
            h->b->err, PE_ERR_RANGE,
            "%s: partial_rotary_factor is %s; needs more than 0 and at most 1, the share of a head that turns",
            h->b->model.path, zoo_number(*share).text);
    return PE_OK;
}

/* The row's count of elements that turn. MiniMax-M2's is read by vLLM and llama.cpp, not by its class. */
static pe_status find_count(hf_part *h, int64_t *count)
{
    const zoo_fact *f = h->fact;
    if (f->width_key || h->guessed)
        ZOO_TRY(hf_int(h, count, f->width_key ? f->width_key : WIDTH, f->width));
    if (f->width_key && f->width_unread && *count)
        return zoo_note_add(h->b, ZOO_WARNING, f->width_key, h->source,
                            "%s %" PRId64 " is what vLLM and llama.cpp read; transformers 5.17.0 does not, and turns "
                            "the whole head",
                            f->width_key, *count);
    if (f->rope_dim)
        ZOO_TRY(hf_int(h, count, "qk_rope_head_dim", f->rope_dim));
    return PE_OK;
}

/* Elements that turn: a count, a share, or all. transformers truncates; an odd count makes one element more turn, its
 * exponents still over the odd number. */
pe_status hf_find_width(hf_part *h, hf_turning *t, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    int64_t head = h->shape.head_dim, dims = head, count = 0;
    double share;
    ZOO_TRY(find_share(h, t, &share));
    ZOO_TRY(find_count(h, &count));
    bool reads = f->partial || f->fraction != 0;
    if (count)
        dims = count < head ? count : head;
    else if (!isnan(share) && reads && strcmp(t->how, "proportional"))
        dims = (int64_t)((double)head * share);
    else if (!isnan(share) && share != 1 && !reads && strcmp(t->how, "proportional"))
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "partial_rotary_factor", h->source,
                             "partial_rotary_factor is %s, but %s's code does not read it: the whole head turns",
                             zoo_number(share).text, f->type));
    if (!strcmp(t->how, "proportional"))
        zoo_spec_real(spec, "turning", isnan(share) ? 1 : share);
    t->dims = dims + dims % 2;
    if (dims % 2)
        zoo_spec_word(spec, "denominator", "d-1");
    if (t->dims != head)
        zoo_spec_int(spec, "dims", t->dims);
    if (t->dims != head && f->rope_dim)
        zoo_spec_word(spec, "range", "trailing"); /* MLA: [nope | rope] */
    return PE_OK;
}

/* ---------------------------------------------------------------- base */

/* The base in the dict counts, whatever stands beside it. */
static pe_status check_theta(hf_part *h, double theta)
{
    double beside = theta;
    const char *key = h->fact->theta_key ? h->fact->theta_key : "rope_theta";
    ZOO_TRY(hf_real(h, &beside, key, 0));
    if (beside == theta)
        return PE_OK;
    return zoo_note_add(h->b, ZOO_WARNING, key, "transformers modeling_rope_utils.py",
                        "%s is %s, but rope_parameters has rope_theta %s, which counts", key, zoo_number(beside).text,
                        zoo_number(theta).text);
}

pe_status hf_find_theta(hf_part *h, const hf_turning *t, double own, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    double theta = own > 0 ? own : NAN;
    if (f->fixed_theta)
        theta = f->theta;
    else if (isnan(theta) && !t->local)
        ZOO_TRY(io_json_real(&theta, &t->dict, "rope_theta", IO_OPTIONAL, h->b->err));
    if (!isnan(theta) && !*t->label && own == 0 && !f->fixed_theta)
        ZOO_TRY(check_theta(h, theta));
    if (isnan(theta) && t->local && f->local > 0)
        ZOO_TRY(hf_real(h, &theta, f->local_key ? f->local_key : LOCAL, f->local));
    if (isnan(theta))
        ZOO_TRY(hf_real(h, &theta, f->theta_key ? f->theta_key : THETA, f->theta));
    if (h->b->options->theta > 0)
        theta = h->b->options->theta;
    if (isnan(theta)) {
        ZOO_TRY(zoo_unknown(h->b, "rope_theta", "--theta 10000 (or what it is)", "10000", "no key gives the base"));
        theta = 10000;
    }
    zoo_spec_real(spec, "theta", theta);
    return PE_OK;
}

/* ---------------------------------------------------------------- axes */

static pe_status read_sections(hf_part *h, const hf_turning *t, double x[PE_AXES_MAX], size_t *count)
{
    io_node list;
    *count = 0;
    ZOO_TRY(io_json_array(&list, &t->dict, "mrope_section", IO_OPTIONAL, h->b->err));
    if (!list.json)
        ZOO_TRY(io_json_array(&list, &t->dict, "xdrope_section", IO_OPTIONAL, h->b->err));
    for (io_node child = { 0 }; list.json && io_json_next(&child, &list); ++*count) {
        if (*count == PE_AXES_MAX)
            return io_fail(h->b->err, PE_ERR_SHAPE, "%s: mrope_section has more than %d axes", h->b->model.path,
                           PE_AXES_MAX);
        ZOO_TRY(io_json_real(&x[*count], &child, NULL, IO_REQUIRED, h->b->err));
    }
    for (const char *s = *count ? NULL : h->fact->sections; s && *s && *count < PE_AXES_MAX;) {
        x[(*count)++] = strtod(s, NULL);
        s = strchr(s, '/');
        if (s)
            s++;
    }
    return PE_OK;
}

/* Interleaved sections leave the first axis what is left over; the spec wants them to add up. */
pe_status hf_find_axes(hf_part *h, const hf_turning *t, zoo_spec *spec)
{
    double x[PE_AXES_MAX], rest = 0;
    size_t count;
    bool interleaved = h->fact->split && !strcmp(h->fact->split, "interleaved");
    ZOO_TRY(read_sections(h, t, x, &count));
    if (!count || (!h->fact->sections && !h->guessed))
        return count ? zoo_note_add(h->b, ZOO_WARNING, "mrope_section", h->source,
                                    "mrope_section is there, but %s's code does not read it", h->fact->type)
                     : PE_OK;
    ZOO_TRY(io_json_bool(&interleaved, &t->dict, "mrope_interleaved", IO_OPTIONAL, h->b->err));
    int64_t pairs = t->dims / 2, axes = (int64_t)count;
    for (int64_t n = 1; interleaved && n < axes; n++) {
        double most = (double)((pairs - n + axes - 1) / axes); /* places n, n + axes, ... below pairs */
        x[n] = x[n] < most ? x[n] : most;
        rest += x[n];
    }
    if (interleaved)
        x[0] = (double)pairs - rest;
    zoo_spec_word(spec, "split", interleaved ? "interleaved" : h->fact->split ? h->fact->split : "chunked");
    zoo_spec_int(spec, "axes", (int64_t)count);
    zoo_spec_list(spec, "sections", x, count);
    if (h->fact->sections && !*h->fact->sections) /* HunYuan-VL */
        return zoo_note_add(h->b, ZOO_WARNING, "mrope_section", h->source,
                            "transformers 5.17.0 doubles each section and so takes the two elements of a pair from "
                            "different axes, which is no rotation; the spec is what vLLM does (layers/rotary_embedding/"
                            "xdrope.py), and for text both are the same");
    return PE_OK;
}

/* ---------------------------------------------------------------- what multiplies */

pe_status hf_find_gains(hf_part *h, const hf_turning *t, zoo_spec *spec)
{
    double all = 0, factor = NAN, beta = 0, original;
    ZOO_TRY(io_json_real(&all, &t->dict, "mscale_all_dim", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&beta, &t->dict, "llama_4_scaling_beta", IO_OPTIONAL, h->b->err));
    if (h->fact->mscale && all != 0 && factor > 1 && strcmp(t->how, "none")) {
        double g = 0.1 * all * log(factor) + 1;
        zoo_spec_real(spec, "softmax", g * g);
    }
    if (beta == 0)
        return PE_OK;
    ZOO_TRY(hf_original_length(h, t, &original));
    zoo_spec_real(spec, "temperature", beta);
    zoo_spec_real(spec, "floor", original);
    return PE_OK;
}
