/* SPDX-License-Identifier: MIT
 *
 * posenc show: pictures of encodings, in the terminal or in a file. */
#include "cli/cli.h"
#include "cli/job.h"
#include "show/show.h"

#include "io/io.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOW_SPECS_MAX 8

typedef struct show_job {
    const cli_args *args;
    result *tree; /* of the verb */
    show_request request;
    figure_how how;
    const show_view *view[32]; /* asked for by name; view_count 0: those that fit */
    int view_count;
    bool all; /* every one that fits, also in the terminal */
    show_subject *subject[SHOW_SPECS_MAX];
    int subjects;
    show_sheet sheet;
    struct {
        const char *view;
        pe_error why;
    } left_out[32]; /* views that fit and were not asked for, yet cannot be drawn at this length */
    int left_outs;
    char title[400]; /* of a page: the specs */
} show_job;

/* Two pictures that are often printed: 50 positions of 128 numbers, sines and cosines in turn, and 20 of 512, all sines
 * before all cosines. */
typedef struct preset {
    const char *name;
    int64_t length, width;
    const char *key, *value; /* set where the row has that key, with that choice, and the spec does not say */
} preset;
static const preset presets[] = {
    { "50x128", 50, 128, "layout", "interleaved" },
    { "20x512", 20, 512, "layout", "halves" },
};

static const preset *preset_asked(const cli_args *a)
{
    int n = cli_choice(a, "preset");
    return n < 0 ? NULL : &presets[n];
}

/* The spec as the preset changes it; malloc'ed, NULL: no memory. */
static char *show_preset_spec(const cli_args *a, const char *spec)
{
    const preset *p = preset_asked(a);
    const pe_key *key = p ? zoo_spec_key(spec, p->key) : NULL;
    bool sets = key && key->choices && !zoo_spec_has(spec, p->key) &&
                zoo_is_one_of((zoo_slice){ p->value, strlen(p->value) }, key->choices, strlen(key->choices));
    return sets ? zoo_spec_set(spec, p->key, p->value) : strdup(spec);
}

static void show_take_shape(show_job *j)
{
    const cli_args *a = j->args;
    const preset *p = preset_asked(a);
    show_request *r = &j->request;
    r->shape = job_shape(a);
    r->length = cli_int(a, "length");
    if (!p)
        return;
    r->length = r->length ? r->length : p->length;
    r->shape.model_dim = cli_given(a, "model-dim") ? r->shape.model_dim : p->width;
    r->shape.head_dim = cli_given(a, "head-dim") ? r->shape.head_dim : p->width;
}

static cli_exit show_take_pairs(show_job *j, const char *option)
{
    char item[40];
    const char *list = cli_text(j->args, option);
    show_request *r = &j->request;
    while (cli_next_item(item, sizeof item, &list)) {
        if (r->pick_count == SHOW_PICK_MAX)
            return cli_fail(j->args, CLI_USAGE, "--%s names more than %d; needs fewer", option, SHOW_PICK_MAX);
        if (!cli_read_int(item, &r->pick[r->pick_count]) || r->pick[r->pick_count] < 0)
            return cli_fail(j->args, CLI_USAGE, "--%s has %s; needs whole numbers from 0 on, such as 0,8,16", option,
                            item);
        r->pick_count++;
    }
    return CLI_OK;
}

static cli_exit show_unknown_view(const cli_args *a, const char *name)
{
    const char *names[33] = { "all" };
    char hint[80], list[400] = "all";
    for (int i = 0; i < show_view_count; i++) {
        names[i + 1] = show_views[i]->name;
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", show_views[i]->name);
    }
    cli_did_you_mean(hint, "", name, names, show_view_count + 1);
    return cli_fail(a, CLI_USAGE, "there is no view %s%s%s%s", name, *hint ? hint : "; there are ", *hint ? "" : list,
                    *hint ? " (posenc show --list)" : "");
}

