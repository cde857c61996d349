/* SPDX-License-Identifier: MIT
 *
 * A few numbers that only a build which computes as written gets right. Values by MPFR-grade arithmetic (500 bits). */
#include "cli/doctor.h"

#include <math.h>

/* Rotary tables at one position: the spec, a pair, cos and sin as correctly rounded floats. */
static const struct known {
    const char *name, *spec;
    int64_t head_dim, pair, at;
    double cosine, sine;
} known[] = {
    { "cos and sin of 1", "rope", 64, 0, 1, 0x1.14a280fb5068cp-1, 0x1.aed548f090ceep-1 },
    { "last position, 2^36", "rope:theta=500000", 128, 40, INT64_C(1) << 36, -0x1.fa701667bbf6cp-1,
      0x1.2d0ea03cda049p-3 },
    { "near a quarter turn", "rope", 64, 25, INT64_C(55798549571), -0x1.c4c855922be5bp-43, -1 },
    { "2^-59 from a quarter turn", "rope:theta=10248", 96, 33, INT64_C(61815418783), 0x1.d4bac5193f8cdp-60, 1 },
};

static pe_encoding *make(const char *spec, int64_t head_dim, pe_error *err)
{
    pe_encoding *e;
    pe_encoding_new(&e, spec, (pe_shape){ .heads = 1, .head_dim = head_dim }, err);
    return e;
}

static bool table_is(const struct known *k, pe_error *err)
{
    float cosine[PE_HEAD_DIM_MAX], sine[PE_HEAD_DIM_MAX];
    pe_encoding *e = make(k->spec, k->head_dim, err);
    if (!e)
        return false;
    int64_t pairs = pe_encoding_pair_count(e);
    pe_status s =
        pe_rotate_table(e, PE_QUERY, pe_view_of(cosine, PE_F32, 1, 1, 1, pairs),
                        pe_view_of(sine, PE_F32, 1, 1, 1, pairs), pe_positions_of(&k->at, PE_I64, 1, 1, 1), NULL, err);
    pe_encoding_free(e);
    return !s && cosine[k->pair] == (float)k->cosine && sine[k->pair] == (float)k->sine;
}

/* In double: a rotation and its inverse each round to 2^-51. */
static bool comes_back(pe_error *err)
{
    enum { WIDTH = 64 };
    double x[WIDTH], y[WIDTH], worst = 0;
    int64_t at = INT64_C(55798549571);
    pe_positions where = pe_positions_of(&at, PE_I64, 1, 1, 1);
    pe_encoding *e = make("rope", WIDTH, err);
    for (int d = 0; d < WIDTH; d++)
        x[d] = (d * 37 % 64 - 31.5) / 32;
    pe_view vx = pe_view_of(x, PE_F64, 1, 1, 1, WIDTH), vy = pe_view_of(y, PE_F64, 1, 1, 1, WIDTH);
    pe_status s = e ? pe_rotate(e, PE_QUERY, vy, vx, where, NULL, err) : PE_ERR_NOMEM;
    if (!s)
        s = pe_unrotate(e, PE_QUERY, vy, vy, where, NULL, err);
    for (int d = 0; !s && d < WIDTH; d++)
        worst = fmax(worst, fabs(y[d] - x[d]));
    pe_encoding_free(e);
    return !s && worst < 0x1p-49;
}

static void verdict(doctor_report *r, const char *name, bool right, const pe_error *err)
{
    doctor_flag(r, name, right, right ? "" : err->status ? err->text : "a wrong value; build without fast-math flags");
    r->well = r->well && right;
}

void doctor_self_test(doctor_report *r)
{
    doctor_group(r, "self-test", "right", "WRONG");
    for (int i = 0; i < CLI_COUNT(known); i++) {
        pe_error err = { 0 };
        verdict(r, known[i].name, table_is(&known[i], &err), &err);
    }
    pe_error err = { 0 };
    verdict(r, "unrotate undoes rotate", comes_back(&err), &err);
}
