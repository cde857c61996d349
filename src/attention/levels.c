/* SPDX-License-Identifier: MIT
 *
 * Levels: a bias that is the difference of a number of the query and one of the key, per head. Formed in float64, since
 * only the difference is small. Either a row's own function of a position, key less query, or gates that the caller
 * gives, query less key. */
#include "attention/fused.h"

typedef struct level {
    const part *p;
    double factor;       /* the scale, where it comes before it */
    double *key, *query; /* (H, key_row), (H, Tq): what is added is key - query */
    int64_t key_row;
    const struct level *plan; /* whose keys it takes over; NULL: none */
    float *dkey, *dquery;     /* (splits, H, Tk), (splits, H, Tq): of gates */
} level;

typedef struct levels {
    level level[PARTS_MAX];
    int count;
} levels;

static levels *own_levels(const fused *f)
{
    return kind_of(f, &kind_levels);
}

static bool levels_find(fused *f)
{
    levels *all = own_levels(f);
    for (int n = 0; n < f->p.e->parts; n++)
        if (f->p.e->part[n].absolute || f->p.e->part[n].gates)
            all->level[all->count++] = (level){ .p = &f->p.e->part[n] };
    return all->count > 0;
}

/* A plan has the levels of positions from 0 on: keys must count up among them. */
static bool plan_covers(const fused *f)
{
    pe_positions k = f->p.a.k_at;
    int64_t first = f->Tk ? coordinate(k, 0, 0) : -1;
    return f->plan && positions_run(k) && k.step == 1 && first >= 0 && first + f->Tk <= f->plan->Tk;
}

static void levels_size(fused *f)
{
    for (level *l = own_levels(f)->level; l < own_levels(f)->level + own_levels(f)->count; l++) {
        l->factor = l->p->stage == PE_BEFORE_SCALE ? f->p.scale : 1;
        l->plan = l->p->absolute && plan_covers(f) ? &own_levels(f->plan)->level[l - own_levels(f)->level] : NULL;
        l->key_row = l->plan ? l->plan->key_row : f->Tk;
    }
}

static void levels_cut(fused *f, char *memory, int64_t *used)
{
    for (level *l = own_levels(f)->level; l < own_levels(f)->level + own_levels(f)->count; l++) {
        int64_t each = f->backward && l->p->gates ? f->back.splits * f->H : 0;
        l->key = fused_take(memory, used, l->plan ? 0 : f->H * f->Tk, sizeof(double));
        l->query = fused_take(memory, used, f->H * f->Tq, sizeof(double));
        l->dkey = fused_take(memory, used, each * f->Tk, sizeof(float));
        l->dquery = fused_take(memory, used, each * f->Tq, sizeof(float));
    }
}

/* A token's level: gates with their sign rotated, so that both kinds are key - query. A plan knows no gates. */
static double level_at(const level *l, pe_view gates, pe_positions where, int64_t h, int64_t t)
{
    int64_t at[PE_AXES_MAX];
    if (l->p->gates)
        return gates.data ? -vec_get(row_vec(gates, t, h), 0) : 0;
    return l->p->row->absolute(l->p, h, position(where, t, at));
}

static void levels_fill(fused *f)
{
    for (level *l = own_levels(f)->level; l < own_levels(f)->level + own_levels(f)->count; l++) {
        if (l->plan)
            l->key = l->plan->key + coordinate(f->p.a.k_at, 0, 0);
        for (int64_t h = 0; h < f->H; h++) {
            for (int64_t j = 0; !l->plan && j < f->Tk; j++)
                l->key[h * f->Tk + j] = level_at(l, f->p.a.k_gates, f->p.a.k_at, h, j);
            for (int64_t i = 0; i < f->Tq; i++)
                l->query[h * f->Tq + i] = level_at(l, f->p.a.q_gates, f->p.a.q_at, h, i);
        }
        clear_floats(l->dkey, f->back.splits * f->H * f->Tk);
        clear_floats(l->dquery, f->back.splits * f->H * f->Tq);
    }
}

bool levels_form(const fused *f, int n, pe_lowered_level *out)
{
    const levels *all = own_levels(f);
    if (n >= all->count)
        return false;
    const level *l = &all->level[n];
    bool gates = l->p->gates;
    *out = (pe_lowered_level){ l->p->stage, gates, gates ? NULL : l->key, gates ? 0 : l->key_row };
    return true;
}

static bool enters(const level *l, moment when)
{
    return when == (l->p->stage == PE_BEFORE_SCALE ? AT_BEFORE : AT_AFTER);
}

static void levels_add(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when)
{
    const levels *all = own_levels(f);
    (void)k, (void)st;
    for (int n = 0; n < all->count; n++)
        for (int64_t r = 0; enters(&all->level[n], when) && r < t->heads * t->m; r++) {
            int64_t h = t->h + r / t->m;
            const double *key = all->level[n].key + h * all->level[n].key_row + t->j;
            double query = all->level[n].query[h * f->Tq + t->i + r % t->m];
            for (int64_t j = 0; j < t->n; j++)
                s->S[r * BK + j] += (float)(all->level[n].factor * (key[j] - query));
        }
}

static void levels_back(const fused *f, scratch *s, const tile *t, int64_t item, moment when)
{
    const levels *all = own_levels(f);
    for (int n = 0; n < all->count; n++) {
        const level *l = &all->level[n];
        int64_t at = item / f->G * f->H + t->h;
        for (int64_t r = 0; l->dkey && enters(l, when) && r < t->m; r++) {
            f->k->axpy(l->dkey + at * f->Tk + t->j, -(float)l->factor, s->dP + r * BK, t->n);
            l->dquery[at * f->Tq + t->i + r] += (float)l->factor * f->k->sum(s->dP + r * BK, t->n);
        }
    }
}

/* Gradients of gates, like those of queries and keys, are overwritten or added to. */
static void store(const fused *f, pe_view to, int64_t count, const float *from)
{
    for (int64_t h = 0; to.data && h < f->H; h++)
        for (int64_t t = 0; t < count; t++) {
            float x = (float)back_over(from + h * count + t, f->back.splits, f->H * count);
            fused_store(f, to, t, h, &x);
        }
}

static void levels_sum(fused *f)
{
    for (const level *l = own_levels(f)->level; l < own_levels(f)->level + own_levels(f)->count; l++)
        if (l->p->gates) {
            store(f, f->p.g.dq_gates, f->Tq, l->dquery);
            store(f, f->p.g.dk_gates, f->Tk, l->dkey);
        }
}

const term_kind kind_levels = {
    .bytes = sizeof(levels),
    .find = levels_find,
    .size = levels_size,
    .cut = levels_cut,
    .fill = levels_fill,
    .add = levels_add,
    .back = levels_back,
    .sum = levels_sum,
};
