/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab wrap
 *
 * What a race writes down is what a report reads, and files that are not what they should be are said to be so. */
#include "lab_case.h"
#include "heap.h"

#include "test.h"

/* A race on disk, or an empty folder and what would be its setup; what was read of it last. */
static lab_case c;
static lab_results r;
static pe_error err;
static char text[1 << 20];

static pe_status read_results(void)
{
    lab_results_free(&r);
    return lab_read_results(&r, &(const char *){ c.folder }, 1, &err);
}

static pe_status read_setup(void)
{
    static lab_setup s;
    return lab_read_setup(&s, c.folder, &err);
}

static FILE *open_file(const char *name, const char *how)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", c.folder, name);
    FILE *f = fopen(path, how);
    assert_non_null(f);
    return f;
}

/* Into text; returns how many lines. */
static int read_text(const char *name)
{
    FILE *f = open_file(name, "r");
    int lines = 0;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    for (const char *s = text; (s = strchr(s, '\n')); s++)
        lines++;
    return lines;
}

static void write_all(void)
{
    FILE *f = open_file("all.jsonl", "w");
    lab_write_all(f, &r);
    fclose(f);
}

static void same_real(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void same_test(const lab_test_line *a, const lab_test_line *b)
{
    const int64_t number[][2] = { { a->entry, b->entry },         { (int64_t)a->seed, (int64_t)b->seed },
                                  { a->length, b->length },       { a->windows, b->windows },
                                  { a->asked_all, b->asked_all }, { a->right_all, b->right_all } };
    for (int i = 0; i < COUNT(number); i++)
        assert_int_equal(number[i][0], number[i][1]);
    same_real(a->bits, b->bits);
    same_real(a->last_quarter, b->last_quarter);
    same_real(a->seconds, b->seconds);
    for (int i = 0; i < LAB_BINS; i++)
        same_real(a->by_position[i], b->by_position[i]);
    assert_memory_equal(a->asked, b->asked, sizeof a->asked);
    assert_memory_equal(a->right, b->right, sizeof a->right);
    assert_string_equal(a->spec, b->spec);
    assert_string_equal(a->cannot, b->cannot);
}

/* ---------------------------------------------------------------- round trips */

/* A folder with no runs. */
static void begin_empty(void)
{
    snprintf(c.folder, sizeof c.folder, "/tmp/posenc-lab-XXXXXX");
    case_setup(&c.setup);
    assert_non_null(mkdtemp(c.folder));
}

TEST(what_is_written_is_read_back)
{
    case_new(&c);
    assert_ok(read_results());
    assert_memory_equal(&r.setup, &c.setup, sizeof r.setup);
    assert_int_equal(r.runs, 4 * 3);
    assert_int_equal(r.tests, 5 * 5 * 3);
    for (int i = 0; i < r.runs; i++) {
        const lab_run *run = &r.run[i];
        lab_train_line l = case_train(run->entry, 7);
        assert_int_equal(run->trains, 40);
        assert_memory_equal(&run->train[7], &l, sizeof l);
        assert_true(run->ended && run->end.finished);
        assert_int_equal(run->end.params, 790000 + run->entry);
        assert_int_equal(run->end.position_params, run->entry == 3 ? 32768 : 0);
        same_real(run->end.seconds, 100 + run->entry);
    }
    for (int e = 0; e < 5; e++)
        for (int n = 0; n < 5; n++) {
            lab_test_line l = case_test(&c.setup, e, 2, n);
            const lab_test_line *there = lab_find_test(&r, e, 2, l.length);
            assert_non_null(there);
            same_test(there, &l);
        }
}

TEST(each_line_is_one_line)
{
    case_new(&c);
    assert_int_equal(read_text("rope-1/log.jsonl"), 40 + 1 + 2 * 5);
    for (char *s = strtok(text, "\n"); s; s = strtok(NULL, "\n"))
        assert_true(s[0] == '{' && s[strlen(s) - 1] == '}');
    assert_ok(read_results());
    write_all();
    assert_int_equal(read_text("all.jsonl"), 1 + 12 * 41 + 75);
}

TEST(a_failure_is_read_back)
{
    case_new(&c);
    lab_failure_line f = { .step = 12, .why = "rope, seed 1, step 12: why" };
    FILE *log = open_file("rope-1/log.jsonl", "w");
    lab_write_failure(log, &f);
    fclose(log);
    assert_ok(read_results());
    int failed = 0;
    for (int i = 0; i < r.runs; i++)
        if (r.run[i].failure.step) {
            assert_true(r.run[i].entry == 1 && r.run[i].seed == 1 && r.run[i].failure.step == 12);
            assert_string_equal(r.run[i].failure.why, f.why);
            failed++;
        }
    assert_int_equal(failed, 1);
    write_all();
    read_text("all.jsonl");
    assert_non_null(strstr(text, "\"line\": \"failure\", \"entry\": \"rope\", \"seed\": 1, \"step\": 12"));
}

/* ---------------------------------------------------------------- logs that are cut or hostile */

/* A log's path and its size. */
static off_t find_log(char path[200])
{
    struct stat there;
    snprintf(path, 200, "%s/rope-1/log.jsonl", c.folder);
    assert_int_equal(stat(path, &there), 0);
    return there.st_size;
}

static void append(const char *line)
{
    FILE *f = open_file("rope-1/log.jsonl", "a");
    fputs(line, f);
    fclose(f);
}

TEST(a_log_may_end_at_any_byte)
{
    case_new(&c);
    char path[200];
    int before = 74;
    for (off_t size = find_log(path) - 1; size > 0; size -= 997) {
        assert_int_equal(truncate(path, size), 0);
        assert_ok(read_results());
        assert_true(r.tests <= before);
        before = r.tests;
    }
}

TEST(a_run_that_has_not_begun_is_no_error)
{
    begin_empty();
    case_race_json(&c);
    assert_ok(read_results());
    assert_int_equal(r.tests, 0);
}

TEST(hostile_lines_are_refused_by_name)
{
    case_new(&c);
    static const struct {
        const char *line, *word;
    } bad[] = {
        { "nonsense\n", "log.jsonl:52" },
        { "[]\n", "log.jsonl:52" },
        { "{}\n", "line" },
        { "{\"line\": 3}\n", "line" },
        { "{\"line\": \"train\"}\n", "step" },
        { "{\"line\": \"train\", \"step\": -1, \"loss\": 1, \"rate\": 1, \"norm\": 1, \"seconds\": 1}\n", "step" },
        { "{\"line\": \"train\", \"step\": 1e9, \"loss\": 1, \"rate\": 1, \"norm\": 1, \"seconds\": 1}\n", "step" },
        { "{\"line\": \"train\", \"step\": 1, \"loss\": \"x\", \"rate\": 1, \"norm\": 1, \"seconds\": 1}\n", "loss" },
        { "{\"line\": \"test\"}\n", "entry" },
        { "{\"line\": \"test\", \"entry\": \"nobody\"}\n", "seed" },
        { "{\"line\": \"run\", \"params\": 1}\n", "position_params" },
        { "\x01\n", "log.jsonl:52" },
        { "{\"line\": \"train\", \"line\": \"train\"}\n", "line" },
    };
    char path[200];
    off_t size = find_log(path);
    for (int i = 0; i < COUNT(bad); i++) {
        append(bad[i].line);
        assert_true(read_results());
        if (!strstr(err.text, bad[i].word))
            fail_msg("%s: %s", bad[i].line, err.text);
        assert_null(r.run);
        assert_int_equal(truncate(path, size), 0);
    }
    append("{\"line\": \"note\", \"text\": \"resumed\"}\n");
    assert_ok(read_results());
}

/* One more test line, in which these differ from what a race writes. */
TEST(tests_that_cannot_be_are_refused)
{
    case_new(&c);
    static const struct {
        int64_t seed, length; /* -1: as it is */
        int64_t right_more, all_more;
        pe_status status;
        const char *word;
    } cases[] = {
        { 77, -1, 0, 0, PE_ERR_FORMAT, "77" }, { -1, 257, 0, 0, PE_ERR_FORMAT, "257" },
        { -1, -1, 1, 0, PE_ERR_FORMAT, "" },   { -1, -1, 0, 1, PE_ERR_FORMAT, "" },
        { -1, 0, 0, 0, PE_ERR_RANGE, "" },     { -1, -1, 0, 0, PE_OK, "" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        lab_test_line l = case_test(&c.setup, 1, 1, 0);
        l.seed = cases[i].seed < 0 ? l.seed : (uint64_t)cases[i].seed;
        l.length = cases[i].length < 0 ? l.length : cases[i].length;
        l.right[3] = cases[i].right_more ? l.asked[3] + 1 : l.right[3];
        l.right_all = cases[i].all_more ? l.asked_all + 1 : l.right_all;
        FILE *log = open_file("log.jsonl", "w");
        lab_write_test(log, &c.setup, &l);
        fclose(log);
        assert_int_equal(read_results(), cases[i].status);
        assert_true(cases[i].status == PE_OK || strstr(err.text, cases[i].word));
    }
}

TEST(a_test_made_again_counts_once)
{
    case_new(&c);
    lab_test_line l = case_test(&c.setup, 1, 1, 0);
    l.bits = 1.25;
    FILE *f = open_file("rope-1/log.jsonl", "a");
    lab_write_test(f, &c.setup, &l);
    fclose(f);
    assert_ok(read_results());
    assert_int_equal(r.tests, 75);
    assert_true(lab_find_test(&r, 1, 1, 256)->bits == 1.25);
}

/* ---------------------------------------------------------------- race.json */

TEST(a_slug_cannot_leave_the_folder)
{
    begin_empty();
    static const char *const bad[] = { "", ".", "..", "../x", "a/b", ".hidden", "a b", "a\\b" };
    for (int i = 0; i < COUNT(bad); i++) {
        snprintf(c.setup.entry[1].slug, sizeof c.setup.entry[1].slug, "%s", bad[i]);
        case_race_json(&c);
        assert_int_equal(read_setup(), PE_ERR_FORMAT);
        assert_non_null(strstr(err.text, "slug"));
    }
}

TEST(race_json_is_checked)
{
    begin_empty();
    static const char *const bad[] = { "", "{}", "[]", "{\"kind\": 3}", "{\"kind\": \"race\"}" };
    assert_int_equal(read_setup(), PE_ERR_IO);
    for (int i = 0; i < COUNT(bad); i++) {
        FILE *f = open_file("race.json", "w");
        fputs(bad[i], f);
        fclose(f);
        assert_int_equal(read_setup(), PE_ERR_FORMAT);
    }
    case_entry(&c.setup, "rope", "rope", "again");
    case_race_json(&c);
    assert_int_equal(read_setup(), PE_ERR_FORMAT);
    snprintf(c.setup.entry[5].name, sizeof c.setup.entry[5].name, "other");
    snprintf(c.setup.kind, sizeof c.setup.kind, "walk");
    case_race_json(&c);
    assert_int_equal(read_setup(), PE_ERR_FORMAT);
}

TEST(how_tensors_are_trained_is_checked)
{
    begin_empty();
    lab_entry *e = &c.setup.entry[3];
    e->dropped = 7;
    case_race_json(&c);
    assert_ok(read_results());
    assert_memory_equal(&r.setup, &c.setup, sizeof r.setup);
    e->dropped = -1;
    case_race_json(&c);
    assert_int_equal(read_setup(), PE_ERR_RANGE);
    assert_non_null(strstr(err.text, "dropped"));
    e->dropped = 0;
    case_race_json(&c);
    read_text("race.json");
    for (char *at = text; (at = strstr(at, ",\n      \"dropped\": 0")); at += 10) /* as posenc 0.1 wrote it */
        memset(at, ' ', strlen(",\n      \"dropped\": 0"));
    FILE *f = open_file("race.json", "w");
    fputs(text, f);
    fclose(f);
    assert_null(strstr(text, "dropped"));
    assert_ok(read_setup());
    e->tensors = LAB_TENSORS_MAX;
    case_race_json(&c);
    assert_ok(read_setup());
    read_text("race.json");
    char *list = strstr(text, "\"tensors\": [\n        {");
    f = open_file("race.json", "w");
    fprintf(f, "%.*s\"tensors\": [{\"name\": \"one\", \"rate\": 1, \"decay\": 0}, %s", (int)(list - text), text,
            list + strlen("\"tensors\": ["));
    fclose(f);
    assert_int_equal(read_setup(), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "more than 32 tensors"));
}

/* ---------------------------------------------------------------- several folders */

TEST(folders_are_united_where_they_agree)
{
    case_new(&c);
    static lab_case b = { .folder = "/tmp/posenc-lab-XXXXXX" };
    const char *both[] = { c.folder, b.folder };
    assert_non_null(mkdtemp(b.folder));
    case_setup(&b.setup);
    b.setup.entries = 1, b.setup.seeds = 1, b.setup.tests = 1;
    b.setup.seed[0] = 9;
    b.setup.test[0] = 384;
    case_entry(&b.setup, "kerple", "kerple", "kerple");
    case_race_json(&b);
    case_run(&b, 0, 9);
    assert_ok(lab_read_results(&r, both, 2, &err));
    assert_int_equal(r.setup.entries, 6);
    assert_int_equal(r.setup.seeds, 4);
    assert_int_equal(r.setup.tests, 6);
    assert_int_equal(r.setup.test[1], 384);
    assert_int_equal(r.tests, 76);
    assert_non_null(lab_find_test(&r, 0, 9, 384));
    assert_int_equal(r.runs, 12 + 2); /* kerple's has not begun */
    assert_non_null(strchr(r.setup.command, '\n'));
    lab_results_free(&r);
    b.setup.steps = 900;
    case_race_json(&b);
    assert_int_equal(lab_read_results(&r, both, 2, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "steps is 800 in one and 900"));
    b.setup.steps = 800;
    snprintf(b.setup.entry[0].spec, sizeof b.setup.entry[0].spec, "alibi:slopes=other");
    case_race_json(&b);
    assert_int_equal(lab_read_results(&r, both, 2, &err), PE_ERR_FORMAT);
    b.setup.entry[0] = c.setup.entry[3];
    b.setup.entry[0].tensor[0].rate = 3;
    case_race_json(&b);
    assert_int_equal(lab_read_results(&r, both, 2, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "learned is trained with other rates"));
    snprintf(b.setup.entry[0].name, sizeof b.setup.entry[0].name, "at 3");
    case_race_json(&b);
    assert_ok(lab_read_results(&r, both, 2, &err)); /* another training of the same spec */
    assert_int_equal(r.runs, 12 + 2);
    case_free(&b);
}

/* Everything that a folder says stands in the file that a report writes of it, and unites with other folders. */
TEST(a_reports_file_is_read_like_its_folder)
{
    static char before[sizeof text];
    char path[1300];
    case_new(&c);
    FILE *f = open_file("rope-1/log.jsonl", "a");
    lab_write_failure(f, &(lab_failure_line){ .step = 12, .why = "rope, seed 1, step 12: why" });
    fclose(f);
    assert_ok(read_results());
    write_all();
    int lines = read_text("all.jsonl");
    memcpy(before, text, sizeof text);
    snprintf(path, sizeof path, "%s/all.jsonl", c.folder);
    const char *both[] = { path, c.folder };
    for (int count = 1; count <= 2; count++) { /* what is there twice counts once */
        lab_results_free(&r);
        assert_ok(lab_read_results(&r, both, count, &err));
        r.setup.command[strlen(c.setup.command)] = 0; /* without that of the second */
        write_all();
        assert_int_equal(read_text("all.jsonl"), lines);
        assert_string_equal(text, before);
    }
    f = open_file("all.jsonl", "a");
    fprintf(f, "{\"line\": \"run\", \"entry\": \"rope\", \"seed\": 7}\n");
    fclose(f);
    lab_results_free(&r);
    assert_int_equal(lab_read_results(&r, both, 1, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "of rope with seed 7, which the setup has not"));
    fclose(open_file("all.jsonl", "w"));
    assert_int_equal(lab_read_results(&r, both, 1, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "has no line"));
}

TEST(chosen_entries_stand_as_if_there_were_no_others)
{
    static const int trained[] = { 1, 3, 4 };
    case_new(&c);
    assert_ok(read_results());
    snprintf(r.setup.entry[4].name, sizeof r.setup.entry[4].name, "waves, added");
    assert_ok(lab_keep_only(&r, "waves, added,rope:scaling=ntk,learned", &err));
    assert_int_equal(r.setup.entries, 3);
    assert_string_equal(r.setup.entry[0].name, "rope:scaling=ntk");
    assert_string_equal(r.setup.entry[1].name, "learned");
    assert_string_equal(r.setup.entry[2].name, "waves, added");
    assert_int_equal(r.runs, 3 * 3); /* rope's weights are those of its scaling */
    for (int i = 0; i < r.runs; i++)
        assert_int_equal(r.run[i].end.params, 790000 + trained[r.run[i].entry]);
    assert_int_equal(r.tests, 3 * 5 * 3);
    const lab_test_line *there = lab_find_test(&r, 0, 2, 4096);
    assert_non_null(there);
    same_real(there->bits, case_test(&c.setup, 2, 2, 4).bits);
    assert_int_equal(lab_keep_only(&r, "learned,rope", &err), PE_ERR_SPEC);
    assert_non_null(strstr(err.text, "--only has rope"));
    assert_int_equal(r.setup.entries, 3);
}

/* A member that nobody writes decides nothing: every trained spec is some entry's. */
TEST(an_entry_with_a_foreign_member_has_its_runs)
{
    case_new(&c);
    const char *both[] = { c.folder, c.folder };
    read_text("race.json");
    const char *slug = strstr(text, "\"slug\": \"alibi\"");
    assert_non_null(slug);
    FILE *f = open_file("race.json", "w");
    fprintf(f, "%.*s\"cannot\": \"x\", %s", (int)(slug - text), text, slug);
    fclose(f);
    assert_ok(lab_read_results(&r, both, 2, &err));
    assert_int_equal(r.runs, 12);
    for (int i = 0; i < r.runs; i++)
        assert_in_range(r.run[i].entry, 0, r.setup.entries - 1);
}

TEST(an_eval_has_one_log)
{
    begin_empty();
    snprintf(c.setup.kind, sizeof c.setup.kind, "eval");
    c.setup.seeds = 1, c.setup.seed[0] = 0;
    case_race_json(&c);
    FILE *f = open_file("log.jsonl", "w");
    for (int e = 0; e < 5; e++) {
        lab_test_line l = case_test(&c.setup, e, 0, 1);
        lab_write_test(f, &c.setup, &l);
    }
    fclose(f);
    assert_ok(read_results());
    assert_true(lab_is_eval(&r.setup));
    assert_int_equal(r.runs, 0);
    assert_int_equal(r.tests, 5);
}

/* ---------------------------------------------------------------- memory that runs out */

TEST(every_allocation_may_fail)
{
    begin_empty();
    pe_status s = PE_ERR_NOMEM;
    c.setup.entries = 1, c.setup.seeds = 1, c.setup.tests = 2;
    case_race_json(&c);
    case_run(&c, 0, 1);
    size_t before = heap.live;
    int failed = 0;
    for (long n = 1; s; n++) {
        heap.fail = n;
        s = read_results();
        heap.fail = 0;
        assert_true(s == PE_OK || s == PE_ERR_NOMEM);
        failed += s != PE_OK;
        assert_true(s == PE_OK || !r.run);
        lab_results_free(&r);
        assert_true(heap.live == before);
    }
    assert_true(failed > 40);
}

AROUND(after_each)
{
    lab_results_free(&r);
    case_free(&c);
}
