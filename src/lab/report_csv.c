/* SPDX-License-Identifier: MIT
 *
 * RFC 4180: a line per test, for a spreadsheet. */
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>

static void text(const report *p, const char *value)
{
    putc(',', p->to);
    draw_csv_text(p->to, value);
}

/* Empty where there is none. */
static void real(const report *p, double value)
{
    char number[40] = "";
    if (isfinite(value))
        io_print_real(number, sizeof number, value);
    fprintf(p->to, ",%s", number);
}

pe_status report_csv(const report *p, pe_error *err)
{
    (void)err;
    fputs("seed,length,windows,entry,bits,last_quarter,unit,recall,accuracy,seconds,spec,cannot\r\n", p->to);
    for (int i = 0; i < p->r->tests; i++) {
        const lab_test_line *l = &p->r->test[i];
        fprintf(p->to, "%" PRIu64 ",%" PRId64 ",%" PRId64, l->seed, l->length, l->windows);
        text(p, p->r->setup.entry[l->entry].name);
        real(p, l->bits);
        real(p, l->last_quarter);
        text(p, lab_is_eval(&p->r->setup) ? "bits per token" : lab_unit(&p->r->setup));
        real(p, lab_measured(l, LAB_RECALL));
        real(p, lab_measured(l, LAB_ACCURACY));
        real(p, l->seconds);
        text(p, l->spec);
        text(p, l->cannot);
        fputs("\r\n", p->to);
    }
    return PE_OK;
}
