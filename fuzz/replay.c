/* SPDX-License-Identifier: MIT
 *
 * A fuzzer for where there is none: every file of the folders once, then so many inputs made from them by a generator
 * with a seed, the same on every machine.
 *
 *     fuzz_NAME [--runs N] [--seed N] FOLDER|FILE...
 *
 * An input that ends the program is left as finding-NAME in POSENC_BUILD, or in the current folder. */
#include "base/random.h"
#include "harness.h"

#include <stdio.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUTS_MAX 1024
#define SIZE_MAX_MADE ((size_t)1 << 16)

static io_bytes inputs[INPUTS_MAX];
static int input_count;
static uint64_t state = 1;
static const uint8_t *current; /* what is being tried */
static size_t current_size;
static char finding[3100];
static FILE *out;

/* ---------------------------------------------------------------- what was tried when it ended */

static void save_finding(void)
{
    int fd = current ? open(finding, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return;
    if (write(fd, current, current_size) == (ssize_t)current_size)
        (void)!write(STDERR_FILENO, "the input is in finding-*\n", 26);
    close(fd);
}

static void on_signal(int number)
{
    save_finding();
    signal(number, SIG_DFL);
    raise(number);
}

#if !defined HARNESS_WRAP
void __sanitizer_set_death_callback(void (*callback)(void));
#endif

static void watch(const char *program)
{
    const char *name = strrchr(program, '/'), *build = getenv("POSENC_BUILD");
    char here[3000] = ".";
    if (!build && getcwd(here, sizeof here))
        build = here;
    snprintf(finding, sizeof finding, "%.3000s/finding-%.40s", build ? build : ".", name ? name + 1 : program);
    signal(SIGABRT, on_signal);
#if defined HARNESS_WRAP
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
#else
    __sanitizer_set_death_callback(save_finding);
#endif
}

/* ---------------------------------------------------------------- inputs */

static void add_file(const char *path)
{
    pe_error err;
    if (input_count == INPUTS_MAX || io_read_file(&inputs[input_count], path, IO_CAP_TEXT, &err)) {
        fprintf(out, "%s\n", input_count == INPUTS_MAX ? "too many inputs" : err.text);
        exit(2);
    }
    input_count++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that a seed means the same everywhere. */
static void add_folder(const char *path)
{
    char *names[INPUTS_MAX], file[4200];
    int count = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && count < INPUTS_MAX && (e = readdir(d));)
        if (e->d_name[0] != '.')
            names[count++] = strdup(e->d_name);
    if (d)
        closedir(d);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        add_file(file);
        free(names[i]);
    }
}

static void add(const char *path)
{
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        add_folder(path);
    else
        add_file(path);
}

/* An exact block, so that a read past its end is seen. */
static void try_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        exit(2);
    memcpy(copy, data, size);
    current = copy;
    current_size = size;
    LLVMFuzzerTestOneInput(copy, size);
    current = NULL;
    free(copy);
}

/* ---------------------------------------------------------------- mutations */

static uint64_t draw(uint64_t below)
{
    return random_next(&state) % (below ? below : 1);
}

typedef struct buffer {
    uint8_t data[SIZE_MAX_MADE];
    size_t size;
} buffer;

static void put(buffer *b, size_t at, const uint8_t *data, size_t size)
{
    if (b->size + size > SIZE_MAX_MADE)
        return;
    memmove(b->data + at + size, b->data + at, b->size - at);
    memcpy(b->data + at, data, size);
    b->size += size;
}

static void flip(buffer *b, size_t at)
{
    if (at < b->size)
        b->data[at] ^= (uint8_t)(1u << draw(8));
}

static void set_byte(buffer *b, size_t at)
{
    static const uint8_t odd[] = { 0,   1,   0x7F, 0x80, 0xFF, '"', '\'', '{',  '}',
                                   '[', ']', ',',  ':',  '0',  '9', '-',  '\n', '\\' };
    if (at < b->size)
        b->data[at] = draw(2) ? odd[draw(sizeof odd)] : (uint8_t)draw(256);
}

static void drop(buffer *b, size_t at)
{
    size_t n = (size_t)draw(draw(4) ? 8 : b->size + 1);
    n = n < b->size - at ? n : b->size - at;
    memmove(b->data + at, b->data + at + n, b->size - at - n);
    b->size -= n;
}

/* A length or count that lies: near a power of two, in 1, 2, 4 or 8 bytes. */
static void lie(buffer *b, size_t at)
{
    uint64_t value = (UINT64_C(1) << draw(64)) + draw(3) - 1;
    size_t size = (size_t)1 << draw(4);
    for (size_t i = 0; i < size && at + i < b->size; i++)
        b->data[at + i] = (uint8_t)(value >> 8 * i);
}

static void number(buffer *b, size_t at)
{
    static const char *const texts[] = {
        "0",      "-1", "1e308", "9223372036854775807", "18446744073709551616", "4294967296", "1k", "0.5",
        "1e-400", "00", "65536", "68719476736"
    };
    const char *text = texts[draw(sizeof texts / sizeof *texts)];
    put(b, at, (const uint8_t *)text, strlen(text));
}

/* A piece of another input: the nearest thing to a dictionary. */
static void splice(buffer *b, size_t at)
{
    const io_bytes *other = &inputs[draw((uint64_t)input_count)];
    size_t from = (size_t)draw(other->size + 1), n = (size_t)draw(draw(2) ? 16 : other->size + 1);
    put(b, at, other->data + from, n < other->size - from ? n : other->size - from);
}

static void repeat(buffer *b, size_t at)
{
    static uint8_t piece[4096];
    size_t n = (size_t)draw(sizeof piece);
    n = n < b->size - at ? n : b->size - at;
    memcpy(piece, b->data + at, n);
    for (uint64_t times = draw(6); times > 0; times--)
        put(b, at, piece, n);
}

static void mutate(buffer *b)
{
    static void (*const ways[])(buffer *, size_t) = { flip, set_byte, set_byte, drop, lie, number, splice, repeat };
    const io_bytes *seed = &inputs[draw((uint64_t)input_count)];
    b->size = seed->size < SIZE_MAX_MADE ? seed->size : SIZE_MAX_MADE;
    memcpy(b->data, seed->data, b->size);
    for (uint64_t n = draw(6); n < 7; n++)
        ways[draw(sizeof ways / sizeof *ways)](b, (size_t)draw(b->size + 1));
}

int main(int argc, char **argv)
{
    static buffer made;
    long long runs = 0;
    out = stdout;
    watch(argv[0]);
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--runs"))
            runs = strtoll(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            state = strtoull(argv[++i], NULL, 10);
        else
            add(argv[i]);
    }
    if (!input_count) {
        fprintf(out, "no inputs; usage: %s [--runs N] [--seed N] FOLDER|FILE...\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < input_count; i++)
        try_input(inputs[i].data, inputs[i].size);
    for (long long i = 0; i < runs; i++) {
        mutate(&made);
        try_input(made.data, made.size);
    }
    fprintf(out, "%d files and %lld inputs made from them: no finding\n", input_count, runs);
    for (int i = 0; i < input_count; i++)
        io_bytes_free(&inputs[i]);
    return 0;
}
