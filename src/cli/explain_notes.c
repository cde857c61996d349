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

pe_status explain_settings(const explain_job *job, pe_error *err)
{
    const zoo_engine *engine = job->engine;
    const zoo_part *p = &job->m->part[0];
    char fixed[600];
    page_title("Settings for %s", engine->name);
    if (engine->takes_config && !engine->override && zoo_main_group(p) >= 0) {
        fputs("  config.json:\n  ", stdout);
        ZOO_TRY(zoo_engine_config(stdout, engine, p, err));
        putchar('\n');
    } else if (zoo_main_group(p) < 0)
        page_field("", 2,
                   "nothing turns here, so there is nothing to set but the length: what the model's code adds is "
                   "fixed");
    if (engine->start) {
        fputs("  command:\n  ", stdout);
        ZOO_TRY(zoo_engine_command(stdout, engine, job->m, p, err));
        putchar('\n');
    }
    print_quirks(job->m, engine, true);
    zoo_engine_fixed(fixed, sizeof fixed, engine, p);
    if (*fixed)
        page_field("no setting", EXPLAIN_INDENT, "%s: the model's code or its file decides", fixed);
    if (engine->remark && zoo_main_group(p) >= 0)
        page_field("remark", EXPLAIN_INDENT, "%s", engine->remark);
    page_field("source", EXPLAIN_INDENT, "%s", engine->source);
    return PE_OK;
}
