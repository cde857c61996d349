/* SPDX-License-Identifier: MIT
 *
 * posenc convert: weights and K caches from one layout of pairs to another. The work is in io/pairs.h. */
#include "cli/convert.h"
#include "cli/progress.h"

#include <fnmatch.h>
#include <string.h>

#define HEADS_MAX 65536

static const cli_option options[] = {
    { "from", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "the layout the file is in; default: what config.json says" },
    { "to", 0, CLI_CHOICE, CLI_PAIRS, NULL, 0, 0, "the layout it should be in" },
    { "heads", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "query heads (weights); default: config.json beside them" },
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "key heads; default: as many as heads (weights)" },
    { "head-dim", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "width of a head; default: rows of q / heads, the last axis" },
    { "dims", 0, CLI_INT, "N", NULL, 1, HEADS_MAX, "how much of a head is rotated; default: all" },
    { "range", 0, CLI_CHOICE, "leading|trailing", "leading", 0, 0, "which end of the head that is" },
    { "fused", 0, CLI_CHOICE, "qkv|per-head|grouped", NULL, 0, 0,
      "q, k, v in one tensor: [q|k|v], [q k v] per head, [q.. k v] per key head" },
    { "tensors", 0, CLI_TEXT, "PATTERN", NULL, 0, 0, "only those whose name matches, * and ? as in a shell" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write this file, whole or not at all; may be the input" },
    { "dry-run", 0, CLI_FLAG, NULL, NULL, 0, 0, "show what would be permuted; write nothing" },
    { "bf16", 0, CLI_FLAG, NULL, NULL, 0, 0, "the .npy file's uint16 are bfloat16" },
    { "force", 0, CLI_FLAG, NULL, NULL, 0, 0, "even if the file says that it was converted" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc convert m.safetensors --from adjacent --to half --heads 32 --kv-heads 8 --dry-run",
      "which tensors, which rows" },
    { "posenc convert m.safetensors --from adjacent --to half --heads 32 --kv-heads 8 -o o.safetensors",
      "rows of q and k, and their norms and biases" },
    { "posenc convert k.npy --from half --to adjacent -o k2.npy", "a K cache (T, H, D), or any (..., D)" },
};

static const char notes[] =
    "  A permutation: every number keeps its bits, so every product of a score is the same; sum them in\n"
    "  the same order, and so is the score.\n"
    "    half [ccss]      pair i is elements i and i + n/2   (transformers: rotate_half)\n"
    "    adjacent [cscs]  pair i is elements 2i and 2i + 1   (Meta's Llama, GPT-J)\n"
    "    adjacent-half    reads adjacent pairs, writes half (DeepSeek-V3 in transformers): its weights\n"
    "                     are adjacent; its K cache, being rotated, is half\n"
    "  A config.json beside the weights says the heads, the width that turns, and --from.\n"
    "  Weights: rows of q and k, alone or fused with v, their biases and norms, LoRA's B.\n"
    "  MLA (DeepSeek): --range trailing --dims N, N being the model's qk_rope_head_dim.\n"
    "  Quantised weights are refused. What a file was converted to is in its metadata: posenc.pairs.\n"
    "  A model in several files: convert each; one without q and k is copied if its name is that of a\n"
    "  part, as model-00002-of-00002.safetensors is. Names that look like a q or k, and are of no known\n"
    "  model, are left alone and listed.\n";

enum { HALF, ADJACENT, ADJACENT_HALF };

/* Weights come before the rotation, K caches after it. */
static io_pairs layout(int choice, bool rotated)
{
    return choice == HALF || (choice == ADJACENT_HALF && rotated) ? IO_PAIRS_HALF : IO_PAIRS_ADJACENT;
}

