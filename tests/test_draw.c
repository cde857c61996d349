/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: draw wrap
 *
 * The list of shapes and its writers: colours that can be read, numbers that are short, cells, dots and areas. */
#include "draw_case.h"

TEST(css_has_light_and_dark_by_the_system_and_by_the_page)
{
    memory p;
    draw_css(memory_open(&p));
    const char *css = memory_end(&p);
    assert_has(css, ":root{--ink-0:#ffffff;",
               "@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--ink-0:#",
               ":root[data-theme=dark]{--ink-0:#", NULL);
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        char line[40];
        snprintf(line, sizeof line, "stroke:var(--ink-%d)}", slot);
        assert_non_null(strstr(css, line));
    }
    assert_int_equal(count_of(css, "{"), count_of(css, "}"));
}

static double luminance(draw_rgb c)
{
    double part[3] = { c.r / 255.0, c.g / 255.0, c.b / 255.0 };
    for (int i = 0; i < 3; i++)
        part[i] = part[i] <= 0.04045 ? part[i] / 12.92 : pow((part[i] + 0.055) / 1.055, 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
}

static double contrast(draw_rgb a, draw_rgb b)
{
    double p = luminance(a) + 0.05, q = luminance(b) + 0.05;
    return p > q ? p / q : q / p;
}

/* 4.5: small text, WCAG 2.2 1.4.3; 3: graphics, 1.4.11. */
TEST(each_ink_can_be_read_on_its_paper)
{
    const draw_rgb black = { 0, 0, 0 }, white = { 255, 255, 255 };
    for (int slot = 1; slot < INK_SLOTS; slot++) {
        if (slot == INK_GRID)
            continue;
        draw_ink_row ink = inks[slot];
        assert_true(contrast(ink.light, inks[INK_PAPER].light) >= 4.5);
        assert_true(contrast(ink.dark, inks[INK_PAPER].dark) >= 4.5);
        assert_true(contrast(ink.terminal, black) >= 3 && contrast(ink.terminal, white) >= 3);
    }
    for (int end = 0; end < DRAW_LEVELS; end += DRAW_LEVELS - 1) {
        draw_rgb tint = heat_tint(end, 127).rgb;
        assert_true(contrast(tint, inks[INK_PAPER].light) >= 3 && contrast(tint, inks[INK_PAPER].dark) >= 3);
    }
}

/* Zero is the paper, a level further away is no weaker, and the farther end of the scale is the whole tint. */
TEST(levels_grow_stronger_away_from_zero)
{
    static const int zeros[] = { 0, 60, 127, 254 };
    for (int i = 0; i < COUNT(zeros); i++) {
        int zero = zeros[i], most = 0;
        assert_int_equal(heat_tint(zero, zero).alpha, 0);
        for (int level = 0; level < DRAW_LEVELS; level++) {
            draw_tint t = heat_tint(level, zero);
            most = t.alpha > most ? t.alpha : most;
            if (level != zero)
                assert_true(t.alpha >= heat_tint(level < zero ? level + 1 : level - 1, zero).alpha);
            if (level != zero) /* blue below, orange above */
                assert_true(level < zero ? t.rgb.b > t.rgb.r : t.rgb.r > t.rgb.b);
        }
        assert_int_equal(most, 255);
    }
}

TEST(shapes_with_odd_numbers_are_left_out)
{
    draw *d = picture(100, 50);
    draw_style s = { .stroke = INK_SERIES, .fill = INK_NONE };
    draw_point line[5] = { { 1, 2 }, { 3.14159, 4 }, { NAN, 5 }, { 6, 7 }, { 8, 1e300 } };
    draw_path(d, line, 5, false, s);
    draw_rect(d, NAN, 0, 1, 1, s);
    draw_rect(d, 0, 0, INFINITY, 1, s);
    draw_circle(d, 0, 0, NAN, s);
    draw_text(d, NAN, 0, 12, ANCHOR_START, INK_TEXT, false, "gone");
    assert_string_equal(svg_of(d, DRAW_INSIDE), "<svg class=\"drawing\" role=\"img\" viewBox=\"0 0 100 50\" width=\"100\" height=\"50\">\n"
                                                "<path d=\"M1 2L3.14 4\" class=\"l4\"/>\n"
                                                "<path d=\"M6 7L8 10000000\" class=\"l4\"/>\n</svg>\n");
    assert_int_equal(draw_new(&d, NAN, 10, &err), PE_ERR_RANGE);
    assert_null(d);
    assert_int_equal(draw_new(&d, 10, 0, &err), PE_ERR_RANGE);
}

TEST(numbers_are_short)
{
    static const struct {
        double x;
        int decimals;
        bool is_short;
        const char *text;
    } cases[] = { { 1.5, 2, true, "1.5" },   { -0.001, 2, true, "0" },    { 2.0, 1, false, "2.0" },
                  { 12.345, 2, true, "12.35" }, { -3.05, 2, true, "-3.05" }, { 100, 0, true, "100" },
                  { 1e7, 2, true, "10000000" }, { 0.10, 2, true, "0.1" } };
    for (int i = 0; i < COUNT(cases); i++) {
        char text[40];
        draw_fixed(text, cases[i].x, cases[i].decimals, cases[i].is_short);
        assert_string_equal(text, cases[i].text);
    }
}

/* ------------------------------------------------ terminals */

static void put_lines_and_text(draw *d)
{
    draw_point flat[2] = { { 0, 2 }, { 31, 2 } }, tall[2] = { { 14, 0 }, { 14, 31 } };
    draw_style s = { .stroke = INK_SERIES, .fill = INK_NONE };
    draw_path(d, flat, 2, false, s);
    draw_path(d, tall, 2, false, s);
    draw_text(d, 24, 28, 14, ANCHOR_START, INK_TEXT, false, "ab");
}

static void put_areas(draw *d)
{
    draw_rect(d, 8, 0, 16, 32, (draw_style){ .stroke = INK_NONE, .fill = INK_SERIES });
    draw_rect(d, 8, 16, 8, 16, (draw_style){ .stroke = INK_NONE, .fill = INK_PAPER });
}

enum { ZERO = 0 }; /* the level of the paper */

static void put_cells(draw *d)
{
    draw_cells(d, 0, 0, 4, 2, 2, 4, ZERO, (uint8_t[]){ 0, 254, 254, 128, 254, 254, 0, 0 });
}

static void put_half_cells(draw *d)
{
    draw_cells(d, 0, 0, 3, 2, 2, 3, ZERO, (uint8_t[]){ 254, DRAW_NOTHING, DRAW_NOTHING, DRAW_NOTHING, 254, DRAW_NOTHING });
}

static void put_large_cells(draw *d)
{
    draw_cells(d, 0, 0, 3, 10, 2, 3, ZERO, (uint8_t[]){ 0, DRAW_NOTHING, 254, 0, 254, DRAW_NOTHING });
}

static void put_stripes(draw *d)
{
    uint8_t heat[400];
    for (int i = 0; i < 400; i++)
        heat[i] = i % 2 ? 254 : 0;
    draw_cells(d, 0, 0, 10, 10, 1, 400, ZERO, heat);
}

TEST(a_terminal_shows_shapes_as_characters)
{
    static const struct {
        void (*put)(draw *d);
        double width, height;
        draw_screen screen;
        const char *text;
    } cases[] = {
        /* 4 x 2 characters of 8 x 16 pixels: a dot of braille is 4 x 4 */
        { put_lines_and_text, 32, 32, { .columns = 4, .rows = 2 }, "⠉⢹⠉⠉\n ⢸ a\n" },
        { put_lines_and_text, 32, 32, { .columns = 4, .rows = 2, .glyphs = GLYPHS_ASCII }, "****\n * a\n" },
        { put_areas, 32, 32, { .columns = 4, .rows = 2 }, " ⣿⣿ \n  ⣿ \n" },
        { put_cells, 4, 2, { .columns = 4, .rows = 1, .glyphs = GLYPHS_ASCII }, "+@+-\n" },
        /* a heat of which only one half is there leaves the other to the paper */
        { put_half_cells, 3, 2, { .columns = 3, .rows = 1, .colour = true, .is_few = true }, "\033[38;5;209m▀▄\033[0m \n" },
        /* without colour a blank is the lowest level, and nothing has a sign of its own; larger cells are not mixed */
        { put_large_cells, 3, 10, { .columns = 3, .rows = 5, .glyphs = GLYPHS_ASCII }, " .@\n .@\n .@\n @.\n @.\n" },
        { put_large_cells, 3, 10, { .columns = 3, .rows = 5 }, " ·█\n ·█\n ·█\n █·\n █·\n" },
        /* stripes that are finer than the screen are their mean, not some of them */
        { put_stripes, 10, 10, { .columns = 10, .rows = 1, .glyphs = GLYPHS_ASCII }, "++++++++++\n" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        draw *d = picture(cases[i].width, cases[i].height);
        cases[i].put(d);
        assert_string_equal(terminal_of(d, cases[i].screen), cases[i].text);
    }
    draw *d = picture(4, 2);
    put_cells(d);
    const char *text = terminal_of(d, (draw_screen){ .columns = 4, .rows = 1, .colour = true });
    assert_int_equal(count_of(text, "▀"), 4);
    assert_non_null(strstr(text, "\033[38;2;0;0;0m\033[48;2;255;154;60m▀"));
}

TEST(a_file_is_a_plain_screen)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    setenv("COLORTERM", "truecolor", 1);
    setenv("LC_ALL", "en_US.UTF-8", 1);
    draw_screen s = draw_screen_of(f);
    assert_true(s.columns == 80 && s.rows == 24 && !s.colour && s.glyphs == GLYPHS_BRAILLE);
    setenv("LC_ALL", "C", 1);
    assert_int_equal(draw_screen_of(f).glyphs, GLYPHS_ASCII);
    unsetenv("LC_ALL");
    fclose(f);
}

/* ------------------------------------------------ cells in SVG */

enum { SIDE = 24 };

/* The level above ZERO whose tint is as strong. */
static int level_of(double opacity)
{
    int level = 0;
    while (fabs(heat_tint(level, ZERO).alpha / 255.0 - opacity) > 0.0011)
        level++;
    return level;
}

/* The cells that the runs of a path paint: each has the level, and none is painted twice. Returns the end of the path. */
static const char *paint_runs(const char *at, bool down, int level, uint8_t heat[SIDE][SIDE], uint8_t seen[SIDE][SIDE])
{
    int x = 0, y = 0, dx, dy, length, used;
    char letter;
    for (; sscanf(at, "m%d %d%c%d%n", &dx, &dy, &letter, &length, &used) == 4; at += used) {
        assert_int_equal(letter, down ? 'v' : 'h');
        x += dx;
        y += dy;
        for (; length > 0; length--, x += !down, y += down) {
            assert_true(x >= 0 && x < SIDE && y >= 0 && y < SIDE && !seen[y][x]++);
            assert_int_equal(heat[y][x], level);
        }
    }
    return at;
}

/* Every cell but zeros is painted once, in the colour of its level, by runs along rows or columns, whichever are fewer. */
TEST(cells_are_runs_of_their_level)
{
    for (int down = 0; down < 2; down++) {
        uint8_t heat[SIDE][SIDE], seen[SIDE][SIDE] = { { 0 } };
        for (int i = 0; i < SIDE * SIDE; i++) {
            int line = down ? i % SIDE : i / SIDE, along = down ? i / SIDE : i % SIDE;
            heat[i / SIDE][i % SIDE] = (uint8_t)(line == 5 ? DRAW_NOTHING : (line * 7 + along / 3) % 9 * 31);
        }
        draw *d = picture(48, 48);
        draw_cells(d, 0, 0, 48, 48, SIDE, SIDE, ZERO, heat[0]);
        const char *svg = svg_of(d, DRAW_ALONE);
        assert_well_formed(svg);
        assert_no_request(svg);
        assert_non_null(strstr(svg, down ? "translate(1 0)scale(2 2)\" stroke-linecap=\"butt\"" : "translate(0 1)scale(2 2)\""));
        for (const char *at = svg; (at = strstr(at, "stroke-opacity=\""));) {
            double opacity = strtod(at += strlen("stroke-opacity=\""), NULL);
            at = paint_runs(strstr(at, "d=\"") + 3, down, level_of(opacity), heat, seen);
        }
        for (int i = 0; i < SIDE * SIDE; i++) { /* of zero the paper is seen */
            uint8_t h = heat[i / SIDE][i % SIDE];
            assert_int_equal(seen[i / SIDE][i % SIDE], h != DRAW_NOTHING && h != ZERO);
        }
        assert_null(strstr(svg_of(d, DRAW_HOLLOW), "<path")); /* a page paints them */
    }
}

/* A file has no more cells than its picture has pixels, whatever the numbers are; without memory for that it fails. */
TEST(cells_finer_than_a_pixel_are_averaged)
{
    enum { MANY = 512 };
    static uint8_t heat[MANY * MANY];
    memory p;
    draw *d = picture(64, 64);
    for (int i = 0; i < MANY * MANY; i++)
        heat[i] = (uint8_t)(i % MANY % 2 ? 254 : 0);
    draw_cells(d, 0, 0, 64, 64, MANY, MANY, ZERO, heat);
    const char *svg = svg_of(d, DRAW_INSIDE);
    assert_int_equal(count_of(svg, "<path"), 1);
    assert_int_equal(count_of(svg, "h64"), 64);
    heap.fail = 1;
    assert_int_equal(draw_svg(memory_open(&p), d, DRAW_INSIDE, &err), PE_ERR_NOMEM);
    heap.fail = 0;
    memory_end(&p);
}

TEST(a_list_in_a_list_is_moved)
{
    draw *d = picture(10, 10), *all = picture(100, 100);
    draw_point line[2] = { { 1, 2 }, { 3, 4 } };
    draw_path(d, line, 2, false, (draw_style){ .stroke = INK_TEXT, .fill = INK_NONE });
    draw_circle(d, 5, 6, 2, (draw_style){ .stroke = INK_TEXT, .fill = INK_NONE });
    draw_cells(d, 1, 1, 2, 2, 1, 2, ZERO, (uint8_t[]){ 1, 2 });
    draw_text(d, 7, 8, 12, ANCHOR_START, INK_TEXT, false, "here");
    draw_text(all, 1, 1, 12, ANCHOR_START, INK_TEXT, false, "before");
    draw_place(all, d, 20, 30);
    memset(d->bytes, 'x', d->byte_count); /* what was placed is a copy */
    static const char *const moved[] = { "d=\"M21 32L23 34\"", "cx=\"25\" cy=\"36\"", "<g transform=\"translate(21 32)scale(1 2)\"",
                                         "x=\"27\" y=\"38\" font-size=\"12\" class=\"f1\">here<" };
    for (int i = 0; i < COUNT(moved); i++)
        assert_non_null(strstr(svg_of(all, DRAW_INSIDE), moved[i]));
}

/* ------------------------------------------------ failures */

static void draw_some(draw *d)
{
    uint8_t heat[4] = { 0, 1, 2, 3 };
    draw_point p[2] = { { 0, 0 }, { 1, 1 } };
    draw_describe(d, "title", "words");
    draw_path(d, p, 2, false, (draw_style){ .stroke = INK_TEXT });
    draw_rect(d, 0, 0, 1, 1, (draw_style){ .stroke = INK_TEXT });
    draw_circle(d, 0, 0, 1, (draw_style){ .stroke = INK_TEXT });
    draw_cells(d, 0, 0, 2, 2, 2, 2, ZERO, heat);
    draw_text(d, 0, 0, 12, ANCHOR_END, INK_TEXT, true, "text");
}

TEST(each_call_may_run_out_of_memory)
{
    bool reached = true;
    for (long n = 1; reached; n++) {
        memory p;
        draw *d = picture(10, 10);
        heap.made = 0;
        heap.fail = n;
        for (int i = 0; i < 20; i++)
            draw_some(d);
        reached = heap.made >= n;
        heap.fail = 0;
        assert_int_equal(draw_status(d, &err), reached ? PE_ERR_NOMEM : PE_OK);
        assert_int_equal(draw_svg(memory_open(&p), d, DRAW_ALONE, &err), reached ? PE_ERR_NOMEM : PE_OK);
        memory_end(&p);
        assert_true(!reached || p.size == 0);
    }
    for (long n = 1; n <= 2; n++) { /* of the terminal's own */
        draw *d = picture(10, 10);
        heap.fail = n;
        assert_int_equal(draw_terminal(stdout, d, &(draw_screen){ .columns = 8, .rows = 2 }, &err), PE_ERR_NOMEM);
        heap.fail = 0;
    }
}
