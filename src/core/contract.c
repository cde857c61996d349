/* SPDX-License-Identifier: MIT
 *
 * What the author of a row must keep to (core/row.h), asked of every part that is made: a table of sentences, each with
 * a question. Functions are asked at a few points only, so that a part costs microseconds. */
#include "core/contract.h"

#include "core/encoding.h"
#include "kernels/turn.h"

#define PARAMS_MAX 1024                /* a part with more is not asked what depends on their numbers */
#define FARTHEST (2 * PE_POSITION_MAX) /* two positions are no further apart */

typedef struct trial {
    const part *p;
    pe_params w; /* as training finds them; data NULL: there are none, or not so few */
    bool asks;   /* whether functions of w can be asked */
} trial;

/* ------------------------------------------------ hooks */

static unsigned row_hooks(const row *r)
{
    return (r->embed ? PE_HOOK_EMBED : 0) | (r->rotate ? PE_HOOK_ROTATE : 0) |
           (r->bias || r->absolute ? PE_HOOK_BIAS : 0);
}

static unsigned term_hooks(const part *p)
{
    unsigned hooks = p->count.on || p->polar.on ? PE_HOOK_CONTENT : 0;
    for (int n = 0; n < p->terms; n++)
        hooks |= p->term[n].side == PE_VALUE ? PE_HOOK_VALUE : PE_HOOK_CONTENT;
    return hooks;
}

static bool hooks_are_what_is_filled(const trial *t)
{
    const part *p = t->p;
    unsigned said = p->row->info.hooks, own = PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_BIAS;
    unsigned gain = p->gains && !p->pairs ? PE_HOOK_ROTATE : 0, free = PE_HOOK_BIAS | gain;
    return (said & own) == (row_hooks(p->row) | (p->gates ? PE_HOOK_BIAS : 0)) &&
           (p->hooks & ~free) == ((said & own & ~free) | term_hooks(p)) && !(p->hooks & ~(said | gain));
}

static bool axes_can_be_counted(const trial *t)
{
    return t->p->axes >= 1 && t->p->axes <= PE_AXES_MAX;
}

/* ------------------------------------------------ tensors */

static bool rows_fill_their_tensors(const trial *t)
{
    for (int n = 0; n < t->p->tensors; n++)
        if (t->p->tensor[n].fill == FILL_ROW && !t->p->row->fill)
            return false;
    return true;
}

/* Tensor n, where it is one of rank 3; NULL where not. */
static const int64_t *shape_of(const part *p, int n)
{
    return n >= 0 && n < p->tensors && p->tensor[n].rank == 3 ? p->tensor[n].shape : NULL;
}

/* (least or more, H or 1, width) */
static bool is_table(const part *p, int n, int64_t least, int64_t width)
{
    const int64_t *s = shape_of(p, n);
    return s && s[0] >= least && (s[1] == 1 || s[1] == p->shape.heads) && s[2] == width;
}

static int64_t width_of(const part *p, const term *m)
{
    return m->input ? m->input : p->shape.head_dim;
}

static bool is_extra(const part *p, const term *m)
{
    const int64_t *s = shape_of(p, m->extra);
    return m->side == PE_QUERY && s && s[0] == 1 && s[1] == p->shape.heads && s[2] == width_of(p, m);
}

static bool terms_have_tables(const trial *t)
{
    const part *p = t->p;
    for (const term *m = p->term; m < p->term + p->terms; m++)
        if (m->side == PE_OUTPUT || !m->index ||
            !(m->table < 0 ? m->entry != NULL : is_table(p, m->table, 1, width_of(p, m))))
            return false;
    return true;
}

static bool extras_are_of_queries(const trial *t)
{
    const part *p = t->p;
    for (const term *m = p->term; m < p->term + p->terms; m++)
        if (m->extra >= 0 && !is_extra(p, m))
            return false;
    return true;
}

static bool inputs_are_of_queries(const trial *t)
{
    const part *p = t->p;
    for (const term *m = p->term; m < p->term + p->terms; m++)
        if (m->input < 0 || m->input > PE_HEAD_DIM_MAX || (m->input && m->side != PE_QUERY))
            return false;
    return true;
}

static bool counts_have_a_table(const trial *t)
{
    return !t->p->count.on || is_table(t->p, t->p->count.table, 2, t->p->shape.head_dim);
}