static cli_exit show_take_views(show_job *j)
{
    char item[40];
    const char *list = cli_text(j->args, "view");
    while (cli_next_item(item, sizeof item, &list)) {
        const show_view *v = show_view_named(item);
        if (!strcmp(item, "all"))
            j->all = true;
        else if (!v)
            return show_unknown_view(j->args, item);
        else if (j->view_count < CLI_COUNT(j->view))
            j->view[j->view_count++] = v;
    }
    if (j->all && j->view_count)
        return cli_fail(j->args, CLI_USAGE, "--view has all and %s; all has every view that fits", j->view[0]->name);
    if (preset_asked(j->args) && !j->all && !j->view_count)
        j->view[j->view_count++] = show_view_named("table"); /* a preset is a shape of the table */
    return CLI_OK;
}

/* ---------------------------------------------------------------- where it goes, and as what */

#define NO_PNG "posenc writes no PNG: write SVG and convert it, as rsvg-convert x.svg -o x.png does"

/* Why --as cannot have this value, and what to do instead; NULL: it is just unknown. */
static const char *show_refused(const char *option, const char *value)
{
    return !strcmp(option, "as") && !strcmp(value, "png") ? NO_PNG : NULL;
}

static bool file_is_png(const char *file)
{
    const char *end = strrchr(file, '.');
    return end && !strcasecmp(end, ".png");
}

static cli_exit show_take_format(show_job *j)
{
    const cli_args *a = j->args;
    const char *out = cli_text(a, "out");
    bool file = out && strcmp(out, "-") != 0;
    int as = cli_given(a, "json") ? FIGURE_JSON : cli_choice(a, "as");
    figure_format by_name = file ? figure_format_of(out) : FIGURE_FORMAT_COUNT;
    if (cli_given(a, "list") && cli_given(a, "as") && cli_choice(a, "as") != FIGURE_JSON)
        return cli_fail(a, CLI_USAGE, "--list and --as %s do not go together; a list is text, or --json",
                        cli_text(a, "as"));
    if (cli_given(a, "json") && cli_given(a, "as") && cli_choice(a, "as") != FIGURE_JSON)
        return cli_fail(a, CLI_USAGE, "--json and --as %s do not go together; choose one", cli_text(a, "as"));
    if (file && file_is_png(out))
        return cli_fail(a, CLI_USAGE, "-o %s: " NO_PNG, out);
    if (file && as < 0 && by_name == FIGURE_FORMAT_COUNT)
        return cli_fail(a, CLI_USAGE, "-o %s does not end in .svg, .html, .csv or .json; choose the format with --as",
                        out);
    if (as >= 0 && by_name != FIGURE_FORMAT_COUNT && (int)by_name != as)
        return cli_fail(a, CLI_USAGE, "-o %s ends as a .%s, and --as says %s; choose one", out,
                        figure_format_name(by_name), figure_format_name((figure_format)as));
    j->how.format = as >= 0 ? (figure_format)as : file ? by_name : FIGURE_TERMINAL;
    return CLI_OK;
}

#define COLUMNS_MAX 200

static void show_take_screen(show_job *j)
{
    int64_t width = cli_int(j->args, "width");
    j->how.screen = draw_screen_of(stdout);
    if (j->how.format != FIGURE_TERMINAL)
        j->how.width = (double)width;
    else if (width)
        j->how.screen.columns = (int)width;
    else if (j->how.screen.columns > COLUMNS_MAX)
        j->how.screen.columns = COLUMNS_MAX;
}

/* --lang, else the environment's; a terminal whose locale cannot write it gets English. */
static void show_take_language(show_job *j)
{
    const cli_args *a = j->args;
    bool given = cli_choice(a, "lang") >= 0;
    language l = given ? (language)cli_choice(a, "lang") : language_of_environment();
    if (j->how.format == FIGURE_TERMINAL && l != ENGLISH && j->how.screen.glyphs == GLYPHS_ASCII) {
        l = ENGLISH;
        if (given)
            cli_note(a, "--lang %s: the terminal's locale is not UTF-8, so English; set LC_ALL=C.UTF-8, or use -o",
                     cli_text(a, "lang"));
    }
    j->request.language = j->how.language = l;
}

