/* SPDX-License-Identifier: MIT
 *
 * What there is to extend: the layers that rotate and see everything, how far they have seen, and how often each pair
 * has rotated by then. */
#include "zoo/extend.h"
#include "zoo/build.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- models that do not rotate */

static const struct {
    const char *row;
    extend_verdict verdict;
    const char *text;
    const char *with; /* only where a layer's spec gives this key; NULL: always. The last row that fits counts */
} still_rows[] = {
    { "alibi", EXTEND_NOTHING,
      "ALiBi is a slope on the distance, defined at any length; Press et al. 2021 (2108.12409) trained at 1024 and "
      "read "
      "2048 and more. There is nothing to set: raise the served length, and measure.",
      NULL },
    { "t5", EXTEND_NOTHING,
      "T5's buckets give every distance past max_distance one bias, so any length is defined (Raffel et al. 2019, "
      "1910.10683). There is nothing to set; far tokens all look equally far.",
      NULL },
    { "none", EXTEND_NOTHING,
      "The model has no position encoding, only the causal mask (Kazemnejad et al. 2023, 2305.19466). There is "
      "nothing to set; such models lose quality past the trained length all the same.",
      NULL },
    { "kerple", EXTEND_NOTHING,
      "KERPLE is a function of the distance, defined at any length (2205.09921). There is "
      "nothing to set.",
      NULL },
    { "sandwich", EXTEND_NOTHING,
      "Sandwich is a function of the distance, defined at any length (2212.10356). There "
      "is nothing to set.",
      NULL },
    { "fire", EXTEND_NOTHING,
      "FIRE divides the distance by the position, so any length stays within the range it was "
      "trained on (2310.04418). There is nothing to set.",
      NULL },
    { "forget", EXTEND_NOTHING,
      "The gates are computed from the tokens and forget as much per token at any length (Lin et al. 2025, "
      "2503.02130). "
      "There is nothing to set.",
      NULL },
    { "inkling", EXTEND_NOTHING,
      "Inkling's bias depends on the distance and is 0 past its last profile, so any length is defined. There is "
      "nothing to set: raise the served length, and measure.",
      NULL },
    { "inkling", EXTEND_NOTHING,
      "Inkling's bias depends on the distance and is 0 past its last profile, so any length is defined; "
      "log_scaling_n_floor makes the scores of late queries larger. There is nothing to set: raise the served length, "
      "and "
      "measure.",
      "floor" },
    { "xpos", EXTEND_NO,
      "xPos rotates as RoPE does, with a decay, and no scaling of its frequencies is established. Its authors read longer "
      "texts in blocks that see no further than the block before (Sun et al. 2022, 2212.10554), which needs code in the "
      "engine.",
      NULL },
    { "fope", EXTEND_NOTHING,
      "FoPE has no frequency that completes less than a turn within its trained length, so no angle is new at any "
      "length (Hua et al. 2024, 2412.17739). There is nothing to set: raise the served length, and measure.",
      NULL },
    { "pope", EXTEND_NO,
      "PoPE's cosines see new angles past the trained length, and no scaling of its frequencies is established. Its "
      "authors read longer texts without one (Gopalakrishnan et al. 2025, 2509.10534): raise the served length, and "
      "measure.",
      NULL },
    { "learned", EXTEND_NO,
      "The table of positions ends where training ended: there is no row for a later one. It can be continued by "
      "posenc's hierarchical row (a new row is a mix of two trained ones), which needs code in the engine.",
      NULL },
    { "sinusoidal", EXTEND_NO,
      "The codes exist at any position, but the model saw none past its trained length, and no scaling of them is "
      "established. Train it longer.",
      NULL },
};

static bool some_layer_gives(const extend_model *x, const char *key)
{
    bool gives = !key;
    for (int g = 0; !gives && g < x->part->groups; g++)
        gives = zoo_spec_has(x->part->group[g].spec, key);
    return gives;
}

