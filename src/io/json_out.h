/* SPDX-License-Identifier: MIT
 *
 * Writes JSON as it goes: no tree, no allocation. key is NULL inside an array.
 *
 *     json_out j = out_start(stdout);
 *     out_open(&j, NULL, '{');
 *     out_text(&j, "spec", "rope");
 *     out_close(&j, '}');           // after the outermost one: a new line
 */
#ifndef POSENC_JSON_OUT_H
#define POSENC_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_out {
    FILE *to;
    int depth;
    int flat;   /* above 0: inside an array that stays on one line */
    bool first; /* nothing written in the innermost object or array yet */
} json_out;

json_out out_start(FILE *to);
json_out out_start_line(FILE *to);                              /* all of it on one line: JSON lines */
void out_open(json_out *j, const char *key, char bracket);      /* '{', '[', or '-': an array on one line */
void out_close(json_out *j, char bracket);                      /* '}', ']', or '-' */
void out_text(json_out *j, const char *key, const char *value); /* NULL becomes null; broken UTF-8 becomes U+FFFD */
void out_int(json_out *j, const char *key, int64_t value);
void out_real(json_out *j, const char *key, double value);  /* infinite or NaN becomes null: JSON has no such number */
void out_float(json_out *j, const char *key, double value); /* as out_real, digits enough for a float */
void out_bool(json_out *j, const char *key, bool value);
void out_raw(json_out *j, const char *key, const char *json); /* text that is JSON already */

/* The UTF-8 character at text: its bytes, 0 where there is none, and its code. */
int out_character(const char *text, unsigned *code);
/* Controls (C0, DEL, C1) and what changes the direction of writing: orders to a terminal, not text. JSON escapes them.
 */
bool out_is_order(unsigned code);
/* Text, at most length bytes of it, for a terminal: orders and what is no UTF-8 become '?'. How many were printed. */
int out_plain(FILE *to, const char *text, int length);

/* The same for text that comes in pieces, which may end within a character. Line ends and tabs stay. */
typedef struct out_pieces {
    FILE *to;
    char held[5]; /* the beginning of a character */
    int count;
} out_pieces;
void out_piece(out_pieces *p, const void *bytes, size_t size);
void out_pieces_end(out_pieces *p); /* what is held was no character */

#endif
