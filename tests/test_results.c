/* SPDX-License-Identifier: MIT
 * labels: core; needs: lab wrap
 *
 * What a race writes down is what a report reads, and files that are not what they should be are said to be so. */
#include "lab_case.h"
#include "heap.h"

static void read_text(const char *folder, const char *name, char *out, size_t cap)
{
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    out[fread(out, 1, cap - 1, f)] = 0;
    fclose(f);
}

static void same_real(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void same_test(const lab_test_line *a, const lab_test_line *b)
{
    assert_int_equal(a->entry, b->entry);
    assert_true(a->seed == b->seed);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->windows, b->windows);
    same_real(a->bits, b->bits);
    same_real(a->last_quarter, b->last_quarter);
    for (int i = 0; i < LAB_BINS; i++)
        same_real(a->by_position[i], b->by_position[i]);
    assert_memory_equal(a->asked, b->asked, sizeof a->asked);
    assert_memory_equal(a->right, b->right, sizeof a->right);
    assert_int_equal(a->asked_all, b->asked_all);
    assert_int_equal(a->right_all, b->right_all);
    same_real(a->seconds, b->seconds);
    assert_string_equal(a->spec, b->spec);
    assert_string_equal(a->cannot, b->cannot);
}

static const lab_test_line *find_test(const lab_results *r, int entry, uint64_t seed, int64_t length)
{
    for (int i = 0; i < r->tests; i++)
        if (r->test[i].entry == entry && r->test[i].seed == seed && r->test[i].length == length)
            return &r->test[i];
    return NULL;
}

/* ---------------------------------------------------------------- round trips */

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    pe_error err;
    case_new(&c);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    assert_memory_equal(&r.setup, &c.setup, sizeof r.setup);
    assert_int_equal(r.runs, 4 * 3);
    assert_int_equal(r.tests, 5 * 5 * 3);
    for (int i = 0; i < r.runs; i++) {
        const lab_run *run = &r.run[i];
        assert_int_equal(run->trains, 40);
        assert_true(run->ended && run->end.finished);
        assert_int_equal(run->end.params, 790000 + run->entry);
        assert_int_equal(run->end.position_params, run->entry == 3 ? 32768 : 0);
        same_real(run->end.seconds, 100 + run->entry);
        lab_train_line l = case_train(run->entry, 7);
        assert_memory_equal(&run->train[7], &l, sizeof l);
    }
    for (int e = 0; e < 5; e++)
        for (int n = 0; n < 5; n++) {
            lab_test_line l = case_test(&c.setup, e, 2, n);
            const lab_test_line *there = find_test(&r, e, 2, l.length);
            assert_non_null(there);
            same_test(there, &l);
        }
    lab_results_free(&r);
    case_free(&c);
}

static void each_line_is_one_line(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    static char text[1 << 16];
    pe_error err;
    case_new(&c);
    read_text(c.folder, "rope-1/log.jsonl", text, sizeof text);
    int lines = 0;
    for (char *s = strtok(text, "\n"); s; s = strtok(NULL, "\n"), lines++)
        assert_true(s[0] == '{' && s[strlen(s) - 1] == '}');
    assert_int_equal(lines, 40 + 1 + 2 * 5);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    FILE *f = case_open(c.folder, "all.jsonl");
    lab_write_all(f, &r);
    fclose(f);
    static char all[1 << 20];
    read_text(c.folder, "all.jsonl", all, sizeof all);
    lines = 0;
    for (char *s = all; (s = strchr(s, '\n')); s++)
        lines++;
    assert_int_equal(lines, 1 + 12 * 41 + 75);
    lab_results_free(&r);
    case_free(&c);
}