static bool polars_have_phases(const trial *t)
{
    const part *p = t->p;
    const tensor *x = p->polar.phases >= 0 && p->polar.phases < p->tensors ? &p->tensor[p->polar.phases] : NULL;
    return !p->polar.on || (p->stage == PE_BEFORE_SCALE && p->shape.head_dim <= POLAR_MAX && p->polar.frequency && x &&
                            x->rank == 2 && x->shape[0] == p->shape.kv_heads && x->shape[1] == p->shape.head_dim);
}

/* Parameters that no table of core's uses: hooks read them. */
static bool hooks_learn(const part *p)
{
    bool used[TENSORS_MAX] = { false };
    int own = p->tensors;
    for (const term *m = p->term; m < p->term + p->terms; m++) {
        if (m->table >= 0)
            used[m->table] = true;
        if (m->extra >= 0)
            used[m->extra] = true;
    }
    if (p->count.on)
        used[p->count.table] = true;
    if (p->polar.on)
        used[p->polar.phases] = true;
    if (p->mix.waves)
        used[p->mix.cosines] = used[p->mix.sines] = true;
    else if (p->trained)
        used[p->frequencies] = true;
    for (int n = 0; n < p->tensors; n++)
        own -= used[n];
    return own > 0;
}

static bool what_learns_has_a_gradient(const trial *t)
{
    const part *p = t->p;
    bool bias = p->hooks & PE_HOOK_BIAS && !p->absolute && !p->row->bias_back;
    bool embed = p->hooks & PE_HOOK_EMBED && !p->row->embed_back;
    return !(bias || embed) || !hooks_learn(p);
}

/* ------------------------------------------------ what is reached */

static bool offset_reached(const part *p, const int64_t *offset, int64_t from)
{
    int64_t q[PE_AXES_MAX] = { 0 }, k[PE_AXES_MAX] = { 0 };
    for (int64_t a = 0; a < p->axes; a++) {
        k[a] = from;
        q[a] = from + offset[a];
    }
    return p->row->reaches(p, q, k);
}

static bool axis_reached(const part *p, int64_t axis, int64_t by)
{
    int64_t offset[PE_AXES_MAX] = { 0 };
    offset[axis] = by;
    return offset_reached(p, offset, 0);
}

/* The last offset on this side, up to FARTHEST, that is reached along an axis: one that is, before one that is not. */
static int64_t reach_end(const part *p, int64_t axis, int64_t sign)
{
    int64_t in = 0, out = FARTHEST;
    if (axis_reached(p, axis, sign * FARTHEST))
        return sign * FARTHEST;
    while (out - in > 1) {
        int64_t middle = in + (out - in) / 2;
        *(axis_reached(p, axis, sign * middle) ? &in : &out) = middle;
    }
    return sign * in;
}

/* Nothing between 0 and the end is left out, nothing past the end is in. */
static bool side_is_whole(const part *p, int64_t axis, int64_t sign, int64_t end)
{
    int64_t size = sign * end;
    const int64_t inside[] = { 1, 2, 3, size / 3, size / 2, size - 1 }, past[] = { size + 2, size + 3, 2 * size + 1 };
    for (int i = 0; i < COUNT_OF(inside); i++)
        if (inside[i] > 0 && inside[i] < size && !axis_reached(p, axis, sign * inside[i]))
            return false;
    for (int i = 0; i < COUNT_OF(past) && size < FARTHEST; i++)
        if (axis_reached(p, axis, sign * past[i]))
            return false;
    return true;
}

static bool reach_is_a_box(const trial *t)
{
    const part *p = t->p;
    int64_t corner[4][PE_AXES_MAX] = { 0 };
    if (!p->row->reaches)
        return true;
    if (!axis_reached(p, 0, 0))
        return false;
    for (int64_t a = 0; a < p->axes; a++) {
        int64_t low = reach_end(p, a, -1), high = reach_end(p, a, 1);
        if (!side_is_whole(p, a, -1, low) || !side_is_whole(p, a, 1, high))
            return false;
        for (int c = 0; c < 4; c++) /* all low, all high, and alternating */
            corner[c][a] = (c < 2 ? c : (a + c) % 2) ? high : low;
    }
    for (int c = 0; c < 4; c++)
        if (!offset_reached(p, corner[c], 0) || !offset_reached(p, corner[c], 1000))
            return false;
    return true;
}

static bool index_is_in_table(const part *p, const term *m, int64_t distance)
{
    int64_t r = m->index(p, distance);
    return m->table < 0 || m->input || (r >= 0 && r < p->tensor[m->table].shape[0]);
}

