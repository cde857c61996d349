/* SPDX-License-Identifier: MIT
 *
 * sinusoidal: published table conventions. */
#include "conformance.h"

/* The angle of a column, for the tolerance: its frequency is read off the spec's own row at position 1. */
static double *frequencies(golden *c, const pe_encoding *e, int64_t width, bool halves)
{
    int64_t one = 1;
    double *row = golden_alloc(c, 2 * width, sizeof *row), *f = row ? row + width : NULL;
    pe_positions at = pe_positions_of(&one, PE_I64, 1, 1, 1);
    pe_view y = pe_view_of(row, PE_F64, 1, 1, 1, width);
    if (!row || pe_embed(e, y, (pe_view){ 0 }, at, NULL, &c->err))
        return NULL;
    for (int64_t d = 0; d < width; d++) {
        int64_t pair = halves ? d % (width / 2) : d / 2, x = halves ? pair : 2 * pair;
        f[d] = fabs(atan2(row[x], row[halves ? pair + width / 2 : x + 1]));
    }
    return f;
}

/* fairseq zeroes the row of its padding token; no sinusoid has sine and cosine 0. */
static bool is_padding(const golden_tensor *t, int64_t row)
{
    for (int64_t d = 0; d < t->shape[1]; d++)
        if (t->real[row * t->shape[1] + d] != 0)
            return false;
    return true;
}

pe_status sinusoid_compare(golden *c, const char *field, const char *spec, int64_t first, int64_t step)
{
    golden_tensor t;
    TRY(golden_real(c, field, &t));
    TRY(golden_fits(c, field, &t, 2, -1, -1, 0));
    int64_t rows = t.shape[0], width = t.shape[1];
    pe_encoding *e = golden_encoding(c, spec, (pe_shape){ .heads = 1, .head_dim = 2, .model_dim = width });
    double *own = e ? golden_alloc(c, rows * width, sizeof *own) : NULL;
    double *frequency = own ? frequencies(c, e, width, strstr(spec, "halves")) : NULL;
    int64_t *at = frequency ? golden_alloc(c, rows, sizeof *at) : NULL;
    if (!at)
        return c->err.status;
    for (int64_t r = 0; r < rows; r++)
        at[r] = first + r * step;
    TRY(pe_embed(e, pe_view_of(own, PE_F64, 1, rows, 1, width), (pe_view){ 0 }, pe_positions_of(at, PE_I64, 1, rows, 1), NULL, &c->err));
    for (int64_t n = 0; n < rows * width; n++) {
        int64_t r = n / width, d = n % width, offset = step > 0 ? -first : 0;
        if (r < offset && is_padding(&t, r))
            continue;
        double angle = frequency[d] * (double)(at[r] + offset);
        if (strstr(spec, "min_timescale") && frequency[d] > 0) /* exp of a float32: off by |ln f| 2^-24 of itself */
            angle *= 1 + fabs(log(frequency[d])) / 4;
        golden_compare(c, own[n], (double)t.real[n], TOL_ANGLE * (1 + fabs(angle)), "%s[%" PRId64 "][%" PRId64 "]",
                       field, r, d);
    }
    return PE_OK;
}

/* Time steps of diffusion: fractions, whose angle is `top` times them at most. */
static pe_status times_compare(golden *c, const char *spec, double top)
{
    golden_tensor t, times;
    TRY(golden_real(c, "table", &t));
    TRY(golden_real(c, "times", &times));
    TRY(golden_fits(c, "table", &t, 2, -1, -1, 0));
    int64_t rows = t.shape[0], width = t.shape[1];
    TRY(golden_fits(c, "times", &times, 1, rows, 0, 0));
    pe_encoding *e = golden_encoding(c, spec, (pe_shape){ .heads = 1, .head_dim = 2, .model_dim = width });
    double *own = e ? golden_alloc(c, rows * (width + 1), sizeof *own) : NULL, *at = own ? own + rows * width : NULL;
    if (!at)
        return c->err.status;
    for (int64_t r = 0; r < rows; r++)
        at[r] = (double)times.real[r];
    TRY(pe_embed(e, pe_view_of(own, PE_F64, 1, rows, 1, width), (pe_view){ 0 }, pe_positions_of(at, PE_F64, 1, rows, 1),
                 NULL, &c->err));
    for (int64_t n = 0; n < rows * width; n++)
        golden_compare(c, own[n], (double)t.real[n], TOL_ANGLE * (1 + top * fabs(at[n / width])),
                       "table[%" PRId64 "][%" PRId64 "]", n / width, n % width);
    return PE_OK;
}

