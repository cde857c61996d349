/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const topic bench_topics[] = {
    { "limits", "what the machine allows: bandwidth, multiply-adds", bench_limits },
    { "rotate", "rotation by type, layout, size and rung", bench_rotate },
    { "tables", "tables of cos and sin", bench_table },
    { "embed", "codes added to rows, beside memcpy", bench_embed },
    { "accuracy", "how far cos and sin are off, far out", bench_accuracy },
    { "attention", "every encoding beside plain attention, forward and backward", bench_attention },
    { "rungs", "attention by rung, length and type", bench_rungs },
    { "decode", "one query against a long cache", bench_decode },
    { "cache", "shifting a cache", bench_cache },
    { "length", "cost against length, fitted exponents", bench_length },
    { "train", "steps of training the lab's model", bench_train },
};
const int bench_topic_count = BENCH_COUNT(bench_topics);

const table bench_tables[] = {
    { "bandwidth", "Limits: memory", "Bytes read and written, of arrays of this size each.", "size", NULL },
    { "peak", "Limits: arithmetic", "A multiply-add is two operations.", "what", NULL },
    { "waking", "Waking the library's threads",
      "A call of a pool with an empty job per worker: what a call that is too small for threads pays for them. Asleep: "
      "after 300 us without a call.",
      "threads are", NULL },
    { "rotate", "Rotation, 32 heads of 128",
      "The limit moves the same bytes: in-place scale for in place, memcpy for out of place; GB/s counts the vectors, "
      "not the tables. ggml makes cos and sin inside the call, PyTorch reads a table and writes new tensors.",
      "what", "n" },
    { "tables", "Tables of cos and sin, 64 pairs", "A value is one cosine or one sine.", "what", "n" },
    { "embed", "Codes added to rows of 1024",
      "The limit moves the same bytes: memcpy for out of place, in-place scale for in place; GB/s counts the rows, not "
      "learned tables.",
      "what", "n" },
    { "accuracy", "Worst error of cos and sin, theta 10000, 64 pairs, 512 positions",
      "Against 106-bit arithmetic; half an ulp is the least that rounding allows.", "what", "position" },
    { "forward", "Attention forward, causal, float32, 8 heads of 64",
      "Operations are those of plain attention, 4 n^2 D H / 2, whatever the encoding adds; what it adds is the column "
      "on "
      "top of plain, measured by turns. Work is all the memory a call uses beside its arguments. Peers build their "
      "bias "
      "outside the clock.",
      "encoding", "n" },
    { "backward", "Attention backward, the same",
      "Operations: 2.5 times the forward ones. PyTorch's is autograd's backward alone.", "encoding", "n" },
    { "rungs", "Attention by rung, length and type",
      "Forward unless it says backward; counted as above. PyTorch's backward is autograd's alone.", "what", "n" },
    { "decode", "Decode: one query, 8 heads of 64, float16 keys already rotated",
      "Bytes are those of K and V; reading is a loop that only reads as many. A plan has the tables by distance ready; "
      "on top of none: what the encoding then costs more than none does, measured by turns.",
      "encoding", "keys" },
    { "cache", "Shifting a cache, 8 heads of 128", "Bytes of K, read and written.", "cache", "tokens" },
    { "length", "Cost against length", "Milliseconds with all threads, and the exponent fitted to log t over log n.",
      "what", NULL },
    { "train", "Training, 4 layers of 256 in 4 heads, 688 hidden, 256 bytes, 8 sequences",
      "Whole steps: forward, backward, clipping, AdamW. PyTorch is eager, with its fused attention and fused AdamW.",
      "encoding", "n" },
};
const int bench_table_count = BENCH_COUNT(bench_tables);
_Static_assert(BENCH_COUNT(bench_tables) <= BENCH_TABLES_MAX, "room in struct bench");

typedef struct options {
    bool help;
    const char *peers, *command, *load, *threads;
} options;

/* Options with a value, and where it goes. */
static const char **value_of(bench *b, options *o, const char *word)
{
    const struct {
        const char *name, **value;
    } all[] = { { "--only", &b->only },
                { "--peers", &o->peers },
                { "--command", &o->command },
                { "--threads", &o->threads },
                { "--load", &o->load } };
    for (int i = 0; i < BENCH_COUNT(all); i++)
        if (!strcmp(word, all[i].name))
            return all[i].value;
    return NULL;
}

