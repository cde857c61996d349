/* SPDX-License-Identifier: MIT
 *
 * How position parameters are trained: the rate and weight decay of each learned tensor, times those of the weights.
 * Its row says what is best (pe_tensor), a race may ask for another, and race.json says what it was. */
#include "lab/race.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FACTOR_MAX 1e6

/* One item of "10" or "table=10,u=1": the tensor's name ("": all of them) and the factor. */
typedef struct rate_item {
    char name[40];
    double factor;
} rate_item;

/* The item at *at, which moves on to the next, NULL after the last; false: it is none. */
static bool next_item(rate_item *out, const char **at)
{
    size_t size = strcspn(*at, ",");
    const char *mark = memchr(*at, '=', size), *number = mark ? mark + 1 : *at, *end = *at + size;
    *out = (rate_item){ .factor = NAN };
    if (mark)
        snprintf(out->name, sizeof out->name, "%.*s", (int)(mark - *at < 40 ? mark - *at : 39), *at);
    *at = *end ? end + 1 : NULL;
    return (!mark || *out->name) && text_number(number, (size_t)(end - number), &out->factor) && out->factor >= 0 &&
           out->factor <= FACTOR_MAX;
}

/* What was asked for this tensor; else what its row says. */
static double factor_of(const char *list, const char *name, double said)
{
    rate_item item;
    for (const char *at = list; at && next_item(&item, &at);)
        if (!*item.name || !strcmp(item.name, name))
            said = item.factor;
    return said;
}

static void set_tensors(const race *r, lab_entry *e, const pe_encoding *of)
{
    e->tensors = 0;
    for (int i = 0; i < pe_encoding_tensor_count(of) && i < LAB_TENSORS_MAX; i++) {
        const pe_tensor *t = pe_encoding_tensor(of, i);
        lab_tensor *own = &e->tensor[e->tensors++];
        snprintf(own->name, sizeof own->name, "%s", t->name);
        own->rate = factor_of(r->asked.position_rate, t->name, t->rate);
        own->decay = factor_of(r->asked.position_decay, t->name, t->decay);
    }
}

/* Those of a folder to resume. */
static pe_status check_tensors(const lab_entry *e, const pe_encoding *of, pe_error *err)
{
    int count = pe_encoding_tensor_count(of);
    for (int i = 0; i < e->tensors; i++) {
        const lab_tensor *t = &e->tensor[i];
        if (i >= count || strcmp(t->name, pe_encoding_tensor(of, i)->name))
            return io_fail(err, PE_ERR_FORMAT, "race.json has a tensor %s, which %s has not", t->name, e->trained);
        if (!(t->rate >= 0 && t->rate <= FACTOR_MAX && t->decay >= 0 && t->decay <= FACTOR_MAX))
            return io_fail(err, PE_ERR_RANGE, "rate and decay of the tensor %s are %g and %g; need 0 to %g", t->name,
                           t->rate, t->decay, FACTOR_MAX);
    }
    return e->tensors == count ? PE_OK
                               : io_fail(err, PE_ERR_FORMAT,
                                         "race.json has the rates of %d tensors of %s, which has %d; a race of posenc "
                                         "0.1 cannot be resumed",
                                         e->tensors, e->trained, count);
}

pe_status race_set_rates(const race *r, lab_entry *e, const model *m, pe_error *err)
{
    const pe_encoding *of = model_encoding(m);
    if (r->asked.resume)
        return check_tensors(e, of, err);
    set_tensors(r, e, of);
    return PE_OK;
}

static bool any_has(const lab_setup *s, const char *name)
{
    for (int i = 0; i < s->entries; i++)
        for (int t = 0; t < s->entry[i].tensors; t++)
            if (!strcmp(s->entry[i].tensor[t].name, name))
                return true;
    return false;
}

static pe_status check_list(const race *r, const char *list, const char *option, pe_error *err)
{
    rate_item item;
    for (const char *at = list; at;) {
        if (!next_item(&item, &at))
            return io_fail(err, PE_ERR_RANGE,
                           "--%s is %s; needs a number from 0 to %g, or tensors with theirs: table=10", option, list,
                           FACTOR_MAX);
        if (*item.name && !any_has(&r->results.setup, item.name))
            return io_fail(err, PE_ERR_RANGE, "--%s: no encoding of this race has a learned tensor %s", option,
                           item.name);
    }
    return PE_OK;
}

pe_status race_check_rates(const race *r, pe_error *err)
{
    TRY(check_list(r, r->asked.position_rate, "position-rate", err));
    return check_list(r, r->asked.position_decay, "position-decay", err);
}
