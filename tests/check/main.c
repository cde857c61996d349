/* SPDX-License-Identifier: MIT
 *
 * The command line of check. */
#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#define RUNS 1600
#define RUNGS_MAX 8

static const char help[] =
    "posenc-kernels: every kernel, on every rung this CPU has, against its definition; guard pages around every "
    "buffer\n"
    "\n"
    "  posenc-kernels                                              all of it\n"
    "  posenc-kernels --kernel gemm --rung avx2 --runs 20000       one kernel, longer\n"
    "  posenc-kernels --kernel gemm --rung avx2 --seed 1 --case 7  one case again, as a failure printed it\n"
    "  posenc-kernels --bench --kernel dots                        how fast: scalar and each rung, beside memcpy\n"
    "  posenc-kernels --self-test                                  kernels broken on purpose: is each of them seen?\n"
    "\n"
    "  --list        kernels with their bounds, and the rungs of this CPU\n"
    "  --kernel K    this kernel only\n"
    "  --rung R      this rung only\n"
    "  --runs N      cases per kernel and rung, 1 or more; 1600 unless told\n"
    "  --seed S      of sizes and values; 1 unless told\n"
    "  --case C      this case only\n"
    "  --bench       times the same calls, best of many; needs no checks to pass\n"
    "  --size N      elements of a row in the bench; 4096 unless told\n"
    "  --json        results as JSON; of_bound: the largest error, as a share of what is allowed\n"
    "\n"
    "Exit status: 0 all right, 1 something is wrong, 2 the command line is.\n";

/* ---------------------------------------------------------------- kernels and rungs by name */