static void judge_still(extend_model *x, const char *spec)
{
    char *part = zoo_spec_part(spec, 0);
    const pe_info *info = part ? zoo_spec_row(part) : NULL;
    const char *name = info ? info->name : spec;
    x->verdict = EXTEND_NO;
    snprintf(x->why, sizeof x->why,
             "No layer has pairs that rotate (%.60s): the methods of this verb change the "
             "frequencies of rope.",
             name);
    for (size_t i = 0; i < sizeof still_rows / sizeof *still_rows; i++)
        if (!strcmp(still_rows[i].row, name) && some_layer_gives(x, still_rows[i].with)) {
            x->verdict = still_rows[i].verdict;
            snprintf(x->why, sizeof x->why, "%s", still_rows[i].text);
        }
    free(part);
}

/* ---------------------------------------------------------------- which layers */

static bool rotates(const zoo_group *g)
{
    pe_encoding *e;
    char *part = extend_rope_part(g->spec, NULL);
    bool turns = part && !pe_encoding_new(&e, g->spec, g->shape, NULL);
    if (turns) {
        turns = pe_encoding_pair_count(e) > 0;
        pe_encoding_free(e);
    }
    free(part);
    return turns;
}

/* Which groups rotate: each is asked once, for making an encoding costs. */
static pe_status find_rotating(bool **out, const extend_model *x, pe_error *err)
{
    *out = calloc((size_t)x->part->groups + 1, sizeof **out);
    for (int g = 0; *out && g < x->part->groups; g++)
        (*out)[g] = rotates(&x->part->group[g]);
    return *out ? PE_OK : io_fail(err, PE_ERR_NOMEM, "%s: no memory", x->zoo->path);
}

/* Layers whose window is within what was seen keep their angles whatever the length is. */
static void pick_group(extend_model *x, const bool *rotating)
{
    for (int64_t n = 0; n < x->part->layers; n++) {
        const zoo_layer *layer = &x->part->layer[n];
        const zoo_group *g = &x->part->group[layer->group];
        if (!rotating[layer->group])
            x->still++;
        else if (layer->window > 0 ? layer->window <= x->trained : !strncmp(layer->kind, "sliding", 7))
            x->windowed++;
        else if (!x->group) {
            x->group = g;
            x->kind = layer->kind;
        } else if (x->group != g)
            x->mixed = true;
    }
}

static pe_status settle_lengths(extend_model *x, int64_t target, int64_t trained, pe_error *err)
{
    x->target = target;
    x->trained = trained ? trained : x->part->trained ? x->part->trained : x->part->served;
    if (x->trained <= 0)
        return io_fail(err, PE_ERR_RANGE, "%s: does not say its trained length; pass --trained N", x->zoo->path);
    x->reach = x->trained;
    return PE_OK;
}

/* ---------------------------------------------------------------- what was seen */

/* A scaling that models are trained with: dynamic is not, it is what engines do past the trained length. */
static bool is_trained_in(const extend_model *x)
{
    return strcmp(x->scaling, "none") && strcmp(x->scaling, "dynamic");
}

/* Linear's length in a config may be the one before it or the one after: its factor decides. */
static void settle_reach(extend_model *x, const char *rope)
{
    double linear = strcmp(x->scaling, "linear") ? 0 : zoo_spec_num_or(rope, "factor", 1) * (double)x->trained;
    if (is_trained_in(x) && x->part->served > x->trained)
        x->reach = x->part->served;
    if (linear > (double)x->reach && linear < 0x1p36)
        x->reach = (int64_t)linear;
}

static pe_status settle_specs(extend_model *x, pe_error *err)
{
    int at;
    char *part = extend_rope_part(x->group->spec, &at), length[24];
    bool fine = part && zoo_spec_text(x->scaling, sizeof x->scaling, part, "scaling");
    if (fine)
        settle_reach(x, part);
    snprintf(length, sizeof length, "%" PRId64, x->reach);
    bool by_length = fine && !strcmp(x->scaling, "longrope");
    char *plain = fine ? zoo_spec_set(part, "scaling", NULL) : NULL;
    if (plain && strcmp(x->scaling, "none"))
        fine = zoo_spec_put(&plain, "magnitude", NULL);
    if (plain && fine &&
        zoo_spec_has(part, "mscale_all_dim")) /* DeepSeek's factor on the softmax comes from that key */
        fine = zoo_spec_put(&plain, "softmax", NULL);
    fine = fine && plain && zoo_spec_put(&part, "length", NULL);
    if (fine)
        x->own = zoo_spec_with_part(x->group->spec, at, part);
    fine = fine && (!by_length || x->reach == x->trained || zoo_spec_put(&part, "length", length));
    if (fine) {
        x->seen = zoo_spec_with_part(x->group->spec, at, part);
        x->plain = zoo_spec_with_part(x->group->spec, at, plain);
    }
    free(plain);
    free(part);
    return x->own && x->seen && x->plain ? PE_OK : io_fail(err, PE_ERR_NOMEM, "%s: no memory", x->zoo->path);
}

