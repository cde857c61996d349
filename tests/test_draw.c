/* SPDX-License-Identifier: MIT
 * labels: core; needs: draw wrap
 *
 * The list of shapes and its writers: colours that can be read, numbers that are short, cells, dots and areas. */
#include "draw_case.h"

static void css_has_light_and_dark_by_the_system_and_by_the_page(void **state)
{
    (void)state;
    memory p;
    draw_css(memory_open(&p));
    const char *css = memory_end(&p);
    assert_non_null(strstr(css, ":root{--ink-0:#ffffff;"));
    assert_non_null(strstr(css, "@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--ink-0:#"));
    assert_non_null(strstr(css, ":root[data-theme=dark]{--ink-0:#"));
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        char line[40];
        snprintf(line, sizeof line, "stroke:var(--ink-%d)}", slot);
        assert_non_null(strstr(css, line));
    }
    assert_int_equal(count_of(css, "{"), count_of(css, "}"));
    memory_free(&p);
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
static void each_ink_can_be_read_on_its_paper(void **state)
{
    (void)state;
    const draw_rgb black = { 0, 0, 0 }, white = { 255, 255, 255 };
    for (int slot = 1; slot < INK_SLOTS; slot++) {
        if (slot == INK_GRID)
            continue;
        assert_true(contrast(ink_light(slot), ink_light(INK_PAPER)) >= 4.5);
        assert_true(contrast(ink_dark(slot), ink_dark(INK_PAPER)) >= 4.5);
        assert_true(contrast(ink_terminal(slot), black) >= 3 && contrast(ink_terminal(slot), white) >= 3);
    }
    for (int heat = 1; heat < 256; heat++)
        assert_true(luminance(ink_heat(INK_HEAT + heat)) >= luminance(ink_heat(INK_HEAT + heat - 1)));
}

static void shapes_with_odd_numbers_are_left_out(void **state)
{
    (void)state;
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 100, 50, &err));
    draw_style s = { .line = INK_SERIES, .fill = INK_NONE };
    draw_point line[5] = { { 1, 2 }, { 3.14159, 4 }, { NAN, 5 }, { 6, 7 }, { 8, 1e300 } };
    draw_path(d, line, 5, false, s);
    draw_rect(d, NAN, 0, 1, 1, s);
    draw_rect(d, 0, 0, INFINITY, 1, s);
    draw_circle(d, 0, 0, NAN, s);
    draw_text(d, NAN, 0, 12, ANCHOR_START, INK_TEXT, false, "gone");
    const char *svg = svg_of(&p, d, DRAW_INSIDE);
    assert_string_equal(svg, "<svg class=\"drawing\" role=\"img\" viewBox=\"0 0 100 50\" width=\"100\" height=\"50\">\n"
                             "<path d=\"M1 2L3.14 4\" class=\"l4\"/>\n"
                             "<path d=\"M6 7L8 10000000\" class=\"l4\"/>\n</svg>\n");
    memory_free(&p);
    draw_free(d);
    assert_int_equal(draw_new(&d, NAN, 10, &err), PE_ERR_RANGE);
    assert_null(d);
    assert_int_equal(draw_new(&d, 10, 0, &err), PE_ERR_RANGE);
}

static void numbers_are_short(void **state)
{
    (void)state;
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

static void a_terminal_shows_lines_as_dots_and_names_as_text(void **state)
{
    (void)state;
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 32, 32, &err)); /* 4 x 2 characters of 8 x 16: a dot is 4 x 4 */
    draw_point flat[2] = { { 0, 2 }, { 31, 2 } }, tall[2] = { { 14, 0 }, { 14, 31 } };
    draw_style s = { .line = INK_SERIES, .fill = INK_NONE };
    draw_path(d, flat, 2, false, s);
    draw_path(d, tall, 2, false, s);
    draw_text(d, 24, 28, 14, ANCHOR_START, INK_TEXT, false, "ab");
    assert_ok(draw_terminal(memory_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2 }, &err));
    assert_string_equal(memory_end(&p), "⠉⢹⠉⠉\n ⢸ a\n");
    memory_free(&p);
    assert_ok(draw_terminal(memory_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2, .glyphs = GLYPHS_ASCII }, &err));
    assert_string_equal(memory_end(&p), "****\n * a\n");
    memory_free(&p);
    draw_free(d);
}