static bool indices_are_in_tables(const trial *t)
{
    static const int64_t near[] = { 0, 1, 2, 3, 7, 31, 100, 1000, 100000, FARTHEST / 3, FARTHEST };
    const part *p = t->p;
    for (int side = -1; side < 2 && p->terms; side += 2) {
        int64_t end = p->row->reaches ? reach_end(p, 0, side) : side * FARTHEST;
        for (const term *m = p->term; m < p->term + p->terms; m++) {
            if (!index_is_in_table(p, m, end))
                return false;
            for (int i = 0; i < COUNT_OF(near) && near[i] <= side * end; i++)
                if (!index_is_in_table(p, m, side * near[i]))
                    return false;
        }
    }
    return true;
}

/* ------------------------------------------------ a bias */

static bool bias_is_there(const trial *t)
{
    const part *p = t->p;
    return !(p->hooks & PE_HOOK_BIAS) || p->gates || (p->absolute ? p->row->absolute != NULL : p->row->bias != NULL);
}

static bool shares_have_knots(const trial *t)
{
    return !t->p->row->share || t->p->row->knots;
}

static bool knots_are_there(const trial *t)
{
    const row *r = t->p->row;
    return !r->knots || (r->knots(t->p) >= 0 && (r->knot || r->knots(t->p) == 0));
}

/* What the weights make of the corners of its box is no further than reach. */
static bool weights_have_a_reach(const trial *t)
{
    const part *p = t->p;
    double far[2] = { 0, 0 };
    if (!p->weighs)
        return true;
    if (p->reach <= 0 || !p->row->reaches)
        return false;
    for (int64_t a = 0; a < p->axes; a++) {
        double low = (double)reach_end(p, a, -1), high = (double)reach_end(p, a, 1), w = (double)p->weight[a];
        far[0] += fmin(w * low, w * high);
        far[1] += fmax(w * low, w * high);
    }
    return far[0] >= -(double)p->reach && far[1] <= (double)p->reach;
}

static double measure_of(const trial *t, int64_t distance)
{
    return t->p->row->measure ? t->p->row->measure(t->p, t->w, (double)distance) : (double)distance;
}

static bool measures_are_measure(const trial *t)
{
    enum { FIRST = 5, COUNT = 2 };
    double many[COUNT];
    if (!t->p->row->measures || !t->asks)
        return true;
    t->p->row->measures(t->p, many, FIRST, COUNT);
    for (int i = 0; i < COUNT; i++)
        if (!(fabs(many[i] - measure_of(t, FIRST - i)) <= 1e-9 * (1 + fabs(many[i])))) /* sums in another order */
            return false;
    return true;
}

static bool measure_keeps_its_way(const trial *t)
{
    static const int64_t at[] = { 0, 1, 2, 3, 7, 31, 100, 1000, 100000 };
    bool rises[2] = { true, true }, falls[2] = { true, true };
    for (int side = 0; t->p->row->knots && t->asks && side < 2; side++) {
        double last = measure_of(t, 0);
        for (int i = 1; i < COUNT_OF(at); i++) {
            double m = measure_of(t, side ? at[i] : -at[i]);
            rises[side] = rises[side] && m >= last;
            falls[side] = falls[side] && m <= last;
            last = m;
        }
    }
    return (rises[0] || falls[0]) && (rises[1] || falls[1]);
}

static double bias_of(const trial *t, int64_t distance)
{
    return t->p->row->bias(t->p, t->w, 0, measure_of(t, distance));
}

static bool straight_is_straight(const trial *t)
{
    static const int64_t at[][3] = { { 0, 5, 10 }, { 7, 1007, 2007 }, { -1, -50, -99 } };
    for (int i = 0; t->p->straight && t->asks && i < COUNT_OF(at); i++) {
        double a = bias_of(t, at[i][0]), b = bias_of(t, at[i][1]), c = bias_of(t, at[i][2]);
        if (!(fabs(a + c - 2 * b) <= 1e-9 * (fabs(a) + fabs(b) + fabs(c))))
            return false;
    }
    return true;
}

static bool flat_is_flat(const trial *t)
{
    static const int64_t on[] = { 1, 7, 1000, 1000000 };
    int64_t flat = t->p->flat;
    if (flat < 0)
        return false;
    for (int i = 0; flat && t->asks && i < COUNT_OF(on); i++)
        if (measure_of(t, flat + on[i]) != measure_of(t, flat) || measure_of(t, -flat - on[i]) != measure_of(t, -flat))
            return false;
    return true;
}

static bool knot_between(const trial *t, int64_t knots, double low, double high)
{
    for (int64_t i = 0; i < knots; i++) {
        double at = t->p->row->knot(t->p, t->w, i);
        if (!(at < low) && !(at > high))
            return true;
    }
    return false;
}

