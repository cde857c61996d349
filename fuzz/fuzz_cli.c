/* SPDX-License-Identifier: MIT
 * max_len: 512
 *
 * The command line: the input's lines are the words after "posenc". The tool runs in a folder of its own that holds a
 * few tiny files; what it leaves there is removed and what it replaced is put back before the next run.
 *
 * Not tried, so that a run stays in its folder and stays short:
 *   - words that lead out of the folder: "..", and '/' where a path may begin;
 *   - for table, apply and bias, numbers whose product passes 64 (an array has their product of elements, or its
 * square) unless they are so large, 2^33 and more, that the array is refused. The spec grammar has a target of its own,
 * for all numbers;
 *   - races that would train: help and --show-data alone. A BLAS, which keeps what it allocates. */
#define _XOPEN_SOURCE 700
#include "harness.h"

#include "cli/cli.h"
#include "posenc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 16
#define PRODUCT_MAX 64
#define REFUSED 0x1p33

/* Arrays of a few MiB come from specs with large tables by default, and are printed as text. */
static const harness_bound bound = { 0, (size_t)64 << 20, 0, 1 };

/* ---------------------------------------------------------------- the folder */

#define CONFIG                                                                                                         \
    "{\"model_type\":\"llama\",\"hidden_size\":32,\"num_attention_heads\":4,\"num_hidden_layers\":2,"                  \
    "\"max_position_embeddings\":64}"
#define YARN                                                                                                           \
    "{\"model_type\":\"gemma3_text\",\"hidden_size\":32,\"num_attention_heads\":4,\"num_hidden_layers\":7,"            \
    "\"head_dim\":8,\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":64}}"
#define TENSORS                                                                                                        \
    "\x49\0\0\0\0\0\0\0{\"a.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[0,8]}}   aabbccdd"
#define GGUF                                                                                                           \
    "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0"                                                                     \
    "\x14\0\0\0\0\0\0\0general.architecture\x8\0\0\0\5\0\0\0\0\0\0\0llama"                                             \
    "\x11\0\0\0\0\0\0\0llama.block_count\4\0\0\0\2\0\0\0"                                                              \
    "\x16\0\0\0\0\0\0\0llama.embedding_length\4\0\0\0\x20\0\0\0"                                                       \
    "\x1a\0\0\0\0\0\0\0llama.attention.head_count\4\0\0\0\4\0\0\0"

static char folder[] = "/tmp/posenc-fuzz-XXXXXX";

/* An array of zeros; or, where there is no shape, the text as it is. */
static struct {
    const char *name, *descr, *shape;
    size_t bytes;
    struct stat made;
} files[] = {
    { "q.npy", "<f4", "(4, 8)", 128, { 0 } },
    { "h.npy", "<f2", "(2, 2, 8)", 64, { 0 } },
    { "p.npy", "<i8", "(4,)", 32, { 0 } },
    { "g.npy", "<i8", "(4, 2)", 64, { 0 } },
    { "w.npy", "<f8", "(2, 4)", 64, { 0 } },
    { "cut.npy", "<f4", "(9, 9)", 8, { 0 } },
    { "config.json", CONFIG, NULL, sizeof CONFIG - 1, { 0 } },
    { "yarn.json", YARN, NULL, sizeof YARN - 1, { 0 } },
    { "m.safetensors", TENSORS, NULL, sizeof TENSORS - 1, { 0 } },
    { "m.gguf", GGUF, NULL, sizeof GGUF - 1, { 0 } },
};
#define FILES ((int)(sizeof files / sizeof *files))

static void write_text(int i)
{
    FILE *f = fopen(files[i].name, "wb");
    if (!f || fwrite(files[i].descr, 1, files[i].bytes, f) != files[i].bytes || fclose(f) ||
        stat(files[i].name, &files[i].made))
        harness_fail("cannot write %s", files[i].name);
}

static void write_seed(int i)
{
    if (!files[i].shape) {
        write_text(i);
        return;
    }
    char head[128], text[129];
    uint8_t zero[128] = { 0 };
    snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", files[i].descr,
             files[i].shape);
    snprintf(text, sizeof text, "%-117s\n", head);
    FILE *f = fopen(files[i].name, "wb");
    if (!f || fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f) != 10 || fwrite(text, 1, 118, f) != 118 ||
        fwrite(zero, 1, files[i].bytes, f) != files[i].bytes || fclose(f) || stat(files[i].name, &files[i].made))
        harness_fail("cannot write %s", files[i].name);
}

