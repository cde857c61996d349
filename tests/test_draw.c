/* SPDX-License-Identifier: MIT
 * labels: core; needs: draw wrap
 *
 * Pictures: what the writers write of a list is well-formed, safe and the same each time, whatever the data is. */
#include "common.h"
#include "heap.h"
#include "draw/list.h"

#include <locale.h>

/* ------------------------------------------------ writing into memory */

typedef struct page {
    char *text;
    size_t size;
    FILE *to;
} page;

static FILE *page_open(page *p)
{
    *p = (page){ 0 };
    p->to = open_memstream(&p->text, &p->size);
    assert_non_null(p->to);
    return p->to;
}

/* The text, to be freed by page_free. */
static const char *page_end(page *p)
{
    assert_int_equal(fclose(p->to), 0);
    return p->text;
}

static void page_free(page *p)
{
    __real_free(p->text); /* libc's own malloc gave it */
}

static const char *svg_of(page *p, const draw *d, draw_where where)
{
    pe_error err = { 0 };
    FILE *to = page_open(p);
    assert_ok(draw_svg(to, d, where, &err));
    return page_end(p);
}

static const char *screen_of(page *p, const chart *c, draw_screen s)
{
    pe_error err = { 0 };
    FILE *to = page_open(p);
    assert_ok(chart_terminal(to, c, &s, &err));
    return page_end(p);
}

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
    pe_error err = { 0 };
    draw *d = NULL;
    if (chart_draw(&d, c, &err))
        fail_msg("%s", err.text);
    return d;
}

/* ------------------------------------------------ a small judge of XML */

/* A name, and where it ends. */
static const char *xml_name(const char *s, char out[32])
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
    assert_true(n > 0 && n < 32);
    memcpy(out, s, n);
    out[n] = 0;
    return s + n;
}

/* name="value" as often as there is one; each name once. */
static const char *xml_attributes(const char *s)
{
    char seen[20][32];
    int count = 0;
    while (*s == ' ') {
        assert_true(count < 20);
        s = xml_name(s + 1, seen[count]);
        for (int i = 0; i < count; i++)
            assert_string_not_equal(seen[i], seen[count]);
        count++;
        assert_int_equal(*s++, '=');
        assert_int_equal(*s++, '"');
        while (*s && *s != '"')
            assert_int_not_equal(*s++, '<');
        assert_int_equal(*s++, '"');
    }
    return s;
}

static void xml_text(const char *s, const char *end)
{
    for (; s < end; s++) {
        assert_true((unsigned char)*s >= 0x20 || *s == '\n');
        assert_int_not_equal(*s, '>');
        if (*s == '&') {
            const char *semi = strchr(s, ';');
            assert_true(semi && semi < end && s[1] == '#' && semi - s < 10);
        }
    }
}

