/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 4 s; needs: draw wrap jansson
 *
 * Figures: the same numbers in every format, whatever the numbers and the names are. */
#include "draw_case.h"
#include "draw/figure.h"
#include "draw/figure_inside.h"

#include <jansson.h>

/* ------------------------------------------------ figures to try */

static void release_figure(void *f)
{
    figure_free(f);
}

static figure *new_figure(figure_kind kind, const char *title, const char *group)
{
    figure *f;
    assert_ok(figure_new(&f, kind, &err));
    keep(f, release_figure);
    figure_text(f, &f->title, "%s", title);
    figure_text(f, &f->group, "%s", group);
    figure_text(f, &f->caption, "What to look at in %s.", group);
    figure_text(f, &f->x_label, "position");
    figure_text(f, &f->y_label, "value");
    return f;
}

#define ROWS 5
#define COLUMNS 8

static figure *a_figure(figure_kind kind, const char *group)
{
    static const char *const titles[] = { "Curves", "Table", "Turning" };
    figure *f = new_figure(kind, titles[kind], group);
    if (kind == FIGURE_CELLS) {
        double *v = figure_cells(f, ROWS, COLUMNS);
        for (int i = 0; v && i < ROWS * COLUMNS; i++)
            v[i] = i == 3 ? (double)NAN : i * 0.25 - 4;
        f->y_first = 10;
        return f;
    }
    for (int s = 0; s < 3; s++) {
        char name[20];
        snprintf(name, sizeof name, "pair %d", s);
        double x[6];
        for (int i = 0; i < 6; i++)
            x[i] = kind == FIGURE_DIALS ? cos(i * 0.3 * (s + 1)) : 2 * i;
        double *y = figure_add_series(f, name, x, 6);
        for (int i = 0; y && i < 6; i++)
            y[i] = kind == FIGURE_DIALS ? sin(i * 0.3 * (s + 1)) : s + i * 0.5;
    }
    return f;
}

static const char *written(figure *const *f, int count, figure_how how)
{
    memory m;
    how.screen.columns = how.screen.columns ? how.screen.columns : 100;
    how.screen.rows = 30;
    assert_ok(figures_write(memory_open(&m), f, count, &how, &err));
    return memory_end(&m);
}

static void release_json(void *root)
{
    json_decref(root);
}

/* What was written, by another reader of JSON. */
static json_t *json_of(const char *text)
{
    json_error_t fault;
    json_t *root = json_loads(text, 0, &fault);
    if (!root)
        fail_msg("line %d: %s", fault.line, fault.text);
    return keep(root, release_json);
}

/* ------------------------------------------------ names of formats */

TEST(formats_are_known_by_name)
{
    static const struct {
        const char *file;
        figure_format format;
    } cases[] = { { "a.svg", FIGURE_SVG },   { "x/y.SVG", FIGURE_SVG },       { "a.b.html", FIGURE_HTML },
                  { "a.csv", FIGURE_CSV },   { "a.json", FIGURE_JSON },       { "svg", FIGURE_FORMAT_COUNT },
                  { "", FIGURE_FORMAT_COUNT }, { "a.parts", FIGURE_FORMAT_COUNT }, { "a.png", FIGURE_FORMAT_COUNT }, { "a.svg.gz", FIGURE_FORMAT_COUNT } };
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(figure_format_of(cases[i].file), cases[i].format);
    for (int i = 0; i < FIGURE_FORMAT_COUNT; i++)
        assert_true(*figure_format_name((figure_format)i) != 0);
}

/* ------------------------------------------------ every kind in every format */

static void check_svg(const char *text, figure_kind kind)
{
    assert_well_formed(text);
    assert_null(strstr(strstr(text, "</style>"), "style="));
    assert_non_null(strstr(text, kind == FIGURE_CELLS ? "<desc>Heat map: 5 rows" : kind == FIGURE_LINES ? "<desc>Line chart" : "<desc>3 dials"));
    assert_non_null(strstr(text, ">What to look at in rope.</text>"));
}

static void check_html(const char *text)
{
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_int_equal(count_of(text, "<svg "), 2);
    assert_int_equal(count_of(text, "<details>"), 1);
    assert_lacks(text, "<script", " style=", NULL);
    assert_non_null(strstr(text, "<figcaption>What to look at in rope.</figcaption>"));
}