static void help(void)
{
    puts("posenc-bench                              every table, a few minutes\n"
         "posenc-bench --only rotate,tables         some topics\n"
         "posenc-bench --quick --json               a smoke run of seconds; its times mean nothing\n"
         "posenc-bench --peers peers.jsonl          with what bench/peers.py measured (make bench does both)\n"
         "\n"
         "  --only A,B     topics, see below\n"
         "  --threads N    1 and N threads are measured; N is the CPUs, at most 2, unless told\n"
         "  --quick        small sizes, one turn\n"
         "  --full         rotation in every combination\n"
         "  --json         everything measured, as JSON\n"
         "  --markdown     tables as in docs/performance.md; --command TEXT: what made them\n"
         "  --peers FILE   JSON lines of others' measurements; --load X: the load before they ran\n"
         "\n"
         "topics:");
    for (int i = 0; i < bench_topic_count; i++)
        printf("  %-10s %s\n", bench_topics[i].name, bench_topics[i].about);
    puts("\nContenders run by turns of some milliseconds and the best turn counts. Run it on a quiet machine.");
}

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "posenc-bench: %s%s; see posenc-bench --help\n", what, word);
    return 2;
}

/* Whether a comma-separated list has this word. */
static bool listed(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

static bool all_known(const char *list, char wrong[40])
{
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        bool known = false;
        for (int i = 0; i < bench_topic_count; i++)
            known |= strlen(bench_topics[i].name) == strcspn(at, ",") &&
                     !strncmp(at, bench_topics[i].name, strcspn(at, ","));
        snprintf(wrong, 40, "%.*s", (int)strcspn(at, ","), at);
        if (!known)
            return false;
    }
    return true;
}

static bool *flag_of(bench *b, options *o, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } all[] = { { "--quick", &b->quick },       { "--full", &b->full }, { "--json", &b->json },
                { "--markdown", &b->markdown }, { "--help", &o->help }, { "-h", &o->help } };
    for (int i = 0; i < BENCH_COUNT(all); i++)
        if (!strcmp(word, all[i].name))
            return all[i].flag;
    return NULL;
}

static int read_options(bench *b, options *o, int argc, char **argv)
{
    char wrong[40];
    for (int i = 1; i < argc; i++) {
        bool *flag = flag_of(b, o, argv[i]);
        const char **value = value_of(b, o, argv[i]);
        if (flag)
            *flag = true;
        else if (!value)
            return usage("unknown option ", argv[i]);
        else if (i + 1 == argc)
            return usage("no value after ", argv[i]);
        else
            *value = argv[++i];
    }
    if (o->threads)
        b->threads = atoi(o->threads);
    if (b->threads < 1 || b->threads > 1024)
        return usage("--threads needs a number from 1 to 1024", "");
    if (b->only && !all_known(b->only, wrong))
        return usage("no topic ", wrong);
    return 0;
}

/* Tables are printed as soon as their topic is done: what was measured is there when a run is cut short. */
static int run_topics(bench *b, const options *o)
{
    double start = bench_now();
    if (!b->json)
        print_machine(b, stdout, o->command), fflush(stdout);
    for (int i = 0; i < bench_topic_count; i++) {
        if (b->only && !listed(b->only, bench_topics[i].name, strlen(bench_topics[i].name)))
            continue;
        bench_topics[i].run(b);
        tables_done(b);
    }
    say(b, "measured in %.0f s", bench_now() - start);
    fputs(isatty(STDERR_FILENO) ? "\n" : "", stderr);
    if (b->json)
        print_json(b, stdout);
    return fflush(stdout) || ferror(stdout) ? 4 : 0;
}

int main(int argc, char **argv)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    bench b = { .threads = cpus > 2 ? 2 : (int)cpus };
    options o = { 0 };
    pe_error err;
    int code = read_options(&b, &o, argc, argv);
    if (code)
        return code;
    if (o.help)
        return help(), 0;
    if (b.threads > 1)
        must(pe_pool_new(&b.pool, b.threads, &err), &err, "threads");
    b.machine = machine_now();
    if (o.load)
        b.machine.load = atof(o.load);
    if (b.machine.load > 0.5 && !b.quick)
        say(&b, "others use %.1f CPUs of this machine: ratios will be rough, times too long", b.machine.load);
    if (o.peers && !peers_read(&b, o.peers))
        return bench_free(&b), 3;
    code = run_topics(&b, &o);
    bench_free(&b);
    return code;
}
