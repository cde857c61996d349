/* SPDX-License-Identifier: MIT
 *
 * The figures to a file, in one step, or to stdout. */
#include "cli/show.h"

#include "io/io.h"

#include <string.h>

/* What is asked for may be more than a format holds; all else is the system's. */
static cli_exit failed(const show_job *j, pe_status s, const pe_error *err)
{
    return cli_fail_from(j->args, s == PE_ERR_RANGE ? CLI_USAGE : CLI_SYSTEM, NULL, err);
}

/* Nothing is to be seen at path before all of it is there. */
static cli_exit write_file(const show_job *j, const char *path)
{
    pe_error err;
    io_writer *w;
    pe_status s = io_writer_open(&w, path, &err);
    if (s)
        return failed(j, s, &err);
    FILE *to = io_writer_stream(w);
    s = to ? figures_write(to, j->sheet.figure, j->sheet.count, &j->how, &err)
           : io_fail(&err, PE_ERR_NOMEM, "no memory for %s", path);
    if (s)
        io_writer_abort(w);
    else
        s = io_writer_commit(w, &err);
    return s ? failed(j, s, &err) : CLI_OK;
}

cli_exit show_write(const show_job *j)
{
    pe_error err;
    bool ascii = j->how.format == FIGURE_TERMINAL && j->how.screen.glyphs == GLYPHS_ASCII;
    pe_status s = figures_have_letters(j->sheet.figure, j->sheet.count, j->how.format, &err);
    if (s)
        return failed(j, s, &err);
    for (int i = 0; ascii && i < j->sheet.count; i++)
        figure_plain(j->sheet.figure[i]);
    const char *out = cli_text(j->args, "out");
    if (out && strcmp(out, "-")) {
        CLI_TRY(write_file(j, out));
        cli_note(j->args, "wrote %s: %d picture%s", out, j->sheet.count, j->sheet.count == 1 ? "" : "s");
        return CLI_OK;
    }
    s = figures_write(stdout, j->sheet.figure, j->sheet.count, &j->how, &err);
    return s ? failed(j, s, &err) : CLI_OK;
}