TEST(every_kind_has_every_format)
{
    for (int kind = 0; kind < 3; kind++) {
        figure *f = a_figure((figure_kind)kind, "rope");
        for (int format = 0; format < FIGURE_FORMAT_COUNT; format++) {
            const char *text = written(&f, 1, (figure_how){ .format = (figure_format)format });
            assert_true(strlen(text) > 100);
            if (format == FIGURE_SVG)
                check_svg(text, (figure_kind)kind);
            if (format == FIGURE_HTML)
                check_html(text);
            if (format == FIGURE_JSON || format == FIGURE_PARTS)
                json_of(text);
        }
    }
}

TEST(csv_has_a_line_for_each_number)
{
    figure *f[3] = { a_figure(FIGURE_LINES, "rope"), a_figure(FIGURE_CELLS, "a \"b\", c"), a_figure(FIGURE_DIALS, "rope") };
    const char *text = written(f, 3, (figure_how){ .format = FIGURE_CSV });
    assert_memory_equal(text, "group,figure,series,x,value\r\n", 29);
    assert_int_equal(count_of(text, "\r\n"), 1 + 18 + ROWS * COLUMNS + 18);
    assert_has(text, "\"rope\",\"Curves\",\"pair 1\",4,2\r\n", "\"a \"\"b\"\", c\",\"Table\",\"11\",2,-1.5\r\n",
               NULL);
    assert_non_null(strstr(text, "\"Table\",\"10\",3,\r\n")); /* nothing there */
    figure *evil = a_figure(FIGURE_LINES, "=HYPERLINK(1)"), *number = a_figure(FIGURE_LINES, "-2.5");
    text = written((figure *[]){ evil, number }, 2, (figure_how){ .format = FIGURE_CSV });
    assert_non_null(strstr(text, "\r\n\"'=HYPERLINK(1)\",")); /* no formula of a spreadsheet's */
    assert_non_null(strstr(text, "\r\n\"-2.5\","));
}

static void check_utf8(const char *text)
{
    unsigned code;
    for (const char *at = text; *at;) {
        int n = out_character(at, &code);
        if (n == 0)
            fail_msg("byte %d is no UTF-8: %.40s", (int)(at - text), at > text + 20 ? at - 20 : text);
        at += n;
    }
}

/* Longer than any room for it, and every cut falls inside a character of one of them. */
TEST(long_names_are_cut_between_characters_and_whole_in_tables)
{
    for (int ahead = 0; ahead < 3; ahead++)
        for (int kind = 0; kind < 3; kind++) {
            char name[700] = "aa";
            for (int i = 0; i < 200; i++)
                memcpy(name + ahead + 3 * i, "\xe7\x8b\x97", 4);
            figure *f = new_figure((figure_kind)kind, name, name);
            double *v = kind == FIGURE_CELLS ? figure_cells(f, 2, 2) : figure_add_series(f, name, NULL, 4);
            memcpy(v, (double[4]){ 1, 2, 3, 4 }, 4 * sizeof *v);
            figure_names(f, &f->x_names, (const char *const[]){ name, "b" }, 2);
            figure_names(f, &f->y_names, (const char *const[]){ "c", name }, 2);
            for (int format = 0; format < FIGURE_FORMAT_COUNT; format++) {
                const char *text = written(&f, 1, (figure_how){ .format = (figure_format)format });
                check_utf8(text);
                if (strstr(text, "\xef\xbf\xbd") || strstr(text, "xFFFD") || strstr(text, "ufffd")) /* escaped, too */
                    fail_msg("format %d, kind %d: a character was cut", format, kind);
                if (format == FIGURE_CSV)
                    assert_int_equal(count_of(text, name), kind == FIGURE_CELLS ? 2 * 4 + 2 + 2 : 3 * 4);
            }
        }
}

