/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab wrap
 *
 * A report is one page that asks no one for anything, holds together, and says nothing that a name told it to. */
#include "lab_case.h"
#include "draw_case.h"
#include "lab/report.h"

#include "test.h"

static lab_case made;
static lab_results results;
static char text[1 << 21];

static char *read_back(const char *name)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", made.folder, name);
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    size_t size = fread(text, 1, sizeof text - 1, f);
    assert_true(size < sizeof text - 1);
    text[size] = 0;
    fclose(f);
    return text;
}

static void write_report(void)
{
    assert_ok(lab_report_write(made.folder, &results, &err));
}

/* The body, as it has to be XML: every tag is closed in order, and no text holds < or > of its own. */
static void check_tags(char *page)
{
    char *body = strstr(page, "<body>"), *end = body ? strstr(body, "</body>") + 7 : NULL;
    assert_non_null(end);
    char behind = *end;
    *end = 0;
    assert_well_formed(body);
    *end = behind;
}

/* Nothing is loaded from anywhere, and links stay on the page. */
static void check_no_request(const char *page)
{
    static const char *const bad[] = { "src=", "url(", "@import", "<script", "<link", "<iframe", "<object", "<embed",
                                       "<image", "<use", " on", "javascript:", "data:text", "srcset", "<form" };
    for (int i = 0; i < COUNT(bad); i++)
        for (const char *s = page; (s = strstr(s, bad[i])); s++)
            if (strcmp(bad[i], " on") || strchr("=", s[strcspn(s + 1, "=> \n") + 1]))
                fail_msg("%s: %.80s", bad[i], s);
    for (const char *s = page; (s = strstr(s, "href=")); s++)
        assert_memory_equal(s, "href=\"#", 7);
    for (const char *s = page; (s = strstr(s, "http")); s++)
        if (strncmp(s, "http-equiv", 10) && strncmp(s, "http://www.w3.org/2000/svg\"", 27))
            fail_msg("an address: %.80s", s);
}

/* The report of what `results` holds now, whose tags are whole and which asks no one. */
static const char *page_now(void)
{
    write_report();
    char *page = read_back("report.html");
    assert_non_null(page);
    check_tags(page);
    check_no_request(page);
    return page;
}

static void expect_all(const char *page, const char *const *said, int count)
{
    for (int i = 0; i < count; i++)
        if (!strstr(page, said[i]))
            fail_msg("the page does not say: %s", said[i]);
}

TEST(a_page_holds_together_and_asks_no_one)
{
    static const char *const said[] = {
        "default-src 'none'", "<html lang=\"en\">", "prefers-color-scheme", "max-width:40rem", "@media print",
        "Trained at 256, alibi holds at 4096", "2.12 ± 0.01", ">cannot<", "+1.48 (p &#60; 0.001)",
        "position 511 is past its 256 rows", "fedcba9876543210", "posenc race --encodings &#34;rope,alibi&#34;",
        "arXiv 2108.12409", "178.97", "OpenBLAS 0.3.21", "0.125 s a step", "Welch&#39;s t", "33 k for positions",
        "67.5 ±", ">0.02 (10 × the weights&#39;)<", ">none<",
    };
    const char *page = page_now();
    expect_all(page, said, COUNT(said));
    assert_int_equal(count_of(page, "<th>"), 0);
    assert_int_equal(count_of(page, "class=\"drawing-wide\""), 4 + 2);
    assert_int_equal(count_of(page, "class=\"drawing-narrow\""), 4 + 2);
    int dots = count_of(page, "aria-hidden=\"true\"><svg");
    assert_int_equal(count_of(page, "role=\"img\"") - dots, count_of(page, "<title>") - 1);
    for (int i = 0; i < made.setup.entries; i++) {
        char cell[200];
        snprintf(cell, sizeof cell, "</span>%s</th>", made.setup.entry[i].name);
        /* ranking, costs, specs; overfitting if trained; rates of learned tensors */
        assert_int_equal(count_of(page, cell), i == 2 ? 3 : i == 3 ? 5 : 4);
    }
}