/* Everything but the subjects, from the options. */
static cli_exit show_args(show_job *j)
{
    const cli_args *a = j->args;
    show_request *r = &j->request;
    show_take_shape(j);
    r->start = cli_int(a, "start");
    r->position = cli_given(a, "at") ? cli_int(a, "at") : -1;
    r->head = cli_int(a, "head");
    r->axis = cli_int(a, "axis");
    r->sentence = cli_text(a, "sentence");
    r->causal = cli_given(a, "causal");
    r->log = cli_given(a, "log");
    r->seed = (uint64_t)cli_int(a, "seed");
    CLI_TRY(show_take_pairs(j, "pairs"));
    CLI_TRY(show_take_views(j));
    CLI_TRY(show_take_format(j));
    show_take_screen(j);
    show_take_language(j);
    return CLI_OK;
}

/* ---------------------------------------------------------------- show */

/* posenc show: what encodings look like, in the terminal or as files. */

static const cli_option options[] = {
    { "view", 0, CLI_TEXT, "NAME,NAME", NULL, 0, 0, "views to draw, or all; default: the views that fit" },
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "list the views; with SPECs: the views that fit them" },
    { "preset", 0, CLI_CHOICE, "50x128|20x512", NULL, 0, 0,
      "table of 50 positions x 128 dimensions, or 20 x 512, all sines first" },
    { "length", 'n', CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "number of positions; default: depends on the view" },
    { "start", 0, CLI_INT, "N", "0", -PE_POSITION_MAX, PE_POSITION_MAX, "first position" },
    { "axis", 0, CLI_INT, "N", "0", 0, PE_AXES_MAX - 1, "coordinate that varies, of several; the others are 0" },
    { "at", 0, CLI_INT, "N", NULL, 0, PE_POSITION_MAX, "position of the query; default: the middle" },
    { "head", 0, CLI_INT, "N", "0", 0, 65535, "attention head" },
    { "pairs", 0, CLI_TEXT, "N,N", NULL, 0, 0, "pairs, or dimensions of a code; default: a selection" },
    { "log", 0, CLI_FLAG, NULL, NULL, 0, 0, "view heads: logarithmic axis for the distance" },
    { "sentence", 0, CLI_TEXT, "TEXT", NULL, 0, 0, "sentence of the views around, attention, permuted and pooled" },
    { "causal", 0, CLI_FLAG, NULL, NULL, 0, 0, "causal mask: no query sees a later key" },
    { "heads", 0, CLI_INT, "N", "8", 1, 65536, "query heads" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, 65536, "key and value heads; default: as many as heads" },
    { "head-dim", 0, CLI_INT, "N", "64", 1, PE_HEAD_DIM_MAX, "head dimension" },
    { "model-dim", 0, CLI_INT, "N", "128", 1, INT64_C(1) << 30, "embedding dimension" },
    { "seed", 0, CLI_INT, "N", "0", 0, INT64_MAX, "seed of learned parameters and word vectors" },
    CLI_OPTION_PARAMS,
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "language of titles and captions; default: the locale's" },
    { "as", 0, CLI_CHOICE, "term|svg|html|csv|json|parts", NULL, 0, 0,
      "output format; default: by the name of FILE, or term" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write .svg, .html, .csv or .json; -: stdout" },
    { "width", 0, CLI_INT, "N", NULL, 20, 8192, "terminal columns, or pixels of one picture" },
    { "json", 0, CLI_FLAG, NULL, NULL, 0, 0, "print numbers and names as JSON, like --as json" },
};
static const cli_example examples[] = {
    { "posenc show rope", "the views that fit RoPE, in the terminal" },
    { "posenc show sinusoidal --preset 20x512 -o halves.svg", "the table as papers print it, sines left of cosines" },
    { "posenc show sinusoidal rope alibi --view decay -o decay.html", "three encodings side by side" },
    { "posenc show rope:theta=5e5,scaling=yarn,factor=4,trained=8k --view wavelengths -n 32k",
      "which pairs complete a full turn within this length, and within the trained length" },
    { "posenc show t5 --view heads --log", "the bias of every head against the distance" },
    { "posenc show rope --view attention --sentence 'a dog saw a dog' --causal",
      "one head, without and with the encoding" },
    { "posenc show learned:rows=64 --view table --as csv -n 8", "the numbers of the picture" },
    { "posenc show --list", "every view" },
};

