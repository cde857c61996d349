/* SPDX-License-Identifier: MIT */
#ifndef POSENC_DRAW_FONT_H
#define POSENC_DRAW_FONT_H

/* A letter as the path of a pen, in hundredths of the size, y upwards from the line: capitals are 72 high, small
 * letters 52, the pen is 8 wide. M x y: the pen goes there; L x y: a line; C x y x y x y: a curve with two handles; A x
 * y w h a b: a part of an ellipse of half width w and half height h around x y, from a degrees to b; a: the same with
 * the pen put down anew. */
typedef struct font_glyph {
    unsigned code;
    int advance;
    const char *path;
} font_glyph;

extern const font_glyph font_glyphs[]; /* by code */
extern const int font_glyph_count;

#endif