static int seed_index(const char *name)
{
    for (int i = 0; i < FILES; i++)
        if (!strcmp(files[i].name, name))
            return i;
    return -1;
}

/* As it was. A file the tool writes is a new one, with its own number. */
static void tidy(DIR *d)
{
    bool there[FILES] = { false };
    struct stat st;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        int i = seed_index(e->d_name);
        if (i >= 0 && !stat(e->d_name, &st) && st.st_ino == files[i].made.st_ino && st.st_size == files[i].made.st_size)
            there[i] = true;
        else if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(e->d_name);
    }
    for (int i = 0; i < FILES; i++)
        if (!there[i])
            write_seed(i);
}

static void enter(int fd)
{
    if (fchdir(fd))
        harness_fail("cannot change folders");
}

static void leave(void)
{
    DIR *d = opendir(folder);
    if (!d)
        return;
    enter(dirfd(d));
    tidy(d);
    for (int i = 0; i < FILES; i++)
        unlink(files[i].name);
    closedir(d);
    rmdir(folder);
}

/* Outside of a run the program stays where it was started, for the fuzzer's own paths. */
static DIR *prepare(int *home)
{
    static DIR *d;
    static int start;
    if (!d) {
        int null = open("/dev/null", O_RDONLY);
        start = open(".", O_RDONLY);
        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || start < 0 || !mkdtemp(folder) || !(d = opendir(folder)))
            harness_fail("cannot prepare %s", folder);
        close(null);
        atexit(leave);
        setenv("POSENC_BLAS", "none", 1);
        unsetenv("XDG_CACHE_HOME"); /* nothing is kept outside of the folder */
        unsetenv("HOME");
        harness_be_quiet();
    }
    *home = start;
    return d;
}

/* ---------------------------------------------------------------- the words */

static bool leads_out(const char *word)
{
    return word[0] == '/' || strstr(word, "=/") || strstr(word, "..") || (word[0] == '-' && word[1] && word[2] == '/');
}

/* Multiplies by the numbers in a word that are not part of a name, as in f32. */
static void multiply(double *product, const char *word)
{
    for (const char *c = word; *c;) {
        bool digit = *c >= '0' && *c <= '9', name = c > word && ((c[-1] | 32) >= 'a' && (c[-1] | 32) <= 'z');
        bool letter = name && !(c == word + 2 && word[0] == '-'); /* -n4 is a number */
        char *end;
        if (!digit) {
            c++;
            continue;
        }
        double x = strtod(c, &end);
        x *= *end == 'k' || *end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : *end == 'G' ? 0x1p30 : 1;
        if (!letter && x > 1 && x < REFUSED)
            *product *= x;
        c = end;
    }
}

static char *line[WORDS_MAX + 2];
static int dictionary_words;

static void work(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    int code = cli_main(dictionary_words, line);
    if (code < 0 || code >= CLI_EXIT_COUNT)
        harness_fail("exit code %d", code);
}

static bool makes_arrays(const char *verb)
{
    return !strcmp(verb, "table") || !strcmp(verb, "apply") || !strcmp(verb, "bias");
}

static bool trains(void)
{
    bool looks = false;
    for (int i = 2; i < dictionary_words; i++)
        looks = looks || !strcmp(line[i], "--help") || !strcmp(line[i], "-h") || !strcmp(line[i], "--show-data");
    return dictionary_words > 1 && !strcmp(line[1], "race") && !looks;
}

/* Cuts text into words; false: not to be tried. */
static bool cut(char *text)
{
    double product = 1;
    dictionary_words = 0;
    line[dictionary_words++] = "posenc";
    for (char *at = text; at && dictionary_words <= WORDS_MAX;) {
        char *end = strchr(at, '\n');
        line[dictionary_words++] = at;
        if (end)
            *end++ = 0;
        if (leads_out(at))
            return false;
        multiply(&product, at);
        at = end;
    }
    line[dictionary_words] = NULL;
    return (product <= PRODUCT_MAX || !makes_arrays(line[1])) && !trains();
}

/* glibc keeps the stacks of threads that ended: a pool takes those of the one before. */
static void keep_stacks(void)
{
    static bool kept;
    pe_pool *pool = NULL;
    if (!kept && !pe_pool_new(&pool, 0, NULL))
        pe_pool_free(pool);
    kept = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int home;
    keep_stacks();
    DIR *d = prepare(&home);
    io_bytes text = harness_bytes(data, size);
    if (cut((char *)text.data)) {
        enter(dirfd(d));
        tidy(d);
        harness_run(&bound, work, data, size);
        enter(home);
    }
    io_bytes_free(&text);
    return 0;
}
