/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"
#include "io/json_out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void doctor_group(doctor_report *r, const char *group, const char *yes, const char *no)
{
    r->group = group;
    r->yes = yes;
    r->no = no;
}

static doctor_fact *add(doctor_report *r, const char *name, doctor_kind kind)
{
    doctor_fact *f = &r->fact[r->count < DOCTOR_FACTS_MAX ? r->count++ : DOCTOR_FACTS_MAX - 1];
    *f = (doctor_fact){ .group = r->group, .name = name, .yes = r->yes, .no = r->no, .kind = kind };
    return f;
}

void doctor_text(doctor_report *r, const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(add(r, name, DOCTOR_TEXT_FACT)->text, DOCTOR_TEXT, format, list);
    va_end(list);
}

void doctor_int(doctor_report *r, const char *name, int64_t number, const char *unit)
{
    doctor_fact *f = add(r, name, DOCTOR_INT);
    f->number = number;
    snprintf(f->text, sizeof f->text, "%s", unit);
}

void doctor_flag(doctor_report *r, const char *name, bool on, const char *why)
{
    doctor_fact *f = add(r, name, DOCTOR_FLAG);
    f->number = on;
    snprintf(f->text, sizeof f->text, "%s", why);
}

static void print_value(const doctor_fact *f)
{
    if (f->kind == DOCTOR_TEXT_FACT)
        printf("%s\n", f->text);
    else if (f->kind == DOCTOR_INT)
        printf("%" PRId64 "%s%s\n", f->number, *f->text ? " " : "", f->text);
    else
        printf("%s%s%s\n", f->number ? f->yes : f->no, *f->text ? ": " : "", f->text);
}

void doctor_print(const doctor_report *r)
{
    const char *group = "";
    for (int i = 0; i < r->count; i++) {
        const doctor_fact *f = &r->fact[i];
        if (strcmp(group, f->group))
            printf("%s%s\n", i ? "\n" : "", f->group);
        group = f->group;
        printf("  %-28s", f->name);
        print_value(f);
    }
}

/* A flag's reason stands beside it: "avx2": false, "avx2 why": "not built". */
static void json_fact(json_out *j, const doctor_fact *f)
{
    char key[64];
    if (f->kind == DOCTOR_TEXT_FACT)
        out_text(j, f->name, f->text);
    else if (f->kind == DOCTOR_INT)
        out_int(j, f->name, f->number);
    else
        out_bool(j, f->name, f->number);
    if (f->kind != DOCTOR_FLAG || !*f->text)
        return;
    snprintf(key, sizeof key, "%s why", f->name);
    out_text(j, key, f->text);
}

void doctor_print_json(const doctor_report *r)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", "doctor");
    out_bool(&j, "well", r->well);
    for (int i = 0; i < r->count; i++) {
        bool first = !i || strcmp(r->fact[i - 1].group, r->fact[i].group);
        bool last = i + 1 == r->count || strcmp(r->fact[i + 1].group, r->fact[i].group);
        if (first)
            out_open(&j, r->fact[i].group, '{');
        json_fact(&j, &r->fact[i]);
        if (last)
            out_close(&j, '}');
    }
    out_close(&j, '}');
}
