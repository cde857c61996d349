/* SPDX-License-Identifier: MIT
 *
 * The figures to a file, in one step, or to stdout. */
#include "cli/show.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>

/* What is asked for may be more than a format holds; all else is the system's. */
static cli_exit failed(const show_job *j, pe_status s, const pe_error *err)
{
    return cli_fail_from(j->args, s == PE_ERR_RANGE ? CLI_USAGE : CLI_SYSTEM, NULL, err);
}

static cli_exit write_file(const show_job *j, const char *path)
{
    pe_error err;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return cli_fail(j->args, CLI_SYSTEM, "no memory for %s", path);
    pe_status s = figures_write(to, j->sheet.figure, j->sheet.count, &j->how, &err);
    bool whole = !ferror(to);
    whole = !fclose(to) && whole;
    if (!s && !whole)
        s = io_fail(&err, PE_ERR_NOMEM, "no memory for %s", path);
    if (!s)
        s = io_write_file(path, &(io_span){ text, size }, 1, &err);
    free(text);
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