static void a_failure_is_read_back(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    static char all[1 << 20];
    lab_failure_line f = { .step = 12, .why = "rope, seed 1, step 12: why" };
    pe_error err;
    case_new(&c);
    FILE *log = case_open(c.folder, "rope-1/log.jsonl");
    lab_write_failure(log, &f);
    fclose(log);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    int failed = 0;
    for (int i = 0; i < r.runs; i++)
        if (r.run[i].failure.step) {
            assert_true(r.run[i].entry == 1 && r.run[i].seed == 1 && r.run[i].failure.step == 12);
            assert_string_equal(r.run[i].failure.why, f.why);
            failed++;
        }
    assert_int_equal(failed, 1);
    FILE *to = case_open(c.folder, "all.jsonl");
    lab_write_all(to, &r);
    fclose(to);
    read_text(c.folder, "all.jsonl", all, sizeof all);
    assert_non_null(strstr(all, "\"line\": \"failure\", \"entry\": \"rope\", \"seed\": 1, \"step\": 12"));
    lab_results_free(&r);
    case_free(&c);
}

/* ---------------------------------------------------------------- logs that are cut or hostile */

static void append(const lab_case *c, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_log_may_end_at_any_byte(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    char path[200];
    pe_error err;
    int before = 0;
    case_new(&c);
    snprintf(path, sizeof path, "%s/rope-1/log.jsonl", c.folder);
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    for (off_t size = there.st_size - 1; size > 0; size -= 997) {
        assert_int_equal(truncate(path, size), 0);
        assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
        assert_true(!before || r.tests <= before);
        before = r.tests;
        assert_true(r.tests < 75);
        lab_results_free(&r);
    }
    case_free(&c);
}

static void a_run_that_has_not_begun_is_no_error(void **state)
{
    (void)state;
    static lab_case c = { .folder = "/tmp/posenc-lab-XXXXXX" };
    static lab_results r;
    pe_error err;
    assert_non_null(mkdtemp(c.folder));
    case_setup(&c.setup);
    case_race_json(&c);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    assert_int_equal(r.tests, 0);
    lab_results_free(&r);
    case_free(&c);
}

static void hostile_lines_are_refused_by_name(void **state)
{
    (void)state;
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
        { "\x00\n", "log.jsonl:52" },
        { "{\"line\": \"train\", \"line\": \"train\"}\n", "line" },
    };
    static lab_case c;
    static lab_results r;
    char path[200];
    pe_error err;
    case_new(&c);
    snprintf(path, sizeof path, "%s/rope-1/log.jsonl", c.folder);
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    for (int i = 0; i < COUNT(bad); i++) {
        append(&c, "rope-1/log.jsonl", bad[i].line[0] ? bad[i].line : "\x01\n");
        assert_true(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
        if (!strstr(err.text, bad[i].word))
            fail_msg("%s: %s", bad[i].line, err.text);
        assert_null(r.run);
        assert_int_equal(truncate(path, there.st_size), 0);
    }
    append(&c, "rope-1/log.jsonl", "{\"line\": \"note\", \"text\": \"resumed\"}\n");
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    lab_results_free(&r);
    case_free(&c);
}

/* Appends one test line, changed by f, and returns what reading comes to. */
static pe_status read_changed(const lab_case *c, void (*f)(lab_test_line *), pe_error *err)
{
    static lab_results r;
    static lab_setup s;
    lab_test_line l = case_test(&c->setup, 1, 1, 0);
    f(&l);
    s = c->setup;
    FILE *log = case_open(c->folder, "log.jsonl");
    lab_write_test(log, &s, &l);
    fclose(log);
    pe_status status = lab_read_results(&r, &(const char *){ c->folder }, 1, err);
    lab_results_free(&r);
    return status;
}

static void unknown_seed(lab_test_line *l)
{
    l->seed = 77;
}

static void too_many_right(lab_test_line *l)
{
    l->right[3] = l->asked[3] + 1;
}

static void more_right_than_all(lab_test_line *l)
{
    l->right_all = l->asked_all + 1;
}

static void unknown_length(lab_test_line *l)
{
    l->length = 257;
}

static void length_zero(lab_test_line *l)
{
    l->length = 0;
}

static void nothing(lab_test_line *l)
{
    (void)l;
}

static void tests_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static lab_case c;
    pe_error err;
    case_new(&c);
    assert_int_equal(read_changed(&c, unknown_seed, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "77"));
    assert_int_equal(read_changed(&c, unknown_length, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "257"));
    assert_int_equal(read_changed(&c, too_many_right, &err), PE_ERR_FORMAT);
    assert_int_equal(read_changed(&c, more_right_than_all, &err), PE_ERR_FORMAT);
    assert_int_equal(read_changed(&c, length_zero, &err), PE_ERR_RANGE);
    assert_ok(read_changed(&c, nothing, &err));
    case_free(&c);
}

