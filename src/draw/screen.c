/* SPDX-License-Identifier: MIT
 *
 * What a stream can show. */
#include "draw/draw.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifndef __wasi__
#include <sys/ioctl.h>
#endif
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* As setlocale would take it from the environment. */
static bool is_utf8(void)
{
    const char *locale = variable("LC_ALL");
    locale = *locale ? locale : variable("LC_CTYPE");
    locale = *locale ? locale : variable("LANG");
    const char *set = strchr(locale, '.');
    return set && (!strncasecmp(set, ".utf-8", 6) || !strncasecmp(set, ".utf8", 5));
}

static void find_colour(draw_screen *s)
{
    const char *depth = variable("COLORTERM"), *kind = variable("TERM");
    if (*variable("NO_COLOR") || !strcmp(kind, "dumb"))
        return;
    bool is_full = !strcmp(depth, "truecolor") || !strcmp(depth, "24bit");
    s->colour = is_full || strstr(kind, "256color");
    s->is_few = s->colour && !is_full;
}

/* Where the stream is a terminal that tells it. */
static void take_size(draw_screen *s, int fd)
{
#ifdef TIOCGWINSZ
    struct winsize size = { 0 };
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        s->columns = size.ws_col;
        s->rows = size.ws_row;
    }
#else
    (void)s;
    (void)fd;
#endif
}

draw_screen draw_screen_of(FILE *stream)
{
    draw_screen s = { .columns = 80, .rows = 24, .glyphs = is_utf8() ? GLYPHS_BRAILLE : GLYPHS_ASCII };
    int fd = fileno(stream);
    if (fd < 0 || !isatty(fd))
        return s;
    s.is_terminal = true;
    take_size(&s, fd);
    find_colour(&s);
    return s;
}
