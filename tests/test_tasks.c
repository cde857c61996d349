/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab
 *
 * Every task is solved by a few lines that see nothing but the window, at any length, causal or masked. */
#include "data_case.h"

enum { LONGEST = 2100 };

/* A window as a solver sees it: what is asked for is 0. */
typedef struct view {
    char text[LONGEST + 1];
    int32_t answer[LONGEST], distance[LONGEST]; /* at the byte that is asked for; answer -1: not asked */
    int64_t size;
} view;

static void look(view *out, const lab_batch *b, int64_t row)
{
    int64_t T = b->length, ahead = b->causal;
    const int32_t *token = b->token + row * T, *target = b->target + row * T, *distance = b->distance + row * T;
    out->size = T + ahead;
    for (int64_t t = 0; t < out->size; t++) {
        bool asked = t >= ahead && target[t - ahead] >= 0;
        out->answer[t] = asked ? target[t - ahead] : -1;
        out->distance[t] = asked ? distance[t - ahead] : 0;
        out->text[t] = (char)(asked || t == T ? '\0' : token[t]);
    }
}

static void expect(const char *task, const view *v, int64_t at, int answer, int64_t distance)
{
    if (v->answer[at] != answer || v->distance[at] != distance)
        fail_msg("%s: at %d of %d: '%c' told %d before; the solver says '%c', %d", task, (int)at, (int)v->size,
                 v->answer[at], v->distance[at], answer, (int)distance);
}

/* ---------------------------------------------------------------- solvers: how many they answered */

/* Lines "word letters: answer"; *from, *n: the letters. Where the answer begins; -1: no more lines. */
static int64_t next_line(const view *v, int64_t at, int64_t skip, int64_t *from, int64_t *n)
{
    *from = at + skip;
    for (*n = 0; *from + *n < v->size && v->text[*from + *n] >= 'a' && v->text[*from + *n] <= 'z';)
        ++*n;
    int64_t answer = *from + *n + 2;
    return answer < v->size && v->answer[answer] >= 0 ? answer : -1;
}

static int solve_copy(const view *v)
{
    int64_t from, n, at = 0, answer;
    int asked = 0;
    while ((answer = next_line(v, at, 5, &from, &n)) > 0) {
        for (int64_t i = 0; i < n; i++, asked++)
            expect("copy", v, answer + i, v->text[from + i], n + 2);
        at = answer + n + 1;
    }
    return asked;
}

static int solve_reverse(const view *v)
{
    int64_t from, n, at = 0, answer;
    int asked = 0;
    while ((answer = next_line(v, at, 5, &from, &n)) > 0) {
        for (int64_t i = 0; i < n; i++, asked++)
            expect("reverse", v, answer + i, v->text[from + n - 1 - i], 2 * i + 3);
        at = answer + n + 1;
    }
    return asked;
}

/* By insertion, with where each letter came from. */
static int solve_sort(const view *v)
{
    static int64_t order[LONGEST];
    int64_t from, n, at = 0, answer;
    int asked = 0;
    while ((answer = next_line(v, at, 5, &from, &n)) > 0) {
        for (int64_t i = 0, j; i < n; i++) {
            for (j = i; j > 0 && v->text[order[j - 1]] > v->text[from + i]; j--)
                order[j] = order[j - 1];
            order[j] = from + i;
        }
        for (int64_t i = 0; i < n; i++, asked++)
            expect("sort", v, answer + i, v->text[order[i]], answer + i - order[i]);
        at = answer + n + 1;
    }
    return asked;
}

static int solve_count(const view *v)
{
    int64_t from, n, at = 0, answer;
    int asked = 0;
    while ((answer = next_line(v, at, 11, &from, &n)) > 0) {
        int found = 0;
        char digits[12];
        for (int64_t i = 0; i < n; i++)
            found += v->text[from + i] == v->text[at + 6];
        int length = snprintf(digits, sizeof digits, "%d", found);
        for (int i = 0; i < length; i++, asked++)
            expect("count", v, answer + i, digits[i], answer + i - from);
        at = answer + length + 1;
    }
    return asked;
}

/* "bak=Q bak?Q": from the question back to the last pair with its key that is no riddle itself. */
static int solve_recall(const view *v)
{
    int asked = 0;
    for (int64_t at = 0; at + 4 < v->size; at += 6) {
        if (v->text[at + 3] != '?')
            continue;
        int64_t newest = -1, set = -1;
        for (int64_t p = at - 6; p >= 0 && set < 0; p -= 6)
            if (memcmp(v->text + p, v->text + at, 3) == 0) {
                newest = newest < 0 ? p : newest;
                set = v->text[p + 3] == '=' ? p : -1;
            }
        assert_true(set >= 0);
        expect("recall", v, at + 4, v->text[set + 4], at - newest);
        asked++;
    }
    return asked;
}

