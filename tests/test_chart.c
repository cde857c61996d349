/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: draw wrap
 *
 * Charts: whatever the data is, what is drawn is in the frame, can be read and is the same each time. */
#include "draw_case.h"
#include "draw/html_frame.h"

#include <locale.h>

/* ------------------------------------------------ charts to try */

#define POINTS 6
#define SERIES 14

static double xs[POINTS] = { 256, 512, 1024, 2048, 4096, 8192 };
static double ys[SERIES][POINTS], lows[SERIES][POINTS], highs[SERIES][POINTS];
static chart_series series[SERIES];

static chart chart_of(int count)
{
    static const char *const names[] = { "none", "sinusoidal", "rope", "alibi", "t5", "learned", "kerple" };
    for (int s = 0; s < SERIES; s++) {
        for (int i = 0; i < POINTS; i++) {
            ys[s][i] = 2 + 0.1 * s + 0.05 * i * (s % 5);
            lows[s][i] = ys[s][i] - 0.1;
            highs[s][i] = ys[s][i] + 0.1;
        }
        series[s] = (chart_series){ .name = names[s % 7], .x = xs, .y = ys[s], .low = lows[s], .high = highs[s],
                                    .count = POINTS, .ink = INK_SERIES + s, .dots = s % 2 == 0 };
    }
    return (chart){ .title = "Bits per byte", .x_label = "length", .y_label = "bits", .series = series,
                    .series_count = count, .x_log2 = true, .x_mark = 512, .x_mark_label = "trained", .width = 720,
                    .height = 420 };
}

static draw *drawn(const chart *c)
{
    draw *d = NULL;
    assert_ok(chart_draw(&d, c, &err));
    return keep(d, release_draw);
}

static const char *screen_of(const chart *c, draw_screen s)
{
    memory p;
    assert_ok(chart_terminal(memory_open(&p), c, &s, &err));
    return memory_end(&p);
}

/* ------------------------------------------------ SVG */

TEST(a_chart_is_well_formed_and_asks_for_nothing)
{
    for (int count = 0; count <= SERIES; count++)
        for (int where = DRAW_ALONE; where <= DRAW_INSIDE; where++) {
            chart c = chart_of(count);
            c.y_log = count % 2;
            const char *svg = svg_of(drawn(&c), (draw_where)where);
            assert_well_formed(svg);
            assert_no_request(svg);
            assert_has(svg, "role=\"img\"", "viewBox=\"0 0 720 420\"", "<title>Bits per byte</title>",
                       "<desc>Line chart: bits over length.", NULL);
            assert_int_equal(count_of(svg, "<style>"), where == DRAW_ALONE);
            for (int s = 0; s < count && s < 7; s++)
                assert_non_null(strstr(svg, series[s].name));
        }
}

TEST(hostile_names_stay_text)
{
    static const char *const names[] = { "<script>alert(1)</script>", "\" onload=\"x", "' & &amp; ]]>", "\x1b[31m\x07\x01",
                                         "\xff\xfe\xc3", "\xe2\x80\xae" "evil", "</title></svg>", "a\xC2\x9B" "31m" };
    for (int i = 0; i < COUNT(names); i++) {
        chart c = chart_of(2);
        c.title = c.x_label = c.y_label = c.x_mark_label = c.x_unit = names[i];
        series[0].name = series[1].note = names[i];
        const char *svg = svg_of(drawn(&c), DRAW_ALONE);
        assert_well_formed(svg);
        assert_no_request(svg);
        assert_null(strstr(svg, " onload=\""));
        assert_null(strchr(svg, 0x1b));
        assert_lacks(svg, "\xff", "\xe2\x80\xae", NULL);
        const char *text = screen_of(&c, (draw_screen){ .columns = 90, .rows = 24 });
        assert_null(strchr(text, 0x1b));
        assert_null(strchr(text, 0x07));
        assert_null(strstr(text, "\xC2\x9B"));
    }
}

/* ------------------------------------------------ numbers */

