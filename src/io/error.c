/* SPDX-License-Identifier: MIT */
#include "io.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A name out of a hostile file must not steer the terminal it is shown on: C0, DEL and C1 (0xC2 0x80..0x9F) go. */
static void blank_controls(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7F)
            *p = '?';
        if (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)
            p[0] = p[1] = '?';
    }
}

void io_end_with_dots(char *text, size_t room)
{
    size_t at = room - sizeof "...";
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    memcpy(text + at, "...", sizeof "...");
}

pe_status io_fail(pe_error *err, pe_status s, const char *fmt, ...)
{
    if (!err)
        return s;
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    err->status = s;
    if (length < 0)
        err->text[0] = '\0';
    else if ((size_t)length >= sizeof err->text)
        io_end_with_dots(err->text, sizeof err->text);
    blank_controls(err->text);
    return s;
}