/* One element after the other, each closed in turn; what stands in <style> is text. */
static void assert_well_formed(const char *s)
{
    char open[20][32], name[32];
    int depth = 0, roots = 0;
    if (!strncmp(s, "<?xml ", 6))
        s = strstr(s, "?>\n") + 3;
    while (*s) {
        const char *tag = strchr(s, '<');
        xml_text(s, tag ? tag : s + strlen(s));
        if (!tag)
            break;
        bool closes = tag[1] == '/';
        s = xml_name(tag + 1 + closes, name);
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else {
            s = xml_attributes(s);
            roots += depth == 0;
            assert_true(depth < 20);
            strcpy(open[depth++], name);
            depth -= *s == '/';
            s += *s == '/';
        }
        assert_int_equal(*s++, '>');
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

/* ------------------------------------------------ SVG */

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void assert_no_request(const char *svg)
{
    const char *space = strstr(svg, "http://www.w3.org/2000/svg");
    assert_int_equal(count_of(svg, "http"), space ? 1 : 0);
    assert_null(strstr(svg, "url("));
    assert_null(strstr(svg, "href"));
    assert_null(strstr(svg, "@import"));
    assert_null(strstr(svg, "<script"));
}

static void a_chart_is_well_formed_and_asks_for_nothing(void **state)
{
    (void)state;
    page p;
    for (int count = 0; count <= SERIES; count++)
        for (int where = DRAW_ALONE; where <= DRAW_INSIDE; where++) {
            chart c = chart_of(count);
            c.y_log = count % 2;
            draw *d = drawn(&c);
            const char *svg = svg_of(&p, d, (draw_where)where);
            assert_well_formed(svg);
            assert_no_request(svg);
            assert_non_null(strstr(svg, "role=\"img\""));
            assert_non_null(strstr(svg, "viewBox=\"0 0 720 420\""));
            assert_non_null(strstr(svg, "<title>Bits per byte</title>"));
            assert_non_null(strstr(svg, "<desc>Line chart: bits over length."));
            assert_int_equal(count_of(svg, "<style>"), where == DRAW_ALONE);
            for (int s = 0; s < count && s < 7; s++)
                assert_non_null(strstr(svg, series[s].name));
            page_free(&p);
            draw_free(d);
        }
}

static void css_has_light_and_dark_by_the_system_and_by_the_page(void **state)
{
    (void)state;
    page p;
    draw_css(page_open(&p));
    const char *css = page_end(&p);
    assert_non_null(strstr(css, ":root{--ink-0:#ffffff;"));
    assert_non_null(strstr(css, "@media (prefers-color-scheme:dark){:root:not([data-theme=light]){--ink-0:#"));
    assert_non_null(strstr(css, ":root[data-theme=dark]{--ink-0:#"));
    for (int slot = 0; slot < INK_SLOTS; slot++) {
        char line[40];
        snprintf(line, sizeof line, "stroke:var(--ink-%d)}", slot);
        assert_non_null(strstr(css, line));
    }
    assert_int_equal(count_of(css, "{"), count_of(css, "}"));
    page_free(&p);
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

static void hostile_names_stay_text(void **state)
{
    (void)state;
    static const char *const names[] = { "<script>alert(1)</script>", "\" onload=\"x", "' & &amp; ]]>", "\x1b[31m\x07\x01",
                                         "\xff\xfe\xc3", "\xe2\x80\xae" "evil", "</title></svg>", "a\xC2\x9B" "31m" };
    page p;
    for (int i = 0; i < COUNT(names); i++) {
        chart c = chart_of(2);
        c.title = c.x_label = c.y_label = c.x_mark_label = c.x_unit = names[i];
        series[0].name = series[1].note = names[i];
        draw *d = drawn(&c);
        const char *svg = svg_of(&p, d, DRAW_ALONE);
        assert_well_formed(svg);
        assert_no_request(svg);
        assert_null(strstr(svg, " onload=\""));
        assert_null(strchr(svg, 0x1b));
        assert_null(strstr(svg, "\xff"));
        assert_null(strstr(svg, "\xe2\x80\xae"));
        page_free(&p);
        const char *text = screen_of(&p, &c, (draw_screen){ .columns = 90, .rows = 24 });
        assert_null(strchr(text, 0x1b));
        assert_null(strchr(text, 0x07));
        assert_null(strstr(text, "\xC2\x9B"));
        page_free(&p);
        draw_free(d);
    }
}

/* ------------------------------------------------ numbers */

static void check_numbers_in_it(const chart *c)
{
    page p;
    draw *d = drawn(c);
    for (size_t i = 0; i < d->point_count; i++)
        assert_true(fabs(d->points[i].x) <= DRAW_FAR && fabs(d->points[i].y) <= DRAW_FAR);
    const char *svg = svg_of(&p, d, DRAW_ALONE);
    assert_well_formed(svg);
    const char *body = strstr(svg, "</style>");
    assert_null(strstr(body, "nan"));
    assert_null(strstr(body, "inf"));
    page_free(&p);
    screen_of(&p, c, (draw_screen){ .columns = 80, .rows = 24 });
    page_free(&p);
    draw_free(d);
}

static void numbers_that_are_none_leave_no_trace(void **state)
{
    (void)state;
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

static void shapes_with_odd_numbers_are_left_out(void **state)
{
    (void)state;
    pe_error err;
    page p;
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
    page_free(&p);
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

/* ------------------------------------------------ axes and frames */

/* The text between x and x in a picture: a tick's label. */
static bool has_label(const char *svg, const char *label)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, ">%s</text>", label);
    return strstr(svg, wanted) != NULL;
}

static void ticks_are_round(void **state)
{
    (void)state;
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
        page p;
        chart c = chart_of(1);
        c.x_log2 = cases[i].x_log2;
        c.y_log = cases[i].y_log;
        for (int k = 0; k < POINTS; k++)
            ys[0][k] = lows[0][k] = highs[0][k] = k % 2 ? cases[i].y0 : cases[i].y1;
        draw *d = drawn(&c);
        const char *svg = svg_of(&p, d, DRAW_INSIDE);
        for (int k = 0; cases[i].labels[k]; k++)
            if (!has_label(svg, cases[i].labels[k]))
                fail_msg("case %d has no tick %s:\n%s", i, cases[i].labels[k], svg);
        page_free(&p);
        draw_free(d);
    }
}

/* The box of all horizontal rules, which are the grid: the frame, sides and top. */
static void assert_in_frame(const draw *d, double right)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < d->shape_count; i++) {
        const draw_shape *s = &d->shapes[i];
        if (s->kind == SHAPE_PATH && (s->style.line == INK_GRID || s->style.line == INK_FAINT)) {
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

static void lines_and_bands_end_at_the_frame(void **state)
{
    (void)state;
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
        draw_free(d);
    }
}

static void a_clipped_line_keeps_its_slope(void **state)
{
    (void)state;
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
static void names_at_line_ends_do_not_overlap(void **state)
{
    (void)state;
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
        draw_free(d);
    }
}

static void names_that_do_not_fit_go_into_a_legend(void **state)
{
    (void)state;
    static const char wide[] = "a name of a series that is as long as a sentence, or nearly so";
    chart c = chart_of(2);
    series[0].name = wide;
    draw *d = drawn(&c);
    const draw_shape *name = text_shape(d, wide);
    assert_true(name && name->x < 100 && name->y < 120 && name->style.fill == INK_TEXT);
    draw_free(d);
}

/* Lines that end early in one place: their names would cover one another there. */
static void names_that_would_meet_inside_go_into_a_legend(void **state)
{
    (void)state;
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
    draw_free(d);
    c.series_count = 2;
    d = drawn(&c);
    assert_true(text_shape(d, names[1])->style.fill == series[1].ink);
    draw_free(d);
}

/* Names of any length, in pictures of any size: cut where nothing else helps, at a character. */
static void names_of_any_length_stay_inside(void **state)
{
    (void)state;
    static char name[400];
    for (size_t size = 1; size < sizeof name - 3; size += 7) {
        page p;
        chart c = chart_of(8);
        for (size_t i = 0; i < size; i += 2)
            memcpy(name + i, "\xC3\xA9", 3);
        for (int s = 0; s < 8; s++)
            series[s].name = name;
        series[5].note = name;
        c.title = c.x_label = c.y_label = c.x_mark_label = name;
        c.width = 60 + (double)size;
        c.height = 300 - (double)size / 2;
        draw *d = drawn(&c);
        const char *svg = svg_of(&p, d, DRAW_ALONE);
        assert_well_formed(svg);
        assert_null(strstr(svg, "&#xFFFD;"));
        page_free(&p);
        draw_free(d);
        screen_of(&p, &c, (draw_screen){ .columns = 30, .rows = 9 });
        assert_null(strstr(p.text, "\xEF\xBF\xBD"));
        page_free(&p);
    }
}

/* A log of many steps: no larger than the picture needs, and its peaks are still there. */
static void many_points_are_thinned_and_peaks_kept(void **state)
{
    (void)state;
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
            if (d->shapes[i].style.line == INK_SERIES) {
                top = fmin(top, at);
                bottom = fmax(bottom, at);
            }
            if (d->shapes[i].style.line == INK_GRID)
                grid_top = fmin(grid_top, at);
            if (d->shapes[i].style.line == INK_FAINT && k == 0)
                axis_line = fmax(axis_line, at);
        }
    assert_true(d->point_count < 8000);
    assert_true(fabs(top - grid_top) < 1e-6 && fabs(bottom - axis_line) < 1e-6);
    draw_free(d);
}

static void what_a_series_cannot_do_stands_at_its_end(void **state)
{
    (void)state;
    page p;
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
    const char *svg = svg_of(&p, d, DRAW_INSIDE);
    assert_non_null(strstr(svg, "sinusoidal: 2.1 at 256, then 2.15 at 512, then cannot."));
    page_free(&p);
    draw_free(d);
}

static void one_point_or_none_is_a_chart_too(void **state)
{
    (void)state;
    page p;
    chart c = chart_of(1);
    series[0].count = 1;
    series[0].dots = false;
    draw *d = drawn(&c);
    const char *svg = svg_of(&p, d, DRAW_INSIDE);
    assert_int_equal(count_of(svg, "<circle"), 1);
    assert_true(has_label(svg, "none"));
    page_free(&p);
    draw_free(d);
    for (int count = 0; count < 2; count++) {
        c = chart_of(count);
        series[0].count = 0;
        d = drawn(&c);
        svg = svg_of(&p, d, DRAW_INSIDE);
        assert_true(has_label(svg, "no data"));
        page_free(&p);
        draw_free(d);
    }
}

static void lines_past_the_sixth_are_dashed(void **state)
{
    (void)state;
    page p;
    for (int count = 6; count <= 7; count++) {
        chart c = chart_of(count);
        c.x_mark = 0;
        draw *d = drawn(&c);
        assert_int_equal(count_of(svg_of(&p, d, DRAW_INSIDE), "stroke-dasharray"), count - 6);
        page_free(&p);
        draw_free(d);
    }
}

static void a_page_gets_a_chart_for_phones_too(void **state)
{
    (void)state;
    pe_error err = { 0 };
    page p;
    chart c = chart_of(4);
    assert_ok(chart_html(page_open(&p), &c, &err));
    const char *html = page_end(&p);
    assert_int_equal(count_of(html, "<svg "), 2);
    assert_non_null(strstr(html, "<div class=\"drawing-narrow\">\n<svg class=\"drawing\" role=\"img\" viewBox=\"0 0 360 "));
    assert_no_request(html);
    page_free(&p);
}

/* ------------------------------------------------ terminals */

/* Columns of a line without its escape codes. */
static int columns_of(const char *line, const char *end)
{
    int columns = 0;
    while (line < end) {
        unsigned code;
        if (*line == 0x1b) {
            line = strchr(line, 'm') + 1;
            continue;
        }
        line += draw_next_code(line, &code);
        columns += draw_code_columns(code);
    }
    return columns;
}

/* No line leaves a colour on. */
static bool ends_plain(const char *line, const char *end)
{
    const char *last = NULL;
    for (; line < end; line++)
        last = *line == 0x1b ? line : last;
    return !last || !strncmp(last, "\033[0m", 4);
}

static void assert_size(const char *text, draw_screen s)
{
    int rows = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1, rows++) {
        assert_int_equal(columns_of(text, end), s.columns);
        assert_true(ends_plain(text, end));
    }
    assert_int_equal(*text, 0);
    assert_int_equal(rows, s.rows);
}

