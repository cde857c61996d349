/* SPDX-License-Identifier: MIT
 *
 * The greedy text of a model: as it comes, or as data when it is whole. */
#include "cli/eval.h"

#include <stdlib.h>
#include <unistd.h>

/* Text of a model may spell orders to a terminal, which are not shown there; files and pipes get its bytes. */
typedef struct printed {
    FILE *to;
    bool shown; /* on a terminal */
    out_pieces pieces;
} printed;

static void print_text(void *with, const uint8_t *bytes, size_t size)
{
    printed *p = with;
    if (p->shown)
        out_piece(&p->pieces, bytes, size);
    else
        fwrite(bytes, 1, size, p->to);
    fflush(p->to);
}

static const char *prompt_of(const eval_job *j)
{
    const char *given = cli_text(j->args, "prompt");
    return given ? given : "";
}

static pe_status write_text(eval_job *j, FILE *to, pe_error *err)
{
    printed p = { .to = to, .shown = to == stdout && isatty(STDOUT_FILENO), .pieces = { .to = to } };
    pe_status s = eval_generate(j->m, j->tokens, prompt_of(j), cli_int(j->args, "generate"), print_text, &p, err);
    out_pieces_end(&p.pieces);
    return s;
}

static cli_exit as_data(eval_job *j)
{
    char *text = NULL;
    size_t size = 0;
    pe_error err = { 0 };
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return cli_fail(j->args, CLI_SYSTEM, "no memory");
    pe_status s = write_text(j, to, &err);
    bool kept = !ferror(to);
    if (fclose(to) || !kept)
        s = s ? s : io_fail(&err, PE_ERR_NOMEM, "no memory for the text");
    if (s == PE_OK) {
        json_out o = out_start(stdout);
        out_open(&o, NULL, '{');
        out_text(&o, "model", j->ask.path);
        out_text(&o, "prompt", prompt_of(j));
        out_text(&o, "text", text);
        out_close(&o, '}');
    }
    free(text);
    return s ? cli_fail_from(j->args, CLI_INPUT, NULL, &err) : CLI_OK;
}

cli_exit eval_greedy(eval_job *j)
{
    pe_error err = { 0 };
    if (cli_given(j->args, "json"))
        return as_data(j);
    pe_status s = write_text(j, stdout, &err);
    if (isatty(STDOUT_FILENO))
        putchar('\n');
    return s ? cli_fail_from(j->args, CLI_INPUT, NULL, &err) : CLI_OK;
}
