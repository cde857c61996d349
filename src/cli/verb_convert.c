/* SPDX-License-Identifier: MIT
 *
 * posenc convert: weights and K caches from one layout of rotated pairs to another. */
#include "cli/cli.h"

#include "base/tell.h"
#include "posenc.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "io/pairs.h"
#include "zoo/spec_read.h"
#include "zoo/zoo.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct convert_config {
    bool alike; /* all layers that are rotated are rotated alike, and there are such; else the rest is not filled */
    pe_shape shape;
    int64_t dims; /* elements of a head that are rotated */
    bool trailing;
    int layout; /* of CLI_PAIRS; -1: pairs lie otherwise, as no permutation of ours moves them */
    bool still; /* no layer is rotated */
} convert_config;

/* Do all pairs lie as a layout has them? A model of two axes may lay them out axis by axis, in blocks. */
static bool pairs_lie(const pe_pair *pair, int64_t count, bool adjacent)
{
    int64_t first = pair[0].x;
    for (int64_t i = 0; i < count; i++) {
        int64_t x = first + (adjacent ? 2 * i : i), y = adjacent ? x + 1 : x + count;
        if (pair[i].x != x || pair[i].y != y)
            return false;
    }
    return true;
}

/* What one group of layers does, from the pairs themselves; false where they are not rotated. */
static bool read_group(convert_config *out, const zoo_group *g)
{
    pe_encoding *e;
    pe_pair pair[PE_HEAD_DIM_MAX / 2];
    char layout[32];
    if (pe_encoding_new(&e, g->spec, g->shape, NULL))
        return false;
    int64_t count = pe_encoding_pair_count(e);
    *out = (convert_config){ .alike = true, .shape = g->shape, .dims = 2 * count, .layout = -1 };
    bool rotated = count > 0 && count <= CLI_COUNT(pair) && !pe_encoding_pairs(e, pair, count, NULL);
    if (rotated)
        out->trailing = pair[0].x > 0;
    for (int i = 0; rotated && cli_item(CLI_PAIRS, i, layout, sizeof layout); i++)
        if (zoo_spec_is(g->spec, "pairs", layout) && pairs_lie(pair, count, i > 0))
            out->layout = i;
    pe_encoding_free(e);
    return rotated;
}

static bool groups_alike(const convert_config *a, const convert_config *b)
{
    return a->shape.heads == b->shape.heads && a->shape.kv_heads == b->shape.kv_heads &&
           a->shape.head_dim == b->shape.head_dim && a->dims == b->dims && a->trailing == b->trailing &&
           a->layout == b->layout;
}

static pe_status convert_read_config(convert_config *out, const char *path, pe_error *err)
{
    zoo_model *m;
    convert_config one;
    bool differ = false;
    *out = (convert_config){ .alike = false };
    pe_status s = zoo_open(&m, path, &(zoo_options){ 0 }, err);
    for (int g = 0; !s && g < m->part[0].groups; g++) {
        if (!read_group(&one, &m->part[0].group[g]))
            continue;
        differ = differ || (out->alike && !groups_alike(out, &one));
        *out = one;
    }
    out->still = !out->alike;
    out->alike = out->alike && !differ;
    zoo_free(m);
    return s;
}

/* ---------------------------------------------------------------- convert */

/* posenc convert: weights and K caches from one layout of pairs to another. The work is in io/pairs.h. */

#define HEADS_MAX 65536
#define NAMES_SHOWN 4 /* of tensors, in a message */