static void a_screen_is_filled_exactly(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 80, 24 }, { 1, 1 }, { 3, 200 }, { 200, 2 }, { 40, 10 }, { 20, 5 }, { 133, 50 } };
    for (int i = 0; i < COUNT(sizes); i++)
        for (int kind = 0; kind < 8; kind++) {
            page p;
            chart c = chart_of(kind & 4 ? 12 : 3);
            draw_screen s = { .columns = sizes[i][0], .rows = sizes[i][1], .colour = kind & 1,
                              .glyphs = kind & 2 ? GLYPHS_ASCII : GLYPHS_BRAILLE };
            series[1].name = "漢字かな e\xCC\x81";
            c.title = "題 of the chart";
            const char *text = screen_of(&p, &c, s);
            assert_size(text, s);
            assert_true((strchr(text, 0x1b) != NULL) == s.colour || s.columns < 20);
            for (const char *b = text; *b && s.glyphs == GLYPHS_ASCII; b++)
                assert_true((unsigned char)*b < 0x7F);
            page_free(&p);
        }
    pe_error err;
    chart c = chart_of(1);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 0, .rows = 5 }, &err), PE_ERR_RANGE);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 80, .rows = -5 }, &err), PE_ERR_RANGE);
    assert_int_equal(chart_terminal(stdout, &c, &(draw_screen){ .columns = 80, .rows = 5000 }, &err), PE_ERR_RANGE);
}

