/* SPDX-License-Identifier: MIT
 *
 * A picture as lines of text, each exactly as wide as the screen. Shapes become character cells: lines and areas are
 * dots (2 x 4 a cell in braille, 1 in ASCII), heat is sampled, text stands on its cells. */
#include "draw/typeset.h"

#include "io/checked.h"
#include "io/columns.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifndef __wasi__
#include <sys/ioctl.h>
#endif
#include <unistd.h>

/* ---------------------------------------------------------------- what a stream can show */

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* Reads the locale from the environment, as setlocale does. */
static bool locale_is_utf8(void)
{
    const char *locale = environment("LC_ALL");
    locale = *locale ? locale : environment("LC_CTYPE");
    locale = *locale ? locale : environment("LANG");
    const char *set = strchr(locale, '.');
    return set && (!strncasecmp(set, ".utf-8", 6) || !strncasecmp(set, ".utf8", 5));
}

static void screen_find_colour(draw_screen *s)
{
    const char *depth = environment("COLORTERM"), *kind = environment("TERM");
    if (*environment("NO_COLOR") || !strcmp(kind, "dumb"))
        return;
    bool is_full = !strcmp(depth, "truecolor") || !strcmp(depth, "24bit");
    s->colour = is_full || strstr(kind, "256color");
    s->is_few = s->colour && !is_full;
}

/* Takes the size of a terminal that tells it. */
static void screen_take_size(draw_screen *s, int fd)
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
    draw_screen s = { .columns = 80, .rows = 24, .glyphs = locale_is_utf8() ? GLYPHS_BRAILLE : GLYPHS_ASCII };
    int fd = fileno(stream);
    if (fd < 0 || !isatty(fd))
        return s;
    s.is_terminal = true;
    screen_take_size(&s, fd);
    screen_find_colour(&s);
    return s;
}

/* ---------------------------------------------------------------- cells of characters */

typedef struct canvas_cell {
    unsigned code;   /* a character of a text; 0: none */
    bool is_tail;    /* the second column of a wide one */
    uint8_t dots;    /* braille: bit k is dot k + 1 of Unicode's pattern; ASCII: the glyph */
    bool is_soft;    /* grid and light areas: lines replace them */
    bool is_cells;   /* heat, of its upper and its lower half */
    uint8_t heat[2]; /* DRAW_NOTHING: none */
    uint8_t zero;    /* the level of the paper */
    bool is_large;   /* its cells are a character high, or more */
    int ink;
} canvas_cell;

typedef struct canvas {
    int columns, rows;
    int across, down;        /* dots of a cell */
    double scale_x, scale_y; /* dots per pixel */
    canvas_cell *cells;      /* (rows, columns) */
    bool *inside;            /* (columns * across + 1): one row of an area */
} canvas;

#define SCREEN_MOST 2000 /* columns, rows */

static void canvas_free(canvas *c)
{
    free(c->cells);
    free(c->inside);
    *c = (canvas){ 0 };
}

static pe_status canvas_new(canvas *out, const draw *d, const draw_screen *screen, pe_error *err)
{
    size_t cells;
    *out = (canvas){ .columns = screen->columns, .rows = screen->rows };
    if (out->columns < 1 || out->columns > SCREEN_MOST || out->rows < 1 || out->rows > SCREEN_MOST)
        return io_fail(err, PE_ERR_RANGE, "a screen of %d columns and %d rows; needs 1 to %d", screen->columns,
                       screen->rows, SCREEN_MOST);
    bool braille = screen->glyphs == GLYPHS_BRAILLE;
    out->across = braille ? 2 : 1;
    out->down = braille ? 4 : 1;
    out->scale_x = out->columns * out->across / d->width;
    out->scale_y = out->rows * out->down / d->height;
    if (io_mul(&cells, (size_t)out->columns, (size_t)out->rows))
        out->cells = calloc(cells, sizeof *out->cells);
    out->inside = calloc((size_t)(out->columns * out->across) + 1, sizeof *out->inside);
    if (out->cells && out->inside)
        return PE_OK;
    canvas_free(out);
    return io_fail(err, PE_ERR_NOMEM, "no memory for a screen of %d columns and %d rows", screen->columns,
                   screen->rows);
}

