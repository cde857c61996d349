/* SPDX-License-Identifier: MIT
 *
 * What is asked for: views, shapes, presets, the format. */
#include "cli/show.h"

#include "zoo/spec_read.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

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

char *show_preset_spec(const cli_args *a, const char *spec)
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

const char *show_refused(const char *option, const char *value)
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
        return cli_fail(a, CLI_USAGE, "-o %s ends in none of .svg, .html, .csv, .json; say what it holds with --as",
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

cli_exit show_args(show_job *j)
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