static void the_last_tick_is_whole_on_a_screen(void **state)
{
    (void)state;
    page p;
    for (int columns = 40; columns < 60; columns++) {
        chart c = chart_of(1);
        series[0].name = "a name of a series that is as long as a sentence, or nearly so";
        series[0].count = 2;
        const char *text = screen_of(&p, &c, (draw_screen){ .columns = columns, .rows = 20, .glyphs = GLYPHS_ASCII });
        assert_non_null(strstr(text, "512\n"));
        page_free(&p);
    }
}

static void a_terminal_shows_lines_as_dots_and_names_as_text(void **state)
{
    (void)state;
    pe_error err;
    page p;
    draw *d;
    assert_ok(draw_new(&d, 32, 32, &err)); /* 4 x 2 characters of 8 x 16: a dot is 4 x 4 */
    draw_point flat[2] = { { 0, 2 }, { 31, 2 } }, tall[2] = { { 14, 0 }, { 14, 31 } };
    draw_style s = { .line = INK_SERIES, .fill = INK_NONE };
    draw_path(d, flat, 2, false, s);
    draw_path(d, tall, 2, false, s);
    draw_text(d, 24, 28, 14, ANCHOR_START, INK_TEXT, false, "ab");
    assert_ok(draw_terminal(page_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2 }, &err));
    assert_string_equal(page_end(&p), "⠉⢹⠉⠉\n ⢸ a\n");
    page_free(&p);
    assert_ok(draw_terminal(page_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2, .glyphs = GLYPHS_ASCII }, &err));
    assert_string_equal(page_end(&p), "****\n * a\n");
    page_free(&p);
    draw_free(d);
}