static cli_exit show_make_subjects(show_job *j)
{
    pe_error err;
    for (int i = 0; i < j->args->operands; i++) {
        char *spec = show_preset_spec(j->args, j->args->operand[i]);
        if (!spec)
            return cli_fail(j->args, CLI_SYSTEM, "no memory for a spec");
        pe_status s = show_subject_new(&j->subject[i], spec, &j->request, &err);
        free(spec);
        if (s)
            return job_fail_given(j->args, &err);
        size_t used = strlen(j->title);
        snprintf(j->title + used, sizeof j->title - used, "%s%.120s", i ? ", " : "", j->subject[j->subjects++]->spec);
    }
    j->how.title = j->title;
    return CLI_OK;
}

/* ---------------------------------------------------------------- which views of which spec */

static bool subject_has_first(const show_subject *s)
{
    for (int i = 0; i < show_view_count; i++)
        if (show_views[i]->first && show_fits(show_views[i], s))
            return true;
    return false;
}

static bool view_is_wanted(const show_job *j, const show_view *v, const show_subject *s)
{
    if (!show_fits(v, s))
        return false;
    for (int i = 0; i < j->view_count; i++)
        if (j->view[i] == v)
            return true;
    return !j->view_count && (j->all || j->how.format != FIGURE_TERMINAL || v->first || !subject_has_first(s));
}

static void views_join(char *out, size_t room, const show_subject *s, const show_job *j, bool wanted)
{
    out[0] = 0;
    for (int i = 0; i < show_view_count; i++)
        if (show_fits(show_views[i], s) && view_is_wanted(j, show_views[i], s) == wanted)
            snprintf(out + strlen(out), room - strlen(out), "%s%s", *out ? ", " : "", show_views[i]->name);
}

static cli_exit views_check(const show_job *j)
{
    char have[400];
    for (int v = 0; v < j->view_count; v++) {
        int fit = 0;
        for (int i = 0; i < j->subjects; i++)
            fit += show_fits(j->view[v], j->subject[i]);
        views_join(have, sizeof have, j->subject[0], j, false);
        if (!fit)
            return cli_fail(j->args, CLI_USAGE, "%.200s does not have the view %s; it has %s", j->subject[0]->spec,
                            j->view[v]->name, have);
        if (fit < j->subjects)
            cli_note(j->args, "%s is drawn for %d of %d specs; it does not apply to the others", j->view[v]->name, fit,
                     j->subjects);
    }
    return CLI_OK;
}

static bool option_is_asked(const show_job *j, const char *option)
{
    char item[32];
    for (int v = 0; v < show_view_count; v++)
        for (int i = 0; i < j->subjects; i++)
            for (int n = 0;
                 view_is_wanted(j, show_views[v], j->subject[i]) && cli_item(show_views[v]->asks, n, item, sizeof item);
                 n++)
                if (!strcmp(item, option))
                    return true;
    return false;
}

/* Options that change nothing of what is drawn. */
static void options_tell_idle(const show_job *j)
{
    static const char *const looks[] = { "start", "axis", "at", "head", "pairs", "log", "sentence", "causal" };
    for (int i = 0; i < CLI_COUNT(looks); i++)
        if (cli_given(j->args, looks[i]) && !option_is_asked(j, looks[i]) &&
            !(j->request.params.count && !strcmp(looks[i], "head"))) /* heads may have frequencies of their own */
            cli_note(j->args, "--%s changes nothing: no view that is drawn uses it", looks[i]);
}

/* A view that nobody named and that cannot be drawn of what is asked for is left out, and said so in the end. */
static cli_exit show_add_view(show_job *j, const show_view *v, const show_subject *s)
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

static cli_exit show_make_figures(show_job *j)
{
    pe_error err;
    if (show_one_mask(&j->request, j->subject, j->subjects, &err)) /* specs side by side are seen through one mask */
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    for (int v = 0; v < show_view_count; v++)
        for (int i = 0; i < j->subjects; i++)
            if (view_is_wanted(j, show_views[v], j->subject[i]))
                CLI_TRY(show_add_view(j, show_views[v], j->subject[i]));
    if (!j->sheet.count)
        return cli_fail_from(j->args, CLI_USAGE, NULL, &j->left_out[0].why);
    for (int i = 0; i < j->left_outs; i++)
        cli_note(j->args, "left out: %s (%s)", j->left_out[i].view, j->left_out[i].why.text);
    show_align(&j->sheet);
    return CLI_OK;
}