const kernel *find_kernel(const char *name)
{
    for (int i = 0; i < table_count; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

/* A rung of the ladder that this CPU has, or broken:NAME. */
bool find_rung(const char *name, rung *r)
{
    snprintf(r->name, sizeof r->name, "%s", name);
    if (!strncmp(name, "broken:", 7)) {
        ladder_fill(&r->kernels, 0);
        return break_kernels(name + 7, &r->kernels);
    }
    unsigned rungs = ladder_named(name);
    if (rungs == ~0u || (rungs & ladder_rungs()) != rungs)
        return false;
    ladder_fill(&r->kernels, rungs);
    return true;
}

static int find_rungs(const options *o, rung out[RUNGS_MAX])
{
    int count = 0;
    if (o->rung)
        return find_rung(o->rung, &out[0]) ? 1 : 0;
    for (int i = 0; ladder_name(i) && count < RUNGS_MAX; i++)
        count += find_rung(ladder_name(i), &out[count]);
    return count;
}

/* Functions of struct kernels that no row of the table is about. */
static int missing_rows(void)
{
    int missing = 0;
    for (size_t at = KERNELS_FIRST; at < sizeof(kernels); at += sizeof(void (*)(void))) {
        bool known = false;
        for (int i = 0; i < table_count; i++)
            known |= at >= table[i].offset && at <= table[i].offset + (size_t)table[i].more * sizeof(void (*)(void));
        missing += !known;
    }
    return missing;
}

static bool is_wanted(const options *o, const kernel *k)
{
    return !o->kernel || !strcmp(o->kernel, k->name);
}

/* ---------------------------------------------------------------- what it does */

void print_failure(const kernel *k, const rung *r, const options *o, const report *found)
{
    printf("FAILED: %s, %s: %s\n  again: posenc-kernels --kernel %s --rung %s --seed %" PRIu64 " --case %" PRId64 "\n",
           k->name, r->name, found->text, k->name, r->name, o->seed, found->at);
}

/* failure NULL: all cases passed; the first failure ends the runs. */
static void print_result(const kernel *k, const rung *r, const options *o, const report *failure, double worst,
                         bool first)
{
    printf("%s\n  {\"kernel\": \"%s\", \"rung\": \"%s\", \"passed\": %s, \"seed\": %" PRIu64 ", \"runs\": %" PRId64,
           first ? "" : ",", k->name, r->name, failure ? "false" : "true", o->seed, o->only >= 0 ? 1 : o->runs);
    if (failure)
        printf(", \"case\": %" PRId64, failure->at);
    printf(", \"of_bound\": %.3f}", worst);
}

static bool run_one(const kernel *k, const rung *r, const options *o, bool first)
{
    report found = { "", 0, 0 };
    fflush(stdout);
    bool right = check_kernel(k, r, o, &found);
    if (o->json)
        print_result(k, r, o, right ? NULL : &found, found.worst, first);
    else if (!right)
        print_failure(k, r, o, &found);
    return right;
}

static int run_checks(const options *o, const rung *rungs, int count)
{
    int passed = 0, failed = missing_rows();
    if (failed && !o->json)
        printf("FAILED: %d functions of struct kernels have no row in tests/check/table.c\n", failed);
    if (o->json)
        printf("{\"cases\": [");
    for (int i = 0; i < table_count; i++)
        for (int r = 0; r < count && is_wanted(o, &table[i]); r++) {
            bool right = run_one(&table[i], &rungs[r], o, passed + failed == 0);
            passed += right;
            failed += !right;
        }
    if (o->json)
        printf("\n], \"passed\": %d, \"failed\": %d, \"skipped\": 0}\n", passed, failed);
    else
        printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

static int run_bench(const options *o, const rung *rungs, int count)
{
    bool first = true;
    if (o->json)
        printf("[");
    for (int i = 0; i < table_count; i++)
        if (is_wanted(o, &table[i])) {
            bench_kernel(&table[i], rungs, count, o, first);
            first = false;
        }
    if (o->json)
        printf("\n]\n");
    return 0;
}

static int list(void)
{
    for (int i = 0; i < table_count; i++)
        printf("%-11s %s%s\n", table[i].name, table[i].k + table[i].k_term > 0 ? "k eps sum|terms|: " : "",
               table[i].why);
    for (int i = 0; ladder_name(i); i++) {
        rung r;
        printf("%-11s %s\n", ladder_name(i), find_rung(ladder_name(i), &r) ? "a rung of this CPU" : "not here");
    }
    return 0;
}

/* ---------------------------------------------------------------- options */

static int refuse(const char *format, ...)
{
    va_list args;
    fputs("posenc-kernels: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("; see posenc-kernels --help\n", stderr);
    return 2;
}

static int refuse_kernel(const char *name)
{
    char all[1000] = "";
    for (int i = 0; i < table_count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", table[i].name);
    return refuse("--kernel %s: no such kernel; there are %s", name, all);
}

static int refuse_rung(const char *name)
{
    char all[200] = "";
    rung r;
    for (int i = 0; ladder_name(i); i++)
        if (find_rung(ladder_name(i), &r))
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "", ladder_name(i));
    return refuse("--rung %s: this CPU or this build does not have it; there are %s", name, all);
}

static bool read_number(const char *text, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    *out = n;
    return *text && !*end && !errno && n >= least && n <= most;
}

/* --name VALUE; 0, or the exit status after a sentence. */
static int read_value(options *o, int64_t *seed, const char *name, const char *value)
{
    const struct {
        const char *name;
        int64_t *to, least, most;
    } numbers[] = { { "--runs", &o->runs, 1, 1000000000 },
                    { "--case", &o->only, 0, INT64_MAX },
                    { "--size", &o->size, 256, 500000 },
                    { "--seed", seed, 0, INT64_MAX } };
    bool a_kernel = !strcmp(name, "--kernel"), a_rung = !strcmp(name, "--rung");
    int n = 0;
    while (n < COUNT(numbers) && strcmp(name, numbers[n].name))
        n++;
    if (n == COUNT(numbers) && !a_kernel && !a_rung)
        return refuse("no such option: %s", name);
    if (!value)
        return refuse("%s needs a value", name);
    if (a_kernel)
        return find_kernel(o->kernel = value) ? 0 : refuse_kernel(value);
    if (a_rung)
        return (o->rung = value, 0);
    if (read_number(value, numbers[n].least, numbers[n].most, numbers[n].to))
        return 0;
    return refuse("%s is %s; needs a number from %" PRId64 " to %" PRId64, name, value, numbers[n].least,
                  numbers[n].most);
}

int main(int argc, char **argv)
{
    options o = { .runs = RUNS, .only = -1, .size = 4096 };
    bool self = false;
    int64_t seed = 1;
    int code;
    rung rungs[RUNGS_MAX];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return fputs(help, stdout) < 0;
        if (!strcmp(argv[i], "--list"))
            return list();
        if (!strcmp(argv[i], "--json"))
            o.json = true;
        else if (!strcmp(argv[i], "--bench"))
            o.bench = true;
        else if (!strcmp(argv[i], "--self-test"))
            self = true;
        else if ((code = read_value(&o, &seed, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) != 0)
            return code;
        else
            i++;
    }
    o.seed = (uint64_t)seed;
    guard_signals();
    if (self)
        return self_test(&o);
    int count = find_rungs(&o, rungs);
    if (!count)
        return refuse_rung(o.rung);
    return o.bench ? run_bench(&o, rungs, count) : run_checks(&o, rungs, count);
}