/* Angles grow against the clock: a quarter of a turn points up. */
TEST(hands_rotate_against_the_clock)
{
    figure *f = new_figure(FIGURE_DIALS, "t", "g");
    memcpy(figure_add_series(f, "a", (double[]){ 1, 0, -1, 0 }, 4), (double[]){ 0, 1, 0, -1 }, 4 * sizeof(double));
    dials_plan p = figure_dials_plan(f, (figure_place){ .width = 300, .height = 300 });
    draw_point right = figure_dial_tip(&p, f, 0, 0), left = figure_dial_tip(&p, f, 0, 2);
    draw_point middle = { (left.x + right.x) / 2, (left.y + right.y) / 2 };
    static const int wanted[4][2] = { { 1, 0 }, { 0, -1 }, { -1, 0 }, { 0, 1 } }; /* y of a picture grows downwards */
    for (int i = 0; i < 4; i++) {
        draw_point tip = figure_dial_tip(&p, f, 0, i);
        assert_true(fabs(tip.x - middle.x - p.unit * wanted[i][0]) < 1e-9);
        assert_true(fabs(tip.y - middle.y - p.unit * wanted[i][1]) < 1e-9);
    }
}

/* Every number of it is the shortest that reads back as it is. */
TEST(csv_has_the_numbers_themselves)
{
    static const double odd[] = { 0, -0.0, 1, -1, 0.1, 1.0 / 3, 2.0 / 3, -0.0625, 1e-3, 1.00000000000001e-3, 5e-324, 1e300, 123456789012.5, 999999999999.9999, 0.761720408471602, 0.99999999999999989, 1e12, 4503599627370497.5 };
    figure *f = new_figure(FIGURE_LINES, "t", "g");
    double *y = figure_add_series(f, "s", NULL, COUNT(odd));
    for (int i = 0; i < COUNT(odd); i++)
        y[i] = odd[i];
    const char *text = written(&f, 1, (figure_how){ .format = FIGURE_CSV });
    for (int i = 0; i < COUNT(odd); i++) {
        char number[40], line[100];
        io_print_real(number, sizeof number, odd[i]);
        snprintf(line, sizeof line, ",%d,%s\r\n", i, number);
        if (!strstr(text, line))
            fail_msg("no %s in %s", line, text);
    }
}

/* What has no ASCII stays. */
TEST(signs_become_ascii_words)
{
    figure *f = new_figure(FIGURE_LINES, "θ ≤ 2π", "±1");
    figure_add_series(f, "“a”·b²…", NULL, 2);
    figure_plain(f);
    assert_string_equal(f->title, "theta <= 2pi");
    assert_string_equal(f->group, "+-1");
    assert_string_equal(f->series[0].name, "\"a\"*b^2...");
    figure_names(f, &f->x_names, (const char *[]){ "a", "狗" }, 2);
    figure_plain(f);
    assert_string_equal(f->x_names[1], "狗");
}

/* ------------------------------------------------ colours */

TEST(the_range_follows_the_numbers)
{
    static const struct {
        double v[4], low, high, wanted_low, wanted_high;
        bool midpoint;
    } cases[] = { { { 1, 2, 3, 4 }, 0, 0, 0, 4, false },        { { 3, 3.5, 4, (double)NAN }, 0, 0, 3, 4, false },
                  { { -1, 0, 0, 3 }, 0, 0, -3, 3, true },       { { -1, 0, 0, 3 }, 0, 2, 0, 2, true },
                  { { 5, 5, 5, 5 }, 0, 0, 4.5, 5.5, false },    { { -2, (double)-INFINITY, -1, 1e200 }, 0, 0, -2, -1, false },
                  { { 0, 0, 0, 0 }, 0, 0, -1, 1, false } };
    for (int i = 0; i < COUNT(cases); i++) {
        double low, high;
        uint8_t level[4];
        figure *f = new_figure(FIGURE_CELLS, "t", "g");
        memcpy(figure_cells(f, 2, 2), cases[i].v, sizeof cases[i].v);
        f->low = cases[i].low;
        f->high = cases[i].high;
        f->midpoint = cases[i].midpoint;
        figure_range(f, &low, &high);
        assert_true(low == cases[i].wanted_low && high == cases[i].wanted_high);
        figure_levels(f, level);
        for (int k = 0; k < 4; k++) {
            double v = cases[i].v[k];
            int wanted = isnan(v) ? DRAW_NOTHING : v <= low ? 0 : v >= high ? DRAW_LEVELS - 1 : -1;
            assert_true(wanted < 0 ? level[k] < DRAW_LEVELS : level[k] == wanted);
        }
    }
}