/* On stderr: what else there is to see. */
static void views_tell_others(const show_job *j)
{
    char others[400];
    if (j->view_count || j->all || j->how.format != FIGURE_TERMINAL)
        return;
    for (int i = 0; i < j->subjects; i++) {
        views_join(others, sizeof others, j->subject[i], j, false);
        if (*others)
            cli_note(j->args, "%.200s has more views: %s (--view NAME, or all)", j->subject[i]->spec, others);
    }
}

/* ---------------------------------------------------------------- the views there are */

static bool view_fits_any(const show_job *j, const show_view *v)
{
    for (int i = 0; i < j->subjects; i++)
        if (show_fits(v, j->subject[i]))
            return true;
    return !j->subjects;
}

/* A part's name, and the keys that are not as by default. text: room for any value. */
static void add_part(result *out, const char *part, char *text, size_t cap)
{
    const pe_info *row = zoo_spec_row(part);
    result_open(out, RESULT_RECORD, NULL, NULL);
    result_text(out, "name", NULL, row->name);
    result_open(out, RESULT_RECORD, "keys", NULL);
    for (int i = 0; i < row->key_count; i++)
        if (zoo_spec_has(part, pe_info_key(row, i)->name) && zoo_spec_text(text, cap, part, pe_info_key(row, i)->name))
            result_text(out, pe_info_key(row, i)->name, NULL, text);
    result_close(out);
    result_close(out);
}

/* Null without memory. */
static void add_parts(result *out, const char *spec)
{
    size_t cap = strlen(spec) + 1;
    char *text = malloc(cap);
    if (!text) {
        result_none(out, "parts");
        return;
    }
    result_open(out, RESULT_LIST, "parts", NULL);
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *part = zoo_spec_part(spec, i);
        if (part && zoo_spec_row(part))
            add_part(out, part, text, cap);
        free(part);
    }
    result_close(out);
    free(text);
}

/* Whether it is always seen through a causal mask, asked for or not. */
static bool subject_is_causal(show_subject *s)
{
    show_request plain = { .shape = s->shape };
    return !show_one_mask(&plain, (show_subject *const[]){ s }, 1, NULL) && plain.causal;
}

static void add_subject(result *out, show_subject *s)
{
    result_open(out, RESULT_RECORD, NULL, NULL);
    result_text(out, "spec", NULL, s->spec);
    add_parts(out, s->spec);
    result_int(out, "axes", NULL, s->axes);
    result_bits(out, "hooks", NULL, s->hooks, pe_hook_name);
    result_flag(out, "causal", NULL, subject_is_causal(s));
    result_close(out);
}

static void add_view(result *out, const show_job *j, const show_view *v)
{
    language l = j->request.language;
    result_open(out, RESULT_RECORD, NULL, view_fits_any(j, v) ? v->name : NULL);
    result_shown(out, "%s", say(v->about, l));
    result_text(out, "name", NULL, v->name);
    result_text(out, "title", NULL, say(v->title, l));
    result_text(out, "about", NULL, say(v->about, l));
    result_flag(out, "first", NULL, v->first);
    result_words(out, "asks", NULL, v->asks);
    result_open(out, RESULT_LIST, "fits", NULL);
    for (int n = 0; n < j->subjects; n++)
        if (show_fits(v, j->subject[n]))
            result_text(out, NULL, NULL, j->subject[n]->spec);
    result_close(out);
    result_close(out);
}

static cli_exit show_list(const show_job *j)
{
    result_open(j->tree, RESULT_LIST, "specs", NULL);
    for (int n = 0; n < j->subjects; n++)
        add_subject(j->tree, j->subject[n]);
    result_close(j->tree);
    result_open(j->tree, RESULT_LIST, "views", NULL);
    for (int i = 0; i < show_view_count; i++)
        add_view(j->tree, j, show_views[i]);
    result_close(j->tree);
    return CLI_OK;
}

/* ---------------------------------------------------------------- to a file, in one step, or to stdout */