TEST(a_page_says_how_long_a_model_was_trained_without_what_it_dropped)
{
    results.setup.entry[3].dropped = 80; /* of learned:rows=256 */
    const char *page = page_now();
    expect_all(page, (const char *const[]){ ">learned:rows=256, then 80 steps without it<" }, 1);
    /* the rates are in the rows of what it was dropped from */
    assert_null(strstr(page, "How learned positions were trained"));
}

TEST(a_page_says_what_is_missing_and_who_works_at_it)
{
    assert_null(strstr(page_now(), "Missing"));
    for (int i = 0; i < results.runs; i++)
        results.run[i].state = LAB_RUN_DONE;
    assert_null(strstr(page_now(), "Missing"));
    results.run[1].state = LAB_RUN_RUNNING;
    snprintf(results.run[1].owner, sizeof results.run[1].owner, "process 12 on a");
    results.run[2].state = LAB_RUN_NOT_STARTED;
    expect_all(page_now(),
               (const char *const[]){ "<h2>Missing</h2>", "2 of 12 trainings are missing", ">running<",
                                      ">process 12 on a<", ">not started<" },
               5);
}

TEST(pictures_stand_alone_too)
{
    static const char *const name[] = { "extrapolation.svg", "position.svg", "recall.svg", "training.svg" };
    write_report();
    for (int i = 0; i < COUNT(name); i++) {
        const char *picture = read_back(name[i]);
        assert_non_null(picture);
        assert_well_formed(picture);
        check_no_request(picture);
        assert_non_null(strstr(picture, "sinusoidal"));
    }
}

TEST(data_has_a_line_for_each_test)
{
    static const char *const said[] = {
        "seed,length,windows,entry,bits,last_quarter,unit,recall,accuracy,seconds,spec,cannot\r\n",
        "\r\n1,256,256,\"alibi\",2.18,2.305,\"bits per byte\",0.775,",
        ",\"learned\",,,\"bits per byte\",,,",
        ",\"learned: position 511 is past its 256 rows\"\r\n",
    };
    write_report();
    expect_all(read_back("results.csv"), said, COUNT(said));
    assert_int_equal(count_of(text, "\r\n"), 1 + 75);
    const char *lines = read_back("results.jsonl");
    assert_int_equal(count_of(lines, "\"line\": \"test\""), 75);
    assert_int_equal(count_of(lines, "\"line\": \"run\""), 12);
}

/* ---------------------------------------------------------------- what is in names stays in names */

/* Spreadsheets run a field that begins like this, in quotes or not. */
TEST(names_cannot_be_formulas)
{
    static const char *const names[] = { "+cmd|'/C calc'!A0", "@SUM(1+9)", "=1+1", "-2+3", "\t=1" };
    for (int i = 0; i < COUNT(names); i++) {
        char field[100];
        snprintf(results.setup.entry[0].name, sizeof results.setup.entry[0].name, "%s", names[i]);
        write_report();
        snprintf(field, sizeof field, ",\"'%s\",", names[i]);
        if (!strstr(read_back("results.csv"), field))
            fail_msg("%s stands in results.csv as it is", names[i]);
    }
}

TEST(names_cannot_write_html)
{
    static const char evil[] = "</style><script>a()</script>\"' onload=x <img>";
    lab_setup *s = &results.setup;
    for (int i = 0; i < s->entries; i++) {
        snprintf(s->entry[i].name, sizeof s->entry[i].name, "%d%s", i, evil);
        snprintf(s->entry[i].spec, sizeof s->entry[i].spec, "%s", evil);
        snprintf(s->entry[i].trained, sizeof s->entry[i].trained, "%d%s", i, evil);
    }
    const struct {
        char *text;
        size_t room;
    } member[] = {
        { s->model, sizeof s->model },     { s->note, sizeof s->note }, { s->command, sizeof s->command },
        { s->version, sizeof s->version }, { s->blas, sizeof s->blas }, { s->cpu, sizeof s->cpu },
        { s->kernels, sizeof s->kernels }, { s->date, sizeof s->date }, { s->data, sizeof s->data },
        { s->calibration, sizeof s->calibration },
    };
    for (int i = 0; i < COUNT(member); i++)
        snprintf(member[i].text, member[i].room, "%s", evil);
    for (int i = 0; i < results.tests; i++) {
        snprintf(results.test[i].spec, sizeof results.test[i].spec, "%s", evil);
        if (i % 3 == 0)
            snprintf(results.test[i].cannot, sizeof results.test[i].cannot, "%s", evil);
    }
    write_report();
    char *page = read_back("report.html");
    check_tags(page);
    assert_int_equal(count_of(page, "<script"), 0);
    assert_int_equal(count_of(page, "<img"), 0);
    assert_int_equal(count_of(page, "</style>"), 1);
}

