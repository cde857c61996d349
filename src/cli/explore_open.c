/* SPDX-License-Identifier: MIT
 *
 * A browser, by the program that the system has for opening things. No shell: the URL is one argument. */
#include "cli/explore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

static bool has_screen(void)
{
#if defined __APPLE__
    return true;
#else
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("WSL_DISTRO_NAME");
#endif
}

bool explore_can_open(void)
{
    return isatty(STDOUT_FILENO) && (is_set("BROWSER") || has_screen());
}

/* In the child's child: becomes the opener, with nothing of our terminal, or says why not. */
static void become(const char *program, const char *url, int report)
{
    char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)url, NULL };
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    setsid();
    execvp(program, argv);
    int why = errno;
    if (write(report, &why, sizeof why) < 0)
        why = 0; /* nothing to be done about it */
    _exit(127);
}

/* The pipe closes by itself when the program has begun: nothing to read means it runs. */
static bool runs(int from)
{
    int why;
    ssize_t got;
    do
        got = read(from, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    return got == 0;
}

/* The child leaves at once, so that nobody has to wait for the browser. */
static bool start(const char *program, const char *url)
{
    int ends[2], code;
    if (pipe(ends))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0)
            become(program, url, ends[1]);
        _exit(own < 0);
    }
    close(ends[1]);
    bool begun = child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0;
    begun = begun && runs(ends[0]);
    close(ends[0]);
    return begun;
}

/* $BROWSER is a list of programs between colons; one with a pattern (%s) would need a shell's rules, and is left. */
static const char *start_own(char name[256], const char *url)
{
    const char *list = getenv("BROWSER");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && length < 256 && !memchr(list, '%', length)) {
            memcpy(name, list, length);
            name[length] = 0;
            if (start(name, url))
                return name;
        }
        list += length + (list[length] == ':');
    }
    return NULL;
}

const char *explore_open(char name[256], const char *url)
{
    static const char *const openers[] = {
#if defined __APPLE__
        "open",
#endif
        "xdg-open",
        "wslview"
    };
    if (start_own(name, url))
        return name;
    for (int i = 0; has_screen() && i < CLI_COUNT(openers); i++)
        if (start(openers[i], url))
            return openers[i];
    return NULL;
}