/* Periods from min_period to max_period, as many as half the width, in equal ratios. */
static pe_status put_periods(golden *c, spec_text *spec, double *top)
{
    double least = NAN, most = NAN;
    int64_t d = 0;
    char text[2048] = "";
    TRY(io_json_real(&least, &c->meta, "min_period", IO_OPTIONAL, &c->err));
    TRY(io_json_real(&most, &c->meta, "max_period", IO_OPTIONAL, &c->err));
    if (isnan(least) || isnan(most))
        return PE_OK;
    TRY(golden_size(c, "d", IO_REQUIRED, &d));
    if (d < 4 || d > 128)
        return golden_fail(c, "d is %" PRId64 "; needs 4 to 128", d);
    for (int64_t i = 0; i < d / 2; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.17g", i ? "/" : "",
                 least * pow(most / least, (double)i / (double)(d / 2 - 1)));
    spec_word(spec, "periods", text);
    *top = 6.283185307179586 / least;
    return PE_OK;
}

/* Rows before position 0 are the offset: n positions of a table with n + offset rows. */
static pe_status offset_of(golden *c, int64_t *out)
{
    golden_tensor t;
    int64_t n = 0;
    TRY(golden_real(c, "table", &t));
    TRY(golden_fits(c, "table", &t, 2, -1, -1, 0));
    TRY(golden_size(c, "n", IO_REQUIRED, &n));
    *out = t.shape[0] - n;
    return *out < 0 ? golden_fail(c, "table has %" PRId64 " rows; n is %" PRId64, t.shape[0], n) : PE_OK;
}

pe_status run_sinusoidal(golden *c)
{
    const char *layout = NULL;
    double theta = NAN, least = NAN, scale = NAN, steps = NAN, top = 0;
    int64_t first = 0, step = 1, past = 0, offset = 0;
    spec_text *spec = golden_alloc(c, 1, sizeof *spec);
    if (!spec)
        return PE_ERR_NOMEM;
    TRY(io_json_string(&layout, &c->meta, "layout", IO_OPTIONAL, &c->err));
    TRY(io_json_real(&theta, &c->meta, "theta", IO_OPTIONAL, &c->err));
    bool halves = layout && strstr(layout, "half then"), interleaved = layout && strstr(layout, "interleaved");
    if (halves == interleaved || !golden_has(c, "table"))
        return golden_skip(c, "it has no table, or a layout that this program does not know");
    spec_start(spec, "sinusoidal");
    spec_number(spec, "theta", theta);
    spec_word(spec, "layout", halves ? "halves" : "interleaved");
    spec_word(spec, "order", !strncmp(layout, "cos", 3) ? "cos-sin" : "sin-cos");
    if (golden_note_says(c, "i/(d/2-1)"))
        spec_word(spec, "denominator", "d-2");
    TRY(io_json_real(&least, &c->meta, "min_timescale", IO_OPTIONAL, &c->err));
    spec_number(spec, "min_timescale", least);
    TRY(io_json_real(&scale, &c->meta, "scale", IO_OPTIONAL, &c->err));
    spec_number(spec, "scale", scale);
    TRY(io_json_real(&steps, &c->meta, "steps", IO_OPTIONAL, &c->err));
    spec_number(spec, "steps", steps);
    TRY(put_periods(c, spec, &top));
    if (golden_has(c, "times"))
        return times_compare(c, spec->text, top > 0 ? top : steps);
    if (golden_kind(&c->meta, "klen")) { /* klen, klen - 1, ... 1 - qlen */
        TRY(golden_size(c, "klen", IO_REQUIRED, &first));
        TRY(golden_size(c, "qlen", IO_REQUIRED, &past));
        step = -1;
        golden_tensor t;
        TRY(golden_real(c, "table", &t));
        TRY(golden_fits(c, "table", &t, 2, first + past, -1, 0));
    } else {
        TRY(offset_of(c, &offset));
        first = -offset;
        spec_number(spec, "offset", (double)offset);
    }
    return sinusoid_compare(c, "table", spec->text, first, step);
}
