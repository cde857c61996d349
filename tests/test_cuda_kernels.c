/* SPDX-License-Identifier: MIT
 * labels: gpu; tier: test; cost: 60 s; needs: cuda threads; sanitize: no
 *
 * Every kernel that is built into the GPU library compiles for Hopper, keeps no variable of a thread in memory for want of
 * registers, and stays within the limits that its recipe states. It needs the run-time compiler (POSENC_NVRTC names it),
 * and no GPU. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "cuda/compiler.h"
#include "cuda/recipes.h"
#include "test.h"

/* What ptxas says of an entry function, and of all the functions that it calls. */
typedef struct usage {
    int registers, spilled, stack, shared;
} usage;

/* The number before the word, in the line. */
static int number_before(const char *line, const char *end, const char *word)
{
    const char *at = strstr(line, word);
    if (!at || at > end)
        return 0;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return atoi(at);
}

/* The most of any function in the part of the log that is about this entry; false: there is none. */
static bool usage_of(const char *log, const char *entry, usage *out)
{
    bool any = false, here = false;
    char begins[100];
    snprintf(begins, sizeof begins, "Compiling entry function '%s'", entry);
    *out = (usage){ 0 };
    for (const char *line = log, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *entered = strstr(line, "Compiling entry function"), *ours = strstr(line, begins);
        if (entered && entered < end)
            here = ours && ours < end;
        if (!here)
            continue;
        const usage u = { number_before(line, end, "registers"), number_before(line, end, "bytes spill stores"),
                          number_before(line, end, "bytes stack frame"), number_before(line, end, "bytes smem") };
        any = any || u.registers;
        out->registers = u.registers > out->registers ? u.registers : out->registers;
        out->spilled += u.spilled;
        out->stack = u.stack > out->stack ? u.stack : out->stack;
        out->shared = u.shared > out->shared ? u.shared : out->shared;
    }
    return any;
}

TEST(the_words_of_ptxas_are_read)
{
    usage u;
    assert_true(usage_of("ptxas info    : 0 bytes gmem\n"
                         "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
                         "ptxas info    : Used 255 registers, used 2 barriers, 2048 bytes smem\n"
                         "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
                         "ptxas         .     240 bytes stack frame, 152 bytes spill stores, 160 bytes spill loads\n"
                         "ptxas info    : Used 168 registers, used 2 barriers, 240 bytes cumulative stack size, 1024 bytes smem\n"
                         "ptxas info    : Compiling entry function 'kk' for 'sm_90a'\n"
                         "ptxas info    : Used 254 registers\n",
                         "k", &u));
    assert_int_equal(u.registers, 168);
    assert_int_equal(u.spilled, 152);
    assert_int_equal(u.stack, 240);
    assert_int_equal(u.shared, 1024);
    assert_false(usage_of("nothing\n", "k", &u));
}

/* The compiler, or the test is skipped. */
static void open_compiler(cuda_compiler *c)
{
    if (compiler_open(c, NULL, &err)) {
        char why[400];
        snprintf(why, sizeof why, "%s (POSENC_NVRTC names it)", err.text);
        test_skip(why);
    }
}

static usage compiled(const cuda_compiler *c, const kernel_source *source, const char *defines, size_t *bytes)
{
    kernel_program p;
    blob code;
    char *log;
    usage u;
    assert_ok(program_new(&p, source, defines, &err));
    pe_status s = compiler_build(c, &p, source->entry, 90, &code, &log, &err);
    program_free(&p);
    if (s)
        fail_msg("%s with\n%s\n%s\n%s", source->entry, defines, err.text, log ? log : "");
    if (strstr(log, "are serialized")) /* products that wait for each other, which ptxas tells in a note */
        fail_msg("%s with\n%s\n%s", source->entry, defines, log);
    if (!usage_of(log, source->entry, &u))
        fail_msg("%s: nvrtc says nothing of registers: %s", source->entry, log);
    *bytes = code.bytes;
    free(code.data);
    free(log);
    return u;
}

/* A kernel that needs more registers than it may have. */
TEST(a_kernel_that_spills_is_seen)
{
    static const char *const none[] = { NULL };
    static const char text[] =
        "extern \"C\" __global__ void __launch_bounds__(1024) spills(float *x)\n"
        "{\n"
        "    float a[200];\n"
        "    #pragma unroll\n"
        "    for (int i = 0; i < 200; i++) a[i] = x[i * 7];\n"
        "    __syncthreads();\n"
        "    #pragma unroll\n"
        "    for (int i = 0; i < 200; i++) x[i * 5 + threadIdx.x] = a[199 - i] * a[i];\n"
        "}\n";
    const kernel_source source = { "spills", none, false };
    cuda_compiler c;
    size_t bytes;
    open_compiler(&c);
    usage u = compiled(&c, &source, text, &bytes);
    compiler_close(&c);
    assert_int_equal(u.registers, 64);
    assert_true(u.spilled > 100);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The defines on one line. */
static void print_defines(const char *defines)
{
    for (const char *at = defines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        int skip_words = strncmp(at, "#define ", 8) ? 0 : 8, length = (int)strcspn(at, "\n");
        printf(" %.*s;", length - skip_words, at + skip_words);
    }
    printf("\n");
}

TEST(every_recipe_compiles_within_its_limits)
{
    static kernel_recipe r;
    int bad = 0, count = 0;
    cuda_compiler c;
    open_compiler(&c);
    printf("registers  spilled   shared     code   seconds  kernel\n");
    for (recipe_list *const *list = kernel_recipes; *list; list++)
        for (int i = 0; r = (kernel_recipe){ 0 }, (*list)(i, 90, &r); i++, count++) {
            size_t bytes;
            double start = seconds();
            usage u = compiled(&c, r.source, r.defines, &bytes);
            bool right = u.spilled <= r.spilled && u.registers <= r.registers && u.shared <= r.shared;
            printf("%9d %8d %8d %8zu %9.2f  %s:", u.registers, u.spilled, u.shared, bytes, seconds() - start,
                   r.source->entry);
            print_defines(r.defines);
            if (!right)
                printf("FAILED: needs %d registers, %d bytes spilled, %d bytes shared at most\n", r.registers, r.spilled,
                       r.shared);
            bad += !right;
        }
    compiler_close(&c);
    printf("%d kernels\n", count);
    assert_int_equal(bad, 0);
}