static bool bias_is_linear_between_knots(const trial *t)
{
    static const int64_t at[] = { -20, 1, 5, 60 };
    const row *r = t->p->row;
    int64_t knots = r->knots ? r->knots(t->p) : -1;
    for (int i = 0; knots >= 0 && r->bias && t->asks && i < COUNT_OF(at); i++) {
        double x = measure_of(t, at[i]), by = fabs(x) / 8;
        if (r->share)
            x *= r->share(t->p, t->w, (double[PE_AXES_MAX]){ 9 });
        if (knot_between(t, knots, x - by, x + by))
            continue;
        double a = r->bias(t->p, t->w, 0, x - by), b = r->bias(t->p, t->w, 0, x), c = r->bias(t->p, t->w, 0, x + by);
        if (!(fabs(a + c - 2 * b) <= 1e-9 * (fabs(a) + fabs(b) + fabs(c))))
            return false;
    }
    return true;
}

/* ------------------------------------------------ a rotation */

static bool lane_is_free(const part *p, lane l, bool *taken)
{
    int64_t D = p->shape.head_dim;
    if (l.x < 0 || l.x >= D || l.y < 0 || l.y >= D || l.x == l.y || taken[l.x] || taken[l.y])
        return false;
    return taken[l.x] = taken[l.y] = true;
}

static bool lanes_share_the_head(const trial *t)
{
    const part *p = t->p;
    if (!(p->hooks & PE_HOOK_ROTATE))
        return true;
    if (p->pairs < 0 || p->rests < 0 || 2 * p->pairs + p->rests != p->shape.head_dim ||
        (p->pairs && !(p->from && p->to && p->pair)))
        return false;
    for (int which = 0; which < 2; which++) {
        bool taken[PE_HEAD_DIM_MAX] = { false };
        for (int64_t n = 0; n < p->pairs; n++)
            if (!lane_is_free(p, which ? p->to[n] : p->from[n], taken))
                return false;
        for (int64_t n = 0; n < p->rests; n++) {
            int64_t d = p->rest[n];
            if (d < 0 || d >= p->shape.head_dim || taken[d])
                return false;
            taken[d] = true;
        }
    }
    return true;
}

static bool pairs_have_an_axis(const trial *t)
{
    for (int64_t n = 0; n < t->p->pairs; n++)
        if (t->p->pair[n].axis < 0 || t->p->pair[n].axis >= t->p->axes)
            return false;
    return true;
}

static bool frequencies_are_a_tensor(const trial *t)
{
    const part *p = t->p;
    const int64_t *s = p->trained ? shape_of(p, p->frequencies) : NULL;
    return !p->trained || p->mix.waves ||
           (p->row->rotate && !p->exact && s && (s[0] == 1 || s[0] == p->shape.kv_heads) && s[1] == p->axes &&
            s[2] == p->pairs);
}

/* A tensor of a wave's share in each pair. */
static bool is_mix(const part *p, int n)
{
    const int64_t *s = shape_of(p, n);
    return s && (s[0] == 1 || s[0] == p->shape.kv_heads) && s[1] == p->mix.waves && s[2] == p->mix.pairs;
}

static bool mixes_have_tensors(const trial *t)
{
    const part *p = t->p;
    const mixing *m = &p->mix;
    return !m->waves ||
           (p->row->rotate && p->trained && !p->exact && m->frequency && m->pairs >= 1 && m->pairs <= p->pairs &&
            is_mix(p, m->cosines) && is_mix(p, m->sines) && shape_of(p, m->cosines)[0] == shape_of(p, m->sines)[0]);
}

static bool magnitude_is_above_0(const trial *t)
{
    return !(t->p->hooks & PE_HOOK_ROTATE && (t->p->exact || t->p->trained)) || t->p->magnitude > 0;
}

static bool gains_have_gain(const trial *t)
{
    return !t->p->gains || t->p->row->gain;
}

/* The first and the last pair, at a place off the centre. */
static bool exact_angles_are_exact(const trial *t)
{
    const part *p = t->p;
    for (int64_t n = 0; p->row->rotate && p->exact && n<p->pairs; n += p->pairs> 1 ? p->pairs - 1 : 1) {
        const pair *f = &p->pair[n];
        int64_t at[PE_AXES_MAX] = { 0 };
        at[f->axis] = p->centre + 5;
        double c, s;
        pair_rotation x = p->row->rotate(p, PE_KEY, at, n);
        turn_cos_sin((double)(at[f->axis] * f->multiplier + f->shift), f->frequency, &c, &s);
        if (x.cosine != c || x.sine != s)
            return false;
    }
    return true;
}