#define CIRCLE_CORNERS 16

/* ---------------------------------------------------------------- dots */

/* In ASCII each series has a character, as there may be no colour to tell them apart. */
static uint8_t dot_glyph(int ink, bool is_flat)
{
    static const char letters[] = "*o+x#@%&=~$^";
    if (ink == INK_GRID)
        return '.';
    int slot = ink_slot(ink);
    return (uint8_t)(slot >= INK_PAPERS ? letters[slot - INK_PAPERS] : is_flat ? '-' : '|');
}

static uint8_t dot_bit(const canvas *c, int x, int y)
{
    static const uint8_t bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
    return bits[y % c->down][x % c->across];
}

typedef struct pen {
    int ink;
    bool is_soft;
    bool is_flat; /* more across than down */
} pen;

static void canvas_put_dot(canvas *c, int x, int y, pen p)
{
    if (x < 0 || y < 0 || x >= c->columns * c->across || y >= c->rows * c->down)
        return;
    canvas_cell *at = &c->cells[y / c->down * c->columns + x / c->across];
    if (at->code || (p.is_soft && at->dots && !at->is_soft))
        return;
    if (at->is_soft && (!p.is_soft || at->ink != p.ink))
        at->dots = 0;
    if (p.ink == INK_PAPER) {
        at->dots = c->across == 1 ? 0 : at->dots & (uint8_t)~dot_bit(c, x, y);
        return;
    }
    at->dots = c->across == 1 ? dot_glyph(p.ink, p.is_flat) : at->dots | dot_bit(c, x, y);
    at->is_soft = p.is_soft;
    at->ink = p.ink;
}

/* ---------------------------------------------------------------- lines */

/* Whether a dash has its n-th dot. */
static bool dash_has(const canvas *c, draw_style s, long n, int x, int y)
{
    if (s.stroke == INK_GRID)
        return (x + y) % 4 == 0;
    if (s.dash == DASH_DOT)
        return n % (c->across == 1 ? 2 : 3) == 0;
    return s.dash != DASH_LONG || n % (c->across == 1 ? 3 : 6) < (c->across == 1 ? 2 : 4);
}

/* Dots lie at the middles of their squares. n: dots of the path before this piece. */
static void canvas_put_piece(canvas *c, draw_point a, draw_point b, draw_style s, long *n)
{
    draw_point low = { 0, 0 }, high = { c->columns * c->across - 0.01, c->rows * c->down - 0.01 };
    if (!draw_clip(&a, &b, low, high))
        return;
    double dx = b.x - a.x, dy = b.y - a.y;
    int steps = (int)fmax(fabs(dx), fabs(dy)) + 1; /* less than a dot each: rounding leaves no gap */
    pen p = { .ink = s.stroke, .is_soft = s.stroke == INK_GRID, .is_flat = fabs(dx) > fabs(dy) };
    for (int i = 0; i <= steps; i++) {
        double part = (double)i / steps;
        int x = (int)floor(a.x + part * dx), y = (int)floor(a.y + part * dy);
        if (dash_has(c, s, *n + i, x, y))
            canvas_put_dot(c, x, y, p);
    }
    *n += steps;
}

static draw_point canvas_point(const canvas *c, draw_point p)
{
    return (draw_point){ p.x * c->scale_x, p.y * c->scale_y };
}

/* ---------------------------------------------------------------- areas */

/* Marks in c->inside the dots of one row whose middles lie inside: every edge that crosses the row flips what lies to
 * the right of it. */
static void canvas_mark_row(canvas *c, const draw_point *p, size_t count, int row)
{
    int width = c->columns * c->across;
    memset(c->inside, 0, (size_t)width + 1);
    for (size_t i = 0; i < count; i++) {
        draw_point a = canvas_point(c, p[i]), b = canvas_point(c, p[(i + 1) % count]);
        double y = row + 0.5;
        if ((a.y <= y) == (b.y <= y))
            continue;
        double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) + 0.5;
        int first = x < 0 ? 0 : x > width ? width : (int)floor(x);
        c->inside[first] = !c->inside[first];
    }
    for (int x = 1; x < width; x++)
        c->inside[x] = c->inside[x] != c->inside[x - 1];
}

