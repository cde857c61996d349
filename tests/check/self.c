/* SPDX-License-Identifier: MIT
 *
 * check --self-test: every kernel of broken.c must be reported, by a line that finds it again on its own. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

/* The check of one broken kernel in a process of its own, as it may crash: its exit status and what it said. */
static int run_apart(const kernel *k, const rung *r, const options *o, char *said, size_t cap)
{
    int ends[2], status = -1;
    fflush(stdout);
    if (pipe(ends))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        report found = { "", 0, 0 };
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        bool right = check_kernel(k, r, o, &found);
        if (!right)
            print_failure(k, r, o, &found);
        fflush(stdout);
        _exit(!right);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < cap && (got = read(ends[0], said + n, cap - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = 0;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_found(const char *name, const char *kernel_name, const options *o)
{
    char said[2000];
    options again = *o;
    rung r;
    const kernel *k = find_kernel(kernel_name);
    if (!k || !find_rung(name, &r))
        return false;
    if (run_apart(k, &r, o, said, sizeof said) != 1)
        return false;
    const char *number = strstr(said, "--case ");
    if (!number || !strstr(said, name))
        return false;
    again.only = strtoll(number + strlen("--case "), NULL, 10);
    return run_apart(k, &r, &again, said, sizeof said) == 1;
}

int self_test(const options *o)
{
    int seen = 0, missed = 0;
    for (int i = 0; broken_name(i); i++) {
        char name[60];
        snprintf(name, sizeof name, "broken:%s", broken_name(i));
        bool found = is_found(name, broken_kernel(i), o);
        seen += found;
        missed += !found;
        if (!found)
            printf("FAILED: %s was not reported\n", name);
    }
    for (int i = 0; i < table_count; i++) {
        bool has = false;
        for (int j = 0; broken_name(j); j++)
            has |= !strcmp(broken_kernel(j), table[i].name);
        missed += !has;
        if (!has)
            printf("FAILED: %s has no broken variant in broken.c\n", table[i].name);
    }
    printf("%d passed, %d failed, 0 skipped\n", seen, missed);
    return missed != 0;
}