static void check_numbers_in_it(const chart *c)
{
    draw *d = drawn(c);
    for (size_t i = 0; i < d->point_count; i++)
        assert_true(fabs(d->points[i].x) <= DRAW_FAR && fabs(d->points[i].y) <= DRAW_FAR);
    const char *svg = svg_of(d, DRAW_ALONE);
    assert_well_formed(svg);
    const char *body = strstr(svg, "</style>");
    assert_lacks(body, "nan", "inf", NULL);
    screen_of(c, (draw_screen){ .columns = 80, .rows = 24 });
}

TEST(numbers_that_are_none_leave_no_trace)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY, 0, -0.0, -1, 1e-320, 5e-324, 1e308, -1e308, 1e99, 1e-99, 1e18 };
    for (int a = 0; a < COUNT(odd); a++)
        for (int b = 0; b < COUNT(odd); b++)
            for (int log = 0; log < 4; log++) {
                chart c = chart_of(3);
                c.x_log2 = log & 1;
                c.y_log = log & 2;
                ys[0][2] = lows[1][3] = odd[a];
                highs[1][1] = ys[2][POINTS - 1] = odd[b];
                c.x_mark = odd[b];
                if (a == b) {
                    xs[0] = odd[a];
                    c.y_max = odd[b];
                    c.y_min = -odd[b];
                }
                check_numbers_in_it(&c);
                xs[0] = 256;
            }
}

/* ------------------------------------------------ axes and frames */

/* The text between x and x in a picture: a tick's label. */
static bool has_label(const char *svg, const char *label)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, ">%s</text>", label);
    return strstr(svg, wanted) != NULL;
}

TEST(ticks_are_round)
{
    static const struct {
        bool x_log2, y_log;
        double y0, y1;
        const char *labels[6];
    } cases[] = {
        { true, false, 0.2, 0.9, { "256", "1k", "8k", "0.2", "0.8", NULL } },
        { false, false, 1.9, 2.1, { "2,000", "8,000", "1.90", "2.10", NULL } },
        { false, true, 3, 30000, { "10", "100", "1,000", "10,000", NULL } },
        { true, true, 20, 70, { "20", "50", NULL } },
        { true, false, -2e6, 3e6, { "-2M", "0", "3M", NULL } },
        { true, false, 0, 1e-9, { "0", "1e-09", NULL } },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        chart c = chart_of(1);
        c.x_log2 = cases[i].x_log2;
        c.y_log = cases[i].y_log;
        for (int k = 0; k < POINTS; k++)
            ys[0][k] = lows[0][k] = highs[0][k] = k % 2 ? cases[i].y0 : cases[i].y1;
        draw *d = drawn(&c);
        const char *svg = svg_of(d, DRAW_INSIDE);
        for (int k = 0; cases[i].labels[k]; k++)
            if (!has_label(svg, cases[i].labels[k]))
                fail_msg("case %d has no tick %s:\n%s", i, cases[i].labels[k], svg);
    }
}

/* The box of all horizontal rules, which are the grid: the frame, sides and top. */
static void assert_in_frame(const draw *d, double right)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < d->shape_count; i++) {
        const draw_shape *s = &d->shapes[i];
        if (s->kind == SHAPE_PATH && (s->style.stroke == INK_GRID || s->style.stroke == INK_FAINT)) {
            low = fmin(low, d->points[s->first].y);
            high = fmax(high, d->points[s->first].y);
        }
    }
    for (size_t i = 0; i < d->shape_count; i++) {
        const draw_shape *s = &d->shapes[i];
        for (size_t k = 0; s->kind == SHAPE_PATH && k < s->count; k++) {
            draw_point p = d->points[s->first + k];
            if (p.y < low - 0.01 || p.y > high + 0.01 + 4 || p.x < 0 || p.x > right)
                fail_msg("a point at %g %g; the frame is %g .. %g", p.x, p.y, low, high);
        }
    }
}

