/* SPDX-License-Identifier: MIT
 *
 * Notes of the reader, what engines are known to do otherwise, and the settings for one. */
#include "cli/explain.h"
#include "cli/page.h"

#include "zoo/build.h"

#include <string.h>

static void print_notes(const zoo_model *m)
{
    static const char *const level[] = { "note", "WARNING", "GUESS" };
    if (m->notes)
        page_title("Notes");
    for (int i = 0; i < m->notes; i++)
        page_field(level[m->note[i].level], EXPLAIN_INDENT, "%s%s%s%s", m->note[i].text, *m->note[i].ref ? " (" : "",
                   m->note[i].ref, *m->note[i].ref ? ")" : "");
}

/* What engines are known to do otherwise with this model; of one engine, what it cannot be told. */
static void print_quirks(const zoo_model *m, const zoo_engine *only, bool cannot)
{
    const zoo_quirk *q;
    bool title = cannot;
    for (int i = 0; (q = zoo_quirk_at(i)); i++) {
        if ((q->kind == ZOO_CANNOT) != cannot || !zoo_quirk_applies(q, &m->part[0]))
            continue;
        if (cannot && strcmp(q->engine, only->name))
            continue;
        if (!title)
            page_title("Engines that are known to do otherwise");
        title = true;
        page_field(q->engine, 2 + EXPLAIN_INDENT, "%s (%s)", q->text, q->source);
    }
}

void explain_notes(const zoo_model *m)
{
    print_notes(m);
    print_quirks(m, NULL, false);
}

/* To be copied: on one line, however long. */
static pe_status print_code(const char *label, const zoo_engine *engine, const zoo_model *m, bool command,
                            pe_error *err)
{
    printf("  %s\n  ", label);
    ZOO_TRY(command ? zoo_engine_command(stdout, engine, m, &m->part[0], err)
                    : zoo_engine_config(stdout, engine, &m->part[0], err));
    putchar('\n');
    return PE_OK;
}

pe_status explain_settings(const explain_job *job, pe_error *err)
{
    const zoo_engine *engine = job->engine;
    const zoo_part *p = &job->m->part[0];
    const char *closed = zoo_engine_closed(engine, p), *remark = zoo_engine_remark(engine, p);
    char fixed[600];
    page_title("Settings for %s", engine->name);
    if (closed)
        page_field("", 2, "none: %s", closed);
    else if (zoo_main_group(p) < 0)
        page_field("", 2,
                   "nothing turns here, so there is nothing to set but the length: what the model's code adds is "
                   "fixed");
    else if (engine->takes_config && !engine->override)
        ZOO_TRY(print_code("config.json; replace these keys:", engine, job->m, false, err));
    if (engine->start)
        ZOO_TRY(print_code("command:", engine, job->m, true, err));
    print_quirks(job->m, engine, true);
    zoo_engine_fixed(fixed, sizeof fixed, engine, p);
    if (*fixed)
        page_field("no setting", EXPLAIN_INDENT, "%s: the model's code or its file decides", fixed);
    if (remark)
        page_field("remark", EXPLAIN_INDENT, "%s", remark);
    page_field("source", EXPLAIN_INDENT, "%s", engine->source);
    return PE_OK;
}
