/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: result wrap
 *
 * The result tree: one tree, and the same values in every form. */
#include "draw_case.h"
#include "io/columns.h"
#include "io/json_out.h"
#include "result/result.h"

/* ------------------------------------------------ a tree to try */

static void add_row(result *r, const char *name, double loss, const char *why)
{
    result_open(r, RESULT_RECORD, NULL, "");
    result_text(r, "name", "name", name);
    result_is_code(r);
    result_real(r, "loss", "loss", loss);
    result_text(r, "why", "why", why);
    result_below(r);
    result_int(r, "hidden", NULL, 7);
    result_close(r);
}

static result *a_tree(void)
{
    result *r = result_new();
    assert_non_null(r);
    result_title(r, 0, "A <title>");
    result_text(r, "spec", "spec", "rope");
    result_open(r, RESULT_RECORD, NULL, "Lengths"); /* a section for people only */
    result_int(r, "trained", "trained", 4096);
    result_unit(r, "positions");
    result_text(r, NULL, "", "Only people read this.");
    result_close(r);
    result_open(r, RESULT_TABLE, "rows", "Table");
    add_row(r, "rope", 2.5, "first");
    add_row(r, "a|b*c", -0.125, "second");
    result_close(r);
    result_ints(r, "list", (int64_t[]){ 1, 2, 3 }, 3);
    result_flag(r, "flag", "flag", true);
    result_none(r, "nothing");
    result_json(r, "raw", "{\"a\": 1}");
    result_code(r, "command", "posenc list\nposenc show");
    result_int(r, "x", "x", 2);
    result_shown(r, "= 1 + 1 = 2");
    return r;
}

static const char *written(memory *m, const result *r, result_form form, result_screen page)
{
    assert_ok(result_write(memory_open(m), r, form, &page, &err));
    return memory_end(m);
}

/* ------------------------------------------------ forms */

TEST(every_form_holds_what_it_is_for)
{
    static const struct {
        result_form form;
        const char *has[8], *lacks[4];
    } wanted[] = {
        { RESULT_AS_JSON,
          { "\"spec\": \"rope\"", "\"trained\": 4096", "\"loss\": -0.125", "\"hidden\": 7", "\"list\": [1, 2, 3]",
            "\"nothing\": null", "\"raw\": {\"a\": 1}", "\"command\": \"posenc list\\u000aposenc show\"" },
          { "Lengths", "Only people", "positions" } },
        { RESULT_AS_TEXT,
          { "  spec", "\nLengths\n  trained  4096 positions\n  Only people read this.\n", "  name     loss\n",
            "  rope      2.5\n      first\n", "  a|b*c  -0.125\n", "posenc list\nposenc show\n", "flag  yes" },
          { "hidden", "nothing", "raw" } },
        { RESULT_AS_CSV,
          { "path,value,unit\r\n\"spec\",\"rope\",\r\n", "\"trained\",4096,\"positions\"\r\n",
            "\"rows.0.hidden\",7,\r\n\"rows.1.name\",\"a|b*c\",\r\n\"rows.1.loss\",-0.125,", "\"list.2\",3,",
            "\"flag\",1,", "\"nothing\",,\r\n", "\"raw\",\"{\"\"a\"\": 1}\",",
            "\"command\",\"posenc list\nposenc show\",\r\n\"x\",2,\r\n" },
          { "Lengths", "Only people" } },
        { RESULT_AS_MARKDOWN,
          { "# A \\<title>\n", "- spec: rope\n", "## Lengths\n", "| name | loss | why |\n|---|---:|---|\n",
            "| `rope` | 2.5 | first |\n", "```\nposenc list\nposenc show\n```", "- x = 1 + 1 = 2\n" },
          { "hidden" } },
        { RESULT_AS_HTML,
          { "<title>A &#60;title&#62;</title>", "<dt>spec</dt><dd>rope</dd>", "<h2>Lengths</h2>", "<code>a|b*c</code>",
            "<td class=\"number\">2.5</td>", "colspan=\"2\">second" },
          { "hidden", "<script" } },
        { RESULT_AS_MAN, { ".SH LENGTHS\n.TP\n.B trained\n4096 positions\n" }, { "hidden" } },
    };
    result *r = a_tree();
    for (int i = 0; i < COUNT(wanted); i++) {
        memory m;
        const char *text = written(&m, r, wanted[i].form, (result_screen){ 0 });
        for (int n = 0; n < 8 && wanted[i].has[n]; n++)
            if (!strstr(text, wanted[i].has[n]))
                fail_msg("form %d lacks %s:\n%s", wanted[i].form, wanted[i].has[n], text);
        for (int n = 0; n < 4 && wanted[i].lacks[n]; n++)
            if (strstr(text, wanted[i].lacks[n]))
                fail_msg("form %d has %s:\n%s", wanted[i].form, wanted[i].lacks[n], text);
    }
    result_free(r);
}