TEST(lines_and_bands_end_at_the_frame)
{
    for (int log = 0; log < 2; log++) {
        chart c = chart_of(3);
        c.x_mark = 0;
        c.y_log = log;
        c.y_min = 1;
        c.y_max = 4;
        ys[0][3] = 1e6;
        ys[1][2] = -1e6;
        highs[2][4] = 1e9;
        lows[2][1] = -5;
        draw *d = drawn(&c);
        assert_in_frame(d, 720);
    }
}

TEST(a_clipped_line_keeps_its_slope)
{
    draw_point a = { 0, 0 }, b = { 10, 100 };
    assert_true(draw_clip(&a, &b, (draw_point){ -5, 20 }, (draw_point){ 50, 60 }));
    assert_true(fabs(a.x - 2) < 1e-12 && fabs(a.y - 20) < 1e-12 && fabs(b.x - 6) < 1e-12 && fabs(b.y - 60) < 1e-12);
    a = (draw_point){ 0, 0 };
    b = (draw_point){ 10, 1 };
    assert_false(draw_clip(&a, &b, (draw_point){ 0, 2 }, (draw_point){ 10, 3 }));
}

static const draw_shape *text_shape(const draw *d, const char *text)
{
    for (size_t i = 0; i < d->shape_count; i++)
        if (d->shapes[i].kind == SHAPE_TEXT && !strcmp(d->bytes + d->shapes[i].first, text))
            return &d->shapes[i];
    return NULL;
}

/* Lines that end in one point: their names stand a line apart, and none leaves the picture. */
TEST(names_at_line_ends_do_not_overlap)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
    for (int count = 2; count <= 12; count++) {
        chart c = chart_of(count);
        for (int s = 0; s < count; s++) {
            series[s].name = names[s];
            ys[s][POINTS - 1] = s < 9 ? 2.0001 : 1.99;
        }
        draw *d = drawn(&c);
        for (int s = 0; s < count; s++)
            for (int o = 0; o <= s; o++) {
                const draw_shape *a = text_shape(d, names[s]), *b = text_shape(d, names[o]);
                assert_true(a && a->y > 0 && a->y < 420 && a->x < 720);
                assert_true(o == s || fabs(a->y - b->y) >= a->height);
            }
    }
}

TEST(names_that_do_not_fit_go_into_a_legend)
{
    static const char wide[] = "a name of a series that is as long as a sentence, or nearly so";
    chart c = chart_of(2);
    series[0].name = wide;
    draw *d = drawn(&c);
    const draw_shape *name = text_shape(d, wide);
    assert_true(name && name->x < 100 && name->y < 120 && name->style.fill == INK_TEXT);
}