/* What is asked for may be more than a format holds; all else is the system's. */
static cli_exit show_failed(const show_job *j, pe_status s, const pe_error *err)
{
    return cli_fail_from(j->args, s == PE_ERR_RANGE ? CLI_USAGE : CLI_SYSTEM, NULL, err);
}

/* Nothing is to be seen at path before all of it is there. */
static cli_exit show_write_file(const show_job *j, const char *path)
{
    pe_error err;
    io_writer *w;
    pe_status s = io_writer_open(&w, path, &err);
    if (s)
        return show_failed(j, s, &err);
    FILE *to = io_writer_stream(w);
    s = to ? figures_write(to, j->sheet.figure, j->sheet.count, &j->how, &err)
           : io_fail(&err, PE_ERR_NOMEM, "no memory for %s", path);
    if (s)
        io_writer_abort(w);
    else
        s = io_writer_commit(w, &err);
    return s ? show_failed(j, s, &err) : CLI_OK;
}

static cli_exit show_write(const show_job *j)
{
    pe_error err;
    bool ascii = j->how.format == FIGURE_TERMINAL && j->how.screen.glyphs == GLYPHS_ASCII;
    for (int i = 0; ascii && i < j->sheet.count; i++)
        figure_plain(j->sheet.figure[i]);
    const char *out = cli_text(j->args, "out");
    if (out && strcmp(out, "-")) {
        CLI_TRY(show_write_file(j, out));
        cli_note(j->args, "wrote %s: %d picture%s", out, j->sheet.count, j->sheet.count == 1 ? "" : "s");
        return CLI_OK;
    }
    pe_status s = figures_write(stdout, j->sheet.figure, j->sheet.count, &j->how, &err);
    return s ? show_failed(j, s, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- the verb */

static cli_exit show_work(show_job *j)
{
    CLI_TRY(show_args(j));
    if (j->args->operands > SHOW_SPECS_MAX)
        return cli_fail(j->args, CLI_USAGE, "more than %d specs; needs fewer in one picture", SHOW_SPECS_MAX);
    if (!j->args->operands && !cli_given(j->args, "list"))
        return cli_fail(j->args, CLI_USAGE,
                        "no SPEC is given; posenc list names the encodings, posenc show --list the views");
    if (cli_given(j->args, "params") && j->args->operands != 1)
        return cli_fail(j->args, CLI_USAGE, "--params is for one spec; %d are given", j->args->operands);
    CLI_TRY(job_given_params(j->args, &j->request.params));
    CLI_TRY(show_make_subjects(j));
    if (cli_given(j->args, "list"))
        return show_list(j);
    CLI_TRY(views_check(j));
    options_tell_idle(j);
    for (int i = 0; i < j->subjects; i++)
        job_note_alike(j->args, j->subject[i]->e);
    CLI_TRY(show_make_figures(j));
    CLI_TRY(show_write(j));
    views_tell_others(j);
    return CLI_OK;
}

static cli_exit show_verb(const cli_args *a, result *out)
{
    show_job *j = calloc(1, sizeof *j);
    if (!j)
        return cli_fail(a, CLI_SYSTEM, "no memory for pictures");
    j->args = a;
    j->tree = out;
    cli_exit code = show_work(j);
    for (int i = 0; i < j->subjects; i++)
        show_subject_free(j->subject[i]);
    show_sheet_free(&j->sheet);
    free(j->request.params.data);
    free(j);
    return code;
}

const cli_verb cli_verb_show = {
    .name = "show",
    .summary = "draw encodings: tables, curves, decay, biases, wavelengths, attention",
    .operands = "[SPEC...]",
    .operands_min = 0,
    .operands_max = SHOW_SPECS_MAX + 1, /* one more, so that the limit can be named */
    .notes =
        "The terminal shows a few views; files and --view all have every view that fits. Up to 8 specs are drawn side "
        "by side and share one mask. Learned parameters have their initial values, drawn with --seed, or those of "
        "--params, for one spec.\n"
        "For a PNG, write SVG and convert it: rsvg-convert x.svg -o x.png\n",
    CLI_TABLES(options, examples),
    .refused = show_refused,
    .run = show_verb,
};