/* A result that is one table of single values, and a table that stands for its result, is that table in CSV. Any
 * other result is a line per value, so that nothing is lost: one value beside the table, or a list in a row, is enough.
 */
TEST(csv_is_the_table_only_where_it_has_everything)
{
    enum { BESIDE = 1, IN_ROW = 2, STANDS = 4, EMPTY = 8, ARRAY = 16 };
    static const char table[] = "name,loss,why,hidden\r\n\"rope\",2.5,\"first\",7\r\n\"x\",,\"y\",7\r\n";
    static const float number[] = { 0.1f, 2, 3, 4 };
    static const struct {
        int what;
        const char *last; /* line of the long form; NULL: the table */
    } row[] = { { 0, NULL },
                { STANDS | BESIDE | IN_ROW, NULL },
                { BESIDE, "\"n\",1,\r\n" },
                { IN_ROW, "\"t.2.list.1\",4,\r\n" },
                { IN_ROW | EMPTY, "\"t.2.list\",,\r\n" },
                { BESIDE | ARRAY, "\"a.0.0\",0.1,\r\n\"a.0.1\",2,\r\n\"a.1.0\",3,\r\n\"a.1.1\",4,\r\n" } };
    for (int i = 0; i < COUNT(row); i++) {
        memory m;
        result *r = result_new();
        result_open(r, RESULT_TABLE, "t", "");
        if (row[i].what & STANDS)
            result_rows(r);
        add_row(r, "rope", 2.5, "first");
        add_row(r, "x", (double)NAN, "y");
        if (row[i].what & IN_ROW) {
            result_open(r, RESULT_RECORD, NULL, "");
            result_ints(r, "list", (int64_t[]){ 3, 4 }, row[i].what & EMPTY ? 0 : 2);
            result_close(r);
        }
        result_close(r);
        if (row[i].what & BESIDE)
            result_int(r, "n", "n", 1);
        if (row[i].what & ARRAY)
            result_array(r, "a", number, PE_F32, 2, (int64_t[]){ 2, 2 });
        const char *text = written(&m, r, RESULT_AS_CSV, (result_screen){ 0 }), *last = row[i].last;
        if (last ? strncmp(text, "path,value,unit\r\n", 17) || strcmp(text + strlen(text) - strlen(last), last)
                 : strncmp(text, table, strlen(table)))
            fail_msg("case %d: %s", i, text);
        result_free(r);
    }
}

TEST(csv_of_no_table_is_a_line_per_value)
{
    memory m;
    char name[5000] = "";
    result *r = result_new();
    result_int(r, "n", "n", 1);
    assert_string_equal(written(&m, r, RESULT_AS_CSV, (result_screen){ 0 }), "path,value,unit\r\n\"n\",1,\r\n");
    result_int(r, memset(name, 'n', sizeof name - 1), NULL, 1);
    assert_int_equal(result_write(memory_open(&m), r, RESULT_AS_CSV, &(result_screen){ 0 }, &err), PE_ERR_SPEC);
    assert_string_equal(memory_end(&m), ""); /* nothing is cut */
    result_free(r);
}

TEST(an_ending_names_a_form)
{
    static const struct {
        const char *file;
        result_form form;
    } row[] = { { "a.txt", RESULT_AS_TEXT },    { "x/a.json", RESULT_AS_JSON }, { "a.csv", RESULT_AS_CSV },
                { "a.md", RESULT_AS_MARKDOWN }, { "a.b.html", RESULT_AS_HTML }, { ".html", RESULT_FORMS },
                { "html", RESULT_FORMS },       { "a.png", RESULT_FORMS } };
    for (int i = 0; i < COUNT(row); i++)
        assert_int_equal(result_form_of(row[i].file), row[i].form);
}

/* ------------------------------------------------ text */

static int widest_line(const char *text)
{
    int most = 0;
    while (*text) {
        int bytes = (int)strcspn(text, "\n"), n = columns_of_bytes(text, bytes);
        most = n > most ? n : most;
        text += bytes + (text[bytes] == '\n');
    }
    return most;
}

/* Columns that do not fit are printed in blocks, each with the first column; nothing is lost. */
TEST(a_wide_table_is_printed_in_blocks)
{
    char label[20];
    memory m;
    result *r = result_new();
    result_open(r, RESULT_TABLE, "t", "");
    for (int row = 0; row < 2; row++) {
        result_open(r, RESULT_RECORD, NULL, "");
        result_text(r, "name", "name", row ? "second" : "first");
        for (int i = 0; i < 30; i++) {
            snprintf(label, sizeof label, "column%d", i);
            result_int(r, label, label, 1000 * row + i);
        }
        result_close(r);
    }
    result_close(r);
    const char *text = written(&m, r, RESULT_AS_TEXT, (result_screen){ .columns = 60 });
    assert_true(widest_line(text) <= 60);
    assert_true(count_of(text, "second") > 3);
    for (int i = 0; i < 30; i++) {
        snprintf(label, sizeof label, "%d", 1000 + i);
        assert_int_equal(count_of(text, label), 1);
    }
    result_free(r);
}