/* ---------------------------------------------------------------- less than a whole race */

TEST(a_mean_of_fewer_seeds_is_marked)
{
    int held = 0;
    for (int i = 0; i < results.tests; i++) /* alibi has two of three */
        if (results.test[i].entry != 0 || results.test[i].seed != 3)
            results.test[held++] = results.test[i];
    results.tests = held;
    const char *page = page_now();
    assert_int_equal(count_of(page, "* ± "), 5 + 1); /* and the last quarter */
    assert_non_null(strstr(page, "* alibi: mean of 2 of 3 seeds"));
}

TEST(one_line_of_a_log_stands_at_its_step)
{
    for (int i = 0; i < results.runs; i++)
        results.run[i].trains = 1;
    write_report();
    assert_non_null(strstr(read_back("training.svg"), " at 20. "));
}

/* What is added after training is no curve of the plain encoding. */
TEST(published_curves_stand_beside_plain_ones)
{
    assert_non_null(strstr(strstr(page_now(), "Here: per byte"), ">rope</text>"));
    snprintf(results.setup.entry[1].spec, sizeof results.setup.entry[1].spec, "rope:scaling=yarn");
    assert_null(strstr(strstr(page_now(), "Here: per byte"), ">rope</text>"));
}

TEST(a_race_that_has_just_begun_has_a_page)
{
    static const char *const unsaid[] = { "best at", ">best<", "of 0", ">rank<" };
    int tests = results.tests, runs = results.runs;
    results.tests = results.runs = 0;
    assert_non_null(strstr(page_now(), "Nothing has been measured yet."));
    for (int i = 0; i < COUNT(unsaid); i++)
        if (strstr(text, unsaid[i]))
            fail_msg("the page says: %s", unsaid[i]);
    assert_null(read_back("extrapolation.svg"));
    assert_null(read_back("results.csv"));
    results.tests = 1;
    page_now();
    results.tests = tests, results.runs = runs;
}

TEST(an_eval_shows_perplexity)
{
    static const char *const said[] = { "stories260K.bin past its trained length of 256", "Perplexity against length",
                                        "posenc extend recommends yarn.", "Last quarter of the window" };
    lab_setup *s = &results.setup;
    int runs = results.runs;
    results.runs = 0;
    snprintf(s->kind, sizeof s->kind, "eval");
    snprintf(s->model, sizeof s->model, "stories260K.bin");
    snprintf(s->note, sizeof s->note, "posenc extend recommends yarn.");
    const char *page = page_now();
    expect_all(page, said, COUNT(said));
    assert_null(strstr(page, "tokens/s"));
    assert_null(strstr(page, "one seed"));
    results.runs = runs;
}

TEST(an_unwritable_folder_is_said)
{
    assert_int_equal(lab_report_write("/nonexistent/posenc", &results, &err), PE_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/posenc"));
}

AROUND(before_each)
{
    case_new(&made);
    assert_ok(lab_read_results(&results, &(const char *){ made.folder }, 1, &err));
}

AROUND(after_each)
{
    lab_results_free(&results);
    if (!getenv("POSENC_KEEP")) /* to look at */
        case_free(&made);
    else
        printf("%s\n", made.folder);
}