/* Lines that end early in one place: their names would cover one another there. */
TEST(names_that_would_meet_inside_go_into_a_legend)
{
    static const char *const names[] = { "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                                         "ninth", "tenth",  "11th",  "12th",   "13th",  "14th" };
    chart c = chart_of(SERIES);
    for (int s = 0; s < SERIES; s++) {
        series[s].name = names[s];
        series[s].count = s ? 4 : POINTS;
        ys[s][3] = 2.1;
    }
    draw *d = drawn(&c);
    for (int s = 0; s < SERIES; s++)
        assert_true(text_shape(d, names[s])->style.fill == INK_TEXT && text_shape(d, names[s])->y < 120);
    c.series_count = 2;
    d = drawn(&c);
    assert_true(text_shape(d, names[1])->style.fill == series[1].ink);
}

/* Names of any length, in pictures of any size: cut where nothing else helps, at a character. */
TEST(names_of_any_length_stay_inside)
{
    static char name[400];
    for (size_t size = 1; size < sizeof name - 3; size += 7) {
        chart c = chart_of(8);
        for (size_t i = 0; i < size; i += 2)
            memcpy(name + i, "\xC3\xA9", 3);
        for (int s = 0; s < 8; s++)
            series[s].name = name;
        series[5].note = name;
        c.title = c.x_label = c.y_label = c.x_mark_label = name;
        c.width = 60 + (double)size;
        c.height = 300 - (double)size / 2;
        const char *svg = svg_of(drawn(&c), DRAW_ALONE);
        assert_well_formed(svg);
        assert_null(strstr(svg, "&#xFFFD;"));
        assert_null(strstr(screen_of(&c, (draw_screen){ .columns = 30, .rows = 9 }), "\xEF\xBF\xBD"));
    }
}

/* A log of many steps: no larger than the picture needs, and its peaks are still there. */
TEST(many_points_are_thinned_and_peaks_kept)
{
    enum { MANY = 100000 };
    static double x[MANY], y[MANY];
    uint64_t seed = 5;
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        y[i] = test_uniform(&seed);
    }
    y[77777] = 4;
    y[12345] = -4;
    chart_series many = { .name = "loss", .x = x, .y = y, .count = MANY, .ink = INK_SERIES };
    chart c = { .series = &many, .series_count = 1, .width = 720, .height = 420, .y_min = -4, .y_max = 4 };
    draw *d = drawn(&c);
    double top = INFINITY, bottom = -INFINITY, grid_top = INFINITY, axis_line = -INFINITY;
    for (size_t i = 0; i < d->shape_count; i++)
        for (size_t k = 0; d->shapes[i].kind == SHAPE_PATH && k < d->shapes[i].count; k++) {
            double at = d->points[d->shapes[i].first + k].y;
            if (d->shapes[i].style.stroke == INK_SERIES) {
                top = fmin(top, at);
                bottom = fmax(bottom, at);
            }
            if (d->shapes[i].style.stroke == INK_GRID)
                grid_top = fmin(grid_top, at);
            if (d->shapes[i].style.stroke == INK_FAINT && k == 0)
                axis_line = fmax(axis_line, at);
        }
    assert_true(d->point_count < 8000);
    assert_true(fabs(top - grid_top) < 1e-6 && fabs(bottom - axis_line) < 1e-6);
}

TEST(what_a_series_cannot_do_stands_at_its_end)
{
    chart c = chart_of(3);
    for (int i = 2; i < POINTS; i++)
        ys[1][i] = NAN;
    for (int i = 0; i < POINTS; i++)
        ys[2][i] = NAN;
    series[1].note = "cannot";
    draw *d = drawn(&c);
    const draw_shape *note = text_shape(d, "sinusoidal: cannot");
    assert_true(note && note->x < 400); /* at 512 of 256 .. 8k, not in the margin */
    assert_non_null(text_shape(d, "rope: no data"));
    const char *svg = svg_of(d, DRAW_INSIDE);
    assert_non_null(strstr(svg, "sinusoidal: 2.1 at 256, then 2.15 at 512, then cannot."));
}

TEST(one_point_or_none_is_a_chart_too)
{
    chart c = chart_of(1);
    series[0].count = 1;
    series[0].dots = false;
    draw *d = drawn(&c);
    const char *svg = svg_of(d, DRAW_INSIDE);
    assert_int_equal(count_of(svg, "<circle"), 1);
    assert_true(has_label(svg, "none"));
    for (int count = 0; count < 2; count++) {
        c = chart_of(count);
        series[0].count = 0;
        d = drawn(&c);
        svg = svg_of(d, DRAW_INSIDE);
        assert_true(has_label(svg, "no data"));
    }
}

TEST(lines_past_the_sixth_are_dashed)
{
    for (int count = 6; count <= 7; count++) {
        chart c = chart_of(count);
        c.x_mark = 0;
        draw *d = drawn(&c);
        assert_int_equal(count_of(svg_of(d, DRAW_INSIDE), "stroke-dasharray"), count - 6);
    }
}

static pe_status draw_size(draw **out, const void *with, html_frame_size size, pe_error *why)
{
    chart c = *(const chart *)with;
    c.width = size.width;
    c.height = size.height;
    return chart_draw(out, &c, why);
}

TEST(a_page_gets_a_chart_for_phones_too)
{
    memory m;
    chart c = chart_of(4);
    html_frame_begin(memory_open(&m), &(html_frame_head){ .title = "<b>", .language = CHINESE });
    assert_ok(html_frame_picture(m.to, draw_size, &c, (html_frame_size){ 720, 420 }, (html_frame_size){ 360, 400 }, &err));
    html_frame_end(m.to);
    const char *html = memory_end(&m);
    assert_int_equal(count_of(html, "<svg "), 2);
    assert_has(html, "<html lang=\"zh-CN\">",
               "<div class=\"drawing-narrow\">\n<svg class=\"drawing\" role=\"img\" viewBox=\"0 0 360 ", NULL);
    assert_lacks(html, "<b>", "://", NULL);
}