/* ------------------------------------------------ parts */

static size_t decode(uint8_t *out, const char *text)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    assert_int_equal(strlen(text) % 4, 0);
    for (; *text; text += 4) {
        unsigned v = 0;
        int pad = (text[2] == '=') + (text[3] == '=');
        for (int i = 0; i < 4; i++)
            v = v << 6 | (text[i] == '=' ? 0 : (unsigned)(strchr(digit, text[i]) - digit));
        for (int i = 0; i < 3 - pad; i++)
            out[n++] = (uint8_t)(v >> (16 - 8 * i));
    }
    return n;
}

static json_t *first_of(json_t *object, const char *list)
{
    return json_array_get(json_object_get(object, list), 0);
}

static double real_in(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text_in(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

TEST(parts_carry_cells_as_bytes)
{
    uint8_t bytes[4 * ROWS * COLUMNS + 4], level[ROWS * COLUMNS];
    figure *f = a_figure(FIGURE_CELLS, "rope");
    json_t *root = json_of(written(&f, 1, (figure_how){ .format = FIGURE_PARTS })), *one = first_of(root, "figures");
    json_t *matrix = first_of(one, "cells");
    assert_int_equal(json_array_size(json_object_get(one, "palette")), DRAW_LEVELS);
    assert_int_equal(json_array_size(json_object_get(one, "cells")), 2); /* and the scale */
    assert_int_equal(decode(bytes, text_in(matrix, "heat")), ROWS * COLUMNS);
    figure_levels(f, level);
    assert_memory_equal(bytes, level, sizeof level);
    assert_int_equal(bytes[3], DRAW_NOTHING);
    assert_int_equal(decode(bytes, text_in(matrix, "values")), 4 * ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        uint32_t bits = 0;
        float v;
        for (int k = 3; k >= 0; k--)
            bits = bits << 8 | bytes[4 * i + k];
        memcpy(&v, &bits, sizeof v);
        assert_true(isnan(f->value[i]) ? isnan(v) : (double)v == f->value[i]);
    }
    assert_true(real_in(matrix, "low") == -4 && real_in(matrix, "high") == 5.75 && real_in(matrix, "first_row") == 10);
    assert_true(real_in(matrix, "x") + real_in(matrix, "width") <= real_in(one, "width"));
    assert_lacks(text_in(one, "svg"), "<image", "style", NULL);
    assert_well_formed(text_in(one, "svg"));
}

/* Numbers to nine digits; pixels inside the picture, nothing where a point is not drawn. */
TEST(parts_say_where_points_lie)
{
    static const double y[6] = { 0.1, 1e-7, (double)NAN, 123456.789012, -3e-12, 1e12 };
    figure *f = new_figure(FIGURE_LINES, "t", "g");
    memcpy(figure_add_series(f, "a", NULL, 6), y, sizeof y);
    f->y_min = -1;
    f->y_max = 2e5;
    json_t *one = first_of(json_of(written(&f, 1, (figure_how){ .format = FIGURE_PARTS })), "figures");
    json_t *line = first_of(one, "points");
    double before = 0;
    for (size_t i = 0; i < 6; i++) {
        json_t *v = json_array_get(json_object_get(line, "y"), i), *px = json_array_get(json_object_get(line, "px"), i);
        assert_int_equal(json_is_null(v), isnan(y[i]));
        assert_int_equal(json_is_null(json_array_get(json_object_get(line, "py"), i)), isnan(y[i]) || y[i] > f->y_max);
        if (isnan(y[i]))
            continue;
        assert_true(fabs(json_number_value(v) - y[i]) <= 1e-8 * fabs(y[i]));
        assert_true(json_number_value(px) > before && json_number_value(px) < real_in(one, "width"));
        before = json_number_value(px);
    }
}

/* ------------------------------------------------ sheets */

static int rows_with(const char *text, const char *a, const char *b)
{
    int rows = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        char line[4000];
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        const char *first = strstr(line, a);
        rows += first && strstr(first + strlen(a), b);
    }
    return rows;
}

TEST(groups_stand_side_by_side_where_there_is_room)
{
    figure *f[5] = { a_figure(FIGURE_LINES, "rope"), a_figure(FIGURE_CELLS, "rope"), a_figure(FIGURE_CELLS, "alibi"),
                     a_figure(FIGURE_LINES, "alibi"), a_figure(FIGURE_DIALS, "alibi") };
    const char *text = written(f, 5, (figure_how){ .screen = { .columns = 150 } });
    assert_int_equal(rows_with(text, "rope ", "alibi"), 1);
    assert_int_equal(rows_with(text, "Curves", "Curves"), 1);
    assert_int_equal(rows_with(text, "Table", "Table"), 1);
    assert_int_equal(count_of(text, "Turning"), 1);
    text = written(f, 5, (figure_how){ .screen = { .columns = 80 } });
    assert_int_equal(rows_with(text, "Curves", "Curves"), 0);
    assert_int_equal(count_of(text, "Curves"), 2);
    assert_true(strstr(text, "rope ") < strstr(text, "Curves") && strstr(text, "Curves") < strstr(text, "alibi "));
    const char *svg = written(f, 5, (figure_how){ .format = FIGURE_SVG });
    assert_int_equal(count_of(svg, ">rope</text>"), 1);
    assert_int_equal(count_of(svg, ">alibi</text>"), 1);
    assert_non_null(strstr(svg, "viewBox=\"0 0 1304 "));
    assert_well_formed(svg);
}

/* Every line is as wide as was asked, Chinese counted double; the figures are where the sheet ends. */
TEST(a_terminal_is_never_wider_than_asked)
{
    for (int columns = 20; columns <= 200; columns += 9)
        for (int glyphs = 0; glyphs < 2; glyphs++) {
            figure *f[3] = { a_figure(FIGURE_LINES, "rope"), a_figure(FIGURE_CELLS, "rope"), a_figure(FIGURE_DIALS, "sinusoidal") };
            static const char *const names[ROWS] = { "狗", "追", "另一只", "dog", "a very long word indeed, longer than that" };
            figure_names(f[1], &f[1]->y_names, names, ROWS);
            figure_text(f[0], &f[0]->title, "距离越远,得分越低:一个很长的标题,需要在终端里换行才能放得下,而且两列宽");
            draw_screen s = { .columns = columns, .glyphs = (draw_glyphs)glyphs, .colour = columns % 2, .is_few = columns % 4 == 1 };
            const char *text = written(f, 3, (figure_how){ .screen = s, .language = CHINESE });
            for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
                assert_true(line_columns(text, end) <= columns);
                assert_true(ends_plain(text, end));
            }
        }
}

