/* SPDX-License-Identifier: MIT
 *
 * A canvas as lines of text, each exactly as wide as the screen. */
#include "draw/canvas.h"

#include "io/io.h"

/* What the terminal is set to: colours change only where they have to. */
typedef struct brush {
    FILE *to;
    bool colour, is_few, ascii;
    bool is_set; /* a colour is on */
    draw_rgb fore, back;
    bool has_back;
} brush;

static bool same(draw_rgb a, draw_rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

static void plain(brush *b)
{
    if (b->is_set)
        fputs("\033[0m", b->to);
    b->is_set = false;
}

/* The nearest of 256 colours: a cube of 6 x 6 x 6, or one of 24 greys where it is nearer. */
static int nearest(draw_rgb c)
{
    static const int level[6] = { 0, 95, 135, 175, 215, 255 };
    const int part[3] = { c.r, c.g, c.b };
    int at[3], cube = 0, grey = 0, k = (c.r + c.g + c.b) / 3 < 8 ? 0 : ((c.r + c.g + c.b) / 3 - 3) / 10;
    k = k > 23 ? 23 : k;
    for (int i = 0; i < 3; i++) {
        at[i] = part[i] < 48 ? 0 : part[i] < 115 ? 1 : (part[i] - 35) / 40;
        cube += (part[i] - level[at[i]]) * (part[i] - level[at[i]]);
        grey += (part[i] - 8 - 10 * k) * (part[i] - 8 - 10 * k);
    }
    return grey < cube ? 232 + k : 16 + 36 * at[0] + 6 * at[1] + at[2];
}

static void put_colour(const brush *b, int ground, draw_rgb c)
{
    if (b->is_few)
        fprintf(b->to, "\033[%d;5;%dm", ground, nearest(c));
    else
        fprintf(b->to, "\033[%d;2;%d;%d;%dm", ground, c.r, c.g, c.b);
}

static void set(brush *b, draw_rgb fore, const draw_rgb *back)
{
    if (!b->colour ||
        (b->is_set && same(b->fore, fore) && b->has_back == (back != NULL) && (!back || same(b->back, *back))))
        return;
    if (b->is_set && b->has_back && !back)
        plain(b);
    put_colour(b, 38, fore);
    if (back)
        put_colour(b, 48, *back);
    b->is_set = true;
    b->fore = fore;
    b->has_back = back != NULL;
    b->back = back ? *back : fore;
}

/* Text keeps the terminal's own colour. */
static void set_ink(brush *b, int ink)
{
    int slot = ink_slot(ink);
    if (slot == INK_TEXT || (slot < 0 && !ink_is_heat(ink)))
        plain(b);
    else
        set(b, slot >= 0 ? ink_terminal(slot) : ink_heat(ink), NULL);
}

static void put_code(brush *b, unsigned code)
{
    if (code < 0x80) {
        fputc((int)code, b->to);
    } else if (b->ascii) {
        const char *plain = draw_plain(code);
        fputc(plain ? plain[0] : '?', b->to); /* a column has one letter; figure_plain has them all */
        if (draw_code_columns(code) == 2)
            fputc(' ', b->to);
    } else if (code < 0x800) {
        fprintf(b->to, "%c%c", (int)(0xC0 | code >> 6), (int)(0x80 | (code & 63)));
    } else if (code < 0x10000) {
        fprintf(b->to, "%c%c%c", (int)(0xE0 | code >> 12), (int)(0x80 | (code >> 6 & 63)), (int)(0x80 | (code & 63)));
    } else {
        fprintf(b->to, "%c%c%c%c", (int)(0xF0 | code >> 18), (int)(0x80 | (code >> 12 & 63)),
                (int)(0x80 | (code >> 6 & 63)), (int)(0x80 | (code & 63)));
    }
}

/* Of two halves that are cells of their own; where cells are larger, the upper one: a mean would be of no cell. */
static int heat_of(const canvas_cell *at)
{
    const uint8_t *heat = at->heat;
    if (at->is_large)
        return heat[0];
    if (heat[0] == DRAW_NOTHING || heat[1] == DRAW_NOTHING)
        return heat[0] == DRAW_NOTHING ? heat[1] : heat[0];
    return (heat[0] + heat[1] + 1) / 2;
}

/* One half of a character or both. */
static void put_halves(brush *b, const uint8_t heat[2])
{
    draw_rgb upper = ink_heat(INK_HEAT + heat[0]), lower = ink_heat(INK_HEAT + heat[1]);
    if (heat[0] == DRAW_NOTHING)
        set(b, lower, NULL);
    else
        set(b, upper, heat[1] == DRAW_NOTHING ? NULL : &lower);
    put_code(b, heat[0] == DRAW_NOTHING ? 0x2584 : 0x2580);
}

/* Two heats in one character: half blocks in colour, else a shade. */
static void put_heat(brush *b, const canvas_cell *at)
{
    static const unsigned blocks[] = { ' ', 0x2591, 0x2592, 0x2593, 0x2588 };
    static const char shades[] = " :-=+*#%@";
    bool halves = b->colour && !b->ascii;
    int heat = heat_of(at);
    if (halves && (at->heat[0] != DRAW_NOTHING || at->heat[1] != DRAW_NOTHING)) {
        put_halves(b, at->heat);
    } else if (heat == DRAW_NOTHING) {
        plain(b);
        put_code(b, halves ? ' ' : b->ascii ? '.' : 0xB7); /* a blank is the lowest */
    } else if (b->ascii) {
        set(b, ink_heat(INK_HEAT + heat), NULL);
        put_code(b, (unsigned)shades[heat * 9 / DRAW_LEVELS]);
    } else {
        put_code(b, blocks[heat * 5 / DRAW_LEVELS]);
    }
}

static void put_cell(brush *b, const canvas_cell *at)
{
    if (at->is_tail)
        return;
    if (at->code || at->dots)
        set_ink(b, at->ink);
    if (at->code) {
        put_code(b, at->code);
    } else if (at->dots) {
        put_code(b, b->ascii ? at->dots : 0x2800u + at->dots);
    } else if (at->is_cells) {
        put_heat(b, at);
    } else {
        if (b->has_back)
            plain(b);
        fputc(' ', b->to);
    }
}

pe_status draw_terminal(FILE *to, const draw *d, const draw_screen *screen, pe_error *err)
{
    canvas c;
    brush b = { .to = to, .colour = screen->colour, .is_few = screen->is_few, .ascii = screen->glyphs == GLYPHS_ASCII };
    pe_status s = draw_status(d, err);
    s = s ? s : canvas_new(&c, d, screen, err);
    if (s)
        return s;
    for (size_t i = 0; i < d->shape_count; i++)
        canvas_shape(&c, d, &d->shapes[i]);
    for (int row = 0; row < c.rows; row++) {
        for (int column = 0; column < c.columns; column++)
            put_cell(&b, &c.cells[row * c.columns + column]);
        plain(&b);
        fputc('\n', to);
    }
    canvas_free(&c);
    return ferror(to) ? io_fail(err, PE_ERR_IO, "the picture could not be written") : PE_OK;
}