static void areas_are_filled(void **state)
{
    (void)state;
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 32, 32, &err));
    draw_rect(d, 8, 0, 16, 32, (draw_style){ .line = INK_NONE, .fill = INK_SERIES });
    draw_rect(d, 8, 16, 8, 16, (draw_style){ .line = INK_NONE, .fill = INK_PAPER });
    assert_ok(draw_terminal(memory_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2 }, &err));
    assert_string_equal(memory_end(&p), " ⣿⣿ \n  ⣿ \n");
    memory_free(&p);
    draw_free(d);
}

static void cells_are_half_blocks_shades_and_rectangles(void **state)
{
    (void)state;
    static const uint8_t heat[8] = { 0, 254, 254, 128, 254, 254, 0, 0 };
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 4, 2, &err));
    draw_cells(d, 0, 0, 4, 2, 2, 4, heat);
    draw_screen s = { .columns = 4, .rows = 1, .glyphs = GLYPHS_ASCII };
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    assert_string_equal(memory_end(&p), "+@+-\n");
    memory_free(&p);
    s.glyphs = GLYPHS_BRAILLE;
    s.colour = true;
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    const char *text = memory_end(&p);
    assert_int_equal(count_of(text, "▀"), 4);
    assert_non_null(strstr(text, "\033[38;2;16;18;60m\033[48;2;255;249;216m▀"));
    memory_free(&p);
    const char *svg = svg_of(&p, d, DRAW_ALONE);
    assert_well_formed(svg);
    assert_non_null(strstr(svg, "<rect x=\"1\" y=\"0\" width=\"2\" height=\"1\" fill=\"#fff9d8\"/>"));
    memory_free(&p);
    draw_free(d);
}

/* A heat of which only one half is there. */
static void nothing_is_left_to_the_paper(void **state)
{
    (void)state;
    static const uint8_t heat[6] = { 254, DRAW_NOTHING, DRAW_NOTHING, DRAW_NOTHING, 254, DRAW_NOTHING };
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 3, 2, &err));
    draw_cells(d, 0, 0, 3, 2, 2, 3, heat);
    draw_screen s = { .columns = 3, .rows = 1, .colour = true, .is_few = true };
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    assert_string_equal(memory_end(&p), "\033[38;5;230m▀▄\033[0m \n");
    memory_free(&p);
    assert_int_equal(count_of(svg_of(&p, d, DRAW_INSIDE), "<rect"), 2);
    memory_free(&p);
    assert_int_equal(count_of(svg_of(&p, d, DRAW_HOLLOW), "<rect"), 0);
    memory_free(&p);
    draw_free(d);
}

/* Without colour a blank is the lowest level, and nothing has a sign of its own; larger cells are not mixed. */
static void without_colour_nothing_is_not_the_lowest(void **state)
{
    (void)state;
    static const uint8_t heat[6] = { 0, DRAW_NOTHING, 254, 0, 254, DRAW_NOTHING };
    pe_error err;
    memory p;
    draw *d;
    assert_ok(draw_new(&d, 3, 10, &err));
    draw_cells(d, 0, 0, 3, 10, 2, 3, heat);
    draw_screen s = { .columns = 3, .rows = 5, .glyphs = GLYPHS_ASCII };
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    assert_string_equal(memory_end(&p), " .@\n .@\n .@\n @.\n @.\n");
    memory_free(&p);
    s.glyphs = GLYPHS_BRAILLE;
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    assert_string_equal(memory_end(&p), " ·█\n ·█\n ·█\n █·\n █·\n");
    memory_free(&p);
    draw_free(d);
}

/* Stripes that are finer than the screen: their mean, not some of them. */
static void cells_finer_than_the_screen_are_their_mean(void **state)
{
    (void)state;
    uint8_t heat[400];
    pe_error err;
    memory p;
    draw *d;
    for (int i = 0; i < 400; i++)
        heat[i] = i % 2 ? 254 : 0;
    assert_ok(draw_new(&d, 10, 10, &err));
    draw_cells(d, 0, 0, 10, 10, 1, 400, heat);
    draw_screen s = { .columns = 10, .rows = 1, .glyphs = GLYPHS_ASCII };
    assert_ok(draw_terminal(memory_open(&p), d, &s, &err));
    assert_string_equal(memory_end(&p), "++++++++++\n");
    memory_free(&p);
    draw_free(d);
}