/* ------------------------------------------------ hostile */

TEST(hostile_words_stay_words)
{
    static const char *const names[] = { "<script>alert(1)</script>", "\" onload=\"x", "' & ]]>", "\x1b[31m\x07", "\xff\xfe\xc3", "%s%n%d", "a\nb,\"c\"" };
    for (int i = 0; i < COUNT(names); i++)
        for (int kind = 0; kind < 3; kind++) {
            figure *f = a_figure((figure_kind)kind, names[i]);
            char **fields[] = { &f->title, &f->caption, &f->x_label, &f->y_label, &f->x_mark_label, &f->description };
            for (int k = 0; k < COUNT(fields); k++)
                figure_text(f, fields[k], "%s", names[i]);
            const char *const all[COLUMNS] = { names[i], names[i], names[i], names[i], names[i], names[i], names[i], names[i] };
            figure_names(f, &f->x_names, all, COLUMNS);
            figure_names(f, &f->y_names, all, ROWS);
            f->x_mark = 3;
            for (int format = 0; format < FIGURE_FORMAT_COUNT; format++) {
                const char *text = written(&f, 1, (figure_how){ .format = (figure_format)format });
                assert_true(format == FIGURE_CSV || !strchr(text, 0x1b));
                assert_null(strstr(text, format == FIGURE_HTML || format == FIGURE_SVG ? "<script" : "\x1b[31mX"));
                assert_null(strstr(text, format == FIGURE_HTML || format == FIGURE_SVG ? " onload=\"" : "\x1b[31mX"));
                if (format == FIGURE_SVG)
                    assert_well_formed(text);
            }
        }
}