static const cli_option options[] = {
    { "from", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "the layout of the file; default: the one in config.json" },
    { "to", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "the layout to convert to" },
    { "heads", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "query heads, for weights; default: as in config.json beside it" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "number of key heads, for weights; default: --heads" },
    { "head-dim", 0, CLI_INT, "N", NULL, 1, HEADS_MAX,
      "head dimension; default: rows of q / heads, or the last axis of an array" },
    { "dims", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "how many elements of a head are rotated; default: all" },
    { "range", 0, CLI_CHOICE, "leading|trailing", "leading", 0, 0, "whether its first or last elements are rotated" },
    { "fused", 0, CLI_CHOICE, "qkv|per-head|grouped", NULL, 0, 0,
      "q, k, v in one tensor: [q|k|v], [q k v] per head, [q.. k v] per key head" },
    { "tensors", 0, CLI_TEXT, "PATTERN", NULL, 0, 0,
      "convert the tensors whose names match, with * and ? as in a shell" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write this file, complete or not at all; may be the input" },
    { "dry-run", 0, CLI_FLAG, NULL, NULL, 0, 0, "show what would be permuted; write nothing" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "read the uint16 of a .npy file as bfloat16" },
    { "force", 0, CLI_FLAG, NULL, NULL, 0, 0, "convert even a file that was converted before" },
    CLI_OPTIONS_FORM,
};
static const cli_example examples[] = {
    { "posenc convert m.safetensors --from adjacent --to half --heads 32 --kv-heads 8 --dry-run",
      "show which tensors and rows would be permuted" },
    { "posenc convert m.safetensors --from adjacent --to half --heads 32 --kv-heads 8 -o o.safetensors",
      "permute the rows of q and k, their norms and biases" },
    { "posenc convert k.npy --from half --to adjacent -o k2.npy", "a K cache (T, H, D), or any (..., D)" },
};

static const char notes[] =
    "A conversion is a permutation: every number keeps its bits, so every product in a score stays the same, and so "
    "does the score if the products are summed in the same order.\n"
    "half [ccss]: pair i is elements i and i + n/2 (transformers: rotate_half).\n"
    "adjacent [cscs]: pair i is elements 2i and 2i + 1 (Meta's Llama, GPT-J).\n"
    "adjacent-half: reads adjacent pairs and writes half (DeepSeek-V3 in transformers). Its weights are adjacent; its "
    "K cache, which is rotated, is half.\n"
    "A config.json beside the weights gives the heads, the rotated dimension and --from.\n"
    "These weights are converted: rows of q and k, alone or fused with v, their biases and norms, LoRA's B. For MLA "
    "(DeepSeek) give --range trailing --dims N, where N is qk_rope_head_dim. Quantised weights are refused.\n"
    "A converted file names its layout in its metadata: posenc.pairs.\n"
    "If a model has several files, convert each; one without q and k is copied if it is named as a shard, such "
    "as model-00002-of-00002.safetensors. Tensors that look like q or k but have no known name are not changed, "
    "but listed.\n";

enum { HALF, ADJACENT, ADJACENT_HALF };

/* A conversion that is planned: weights, or one array. */
typedef struct convert_job {
    const cli_args *args;
    const char *in, *out; /* out NULL: --dry-run */
    int from, to;         /* layouts, as the options count them; -1: not known */
    io_pairs_facts facts;
    io_file file;
    io_safetensors *st; /* NULL: an array */
    io_pairs_plan plan;
    io_array array; /* without data */
    uint64_t begin; /* of its elements */
    io_pairs_map map;
} convert_job;

typedef struct layout_text {
    char name[32];
} layout_text;

static layout_text layout_name(int choice)
{
    layout_text out = { "" };
    cli_item(CLI_PAIRS, choice, out.name, sizeof out.name);
    return out;
}

/* Weights come before the rotation, K caches after it. */
static io_pairs layout_of(int choice, bool rotated)
{
    return choice == HALF || (choice == ADJACENT_HALF && rotated) ? IO_PAIRS_HALF : IO_PAIRS_ADJACENT;
}

static cli_exit fail_convert(const convert_job *j, const pe_error *err)
{
    cli_exit code = err->status == PE_ERR_SPEC ? CLI_USAGE : CLI_INPUT;
    bool named = !strncmp(err->text, j->in, strlen(j->in));
    bool ours = err->status == PE_ERR_IO || err->status == PE_ERR_NOMEM; /* of the output, maybe; both say of which */
    return cli_fail_from(j->args, code, named || ours ? NULL : j->in, err);
}

/* ---------------------------------------------------------------- a config.json beside the weights */

/* The config's word on the layout. What a file was converted to, it says itself: the config does not know of that. */
static cli_exit compare_layout(convert_job *j, const convert_config *c, const char *path)
{
    static const char why[] = "its pairs lie in blocks, axis by axis; posenc convert knows half and adjacent";
    if (c->layout < 0 && !j->facts.tensors)
        return cli_fail(j->args, CLI_INPUT, "%s: %s", path, why);
    if (c->layout < 0 && j->from >= 0)
        cli_note(j->args, "%s: %s; the tensors of --tensors are taken as %s", path, why, layout_name(j->from).name);
    else if (c->layout >= 0 && j->from >= 0 && (j->from == HALF) != (c->layout == HALF) &&
             !io_safetensors_meta(j->st, IO_PAIRS_KEY))
        cli_note(j->args,
                 "warning: --from is %s, but %s says %s: weights in the wrong order give wrong scores, not an error",
                 layout_name(j->from).name, path, layout_name(c->layout).name);
    if (j->from < 0)
        j->from = c->layout;
    return CLI_OK;
}

static void take_shape(convert_job *j, const convert_config *c, const char *path)
{
    io_pairs_facts *f = &j->facts;
    f->heads = c->shape.heads;
    f->kv_heads = c->shape.kv_heads;
    f->head_dim = c->shape.head_dim;
    if (!f->dims && c->dims != c->shape.head_dim) {
        f->dims = c->dims;
        f->trailing = c->trailing;
    }
    cli_note(j->args,
             "%s: %" PRId64 " heads of dimension %" PRId64 ", %" PRId64 " for keys; %" PRId64 " elements are rotated",
             path, f->heads, f->head_dim, f->kv_heads, c->dims);
}

/* heads, dimensions and, if it is not given, --from. */
static cli_exit use_config(convert_job *j)
{
    const char *slash = strrchr(j->in, '/');
    char path[4096];
    pe_error err;
    convert_config c;
    bool needed = !j->facts.heads && !j->facts.head_dim;
    snprintf(path, sizeof path, "%.*sconfig.json", slash ? (int)(slash - j->in) + 1 : 0, j->in);
    if (access(path, R_OK) != 0)
        return CLI_OK;
    if (convert_read_config(&c, path, &err)) {
        if (needed)
            cli_note(j->args, "the config beside it does not help: %s", err.text);
        return CLI_OK;
    }
    if (c.alike)
        CLI_TRY(compare_layout(j, &c, path));
    else if (c.still && needed)
        cli_note(j->args, "%s: this model does not rotate, so its weights have no pair layout to convert", path);
    else if (needed)
        cli_note(j->args, "%s: its layers are not rotated alike; give --heads, --head-dim and --tensors", path);
    if (c.alike && c.layout >= 0 && needed)
        take_shape(j, &c, path);
    return CLI_OK;
}

static cli_exit read_facts(convert_job *j, bool rotated)
{
    const cli_args *a = j->args;
    j->facts = (io_pairs_facts){ .heads = cli_int(a, "heads"),
                                 .kv_heads = cli_int(a, "kv-heads"),
                                 .head_dim = cli_int(a, "head-dim"),
                                 .dims = cli_int(a, "dims"),
                                 .trailing = cli_choice(a, "range") == 1,
                                 .fused = (io_fused)(cli_choice(a, "fused") + 1),
                                 .tensors = cli_text(a, "tensors"),
                                 .again = cli_given(a, "force") };
    if (!rotated)
        CLI_TRY(use_config(j));
    if (j->from < 0)
        return cli_fail(a, CLI_USAGE, "needs --from: half, adjacent or adjacent-half");
    j->facts.from = layout_of(j->from, rotated);
    j->facts.to = layout_of(j->to, rotated);
    if (j->facts.from == j->facts.to)
        return cli_fail(a, CLI_USAGE, "--from %s and --to %s are the same layout for %s: nothing to do",
                        layout_name(j->from).name, layout_name(j->to).name, rotated ? "a K cache" : "weights");
    return CLI_OK;
}

/* ---------------------------------------------------------------- a K cache */

static cli_exit plan_array(convert_job *j)
{
    static const char *const others[] = { "heads", "kv-heads", "fused", "tensors", "force" };
    pe_error err;
    pe_dtype type;
    bool bf16 = cli_given(j->args, "bf16");
    for (int i = 0; i < CLI_COUNT(others); i++)
        if (cli_given(j->args, others[i]))
            return cli_fail(j->args, CLI_USAGE, "--%s is for weights; %s is an array", others[i], j->in);
    CLI_TRY(read_facts(j, true));
    if (io_npy_open(&j->array, &j->begin, &j->file, bf16 ? IO_NPY_BF16 : 0, &err))
        return fail_convert(j, &err);
    if (!array_type(&j->array, &type) || bf16 != (j->array.type == IO_BF16))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", j->in,
                        io_type_name(j->array.type),
                        bf16                      ? " without --bf16"
                        : j->array.type == IO_U16 ? " (or bfloat16, with --bf16)"
                                                  : "");
    return io_pairs_map_array(&j->map, &j->array, &j->facts, &err) ? fail_convert(j, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- weights */

static bool is_shard(const char *path)
{
    return fnmatch("*-[0-9]*-of-[0-9]*.safetensors", path, 0) == 0;
}

/* Tensors that may be a q or k: "a, b, c". */
static void list_similar(char *out, size_t cap, const io_safetensors *st)
{
    static const char *const text[] = { "att", "query", "q_", "wq", "qkv", "" };
    tell t = tell_into(out, cap);
    int found = 0;
    for (int w = 0; w < CLI_COUNT(text) && !found; w++)
        for (size_t i = 0; i < io_safetensors_count(st) && found < NAMES_SHOWN; i++)
            if (strstr(io_safetensors_at(st, i)->name, text[w]))
                tell_say(&t, "%s%.80s", found++ ? ", " : "", io_safetensors_at(st, i)->name);
}

static cli_exit plan_weights(convert_job *j)
{
    pe_error err;
    char similar[400];
    if (cli_given(j->args, "bf16"))
        return cli_fail(j->args, CLI_USAGE, "--bf16 is for .npy; %s holds weights, which name their type", j->in);
    if (io_safetensors_open(&j->st, j->in, &err))
        return fail_convert(j, &err);
    CLI_TRY(read_facts(j, false));
    if (io_pairs_plan_new(&j->plan, j->st, &j->facts, &err))
        return fail_convert(j, &err);
    if (j->plan.rotated || (is_shard(j->in) && !j->facts.tensors && !j->plan.left))
        return CLI_OK;
    list_similar(similar, sizeof similar, j->st);
    return cli_fail(j->args, CLI_INPUT, "%s: no tensor is a known q or k%s; there are: %s (--tensors chooses by name)",
                    j->in, j->facts.tensors ? " or matches --tensors" : "", *similar ? similar : "none at all");
}

/* ---------------------------------------------------------------- both */

/* What a file is, by its first bytes. .safetensors has no magic, but begins with a length of 8 bytes, of which the last
 * four are 0. */
static const struct {
    const char *start;
    size_t size;
    cli_exit (*plan)(convert_job *j);
    const char *advice;
} kinds[] = {
    { "\x93NUMPY", 6, plan_array, NULL },
    { "GGUF", 4, NULL, "is GGUF; llama.cpp's converter permutes rows as it makes one, so convert the safetensors" },
    { "PK", 2, NULL, "is a PyTorch archive, which can run code when read; save it as .safetensors" },
    { "{", 1, NULL, "is JSON; if it is an index, convert each of the .safetensors files that it names" },
    { "", 0, plan_weights, NULL },
};

static cli_exit plan_file(convert_job *j)
{
    pe_error err;
    char start[8] = { 0 };
    if (io_file_open(&j->file, j->in, &err) ||
        io_file_read(start, &j->file, 0, j->file.size < 8 ? (size_t)j->file.size : 8, &err))
        return fail_convert(j, &err);
    int i = memcmp(start + 4, "\0\0\0", 4) ? 0 : CLI_COUNT(kinds) - 1;
    while (memcmp(kinds[i].start, start, kinds[i].size) != 0)
        i++;
    if (!kinds[i].plan)
        return cli_fail(j->args, CLI_INPUT, "%s: %s", j->in, kinds[i].advice);
    return kinds[i].plan(j);
}

static bool tick(void *context, uint64_t done, uint64_t total)
{
    return progress_step(context, done, total);
}

static cli_exit write_out(const convert_job *j)
{
    pe_error err;
    progress p = progress_start(j->out);
    io_watch watch = { tick, &p };
    pe_status s = !j->st ? io_pairs_convert_array(j->out, &j->file, &j->array, j->begin, &j->map, &watch, &err)
                  : !j->plan.rotated ? io_copy_file(j->out, &j->file, &watch, &err)
                                     : io_pairs_convert(j->out, j->st, &j->plan, &watch, &err);
    progress_end(&p);
    return s ? fail_convert(j, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- the result */

/* role NULL: of an array. */
static void add_rows(result *out, const char *name, const char *role, const io_array *a, const io_pairs_map *m)
{
    char shape[160];
    array_shape(shape, a);
    result_text(out, role ? "role" : NULL, "role", role);
    result_ints(out, "shape", a->shape, a->rank);
    result_text(out, "dtype", "shape", io_type_name(a->type));
    result_shown(out, "%s %s", shape, io_type_name(a->type));
    result_int(out, "head_dim", "rows of each head", m->head_dim);
    result_shown(out, "%" PRId64 " to %" PRId64 " of %" PRId64, m->first, m->first + m->dims - 1, m->head_dim);
    result_int(out, "first", NULL, m->first);
    result_int(out, "dims", NULL, m->dims);
    result_text(out, role ? "name" : NULL, "tensor", name);
}

static void add_plan(result *out, const io_pairs_plan *plan)
{
    result_int(out, "tensors", NULL, (int64_t)plan->count);
    result_int(out, "permuted", "permuted", (int64_t)plan->rotated);
    result_shown(out, "%zu of %zu tensors", plan->rotated, plan->count);
    result_text(out, "passed_over", NULL, plan->passed_over);
    result_open(out, RESULT_LIST, "left_alone", NULL);
    for (size_t i = 0; i < plan->count; i++)
        if (plan->item[i].left)
            result_text(out, NULL, NULL, plan->item[i].tensor->name);
    result_close(out);
    result_open(out, RESULT_TABLE, "list", "");
    for (size_t i = 0; i < plan->count; i++) {
        const io_pairs_item *x = &plan->item[i];
        io_array shape = { .type = x->tensor->type, .rank = x->tensor->rank };
        if (!x->map.rows)
            continue;
        memcpy(shape.shape, x->tensor->shape, sizeof shape.shape);
        result_open(out, RESULT_RECORD, NULL, "");
        add_rows(out, x->tensor->name, x->role, &shape, &x->map);
        result_close(out);
    }
    result_close(out);
}

/* People see it of a dry run; of a file that was written they read a note. */
static void add_conversion(result *out, const convert_job *j)
{
    result_open(out, RESULT_RECORD, NULL, "");
    result_text(out, "verb", NULL, "convert");
    result_text(out, "in", "file", j->in);
    result_text(out, "from", "from", io_pairs_name(j->facts.from));
    result_text(out, "to", "to", io_pairs_name(j->facts.to));
    if (j->st)
        add_plan(out, &j->plan);
    else
        add_rows(out, "the last axis", NULL, &j->array, &j->map);
    result_text(out, "out", NULL, j->out);
    result_close(out);
    if (j->out)
        result_hide(out);
}

static void note_written(const convert_job *j)
{
    const char *from = io_pairs_name(j->facts.from), *to = io_pairs_name(j->facts.to);
    const char *wrote = strcmp(j->in, j->out) ? "wrote" : "replaced";
    if (!j->st)
        cli_note(j->args, "%s %s: %s to %s", wrote, j->out, from, to);
    else if (!j->plan.rotated)
        cli_note(j->args, "%s %s: a copy, because this shard has no q and no k", wrote, j->out);
    else
        cli_note(j->args, "%s %s: %zu of %zu tensors, %s to %s", wrote, j->out, j->plan.rotated, j->plan.count, from,
                 to);
}

/* Tensors of no known name that may be q or k all the same: "a, b and 3 more". */
static void note_left(const convert_job *j)
{
    const io_pairs_plan *plan = &j->plan;
    char left[480];
    tell t = tell_into(left, sizeof left);
    size_t shown = 0;
    for (size_t i = 0; i < plan->count && shown < NAMES_SHOWN; i++)
        if (plan->item[i].left)
            tell_say(&t, "%s%.80s", shown++ ? ", " : "", plan->item[i].tensor->name);
    if (plan->left > shown)
        tell_say(&t, " and %zu more", plan->left - shown);
    if (plan->passed_over)
        cli_note(j->args,
                 "left as they are, part of another attention: %.200s and the like (--tensors chooses by name)",
                 plan->passed_over);
    if (plan->left)
        cli_note(j->args, "left as they are: %s: they look like q or k but have no known name (--tensors selects)",
                 left);
}

/* ---------------------------------------------------------------- the verb */

static cli_exit check_options(const convert_job *j)
{
    const cli_args *a = j->args;
    if (j->to < 0)
        return cli_fail(a, CLI_USAGE, "needs --from and --to: half, adjacent or adjacent-half");
    if (!cli_given(a, "out") && !cli_given(a, "dry-run"))
        return cli_fail(a, CLI_USAGE, "needs -o FILE, or --dry-run");
    if (j->out && !strcmp(j->out, "-"))
        return cli_fail(a, CLI_USAGE, "-o is -; needs a file name");
    if (cli_given(a, "range") && !cli_given(a, "dims"))
        return cli_fail(a, CLI_USAGE, "--range is given alone; give --dims N too, the number of rotated elements");
    return CLI_OK;
}

static cli_exit convert_file(convert_job *j, result *out)
{
    CLI_TRY(check_options(j));
    CLI_TRY(plan_file(j));
    if (j->out)
        CLI_TRY(write_out(j));
    if (j->out && !cli_given(j->args, "json"))
        note_written(j);
    note_left(j);
    add_conversion(out, j);
    return CLI_OK;
}

static cli_exit convert_verb(const cli_args *a, result *out)
{
    convert_job j = {
        .args = a, .in = a->operand[0], .file.fd = -1, .from = cli_choice(a, "from"), .to = cli_choice(a, "to")
    };
    if (!cli_given(a, "dry-run"))
        j.out = cli_text(a, "out");
    cli_exit code = convert_file(&j, out);
    io_pairs_plan_free(&j.plan);
    io_safetensors_free(j.st);
    io_file_close(&j.file);
    return code;
}

const cli_verb cli_verb_convert = {
    .name = "convert",
    .summary = "convert weights and K caches from one pair layout to another",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = convert_verb,
};