/* ------------------------------------------------ terminals */

TEST(a_screen_is_filled_exactly)
{
    static const int sizes[][2] = { { 80, 24 }, { 1, 1 }, { 3, 200 }, { 200, 2 }, { 40, 10 }, { 20, 5 }, { 133, 50 } };
    for (int i = 0; i < COUNT(sizes); i++)
        for (int kind = 0; kind < 8; kind++) {
            chart c = chart_of(kind & 4 ? 12 : 3);
            draw_screen s = { .columns = sizes[i][0], .rows = sizes[i][1], .colour = kind & 1,
                              .glyphs = kind & 2 ? GLYPHS_ASCII : GLYPHS_BRAILLE };
            series[1].name = "漢字かな e\xCC\x81";
            c.title = "題 of the chart";
            const char *text = screen_of(&c, s);
            assert_size(text, s);
            assert_true((strchr(text, 0x1b) != NULL) == s.colour || s.columns < 20);
            for (const char *b = text; *b && s.glyphs == GLYPHS_ASCII; b++)
                assert_true((unsigned char)*b < 0x7F);
        }
    chart c = chart_of(1);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 0, .rows = 5 }, &err), PE_ERR_RANGE);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 80, .rows = -5 }, &err), PE_ERR_RANGE);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 80, .rows = 5000 }, &err), PE_ERR_RANGE);
}

TEST(the_last_tick_is_whole_on_a_screen)
{
    for (int columns = 40; columns < 60; columns++) {
        chart c = chart_of(1);
        series[0].name = "a name of a series that is as long as a sentence, or nearly so";
        series[0].count = 2;
        const char *text = screen_of(&c, (draw_screen){ .columns = columns, .rows = 20, .glyphs = GLYPHS_ASCII });
        assert_non_null(strstr(text, "512\n"));
    }
}

/* ------------------------------------------------ the same each time, and failures */

static const char *write_all(void)
{
    memory p;
    chart c = chart_of(8);
    FILE *to = memory_open(&p);
    assert_ok(draw_svg(to, drawn(&c), DRAW_ALONE, &err));
    assert_ok(chart_terminal(to, &c, &(draw_screen){ .columns = 90, .rows = 30, .colour = true }, &err));
    c.y_log = true;
    c.x_log2 = false;
    assert_ok(draw_svg(to, drawn(&c), DRAW_INSIDE, &err));
    return memory_end(&p);
}

static bool set_comma(const char *folder)
{
    char make[200];
    snprintf(make, sizeof make, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (system(make) == 0)
        setenv("LOCPATH", folder, 1);
    bool is_set = setlocale(LC_ALL, "de_DE.UTF-8") != NULL && *localeconv()->decimal_point == ',';
    unsetenv("LOCPATH");
    return is_set;
}

TEST(the_same_list_gives_the_same_bytes_in_any_locale)
{
    char folder[] = "/tmp/posenc-locale-XXXXXX", command[100];
    assert_non_null(mkdtemp(folder));
    const char *first = write_all();
    assert_string_equal(first, write_all());
    if (set_comma(folder)) {
        const char *second = write_all();
        setlocale(LC_ALL, "C");
        assert_string_equal(first, second);
    } else {
        printf("note: no locale with a decimal comma here, and localedef cannot make one: not tested with it\n");
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static pe_status draw_and_free(const void *with, pe_error *why)
{
    draw *d = NULL;
    pe_status s = chart_draw(&d, with, why);
    assert_true(!s == !!d);
    draw_free(d);
    return s;
}

TEST(a_list_without_memory_says_so)
{
    chart c = chart_of(8);
    each_allocation_fails(draw_and_free, &c, 1);
}
