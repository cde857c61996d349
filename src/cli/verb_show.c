/* SPDX-License-Identifier: MIT
 *
 * posenc show: what encodings look like, in the terminal or as files. */
#include "cli/show.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    { "view", 0, CLI_TEXT, "NAME,NAME", NULL, 0, 0, "which pictures, or all; default: those that fit" },
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "the views there are; with SPECs: those that fit" },
    { "preset", 0, CLI_CHOICE, "50x128|20x512", NULL, 0, 0,
      "the table of so many positions x width; 20x512 in halves" },
    { "length", 'n', CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "positions; default: what suits the view" },
    { "start", 0, CLI_INT, "N", "0", -PE_POSITION_MAX, PE_POSITION_MAX, "first position" },
    { "axis", 0, CLI_INT, "N", "0", 0, PE_AXES_MAX - 1, "which coordinate runs, of several; the others are 0" },
    { "at", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "the position that looks around; default: the middle" },
    { "head", 0, CLI_INT, "N", "0", 0, 65535, "which head" },
    { "pairs", 0, CLI_TEXT, "N,N", NULL, 0, 0, "which pairs, or dimensions of a code; default: a spread of them" },
    { "log", 0, CLI_FLAG, NULL, NULL, 0, 0, "heads: distances on a logarithmic axis" },
    { "sentence", 0, CLI_TEXT, "TEXT", NULL, 0, 0, "of around and attention; default: the one with two dogs" },
    { "causal", 0, CLI_FLAG, NULL, NULL, 0, 0, "no query sees a key after it" },
    { "heads", 0, CLI_INT, "N", "8", 1, 65536, "query heads" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, 65536, "key and value heads; default: as many as heads" },
    { "head-dim", 0, CLI_INT, "N", "64", 1, PE_HEAD_DIM_MAX, "width of a head" },
    { "model-dim", 0, CLI_INT, "N", "128", 1, INT64_C(1) << 30, "width of the embedding" },
    { "seed", 0, CLI_INT, "N", "0", 0, INT64_MAX, "of learned parameters and of contents" },
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "of titles and captions; default: that of the environment" },
    { "as", 0, CLI_CHOICE, "term|svg|png|html|csv|json|parts", NULL, 0, 0,
      "the format; default: by FILE's ending, or the terminal" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write .svg, .png, .html, .csv or .json; -: stdout" },
    { "width", 0, CLI_INT, "N", NULL, 20, 8192, "columns of the terminal, or pixels of one picture" },
    { "dark", 0, CLI_FLAG, NULL, NULL, 0, 0, "PNG: dark paper; the other formats follow the reader" },
    { "json", 0, CLI_FLAG, NULL, NULL, 0, 0, "the numbers and names as JSON: --as json" },
};
static const cli_example examples[] = {
    { "posenc show rope", "the right pictures for what it does, in the terminal" },
    { "posenc show sinusoidal --preset 20x512 -o halves.svg",
      "the table as it is often printed, sines left of cosines" },
    { "posenc show sinusoidal rope alibi --view decay -o decay.html", "three encodings side by side" },
    { "posenc show rope:theta=5e5,scaling=yarn,factor=4,trained=8k --view wavelengths -n 32k",
      "which pairs come full circle within a length, and within the trained one" },
    { "posenc show t5 --view heads --log", "the bias of every head against the distance" },
    { "posenc show rope --view attention --sentence 'a dog saw a dog' --causal", "one head, without and with" },
    { "posenc show learned:rows=64 --view table --as csv -n 8", "the numbers of the picture" },
    { "posenc show --list", "every view" },
};

static cli_exit make_subjects(show_job *j)
{
    pe_error err;
    for (int i = 0; i < j->args->operands; i++) {
        char *spec = show_preset_spec(j->args, j->args->operand[i]);
        if (!spec)
            return cli_fail(j->args, CLI_SYSTEM, "no memory for a spec");
        pe_status s = show_subject_new(&j->subject[i], spec, &j->request, &err);
        free(spec);
        if (s)
            return cli_fail_from(j->args, CLI_USAGE, NULL, &err);
        size_t used = strlen(j->title);
        snprintf(j->title + used, sizeof j->title - used, "%s%.120s", i ? ", " : "", j->subject[j->subjects++]->spec);
    }
    j->how.title = j->title;
    return CLI_OK;
}

/* ---------------------------------------------------------------- which views of which spec */

static bool has_first(const show_subject *s)
{
    for (int i = 0; i < show_view_count; i++)
        if (show_views[i]->first && show_fits(show_views[i], s))
            return true;
    return false;
}

static bool is_wanted(const show_job *j, const show_view *v, const show_subject *s)
{
    if (!show_fits(v, s))
        return false;
    for (int i = 0; i < j->view_count; i++)
        if (j->view[i] == v)
            return true;
    return !j->view_count && (j->all || j->how.format != FIGURE_TERMINAL || v->first || !has_first(s));
}

static void join_views(char *out, size_t room, const show_subject *s, const show_job *j, bool wanted)
{
    out[0] = 0;
    for (int i = 0; i < show_view_count; i++)
        if (show_fits(show_views[i], s) && is_wanted(j, show_views[i], s) == wanted)
            snprintf(out + strlen(out), room - strlen(out), "%s%s", *out ? ", " : "", show_views[i]->name);
}

