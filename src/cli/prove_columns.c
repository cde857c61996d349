/* SPDX-License-Identifier: MIT
 *
 * Text in columns: a Chinese character takes two. */
#include "cli/prove.h"

#include <string.h>

#define COLUMNS 98

static int columns_of(const char *text, int bytes)
{
    int columns = 0;
    for (int i = 0, n; i < bytes; i += n) {
        unsigned code = 0;
        n = out_character(text + i, &code);
        n = n > 0 ? n : 1;
        columns += (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xffdc && code != 0x303f) ? 2 : 1;
    }
    return columns;
}

/* The next piece that stays on one line: a word, or one wide character, with the stop that follows it. */
static int piece(const char *text)
{
    unsigned code = 0;
    int n = out_character(text, &code), all = n > 0 ? n : 1;
    if (columns_of(text, all) < 2)
        while (text[all] && text[all] != ' ' && (n = out_character(text + all, &code)) > 0 &&
               columns_of(text + all, n) < 2)
            all += n;
    while (text[all] && (n = out_character(text + all, &code)) > 0 &&
           (code == 0x3002 || code == 0xff0c || code == 0xff1b || code == 0xff1a || code == 0xff09 || code == 0x3001 ||
            code == 0xff1f))
        all += n;
    return all;
}

void prove_wrapped(FILE *to, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        bool space = *text == ' ';
        text += strspn(text, " ");
        int n = *text ? piece(text) : 0, wide = columns_of(text, n);
        if (column > indent && column + space + wide > COLUMNS) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (space && column > indent)
            column += fprintf(to, " ");
        out_plain(to, text, n);
        column += wide;
        text += n;
    }
    putc('\n', to);
}

int prove_width(const char *text)
{
    return columns_of(text, (int)strlen(text));
}

/* How many bytes of it go into this many columns. */
static int fitting(const char *text, int width)
{
    int bytes = 0;
    for (int n, used = 0; text[bytes]; bytes += n) {
        n = out_character(text + bytes, &(unsigned){ 0 });
        n = n > 0 ? n : 1;
        used += columns_of(text + bytes, n);
        if (used > width)
            break;
    }
    return bytes;
}

void prove_padded(FILE *to, const char *text, int width)
{
    bool whole = prove_width(text) <= width;
    int bytes = whole ? (int)strlen(text) : fitting(text, width - 1);
    out_plain(to, text, bytes);
    fprintf(to, "%s%*s", whole ? "" : "…", width + 2 - columns_of(text, bytes) - !whole, "");
}