/* Fills an area; a light one gets scattered dots. */
static void canvas_fill(canvas *c, const draw_point *p, size_t count, draw_style s)
{
    pen with = { .ink = s.fill, .is_soft = s.alpha < 0.5, .is_flat = true };
    double top = INFINITY, bottom = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        top = fmin(top, p[i].y * c->scale_y);
        bottom = fmax(bottom, p[i].y * c->scale_y);
    }
    int last = c->rows * c->down - 1;
    last = bottom < last ? (int)floor(fmax(bottom, -1)) : last;
    for (int y = top > 0 ? (int)fmin(floor(top), last + 1) : 0; y <= last; y++) {
        canvas_mark_row(c, p, count, y);
        for (int x = 0; x < c->columns * c->across; x++)
            if (c->inside[x] && (!with.is_soft || (x + 2 * y) % 4 == 0))
                canvas_put_dot(c, x, y, with);
    }
}

static void canvas_put_path(canvas *c, const draw_point *p, size_t count, bool closed, draw_style s)
{
    long n = 0;
    if (s.fill != INK_NONE && closed && !(s.fill != INK_PAPER && s.alpha < 0.5 && c->across == 1))
        canvas_fill(c, p, count, s);
    if (s.stroke == INK_NONE || s.stroke == INK_PAPER)
        return;
    for (size_t i = 0; i + 1 < count + (closed || count == 1); i++)
        canvas_put_piece(c, canvas_point(c, p[i]), canvas_point(c, p[(i + 1) % count]), s, &n);
}

static void canvas_put_circle(canvas *c, double x, double y, double radius, draw_style s)
{
    draw_point p[CIRCLE_CORNERS], middle = canvas_point(c, (draw_point){ x, y });
    for (int i = 0; i < CIRCLE_CORNERS; i++) {
        double angle = 2 * 3.14159265358979324 * i / CIRCLE_CORNERS;
        p[i] = (draw_point){ x + radius * cos(angle), y + radius * sin(angle) };
    }
    canvas_put_path(c, p, CIRCLE_CORNERS, true, s);
    if (s.fill != INK_NONE && fabs(middle.x) < 1e6 && fabs(middle.y) < 1e6)
        canvas_put_dot(c, (int)floor(middle.x), (int)floor(middle.y), (pen){ .ink = s.fill, .is_flat = true });
}

/* ---------------------------------------------------------------- text */

static bool canvas_put_code(canvas *c, int column, int row, unsigned code, int ink)
{
    int wide = columns_of_code(code);
    if (column < 0 || row < 0 || column + wide > c->columns || row >= c->rows)
        return false;
    canvas_cell *at = &c->cells[row * c->columns + column];
    at[0] = (canvas_cell){ .code = code, .ink = ink };
    if (wide == 2)
        at[1] = (canvas_cell){ .code = code, .is_tail = true, .ink = ink };
    return true;
}

/* Removes the half of a wide character that is left where another text covers the other half. */
static void canvas_mend_row(canvas *c, int row)
{
    canvas_cell *at = &c->cells[row * c->columns];
    for (int i = 0; i < c->columns; i++) {
        bool is_head = at[i].code && !at[i].is_tail && columns_of_code(at[i].code) == 2;
        if (is_head && (i + 1 == c->columns || !at[i + 1].is_tail))
            at[i].code = ' ';
        if (at[i].is_tail && (i == 0 || at[i - 1].is_tail || at[i - 1].code != at[i].code))
            at[i] = (canvas_cell){ .code = ' ' };
    }
}