static cli_exit check_views(const show_job *j)
{
    char have[400];
    for (int v = 0; v < j->view_count; v++) {
        int fit = 0;
        for (int i = 0; i < j->subjects; i++)
            fit += show_fits(j->view[v], j->subject[i]);
        join_views(have, sizeof have, j->subject[0], j, false);
        if (!fit)
            return cli_fail(j->args, CLI_USAGE, "%.200s has nothing for the view %s; it has %s", j->subject[0]->spec,
                            j->view[v]->name, have);
        if (fit < j->subjects)
            cli_note(j->args, "%s is drawn of %d of %d specs: the others have nothing for it", j->view[v]->name, fit,
                     j->subjects);
    }
    return CLI_OK;
}

static bool is_asked(const show_job *j, const char *option)
{
    char item[32];
    for (int v = 0; v < show_view_count; v++)
        for (int i = 0; i < j->subjects; i++)
            for (int n = 0;
                 is_wanted(j, show_views[v], j->subject[i]) && cli_item(show_views[v]->asks, n, item, sizeof item); n++)
                if (!strcmp(item, option))
                    return true;
    return false;
}

/* Options that change nothing of what is drawn. */
static void tell_idle(const show_job *j)
{
    static const char *const looks[] = { "start", "axis", "at", "head", "pairs", "log", "sentence", "causal" };
    for (int i = 0; i < CLI_COUNT(looks); i++)
        if (cli_given(j->args, looks[i]) && !is_asked(j, looks[i]))
            cli_note(j->args, "--%s changes nothing: no view that is drawn looks at it", looks[i]);
}

/* A view that nobody named and that cannot be drawn of what is asked for is left out, and said so in the end. */
static cli_exit add_view(show_job *j, const show_view *v, const show_subject *s)
{
    pe_error err;
    pe_status status = show_add(&j->sheet, v, s, &j->request, &err);
    bool can_wait = (status == PE_ERR_RANGE || status == PE_ERR_POSITION) && !j->view_count;
    if (status && !can_wait)
        return cli_fail_from(j->args, CLI_USAGE, NULL, &err);
    if (status && j->left_outs < CLI_COUNT(j->left_out)) {
        j->left_out[j->left_outs].view = v->name;
        j->left_out[j->left_outs++].why = err;
    }
    return CLI_OK;
}

/* What stands side by side is seen through one mask. */
static cli_exit take_mask(show_job *j)
{
    pe_error err;
    if (show_one_mask(&j->request, j->subject, j->subjects, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    return CLI_OK;
}

static cli_exit make_figures(show_job *j)
{
    CLI_TRY(take_mask(j));
    for (int v = 0; v < show_view_count; v++)
        for (int i = 0; i < j->subjects; i++)
            if (is_wanted(j, show_views[v], j->subject[i]))
                CLI_TRY(add_view(j, show_views[v], j->subject[i]));
    if (!j->sheet.count)
        return cli_fail_from(j->args, CLI_USAGE, NULL, &j->left_out[0].why);
    for (int i = 0; i < j->left_outs; i++)
        cli_note(j->args, "left out: %s (%s)", j->left_out[i].view, j->left_out[i].why.text);
    show_align(&j->sheet);
    return CLI_OK;
}

/* On stderr: what else there is to see. */
static void tell_others(const show_job *j)
{
    char others[400];
    if (j->view_count || j->all || j->how.format != FIGURE_TERMINAL)
        return;
    for (int i = 0; i < j->subjects; i++) {
        join_views(others, sizeof others, j->subject[i], j, false);
        if (*others)
            cli_note(j->args, "%.200s has more views: %s (--view NAME, or all)", j->subject[i]->spec, others);
    }
}

static cli_exit work(show_job *j)
{
    CLI_TRY(show_args(j));
    if (j->args->operands > SHOW_SPECS_MAX)
        return cli_fail(j->args, CLI_USAGE, "more than %d specs; needs fewer in one picture", SHOW_SPECS_MAX);
    if (!j->args->operands && !cli_given(j->args, "list"))
        return cli_fail(j->args, CLI_USAGE,
                        "no SPEC is given; posenc list names the encodings, posenc show --list the views");
    CLI_TRY(make_subjects(j));
    if (cli_given(j->args, "list"))
        return show_list(j);
    CLI_TRY(check_views(j));
    tell_idle(j);
    CLI_TRY(make_figures(j));
    CLI_TRY(show_write(j));
    tell_others(j);
    return CLI_OK;
}

static cli_exit show_verb(const cli_args *a, result *out)
{
    (void)out;
    show_job *j = calloc(1, sizeof *j);
    if (!j)
        return cli_fail(a, CLI_SYSTEM, "no memory for pictures");
    j->args = a;
    cli_exit code = work(j);
    for (int i = 0; i < j->subjects; i++)
        show_subject_free(j->subject[i]);
    show_sheet_free(&j->sheet);
    free(j);
    return code;
}

const cli_verb cli_verb_show = {
    .name = "show",
    .summary = "pictures of encodings: tables, curves, decay, biases, wavelengths, attention",
    .operands = "[SPEC...]",
    .operands_min = 0,
    .operands_max = SHOW_SPECS_MAX + 1, /* one more, so that the limit can be named */
    .notes = "In the terminal a few views are drawn; files, and --view all, have all that fit. Up to 8 specs\n"
             "stand side by side, behind one mask. Learned parameters are "
             "shown as they start, by --seed.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = show_verb,
};