static cli_exit fail(const convert_job *j, const pe_error *err)
{
    cli_exit code = err->status == PE_ERR_SPEC ? CLI_USAGE : CLI_INPUT;
    bool named = !strncmp(err->text, j->in, strlen(j->in));
    bool ours = err->status == PE_ERR_IO || err->status == PE_ERR_NOMEM; /* of the output, maybe; both say of which */
    return cli_fail_from(j->args, code, named || ours ? NULL : j->in, err);
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
        CLI_TRY(convert_from_config(j));
    if (j->from < 0)
        return cli_fail(a, CLI_USAGE, "needs --from: half, adjacent or adjacent-half");
    j->facts.from = layout(j->from, rotated);
    j->facts.to = layout(j->to, rotated);
    if (j->facts.from == j->facts.to)
        return cli_fail(a, CLI_USAGE, "from %s and to %s are the same layout for %s: there is nothing to do",
                        convert_layout_at(j->from).name, convert_layout_at(j->to).name,
                        rotated ? "a K cache" : "weights");
    return CLI_OK;
}

static cli_exit check_options(const convert_job *j)
{
    const cli_args *a = j->args;
    if (j->to < 0)
        return cli_fail(a, CLI_USAGE, "needs --from and --to: half, adjacent or adjacent-half");
    if (!cli_given(a, "out") && !cli_given(a, "dry-run"))
        return cli_fail(a, CLI_USAGE, "needs -o FILE, or --dry-run");
    if (j->out && !strcmp(j->out, "-"))
        return cli_fail(a, CLI_USAGE, "-o is -; needs a file, which is written whole or not at all");
    if (cli_given(a, "range") && !cli_given(a, "dims"))
        return cli_fail(a, CLI_USAGE, "--range says which end of the head is rotated; give --dims, how much of it");
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
        return fail(j, &err);
    if (!array_type(&j->array, &type) || bf16 != (j->array.type == IO_BF16))
        return cli_fail(j->args, CLI_INPUT, "%s: holds %s; needs float32, float16 or float64%s", j->in,
                        io_type_name(j->array.type),
                        bf16                      ? " without --bf16"
                        : j->array.type == IO_U16 ? " (or bfloat16, with --bf16)"
                                                  : "");
    return io_pairs_map_array(&j->map, &j->array, &j->facts, &err) ? fail(j, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- weights */

static bool is_shard(const char *path)
{
    return fnmatch("*-[0-9]*-of-[0-9]*.safetensors", path, 0) == 0;
}

static cli_exit plan_weights(convert_job *j)
{
    pe_error err;
    char similar[400];
    if (cli_given(j->args, "bf16"))
        return cli_fail(j->args, CLI_USAGE, "--bf16 is for .npy; %s holds weights, which name their type", j->in);
    if (io_safetensors_open(&j->st, j->in, &err))
        return fail(j, &err);
    CLI_TRY(read_facts(j, false));
    if (io_pairs_plan_new(&j->plan, j->st, &j->facts, &err))
        return fail(j, &err);
    if (j->plan.turned || (is_shard(j->in) && !j->facts.tensors && !j->plan.left))
        return CLI_OK;
    convert_similar(similar, sizeof similar, j->st);
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

static cli_exit plan(convert_job *j)
{
    pe_error err;
    char start[8] = { 0 };
    if (io_file_open(&j->file, j->in, &err) ||
        io_file_read(start, &j->file, 0, j->file.size < 8 ? (size_t)j->file.size : 8, &err))
        return fail(j, &err);
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
                  : !j->plan.turned ? io_copy_file(j->out, &j->file, &watch, &err)
                                    : io_pairs_convert(j->out, j->st, &j->plan, &watch, &err);
    progress_end(&p);
    return s ? fail(j, &err) : CLI_OK;
}

static cli_exit work(convert_job *j)
{
    CLI_TRY(check_options(j));
    CLI_TRY(plan(j));
    if (j->out)
        CLI_TRY(write_out(j));
    convert_report(j);
    return CLI_OK;
}

static cli_exit convert_verb(const cli_args *a, result *out)
{
    (void)out;
    convert_job j = {
        .args = a, .in = a->operand[0], .file.fd = -1, .from = cli_choice(a, "from"), .to = cli_choice(a, "to")
    };
    if (!cli_given(a, "dry-run"))
        j.out = cli_text(a, "out");
    cli_exit code = work(&j);
    io_pairs_plan_free(&j.plan);
    io_safetensors_free(j.st);
    io_file_close(&j.file);
    return code;
}

const cli_verb cli_verb_convert = {
    .name = "convert",
    .summary = "weights and K caches from one layout of rotated pairs to another",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = convert_verb,
};