/* The letters of a vertical text stand below each other. */
static void canvas_put_text(canvas *c, const draw *d, const draw_shape *s)
{
    const char *text = d->bytes + s->first;
    int size = columns_of(text), back = s->anchor == ANCHOR_END ? 2 : s->anchor == ANCHOR_MIDDLE ? 1 : 0;
    double column = s->x * c->columns / d->width,
           row = (s->y - (s->vertical ? 0 : 0.35 * s->height)) * c->rows / d->height;
    if (fabs(column) > 1e6 || fabs(row) > 1e6)
        return;
    int x = (int)floor(column + 0.5 - (s->vertical ? 0.5 : size * back / 2.0));
    int y = (int)floor(row + (s->vertical ? size * (back - 2) / 2.0 : 0));
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        int wide = columns_of_code(code);
        if (wide == 0)
            continue;
        canvas_put_code(c, x, y, code, s->style.fill);
        x += s->vertical ? 0 : wide;
        y += s->vertical ? 1 : 0;
    }
    if (!s->vertical && y >= 0 && y < c->rows)
        canvas_mend_row(c, y);
}

/* ---------------------------------------------------------------- heat */

static void canvas_put_half(canvas *c, const draw *d, const draw_shape *s, int half, int column)
{
    double x = d->width / c->columns, y = d->height / (2 * c->rows);
    double at_x = ((column + 0.5) * x - s->x) / s->width, at_y = ((half + 0.5) * y - s->y) / s->height;
    canvas_cell *at = &c->cells[half / 2 * c->columns + column];
    if (at_x < 0 || at_x >= 1 || at_y < 0 || at_y >= 1 || at->code)
        return;
    if (!at->is_cells)
        at->heat[0] = at->heat[1] = DRAW_NOTHING;
    double wide = x / s->width * s->columns / 2, high = y / s->height * s->rows / 2;
    at_x *= s->columns;
    at_y *= s->rows;
    at->heat[half % 2] = draw_cells_mean(d, s, (cells_box){ at_x - wide, at_x + wide, at_y - high, at_y + high });
    at->is_cells = true;
    at->zero = s->zero;
    at->is_large = s->height / s->rows >= 2 * y * (1 - 1e-9);
}

static void canvas_put_cells(canvas *c, const draw *d, const draw_shape *s)
{
    for (int half = 0; half < 2 * c->rows; half++)
        for (int column = 0; column < c->columns; column++)
            canvas_put_half(c, d, s, half, column);
}

static void canvas_put_shape(canvas *c, const draw *d, const draw_shape *s)
{
    draw_point p[CIRCLE_CORNERS];
    switch (s->kind) {
    case SHAPE_PATH: canvas_put_path(c, d->points + s->first, s->count, s->closed, s->style); break;
    case SHAPE_RECT:
        p[0] = (draw_point){ s->x, s->y };
        p[1] = (draw_point){ s->x + s->width, s->y };
        p[2] = (draw_point){ s->x + s->width, s->y + s->height };
        p[3] = (draw_point){ s->x, s->y + s->height };
        canvas_put_path(c, p, 4, true, s->style);
        break;
    case SHAPE_CIRCLE: canvas_put_circle(c, s->x, s->y, s->width, s->style); break;
    case SHAPE_CELLS: canvas_put_cells(c, d, s); break;
    case SHAPE_TEXT: canvas_put_text(c, d, s); break;
    }
}

/* ---------------------------------------------------------------- lines of text */

/* The colours that the terminal has now, so that they are set only where they change. */
typedef struct brush {
    FILE *to;
    bool colour, is_few, ascii;
    bool is_set; /* a colour is on */
    draw_rgb fore, back;
    bool has_back;
} brush;