static pe_status measure_pairs(extend_model *x, pe_error *err)
{
    extend_rotation seen;
    pe_status s = extend_rotation_of(&seen, x->seen, x->group->shape, err);
    if (s != PE_OK)
        return s;
    x->pairs = seen.count;
    x->pair = calloc((size_t)seen.count, sizeof *x->pair);
    for (int64_t n = 0; x->pair && n < seen.count; n++) {
        double f = fabs(seen.pair[n].frequency), turns = fabs(seen.pair[n].turns[0]);
        x->pair[n] = (extend_pair){ f, turns > 0 ? 1 / turns : INFINITY, turns * (double)x->reach };
    }
    extend_rotation_free(&seen);
    return x->pair ? PE_OK : io_fail(err, PE_ERR_NOMEM, "%s: no memory", x->zoo->path);
}

static void judge(extend_model *x)
{
    char *part = extend_rope_part(x->group->spec, NULL);
    if (part && zoo_spec_is(part, "coords", "normalised")) {
        x->verdict = EXTEND_NO;
        snprintf(x->why, sizeof x->why,
                 "Its coordinates are normalised to -1..1: a larger grid stays within them, and "
                 "the methods for longer sequences do not apply.");
    } else if (x->target <= x->reach) {
        x->verdict = EXTEND_NOTHING;
        snprintf(x->why, sizeof x->why, "%" PRId64 " positions are within the %" PRId64 " it %s: nothing to do.",
                 x->target, x->reach,
                 x->reach > x->trained ? "is served at, which the model's own makers offer, by a scaling of its own"
                                       : "was trained at");
    }
    free(part);
}

static void judge_windowed(extend_model *x)
{
    x->verdict = EXTEND_NOTHING;
    snprintf(x->why, sizeof x->why,
             "Every rotated layer has a window no longer than the trained length, so no "
             "angle is new at any length%s. Nothing about the rotation has to be set: raise the served length.",
             x->still ? "; the layers that see everything do not rotate" : "");
}

pe_status extend_open(extend_model *x, const zoo_model *zoo, int64_t target, int64_t trained, pe_error *err)
{
    *x = (extend_model){ .zoo = zoo, .part = &zoo->part[0], .kind = "", .scaling = "none" };
    pe_status s = settle_lengths(x, target, trained, err);
    if (s != PE_OK)
        return s;
    bool *rotating;
    TRY(find_rotating(&rotating, x, err));
    pick_group(x, rotating);
    free(rotating);
    if (!x->group && x->windowed)
        judge_windowed(x);
    else if (!x->group)
        judge_still(x, x->part->group[x->part->layer[0].group].spec);
    if (!x->group)
        return PE_OK;
    s = settle_specs(x, err);
    if (s == PE_OK && is_trained_in(x) && !x->part->trained && !trained)
        s = io_fail(err, PE_ERR_RANGE, "%s: does not say the trained length before scaling=%s; pass --trained N",
                    zoo->path, x->scaling);
    if (s == PE_OK)
        s = measure_pairs(x, err);
    if (s == PE_OK)
        judge(x);
    else
        extend_close(x);
    return s;
}

void extend_close(extend_model *x)
{
    free(x->own);
    free(x->seen);
    free(x->plain);
    free(x->pair);
    *x = (extend_model){ 0 };
}

double extend_theta(const extend_model *x)
{
    char *rope = extend_rope_part(x->own, NULL);
    double theta = rope ? zoo_spec_num_or(rope, "theta", 10000) : 10000;
    free(rope);
    return theta;
}