static void a_test_made_again_counts_once(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    pe_error err;
    case_new(&c);
    FILE *f = case_open(c.folder, "rope-1/again");
    lab_test_line l = case_test(&c.setup, 1, 1, 0);
    l.bits = 1.25;
    lab_write_test(f, &c.setup, &l);
    fclose(f);
    static char text[8192];
    read_text(c.folder, "rope-1/again", text, sizeof text);
    append(&c, "rope-1/log.jsonl", text);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    assert_int_equal(r.tests, 75);
    assert_true(find_test(&r, 1, 1, 256)->bits == 1.25);
    lab_results_free(&r);
    case_free(&c);
}

/* ---------------------------------------------------------------- race.json */

static void a_slug_cannot_leave_the_folder(void **state)
{
    (void)state;
    static const char *const bad[] = { "", ".", "..", "../x", "a/b", ".hidden", "a b", "a\\b" };
    static lab_case c = { .folder = "/tmp/posenc-lab-XXXXXX" };
    static lab_setup s;
    pe_error err;
    assert_non_null(mkdtemp(c.folder));
    for (int i = 0; i < COUNT(bad); i++) {
        case_setup(&c.setup);
        snprintf(c.setup.entry[1].slug, sizeof c.setup.entry[1].slug, "%s", bad[i]);
        case_race_json(&c);
        assert_int_equal(lab_read_setup(&s, c.folder, &err), PE_ERR_FORMAT);
        assert_non_null(strstr(err.text, "slug"));
    }
    case_free(&c);
}

static void race_json_is_checked(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "{}", "[]", "{\"kind\": 3}", "{\"kind\": \"race\"}" };
    static lab_case c = { .folder = "/tmp/posenc-lab-XXXXXX" };
    static lab_setup s;
    pe_error err;
    assert_non_null(mkdtemp(c.folder));
    assert_int_equal(lab_read_setup(&s, c.folder, &err), PE_ERR_IO);
    for (int i = 0; i < COUNT(bad); i++) {
        FILE *f = case_open(c.folder, "race.json");
        fputs(bad[i], f);
        fclose(f);
        assert_int_equal(lab_read_setup(&s, c.folder, &err), PE_ERR_FORMAT);
    }
    case_setup(&c.setup);
    case_entry(&c.setup, "rope", "rope", "again");
    case_race_json(&c);
    assert_int_equal(lab_read_setup(&s, c.folder, &err), PE_ERR_FORMAT);
    snprintf(c.setup.entry[5].name, sizeof c.setup.entry[5].name, "other");
    snprintf(c.setup.kind, sizeof c.setup.kind, "walk");
    case_race_json(&c);
    assert_int_equal(lab_read_setup(&s, c.folder, &err), PE_ERR_FORMAT);
    case_free(&c);
}

/* ---------------------------------------------------------------- several folders */

static void folders_are_united_where_they_agree(void **state)
{
    (void)state;
    static lab_case a, b;
    static lab_results r;
    pe_error err;
    case_new(&a);
    snprintf(b.folder, sizeof b.folder, "/tmp/posenc-lab-XXXXXX");
    assert_non_null(mkdtemp(b.folder));
    case_setup(&b.setup);
    b.setup.entries = 1, b.setup.seeds = 1, b.setup.tests = 1;
    b.setup.seed[0] = 9;
    b.setup.test[0] = 384;
    case_entry(&b.setup, "kerple", "kerple", "kerple");
    case_race_json(&b);
    case_run(&b, 0, 9);
    const char *both[] = { a.folder, b.folder };
    assert_ok(lab_read_results(&r, both, 2, &err));
    assert_int_equal(r.setup.entries, 6);
    assert_int_equal(r.setup.seeds, 4);
    assert_int_equal(r.setup.tests, 6);
    assert_int_equal(r.setup.test[1], 384);
    assert_int_equal(r.tests, 76);
    assert_non_null(find_test(&r, 0, 9, 384));
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
    case_free(&a);
    case_free(&b);
}

