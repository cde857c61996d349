/* SPDX-License-Identifier: MIT
 *
 * A small race on disk, made up: what tests of results and reports read. */
#ifndef TESTS_LAB_CASE_H
#define TESTS_LAB_CASE_H

#define _XOPEN_SOURCE 700 /* nftw */

#include "common.h"
#include "lab/results.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct lab_case {
    char folder[64];
    lab_setup setup;
} lab_case;

static inline void case_entry(lab_setup *s, const char *name, const char *trained, const char *slug)
{
    lab_entry *e = &s->entry[s->entries++];
    snprintf(e->name, sizeof e->name, "%s", name);
    snprintf(e->spec, sizeof e->spec, "%s", name);
    snprintf(e->trained, sizeof e->trained, "%s", trained);
    snprintf(e->slug, sizeof e->slug, "%s", slug);
}

static inline void case_setup(lab_setup *s)
{
    memset(s, 0, sizeof *s);
    snprintf(s->kind, sizeof s->kind, "race");
    snprintf(s->command, sizeof s->command, "posenc race --encodings \"rope,alibi\" --seeds 3");
    snprintf(s->version, sizeof s->version, "0.9.0");
    snprintf(s->blas, sizeof s->blas, "OpenBLAS 0.3.21");
    snprintf(s->cpu, sizeof s->cpu, "a CPU");
    snprintf(s->kernels, sizeof s->kernels, "avx2");
    snprintf(s->date, sizeof s->date, "2026-01-02T03:04:05Z");
    snprintf(s->data, sizeof s->data, "stories");
    snprintf(s->calibration, sizeof s->calibration, "0.125 s a step, measured over 5 steps");
    s->threads = 2;
    s->data_fingerprint = 0xfedcba9876543210u;
    s->data_size = 4000000;
    s->layers = 4, s->width = 128, s->heads = 4, s->kv_heads = 2, s->hidden = 352, s->vocab = 256;
    s->causal = true;
    s->train_length = 256, s->batch = 16, s->steps = 800, s->warmup = 50;
    s->rate = 2e-3, s->decay = 0.1, s->clip = 1;
    for (int i = 0; i < 5; i++)
        s->test[s->tests++] = (int64_t)256 << i;
    s->test_tokens = 65536;
    for (uint64_t i = 1; i <= 3; i++)
        s->seed[s->seeds++] = i;
    case_entry(s, "alibi", "alibi", "alibi");
    case_entry(s, "rope", "rope", "rope");
    case_entry(s, "rope:scaling=ntk", "rope", "rope-scaling-ntk");
    case_entry(s, "learned", "learned:rows=256", "learned");
    s->entry[3].tensor[s->entry[3].tensors++] = (lab_tensor){ .name = "table", .rate = 10 };
    case_entry(s, "sinusoidal", "sinusoidal", "sinusoidal");
    s->minutes = 3, s->step_seconds = 0.125, s->test_seconds = 1.5;
}

/* Bits per byte of the five entries at 1x .. 16x, of the order that an independent run had. */
static const double case_bits[5][5] = {
    { 2.19, 2.15, 2.13, 2.11, 2.12 }, { 2.09, 2.30, 3.22, 4.23, 4.97 }, { 2.09, 2.15, 2.36, 3.03, 3.60 },
    { 2.94, 0, 0, 0, 0 },             { 3.14, 4.44, 5.56, 6.38, 7.35 },
};

static inline lab_test_line case_test(const lab_setup *s, int entry, uint64_t seed, int length)
{
    lab_test_line l = { .entry = entry, .seed = seed, .length = s->test[length] };
    snprintf(l.spec, sizeof l.spec, "%s", s->entry[entry].spec);
    if (case_bits[entry][length] == 0) {
        snprintf(l.cannot, sizeof l.cannot, "learned: position %d is past its 256 rows", (int)l.length - 1);
        l.bits = l.last_quarter = NAN;
        for (int i = 0; i < LAB_BINS; i++)
            l.by_position[i] = NAN;
        return l;
    }
    l.windows = 65536 / l.length;
    l.bits = case_bits[entry][length] + 0.01 * ((double)seed - 2) * (1 + entry);
    l.last_quarter = l.bits + 0.125;
    for (int i = 0; i < LAB_BINS; i++)
        l.by_position[i] = l.bits - 0.5 + i / 64.0;
    for (int k = 2; k < LAB_DISTANCES && (int64_t)1 << k < l.length; k++) {
        l.asked[k] = 100;
        l.right[k] = 100 - 5 * k - 4 * entry;
    }
    l.asked_all = 65536;
    l.right_all = 32000 + 1000 * entry;
    l.seconds = 0.5;
    return l;
}

static inline lab_train_line case_train(int entry, int n)
{
    return (lab_train_line){ .step = 20 * (n + 1), .loss = 1.4 + 0.1 * entry + 4 / (1.0 + n), .rate = 1e-3, .norm = 0.5,
                             .seconds = 2.5 * (n + 1) };
}

static inline FILE *case_open(const char *folder, const char *name)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* One run: its training, and the tests of every entry that uses its weights. */
static inline void case_run(const lab_case *c, int entry, uint64_t seed)
{
    char name[200];
    const lab_setup *s = &c->setup;
    snprintf(name, sizeof name, "%s/%s-%d", c->folder, s->entry[entry].slug, (int)seed);
    assert_int_equal(mkdir(name, 0777), 0);
    FILE *f = case_open(name, "log.jsonl");
    for (int n = 0; n < 40; n++) {
        lab_train_line l = case_train(entry, n);
        lab_write_train(f, &l);
    }
    lab_write_run(f, &(lab_run_line){ .params = 790000 + entry, .position_params = entry == 3 ? 32768 : 0,
                                      .tokens = 3276800, .steps = 800, .seconds = 100 + entry,
                                      .tokens_per_second = 32000, .final_loss = 1.5, .finished = true });
    for (int e = 0; e < s->entries; e++)
        for (int i = 0; i < s->tests && !strcmp(s->entry[e].trained, s->entry[entry].trained); i++) {
            lab_test_line l = case_test(s, e, seed, i);
            lab_write_test(f, s, &l);
        }
    fclose(f);
}

static inline void case_race_json(const lab_case *c)
{
    FILE *f = case_open(c->folder, "race.json");
    lab_write_setup(f, &c->setup);
    fclose(f);
}

/* A folder below the system's temporary one, with all of the race in it. */
static inline void case_new(lab_case *c)
{
    snprintf(c->folder, sizeof c->folder, "/tmp/posenc-lab-XXXXXX");
    assert_non_null(mkdtemp(c->folder));
    case_setup(&c->setup);
    case_race_json(c);
    for (int i = 0; i < c->setup.seeds; i++)
        for (int e = 0; e < c->setup.entries; e++)
            if (e != 2)
                case_run(c, e, c->setup.seed[i]);
}

static inline int case_remove(const char *path, const struct stat *there, int kind, struct FTW *walk)
{
    (void)there, (void)kind, (void)walk;
    return remove(path);
}

static inline void case_free(lab_case *c)
{
    nftw(c->folder, case_remove, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