/* Many cells are a picture inside the file, few are rectangles. */
static void many_cells_are_an_image(void **state)
{
    (void)state;
    uint8_t heat[4096];
    pe_error err;
    memory p;
    draw *d;
    for (int i = 0; i < 4096; i++)
        heat[i] = (uint8_t)(i * 7 % DRAW_LEVELS);
    assert_ok(draw_new(&d, 64, 64, &err));
    draw_cells(d, 0, 0, 64, 64, 64, 64, heat);
    const char *svg = svg_of(&p, d, DRAW_ALONE);
    assert_well_formed(svg);
    assert_int_equal(count_of(svg, "href=\"data:image/png;base64,"), 1);
    assert_int_equal(count_of(svg, "<rect"), 1); /* the paper */
    assert_true(p.size < 12000);
    memory_free(&p);
    draw_free(d);
}

static void a_list_in_a_list_is_moved(void **state)
{
    (void)state;
    static const uint8_t heat[2] = { 1, 2 };
    pe_error err;
    memory p;
    draw *d, *all;
    draw_point line[2] = { { 1, 2 }, { 3, 4 } };
    assert_ok(draw_new(&d, 10, 10, &err));
    assert_ok(draw_new(&all, 100, 100, &err));
    draw_path(d, line, 2, false, (draw_style){ .line = INK_TEXT, .fill = INK_NONE });
    draw_circle(d, 5, 6, 2, (draw_style){ .line = INK_TEXT, .fill = INK_NONE });
    draw_cells(d, 1, 1, 2, 2, 1, 2, heat);
    draw_text(d, 7, 8, 12, ANCHOR_START, INK_TEXT, false, "here");
    draw_text(all, 1, 1, 12, ANCHOR_START, INK_TEXT, false, "before");
    draw_place(all, d, 20, 30);
    draw_free(d);
    const char *svg = svg_of(&p, all, DRAW_INSIDE);
    assert_non_null(strstr(svg, "d=\"M21 32L23 34\""));
    assert_non_null(strstr(svg, "cx=\"25\" cy=\"36\""));
    assert_non_null(strstr(svg, "<rect x=\"21\" y=\"31\" width=\"1\""));
    assert_non_null(strstr(svg, "x=\"27\" y=\"38\" font-size=\"12\" class=\"f1\">here<"));
    memory_free(&p);
    draw_free(all);
}

static void a_file_is_a_plain_screen(void **state)
{
    (void)state;
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

/* ------------------------------------------------ failures */

static void draw_some(draw *d)
{
    uint8_t heat[4] = { 0, 1, 2, 3 };
    draw_point p[2] = { { 0, 0 }, { 1, 1 } };
    draw_describe(d, "title", "words");
    draw_path(d, p, 2, false, (draw_style){ .line = INK_TEXT });
    draw_rect(d, 0, 0, 1, 1, (draw_style){ .line = INK_TEXT });
    draw_circle(d, 0, 0, 1, (draw_style){ .line = INK_TEXT });
    draw_cells(d, 0, 0, 2, 2, 2, 2, heat);
    draw_text(d, 0, 0, 12, ANCHOR_END, INK_TEXT, true, "text");
}

static void each_call_may_run_out_of_memory(void **state)
{
    (void)state;
    bool reached = true;
    for (long n = 1; reached; n++) {
        pe_error err = { 0 };
        memory p;
        draw *d;
        assert_ok(draw_new(&d, 10, 10, &err));
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
        memory_free(&p);
        draw_free(d);
    }
    for (long n = 1; n <= 2; n++) { /* of the terminal's own */
        pe_error err = { 0 };
        draw *d;
        assert_ok(draw_new(&d, 10, 10, &err));
        heap.fail = n;
        assert_int_equal(draw_terminal(stdout, d, &(draw_screen){ .columns = 8, .rows = 2 }, &err), PE_ERR_NOMEM);
        heap.fail = 0;
        draw_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(css_has_light_and_dark_by_the_system_and_by_the_page),
        cmocka_unit_test(each_ink_can_be_read_on_its_paper),
        cmocka_unit_test(shapes_with_odd_numbers_are_left_out),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(a_terminal_shows_lines_as_dots_and_names_as_text),
        cmocka_unit_test(areas_are_filled),
        cmocka_unit_test(cells_are_half_blocks_shades_and_rectangles),
        cmocka_unit_test(nothing_is_left_to_the_paper),
        cmocka_unit_test(without_colour_nothing_is_not_the_lowest),
        cmocka_unit_test(cells_finer_than_the_screen_are_their_mean),
        cmocka_unit_test(many_cells_are_an_image),
        cmocka_unit_test(a_list_in_a_list_is_moved),
        cmocka_unit_test(a_file_is_a_plain_screen),
        cmocka_unit_test(each_call_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
