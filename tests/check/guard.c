/* SPDX-License-Identifier: MIT
 *
 * Memory whose both ends are guard pages, canaries where they do not reach, and what a crash says. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)8 << 20) /* of a mapping: what a bench needs; a multiple of any page */
#define MARGIN 512             /* canaries on either side, where there is room for them */
#define CANARY 0xa5

static unsigned char *mapping[BUFFERS_MAX];

static unsigned char *map(int index)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (mapping[index])
        return mapping[index];
    unsigned char *p = mmap(NULL, ROOM + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) || mprotect(p + page + ROOM, page, PROT_NONE)) {
        fprintf(stderr, "check: no memory with guard pages\n");
        exit(2);
    }
    return mapping[index] = p + page;
}

static size_t within(size_t want, size_t have)
{
    return want < have ? want : have;
}

static size_t before(const problem *p, int index)
{
    return within(MARGIN, (size_t)((unsigned char *)p->buffer[index].data - mapping[index]));
}

static size_t after(const problem *p, int index)
{
    const buffer *b = &p->buffer[index];
    return within(MARGIN, (size_t)(mapping[index] + ROOM - ((unsigned char *)b->data + b->bytes)));
}

/* Memory for the buffer that was begun last. */
void *guard_take(problem *p, size_t bytes, size_t align)
{
    int index = p->buffers - 1;
    buffer *b = &p->buffer[index];
    unsigned char *low = map(index);
    if (bytes + 4 * MARGIN > ROOM) {
        fprintf(stderr, "check: a buffer of %zu bytes; there is room for %zu\n", bytes, ROOM - 4 * MARGIN);
        exit(2);
    }
    b->data = p->bench || p->place == BEGINS_AT_GUARD ? low
              : p->place == ENDS_AT_GUARD             ? low + ROOM - bytes
                                                      : low + MARGIN + align * (size_t)draw_range(p, 1, 63);
    memset((unsigned char *)b->data - before(p, index), CANARY, before(p, index));
    memset((unsigned char *)b->data + bytes, CANARY, after(p, index));
    return b->data;
}

static bool all_canaries(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != CANARY)
            return false;
    return true;
}

bool guard_touched(const problem *p, int index)
{
    const buffer *b = &p->buffer[index];
    const unsigned char *low = b->data;
    return !all_canaries(low - before(p, index), before(p, index)) || !all_canaries(low + b->bytes, after(p, index));
}

/* ---------------------------------------------------------------- crashes */

static char last_words[300];

void guard_says(const kernel *k, const rung *r, uint64_t seed, int64_t number)
{
    snprintf(last_words, sizeof last_words,
             "FAILED: %s, %s: crashed (memory outside its range, or an instruction this CPU lacks)\n"
             "  again: posenc-kernels --kernel %s --rung %s --seed %llu --case %lld\n",
             k->name, r->name, k->name, r->name, (unsigned long long)seed, (long long)number);
}

static void crashed(int number)
{
    (void)number;
    size_t left = strlen(last_words);
    const char *at = last_words;
    for (ssize_t n; left && (n = write(STDOUT_FILENO, at, left)) > 0; left -= (size_t)n)
        at += n;
    _exit(1);
}

void guard_signals(void)
{
    static char stack[1 << 16]; /* the kernel's own may be what broke */
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
    for (int i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
}
