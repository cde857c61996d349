/* SPDX-License-Identifier: MIT */
#include "draw/draw.h"

#include "io/json_out.h"

/* What is no UTF-8, and orders to a terminal, become U+FFFD. */
void draw_escape(FILE *to, const char *text)
{
    while (*text) {
        unsigned code = 0;
        int n = out_character(text, &code);
        if (n == 0 || out_is_order(code))
            fputs("&#xFFFD;", to);
        else if (code == '<' || code == '>' || code == '&' || code == '"' || code == '\'')
            fprintf(to, "&#%u;", code);
        else
            fwrite(text, 1, (size_t)n, to);
        text += n ? n : 1;
    }
}