static bool rgb_equal(draw_rgb a, draw_rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

static void brush_plain(brush *b)
{
    if (b->is_set)
        fputs("\033[0m", b->to);
    b->is_set = false;
}

/* Finds the nearest of 256 colours, in a cube of 6 x 6 x 6 or among 24 greys. */
static int rgb_nearest(draw_rgb c)
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

static void brush_put_colour(const brush *b, int ground, draw_rgb c)
{
    if (b->is_few)
        fprintf(b->to, "\033[%d;5;%dm", ground, rgb_nearest(c));
    else
        fprintf(b->to, "\033[%d;2;%d;%d;%dm", ground, c.r, c.g, c.b);
}

static void brush_set(brush *b, draw_rgb fore, const draw_rgb *back)
{
    if (!b->colour || (b->is_set && rgb_equal(b->fore, fore) && b->has_back == (back != NULL) &&
                       (!back || rgb_equal(b->back, *back))))
        return;
    if (b->is_set && b->has_back && !back)
        brush_plain(b);
    brush_put_colour(b, 38, fore);
    if (back)
        brush_put_colour(b, 48, *back);
    b->is_set = true;
    b->fore = fore;
    b->has_back = back != NULL;
    b->back = back ? *back : fore;
}

/* Text keeps the terminal's own colour. */
static void brush_set_ink(brush *b, int ink)
{
    int slot = ink_slot(ink);
    if (slot == INK_TEXT || slot < 0)
        brush_plain(b);
    else
        brush_set(b, inks[slot].terminal, NULL);
}

static void brush_put_code(brush *b, unsigned code)
{
    if (code < 0x80) {
        fputc((int)code, b->to);
    } else if (b->ascii) {
        const char *plain = columns_ascii(code);
        fputc(plain ? plain[0] : '?', b->to); /* one column has room for one; figure_plain writes all */
        if (columns_of_code(code) == 2)
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

/* The mean of two halves; the upper half if cells are as large as a character: the mean would belong to no cell. */
static int cell_heat(const canvas_cell *at)
{
    const uint8_t *heat = at->heat;
    if (at->is_large)
        return heat[0];
    if (heat[0] == DRAW_NOTHING || heat[1] == DRAW_NOTHING)
        return heat[0] == DRAW_NOTHING ? heat[1] : heat[0];
    return (heat[0] + heat[1] + 1) / 2;
}

/* One half of a character or both. */
static void brush_put_halves(brush *b, const uint8_t heat[2], int zero)
{
    draw_rgb upper = heat_terminal(heat[0], zero), lower = heat_terminal(heat[1], zero);
    if (heat[0] == DRAW_NOTHING)
        brush_set(b, lower, NULL);
    else
        brush_set(b, upper, heat[1] == DRAW_NOTHING ? NULL : &lower);
    brush_put_code(b, heat[0] == DRAW_NOTHING ? 0x2584 : 0x2580);
}

/* Shows two levels in one character: half blocks in colour, else a shade. */
static void brush_put_heat(brush *b, const canvas_cell *at)
{
    static const unsigned blocks[] = { ' ', 0x2591, 0x2592, 0x2593, 0x2588 };
    static const char shades[] = " :-=+*#%@";
    bool halves = b->colour && !b->ascii;
    int heat = cell_heat(at);
    if (halves && (at->heat[0] != DRAW_NOTHING || at->heat[1] != DRAW_NOTHING)) {
        brush_put_halves(b, at->heat, at->zero);
    } else if (heat == DRAW_NOTHING) {
        brush_plain(b);
        brush_put_code(b, halves ? ' ' : b->ascii ? '.' : 0xB7); /* a blank is the lowest */
    } else if (b->ascii) {
        brush_put_code(b, (unsigned)shades[heat * 9 / DRAW_LEVELS]);
    } else {
        brush_put_code(b, blocks[heat * 5 / DRAW_LEVELS]);
    }
}

static void brush_put_cell(brush *b, const canvas_cell *at)
{
    if (at->is_tail)
        return;
    if (at->code || at->dots)
        brush_set_ink(b, at->ink);
    if (at->code) {
        brush_put_code(b, at->code);
    } else if (at->dots) {
        brush_put_code(b, b->ascii ? at->dots : 0x2800u + at->dots);
    } else if (at->is_cells) {
        brush_put_heat(b, at);
    } else {
        if (b->has_back)
            brush_plain(b);
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
        canvas_put_shape(&c, d, &d->shapes[i]);
    for (int row = 0; row < c.rows; row++) {
        for (int column = 0; column < c.columns; column++)
            brush_put_cell(&b, &c.cells[row * c.columns + column]);
        brush_plain(&b);
        fputc('\n', to);
    }
    canvas_free(&c);
    return ferror(to) ? io_fail(err, PE_ERR_IO, "the picture could not be written") : PE_OK;
}