/* ------------------------------------------------ a code */

static bool codes_have_a_width(const trial *t)
{
    const part *p = t->p;
    return !p->row->embed || (p->width >= 1 && (p->concat || p->width == p->shape.model_dim));
}

static bool waves_fill_the_width(const trial *t)
{
    const part *p = t->p;
    return !p->waves.count || (p->row->embed && p->waves.frequency && 2 * p->waves.count * p->axes == p->width);
}

/* ------------------------------------------------ all of them */

/* Each may take for granted those before it. */
static const struct contract {
    const char *says;
    bool (*holds)(const trial *t);
} contracts[] = {
    { "the row's and the part's hooks must be those that are filled", hooks_are_what_is_filled },
    { "axes must be 1 to PE_AXES_MAX", axes_can_be_counted },
    { "a FILL_ROW tensor must have the row's fill", rows_fill_their_tensors },
    { "a term must have a side but PE_OUTPUT, an index, and a table (R, H or 1, D) or entry", terms_have_tables },
    { "a term's extra must be a tensor (1, H, D) of PE_QUERY", extras_are_of_queries },
    { "an input must be of PE_QUERY, PE_HEAD_DIM_MAX wide at most", inputs_are_of_queries },
    { "a count's table must be a tensor (R, H or 1, D), R at least 2", counts_have_a_table },
    { "polar must have frequencies and a tensor of phases (kv_heads, D), before the scale", polars_have_phases },
    { "trained frequencies must be a tensor (kv_heads or 1, axes, P) of a part whose angle is not exact",
      frequencies_are_a_tensor },
    { "a mix must be of a trained rotation, with frequencies and two tensors (kv_heads or 1, waves, pairs)",
      mixes_have_tensors },
    { "a part with parameters of its own must have embed_back, or bias_back", what_learns_has_a_gradient },
    { "reaches must be a box of offsets around 0", reach_is_a_box },
    { "index must be a row of the table wherever reaches says so", indices_are_in_tables },
    { "a bias must have bias, or absolute where the part says so", bias_is_there },
    { "share must have knots beside it", shares_have_knots },
    { "knots must be 0 or more, and have knot", knots_are_there },
    { "weights must have a reach that holds the box of reaches", weights_have_a_reach },
    { "measures must be measure", measures_are_measure },
    { "measure must rise or fall all the way on each side of 0 where there are knots", measure_keeps_its_way },
    { "bias must be linear in the distance on each side of 0 where the part is straight", straight_is_straight },
    { "measure must stay as it is from flat on", flat_is_flat },
    { "bias must be linear between knots", bias_is_linear_between_knots },
    { "every element of a head must be in one lane or in rest, of from and of to", lanes_share_the_head },
    { "a pair's axis must be one of the part's", pairs_have_an_axis },
    { "magnitude must be above 0 where the angle is exact or trained", magnitude_is_above_0 },
    { "gains must have gain", gains_have_gain },
    { "rotate must be the pair's frequency where the angle is exact", exact_angles_are_exact },
    { "width must be 1 or more, and model_dim where the code is added", codes_have_a_width },
    { "waves must fill the width", waves_fill_the_width },
};

const char *contract_at(int index)
{
    return index >= 0 && index < COUNT_OF(contracts) ? contracts[index].says : NULL;
}

/* With parameters of this part alone, where a question needs them and they are few. */
static trial trial_of(const part *p, part *alone, double *room)
{
    int64_t count = 0;
    trial without = { .p = p };
    if (!p->row->knots && !p->row->measures && !p->straight && !p->flat)
        return without;
    *alone = *p;
    for (int n = 0; n < p->tensors; n++) {
        tensor *x = &alone->tensor[n];
        if (x->count > PARAMS_MAX - count || (x->fill == FILL_ROW && !p->row->fill))
            return without;
        x->offset = count;
        count += x->count;
        for (int64_t i = 0; i < x->count; i++)
            room[x->offset + i] = params_first(alone, n, i, 1);
    }
    return (trial){ alone, { count ? room : NULL, PE_F64, count }, true };
}

pe_status part_contract(const part *p, pe_error *err)
{
    double room[PARAMS_MAX];
    part alone;
    trial t = trial_of(p, &alone, room);
    for (int i = 0; i < COUNT_OF(contracts); i++)
        if (!contracts[i].holds(&t))
            return pe_fail(err, PE_ERR_UNSUITED, "%s: its row breaks a contract of core/row.h: %s", p->row->info.name,
                           contracts[i].says);
    return PE_OK;
}
