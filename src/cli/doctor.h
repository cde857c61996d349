/* SPDX-License-Identifier: MIT
 *
 * posenc doctor: facts in groups, collected first and printed once, for people or as JSON.
 */
#ifndef POSENC_CLI_DOCTOR_H
#define POSENC_CLI_DOCTOR_H

#include "cli/cli.h"

#define DOCTOR_FACTS_MAX 64
#define DOCTOR_TEXT 160

typedef enum doctor_kind { DOCTOR_TEXT_FACT, DOCTOR_INT, DOCTOR_FLAG } doctor_kind;

typedef struct doctor_fact {
    const char *group, *name;
    const char *yes, *no; /* a flag in words */
    doctor_kind kind;
    int64_t number;         /* of a DOCTOR_INT; 0 or 1 of a DOCTOR_FLAG */
    char text[DOCTOR_TEXT]; /* the text; a unit; why a flag is as it is */
} doctor_fact;

typedef struct doctor_report {
    doctor_fact fact[DOCTOR_FACTS_MAX];
    int count;
    const char *group, *yes, *no; /* of the facts to come */
    bool well;                    /* the self-test passed so far */
} doctor_report;

/* ---------------------------------------------------------------- facts (doctor_report.c) */

/* The group of the facts to come, and how its flags are said: "on", "off". */
void doctor_group(doctor_report *r, const char *group, const char *yes, const char *no);
PRINTF(3, 4) void doctor_text(doctor_report *r, const char *name, const char *format, ...);
void doctor_int(doctor_report *r, const char *name, int64_t number, const char *unit);
void doctor_flag(doctor_report *r, const char *name, bool on, const char *why); /* why "": nothing to say */
void doctor_print(const doctor_report *r);
void doctor_print_json(const doctor_report *r);

/* ---------------------------------------------------------------- where they come from */

void doctor_cpu(doctor_report *r);     /* features and kernel rungs (doctor_cpu.c) */
void doctor_machine(doctor_report *r); /* threads and memory (doctor_machine.c) */
void doctor_libraries(doctor_report *r);
void doctor_gpu(doctor_report *r);       /* both: doctor_found.c */
void doctor_self_test(doctor_report *r); /* doctor_self.c */

/* The beginning of a file as text; false: cannot be read. */
bool doctor_read(char *out, size_t cap, const char *path);

#endif