static void areas_are_filled(void **state)
{
    (void)state;
    pe_error err;
    page p;
    draw *d;
    assert_ok(draw_new(&d, 32, 32, &err));
    draw_rect(d, 8, 0, 16, 32, (draw_style){ .line = INK_NONE, .fill = INK_SERIES });
    draw_rect(d, 8, 16, 8, 16, (draw_style){ .line = INK_NONE, .fill = INK_PAPER });
    assert_ok(draw_terminal(page_open(&p), d, &(draw_screen){ .columns = 4, .rows = 2 }, &err));
    assert_string_equal(page_end(&p), " ⣿⣿ \n  ⣿ \n");
    page_free(&p);
    draw_free(d);
}

static void cells_are_half_blocks_shades_and_rectangles(void **state)
{
    (void)state;
    static const uint8_t heat[8] = { 0, 254, 254, 128, 254, 254, 0, 0 };
    pe_error err;
    page p;
    draw *d;
    assert_ok(draw_new(&d, 4, 2, &err));
    draw_cells(d, 0, 0, 4, 2, 2, 4, heat);
    draw_screen s = { .columns = 4, .rows = 1, .glyphs = GLYPHS_ASCII };
    assert_ok(draw_terminal(page_open(&p), d, &s, &err));
    assert_string_equal(page_end(&p), "=@=:\n");
    page_free(&p);
    s.glyphs = GLYPHS_BRAILLE;
    s.colour = true;
    assert_ok(draw_terminal(page_open(&p), d, &s, &err));
    const char *text = page_end(&p);
    assert_int_equal(count_of(text, "▀"), 4);
    assert_non_null(strstr(text, "\033[38;2;16;18;60m\033[48;2;255;249;216m▀"));
    page_free(&p);
    const char *svg = svg_of(&p, d, DRAW_ALONE);
    assert_well_formed(svg);
    assert_non_null(strstr(svg, "<rect x=\"1\" y=\"0\" width=\"2\" height=\"1\" fill=\"#fff9d8\"/>"));
    page_free(&p);
    draw_free(d);
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

/* ------------------------------------------------ the same each time, and failures */

static void write_all(page *p)
{
    pe_error err = { 0 };
    chart c = chart_of(8);
    draw *d = drawn(&c);
    FILE *to = page_open(p);
    assert_ok(draw_svg(to, d, DRAW_ALONE, &err));
    assert_ok(chart_html(to, &c, &err));
    assert_ok(chart_terminal(to, &c, &(draw_screen){ .columns = 90, .rows = 30, .colour = true }, &err));
    c.y_log = true;
    c.x_log2 = false;
    assert_ok(chart_html(to, &c, &err));
    page_end(p);
    draw_free(d);
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

static void the_same_list_gives_the_same_bytes_in_any_locale(void **state)
{
    (void)state;
    page first, second;
    char folder[] = "/tmp/posenc-locale-XXXXXX", command[100];
    assert_non_null(mkdtemp(folder));
    write_all(&first);
    write_all(&second);
    assert_string_equal(first.text, second.text);
    page_free(&second);
    if (set_comma(folder)) {
        write_all(&second);
        setlocale(LC_ALL, "C");
        assert_string_equal(first.text, second.text);
        page_free(&second);
    } else {
        printf("note: no locale with a decimal comma here, and localedef cannot make one: not tested with it\n");
    }
    page_free(&first);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void a_list_without_memory_says_so(void **state)
{
    (void)state;
    for (long n = 1;; n++) {
        pe_error err = { 0 };
        chart c = chart_of(8);
        draw *d = NULL;
        size_t before = heap.live;
        heap.made = 0;
        heap.fail = n;
        pe_status s = chart_draw(&d, &c, &err);
        bool reached = heap.made >= n;
        heap.fail = 0;
        if (reached) {
            assert_int_equal(s, PE_ERR_NOMEM);
            assert_null(d);
            assert_non_null(strstr(err.text, "no memory"));
        }
        draw_free(d);
        assert_int_equal(heap.live, before);
        if (!reached) {
            assert_true(n > 5);
            break;
        }
    }
}

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
        page p;
        draw *d;
        assert_ok(draw_new(&d, 10, 10, &err));
        heap.made = 0;
        heap.fail = n;
        for (int i = 0; i < 20; i++)
            draw_some(d);
        reached = heap.made >= n;
        heap.fail = 0;
        assert_int_equal(draw_status(d, &err), reached ? PE_ERR_NOMEM : PE_OK);
        assert_int_equal(draw_svg(page_open(&p), d, DRAW_ALONE, &err), reached ? PE_ERR_NOMEM : PE_OK);
        page_end(&p);
        assert_true(!reached || p.size == 0);
        page_free(&p);
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

static void a_stream_that_fails_is_an_error(void **state)
{
    (void)state;
    pe_error err = { 0 };
    chart c = chart_of(2);
    draw *d = drawn(&c);
    FILE *f = fopen("/dev/null", "r"); /* not for writing */
    assert_non_null(f);
    assert_int_equal(draw_svg(f, d, DRAW_ALONE, &err), PE_ERR_IO);
    clearerr(f);
    assert_int_equal(chart_terminal(f, &c, &(draw_screen){ .columns = 80, .rows = 24 }, &err), PE_ERR_IO);
    fclose(f);
    draw_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chart_is_well_formed_and_asks_for_nothing),
        cmocka_unit_test(css_has_light_and_dark_by_the_system_and_by_the_page),
        cmocka_unit_test(each_ink_can_be_read_on_its_paper),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(numbers_that_are_none_leave_no_trace),
        cmocka_unit_test(shapes_with_odd_numbers_are_left_out),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(lines_and_bands_end_at_the_frame),
        cmocka_unit_test(a_clipped_line_keeps_its_slope),
        cmocka_unit_test(names_at_line_ends_do_not_overlap),
        cmocka_unit_test(names_that_do_not_fit_go_into_a_legend),
        cmocka_unit_test(names_that_would_meet_inside_go_into_a_legend),
        cmocka_unit_test(the_last_tick_is_whole_on_a_screen),
        cmocka_unit_test(names_of_any_length_stay_inside),
        cmocka_unit_test(many_points_are_thinned_and_peaks_kept),
        cmocka_unit_test(what_a_series_cannot_do_stands_at_its_end),
        cmocka_unit_test(one_point_or_none_is_a_chart_too),
        cmocka_unit_test(lines_past_the_sixth_are_dashed),
        cmocka_unit_test(a_page_gets_a_chart_for_phones_too),
        cmocka_unit_test(a_screen_is_filled_exactly),
        cmocka_unit_test(a_terminal_shows_lines_as_dots_and_names_as_text),
        cmocka_unit_test(areas_are_filled),
        cmocka_unit_test(cells_are_half_blocks_shades_and_rectangles),
        cmocka_unit_test(a_file_is_a_plain_screen),
        cmocka_unit_test(the_same_list_gives_the_same_bytes_in_any_locale),
        cmocka_unit_test(a_list_without_memory_says_so),
        cmocka_unit_test(each_call_may_run_out_of_memory),
        cmocka_unit_test(a_stream_that_fails_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