/* A member that nobody writes decides nothing: every trained spec is some entry's. */
static void an_entry_with_a_foreign_member_has_its_runs(void **state)
{
    (void)state;
    static lab_case c;
    static lab_results r;
    static char text[20000];
    pe_error err;
    case_new(&c);
    read_text(c.folder, "race.json", text, sizeof text);
    const char *slug = strstr(text, "\"slug\": \"alibi\"");
    assert_non_null(slug);
    FILE *f = case_open(c.folder, "race.json");
    fprintf(f, "%.*s\"cannot\": \"x\", %s", (int)(slug - text), text, slug);
    fclose(f);
    const char *both[] = { c.folder, c.folder };
    assert_ok(lab_read_results(&r, both, 2, &err));
    assert_int_equal(r.runs, 12);
    for (int i = 0; i < r.runs; i++)
        assert_in_range(r.run[i].entry, 0, r.setup.entries - 1);
    lab_results_free(&r);
    case_free(&c);
}

static void an_eval_has_one_log(void **state)
{
    (void)state;
    static lab_case c = { .folder = "/tmp/posenc-lab-XXXXXX" };
    static lab_results r;
    pe_error err;
    assert_non_null(mkdtemp(c.folder));
    case_setup(&c.setup);
    snprintf(c.setup.kind, sizeof c.setup.kind, "eval");
    c.setup.seeds = 1, c.setup.seed[0] = 0;
    case_race_json(&c);
    FILE *f = case_open(c.folder, "log.jsonl");
    for (int e = 0; e < 5; e++) {
        lab_test_line l = case_test(&c.setup, e, 0, 1);
        lab_write_test(f, &c.setup, &l);
    }
    fclose(f);
    assert_ok(lab_read_results(&r, &(const char *){ c.folder }, 1, &err));
    assert_true(lab_is_eval(&r.setup));
    assert_int_equal(r.runs, 0);
    assert_int_equal(r.tests, 5);
    lab_results_free(&r);
    case_free(&c);
}

/* ---------------------------------------------------------------- memory that runs out */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static lab_case c = { .folder = "/tmp/posenc-lab-XXXXXX" };
    static lab_results r;
    pe_error err;
    pe_status s = PE_ERR_NOMEM;
    assert_non_null(mkdtemp(c.folder));
    case_setup(&c.setup);
    c.setup.entries = 1, c.setup.seeds = 1, c.setup.tests = 2;
    case_race_json(&c);
    case_run(&c, 0, 1);
    size_t before = heap.live;
    int failed = 0;
    for (long n = 1; s; n++) {
        heap.fail = n;
        s = lab_read_results(&r, &(const char *){ c.folder }, 1, &err);
        heap.fail = 0;
        assert_true(s == PE_OK || s == PE_ERR_NOMEM);
        failed += s != PE_OK;
        if (!s)
            lab_results_free(&r);
        assert_null(r.run);
        assert_true(heap.live == before);
    }
    assert_true(failed > 40);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(each_line_is_one_line),
        cmocka_unit_test(a_failure_is_read_back),
        cmocka_unit_test(a_log_may_end_at_any_byte),
        cmocka_unit_test(a_run_that_has_not_begun_is_no_error),
        cmocka_unit_test(hostile_lines_are_refused_by_name),
        cmocka_unit_test(tests_that_cannot_be_are_refused),
        cmocka_unit_test(a_test_made_again_counts_once),
        cmocka_unit_test(a_slug_cannot_leave_the_folder),
        cmocka_unit_test(race_json_is_checked),
        cmocka_unit_test(folders_are_united_where_they_agree),
        cmocka_unit_test(an_entry_with_a_foreign_member_has_its_runs),
        cmocka_unit_test(an_eval_has_one_log),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