TEST(numbers_of_any_kind_are_drawn_or_left_out)
{
    static const double odd[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, 1e308, -1e308, 5e-324, 0 };
    for (int i = 0; i < COUNT(odd); i++)
        for (int k = 0; k < COUNT(odd); k++)
            for (int kind = 0; kind < 3; kind++) {
                figure *f = new_figure((figure_kind)kind, "t", "g");
                double *v = kind == FIGURE_CELLS ? figure_cells(f, 2, 1) : figure_add_series(f, "a", odd + k, 1);
                v[0] = odd[i];
                v[kind == FIGURE_CELLS] = odd[kind == FIGURE_CELLS ? k : i];
                f->x_first = odd[k];
                for (int format = 0; format < FIGURE_FORMAT_COUNT; format++) {
                    const char *text = written(&f, 1, (figure_how){ .format = (figure_format)format, .width = 200 });
                    if (format == FIGURE_SVG)
                        assert_well_formed(text);
                    if (format == FIGURE_PARTS || format == FIGURE_JSON)
                        json_of(text);
                }
            }
}

/* ------------------------------------------------ failures */

typedef struct asked {
    figure_kind kind;
    figure_format format;
} asked;

static pe_status make_and_write(const void *with, pe_error *why)
{
    static const char *const names[ROWS] = { "a", "b", "c", "d", "e" };
    const asked *a = with;
    memory m;
    figure *f = NULL;
    size_t live = heap.live;
    memory_open(&m);
    pe_status s = figure_new(&f, a->kind, why);
    if (!s) {
        figure_text(f, &f->title, "t");
        double *v = a->kind == FIGURE_CELLS ? figure_cells(f, ROWS, COLUMNS) : figure_add_series(f, "a", NULL, 6);
        for (int i = 0; v && a->kind == FIGURE_CELLS && i < ROWS * COLUMNS; i++)
            v[i] = i;
        figure_names(f, &f->y_names, names, ROWS);
        s = figures_write(m.to, &f, 1, &(figure_how){ .format = a->format, .screen = { .columns = 80 } }, why);
    }
    figure_free(f);
    fclose(m.to);
    __real_free(m.text);
    if (a->format == FIGURE_PARTS) /* which frees what libc's own malloc gave it */
        heap.live = live;
    return s;
}

TEST(a_figure_without_memory_says_so)
{
    for (int kind = 0; kind < 3; kind++)
        for (int format = 0; format < FIGURE_FORMAT_COUNT; format++)
            each_allocation_fails(make_and_write, &(asked){ (figure_kind)kind, (figure_format)format }, 1);
}

TEST(streams_that_fail_and_figures_of_nothing_are_errors)
{
    figure *f = a_figure(FIGURE_CELLS, "rope"), *empty = new_figure(FIGURE_CELLS, "t", "g"), *none = new_figure(FIGURE_DIALS, "t", "g");
    for (int format = 0; format < FIGURE_FORMAT_COUNT; format++) {
        FILE *to = fopen("/dev/null", "r"); /* not for writing */
        figure_how how = { .format = (figure_format)format, .screen = { .columns = 80 } };
        assert_int_equal(figures_write(to, &f, 1, &how, &err), PE_ERR_IO);
        fclose(to);
    }
    memory m;
    figure_how how = { .format = FIGURE_SVG };
    assert_int_equal(figures_write(memory_open(&m), &empty, 1, &how, &err), PE_ERR_SHAPE);
    assert_int_equal(figures_write(m.to, &f, 0, &how, &err), PE_ERR_RANGE);
    assert_ok(figures_write(m.to, &none, 1, &how, &err));
    how.format = FIGURE_FORMAT_COUNT;
    assert_int_equal(figures_write(m.to, &f, 1, &how, &err), PE_ERR_RANGE);
    memory_end(&m);
    assert_null(figure_cells(empty, 1 << 20, 1 << 20));
    assert_int_equal(figure_status(empty, &err), PE_ERR_NOMEM);
    assert_null(figure_add_series(none, "a", NULL, -1));
    assert_int_equal(figure_status(none, &err), PE_ERR_NOMEM);
}