/* Where two rows have the same first cell, the second column is repeated with it: each row stays told apart. */
TEST(blocks_of_rows_with_one_name_repeat_what_tells_them_apart)
{
    char label[20];
    memory m;
    result *r = result_new();
    result_open(r, RESULT_TABLE, "t", "");
    for (int row = 0; row < 3; row++) {
        result_open(r, RESULT_RECORD, NULL, "");
        result_text(r, "what", "what", "R^2");
        result_text(r, "of", "of", row == 0 ? "layer 0" : row == 1 ? "layer 1" : "layer 2");
        for (int i = 0; i < 12; i++) {
            snprintf(label, sizeof label, "column%d", i);
            result_int(r, label, label, 1000 * row + i);
        }
        result_close(r);
    }
    result_close(r);
    const char *text = written(&m, r, RESULT_AS_TEXT, (result_screen){ .columns = 60 });
    assert_true(widest_line(text) <= 60);
    assert_true(count_of(text, "R^2") > 3);
    for (int row = 0; row < 3; row++) {
        snprintf(label, sizeof label, "layer %d", row);
        assert_int_equal(3 * count_of(text, label), count_of(text, "R^2"));
    }
    result_free(r);
}

TEST(lines_end_before_the_margin)
{
    static const char *const texts[] = {
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
        "none|linear|dynamic|ntk|yarn|longrope|llama3|proportional|and,more,of,them,without,any,space",
        "位置编码把位置信息加到词向量上，这样注意力就能区分词序；没有它，注意力看到的只是一个集合。",
    };
    for (int margin = 30; margin <= 98; margin += 17)
        for (int i = 0; i < COUNT(texts); i++) {
            memory m;
            columns_out c = { memory_open(&m), margin, false };
            columns_wrap(&c, texts[i], 0);
            const char *text = memory_end(&m);
            if (widest_line(text) > margin)
                fail_msg("margin %d: %s", margin, text);
        }
}

TEST(a_chinese_character_takes_two_columns)
{
    assert_int_equal(columns_of("abc"), 3);
    assert_int_equal(columns_of("位置"), 4);
    assert_int_equal(columns_of("e\xCC\x81"), 1); /* a letter and its accent */
    assert_int_equal(columns_fit("位置编码", 5), 6);
    assert_int_equal(columns_of("\xFF"), 1); /* printed as '?' */
}

/* Whatever a file holds, a terminal gets no orders from it. */
TEST(no_control_character_is_printed)
{
    static const result_form forms[] = { RESULT_AS_TEXT, RESULT_AS_JSON, RESULT_AS_HTML };
    for (int i = 0; i < COUNT(forms); i++) {
        memory m;
        result *r = result_new();
        result_text(r, "text", "label\033[1m", "a\033[31mb\xFF");
        result_code(r, NULL, "x\033]0;title\007");
        const char *text = written(&m, r, forms[i], (result_screen){ 0 });
        assert_null(strchr(text, '\033'));
        assert_null(strchr(text, '\007'));
        result_free(r);
    }
}

TEST(colour_is_asked_for)
{
    memory m;
    result *r = result_new();
    result_text(r, "verdict", "verdict", "HOLDS");
    result_tone_is(r, RESULT_GOOD);
    assert_null(strchr(written(&m, r, RESULT_AS_TEXT, (result_screen){ 0 }), '\033'));
    assert_non_null(strstr(written(&m, r, RESULT_AS_TEXT, (result_screen){ .colour = true }), "\033[1;32mHOLDS"));
    result_free(r);
}

/* ------------------------------------------------ memory */

static int released;

static void count_release(void *what)
{
    (void)what;
    released++;
}

TEST(what_is_owned_is_released_once)
{
    result *r = result_new();
    released = 0;
    result_own(r, &released, count_release);
    result_own(r, &released, count_release);
    result_free(r);
    result_free(NULL);
    assert_int_equal(released, 2);
}

/* Filling cannot fail; the writer says that memory ran out, and what is owned is released all the same. */
TEST(memory_that_runs_out_is_said_by_the_writer)
{
    for (int fail_at = 1; fail_at < 12; fail_at++) {
        heap.fail = fail_at;
        result *r = result_new();
        released = 0;
        for (int i = 0; r && i < 2000; i++) {
            result_open(r, RESULT_RECORD, NULL, "section");
            result_say(r, "name", "label", "%d and a text that takes some room in the block", i);
            result_unit(r, "unit");
            result_shown(r, "%d", i);
            result_close(r);
        }
        if (r)
            result_own(r, &released, count_release);
        heap.fail = 0;
        if (r)
            assert_int_equal(result_write(stdout, r, RESULT_AS_JSON, &(result_screen){ 0 }, &err), PE_ERR_NOMEM);
        result_free(r);
        assert_true(!r || released == 1);
    }
}