static int solve_passkey(const view *v)
{
    int asked = 0;
    int64_t tell = 0, ask = v->size;
    while (v->answer[ask - 1] >= 0)
        ask--;
    while (memcmp(v->text + tell, "key ", 4) != 0)
        tell++;
    for (; ask + asked < v->size; asked++)
        expect("passkey", v, ask + asked, v->text[tell + 4 + asked], ask - tell - 4);
    return asked;
}

/* Cell = the one at (-1, -2); or, where a stripe begins, at (+1, +2). */
static int solve_grid(const view *v)
{
    int64_t side = 1;
    int asked = 0;
    while (side * side < v->size)
        side++;
    for (int64_t t = 0; t < v->size; t++) {
        if (v->answer[t] < 0)
            continue;
        int64_t row = t / side, column = t % side;
        bool has = row >= 1 && column >= 2;
        int64_t from = has ? t - side - 2 : t + side + 2;
        assert_true(has || (row + 1 < side && column + 2 < side));
        expect("grid", v, t, v->text[from], has ? side + 2 : 0);
        asked++;
    }
    return asked;
}

/* ---------------------------------------------------------------- claims */

static const struct {
    const char *name;
    int (*solve)(const view *);
} task[] = {
    { "copy", solve_copy },   { "reverse", solve_reverse }, { "recall", solve_recall }, { "passkey", solve_passkey },
    { "count", solve_count }, { "sort", solve_sort },       { "grid", solve_grid },
};

static int asked_in(const view *v)
{
    int n = 0;
    for (int64_t t = 0; t < v->size; t++)
        n += v->answer[t] >= 0;
    return n;
}

static void try_task(int i, bool masked, int64_t length)
{
    static view v;
    lab_data *d = open_source(task[i].name, masked);
    lab_batch b = batch_of(d, 4, lab_data_length(d, length));
    for (int step = 0; step < 3; step++) {
        if (step < 2)
            lab_data_train(d, &b, 11, step);
        else
            lab_data_test(d, &b, 0);
        for (int64_t row = 0; row < b.sequences; row++) {
            look(&v, &b, row);
            assert_int_equal(task[i].solve(&v), asked_in(&v));
        }
    }
    lab_batch_free(&b);
    lab_data_free(d);
}

TEST(each_task_is_solved_from_the_window_alone)
{
    for (int i = 0; i < COUNT(task); i++)
        for (int masked = 0; masked < 2; masked++)
            for (int64_t length = 16; length <= 2048; length += length < 64 ? 1 : length / 3)
                try_task(i, masked, length);
}

/* Every task in the table but stories and text is solved above. */
TEST(no_task_is_left_out)
{
    assert_int_equal(lab_source_count(), COUNT(task) + 2);
}

/* What is asked for takes a good part of the window: a page is not padding. */
TEST(windows_are_full)
{
    for (int i = 0; i < COUNT(task); i++) {
        lab_data *d = open_source(task[i].name, false);
        lab_batch b = batch_of(d, 64, 256);
        lab_data_train(d, &b, 5, 5);
        int64_t asked = 0, padding = 0;
        for (int64_t t = 0; t < 64 * 256; t++) {
            asked += b.target[t] >= 0;
            padding += b.token[t] == '.';
        }
        assert_true(asked >= 64 * 5);
        assert_true(padding < 64 * 256 / 10);
        lab_batch_free(&b);
        lab_data_free(d);
    }
}

/* 15 % of the cells, less what the edges forbid: between 12 and 17 % at side 32. Positions are (row, column). */
TEST(a_grid_has_rows_columns_and_holes)
{
    lab_data *d = open_source("grid", false);
    assert_false(lab_data_causal(d));
    assert_int_equal(lab_data_axes(d), 2);
    lab_batch b = batch_of(d, 16, 1024);
    lab_data_train(d, &b, 1, 1);
    int64_t masked = 0;
    for (int64_t t = 0; t < 16 * 1024; t++)
        masked += b.token[t] == 256;
    assert_in_range(masked, 16 * 1024 * 12 / 100, 16 * 1024 * 17 / 100);
    for (int64_t t = 0; t < 1024; t++) {
        assert_int_equal(b.at[2 * t], t / 32);
        assert_int_equal(b.at[2 * t + 1], t % 32);
    }
    lab_batch_free(&b);
    lab_data_free(d);
}
