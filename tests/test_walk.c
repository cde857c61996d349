/* labels: core; tier: quick; cost: 1 s; needs: show wrap
 * SPDX-License-Identifier: MIT
 *
 * A walk's lines are equations: their sides are evaluated here, with the rounding of every number that is shown carried
 * along, and have to agree; and what they lead to is the library's. */
#include "draw_case.h"
#include "base/tell.h"
#include "result/result.h"

#include "show/show.h"

/* ------------------------------------------------ expressions, with the error that comes from shown digits */

typedef struct quantity {
    double x, error;
    bool known; /* false: a name stands in it */
} quantity;

typedef struct reader {
    const char *at;
} reader;

static const quantity unknown = { 0, 0, false };
static quantity sum_of(reader *r);

static bool take_word(reader *r, const char *word)
{
    while (*r->at == ' ')
        r->at++;
    size_t n = strlen(word);
    if (strncmp(r->at, word, n))
        return false;
    r->at += n;
    return true;
}

/* The largest change of f where both arguments may be off by their errors. */
static quantity combine(quantity a, quantity b, double (*f)(double, double))
{
    quantity out = { f(a.x, b.x), 0, a.known && b.known };
    for (int i = 0; i < 4; i++) {
        double x = f(a.x + (i & 1 ? a.error : -a.error), b.x + (i & 2 ? b.error : -b.error));
        out.error = fmax(out.error, fabs(x - out.x));
    }
    out.known = out.known && isfinite(out.x);
    return out;
}

static double plus(double a, double b) { return a + b; }
static double minus(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double modulo(double a, double b) { return a - b * floor(a / b); }
static double sine(double a, double b) { (void)b; return sin(a); }
static double cosine(double a, double b) { (void)b; return cos(a); }
static double size(double a, double b) { (void)b; return fabs(a); }
static double root(double a, double b) { (void)b; return sqrt(fmax(a, 0)); }
static double power_of_e(double a, double b) { (void)b; return exp(a); }
static double logarithm(double a, double b) { (void)b; return log(a); }
static double down(double a, double b) { (void)b; return floor(a); }
static double up(double a, double b) { (void)b; return ceil(a); }

static const struct {
    const char *name;
    double (*f)(double, double);
    int arguments;
} functions[] = { { "sin(", sine, 1 },        { "cos(", cosine, 1 }, { "sqrt(", root, 1 }, { "exp(", power_of_e, 1 },
                  { "log(", logarithm, 1 }, { "floor(", down, 1 }, { "ceil(", up, 1 }, { "max(", fmax, 2 },  { "min(", fmin, 2 } };

/* As tell_number writes them: whole numbers in full, else four digits. */
static quantity number_of(reader *r)
{
    char *end;
    double x = strtod(r->at, &end), off = 0;
    size_t n = (size_t)(end - r->at);
    bool whole = !memchr(r->at, '.', n) && !memchr(r->at, 'e', n);
    if (!whole)
        off = fabs(x) < 0.1 || fabs(x) >= 1e6 ? 5.01e-4 * fabs(x) : fabs(x) < 100 ? 5.01e-5 : 5.01e-3;
    r->at = end;
    quantity out = { x, off, true };
    return take_word(r, "π") ? combine(out, (quantity){ acos(-1), 0, true }, times) : out;
}

static quantity atom_of(reader *r)
{
    for (int i = 0; i < COUNT(functions); i++)
        if (take_word(r, functions[i].name)) {
            quantity a = sum_of(r), b = { 0, 0, true };
            if (functions[i].arguments == 2)
                b = take_word(r, ",") ? sum_of(r) : unknown;
            return take_word(r, ")") ? combine(a, b, functions[i].f) : unknown;
        }
    bool bar = take_word(r, "|");
    if (bar || take_word(r, "(")) {
        quantity a = sum_of(r);
        if (!take_word(r, bar ? "|" : ")"))
            return unknown;
        return bar ? combine(a, (quantity){ 0, 0, true }, size) : a;
    }
    while (*r->at == ' ')
        r->at++;
    return *r->at >= '0' && *r->at <= '9' ? number_of(r) : unknown;
}

static quantity signed_of(reader *r)
{
    if (take_word(r, "-")) {
        quantity a = signed_of(r);
        a.x = -a.x;
        return a;
    }
    quantity a = atom_of(r);
    return take_word(r, "^") ? combine(a, signed_of(r), pow) : a;
}

static quantity product_of(reader *r)
{
    quantity a = signed_of(r);
    for (;;)
        if (take_word(r, "·"))
            a = combine(a, signed_of(r), times);
        else if (take_word(r, "/"))
            a = combine(a, signed_of(r), over);
        else if (take_word(r, "mod"))
            a = combine(a, signed_of(r), modulo);
        else
            return a;
}

static quantity sum_of(reader *r)
{
    quantity a = product_of(r);
    for (;;)
        if (take_word(r, "+"))
            a = combine(a, product_of(r), plus);
        else if (take_word(r, "-"))
            a = combine(a, product_of(r), minus);
        else
            return a;
}

static quantity value_of(const char *text)
{
    reader r = { text };
    quantity q = sum_of(&r);
    while (*r.at == ' ')
        r.at++;
    return *r.at ? unknown : q;
}

/* ------------------------------------------------ lines */

enum { SIDES_MAX = 8 };

/* How many sides of the chain are numbers; -1: two of them disagree. */
static int chain_agrees(const char *text)
{
    static char copy[20000];
    quantity side[SIDES_MAX];
    int known = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy, *next; at; at = next) {
        next = strstr(at, " = ");
        if (next) {
            *next = 0;
            next += 3;
        }
        quantity q = value_of(at);
        if (q.known && known < SIDES_MAX)
            side[known++] = q;
    }
    for (int i = 1; i < known; i++)
        if (fabs(side[i].x - side[0].x) > side[i].error + side[0].error + 1e-9 * fabs(side[0].x) + 1e-12)
            return -1;
    return known;
}

typedef struct tally {
    int lines, checked; /* equations, and those with a side to check the number against */
} tally;

/* Each line before its number is rounded: its sides agree, and the last one is the number. */
static void check_walk(const char *spec, const walk *w, tally *t)
{
    for (int i = 0; i < w->count; i++)
        for (int n = 0; n < w->step[i].count; n++) {
            const walk_line *l = &w->step[i].line[n];
            char line[21000];
            if (l->count > 1 || !l->text)
                continue;
            snprintf(line, sizeof line, "%s%s%s", l->name ? l->name : "", l->name ? " = " : "", l->text);
            int known = chain_agrees(line);
            if (known < 0)
                fail_msg("%s: step %d: the sides of %s disagree", spec, i + 1, line);
            if (!l->count)
                continue;
            const char *text = l->text;
            for (const char *next; (next = strstr(text, " = ")); text = next + 3) {
            }
            quantity q = value_of(text); /* the side before the number, against the number unrounded */
            t->lines++;
            t->checked += q.known && strcmp(l->text, tell_number(l->value[0]).text); /* else it is printed once */
            if (q.known && fabs(q.x - l->value[0]) > q.error + 1e-9 * fabs(q.x) + 1e-12)
                fail_msg("%s: step %d: %s is %.9g; the library has %.9g", spec, i + 1, line, q.x, l->value[0]);
        }
}

/* The walk as people read it, no line broken; the caller may change it. */
static char *printed(const walk *w)
{
    memory m;
    result *r = result_new();
    walk_fill(r, w);
    assert_ok(result_write(memory_open(&m), r, RESULT_AS_TEXT, &(result_screen){ .columns = 30000 }, &err));
    memory_end(&m);
    result_free(r);
    return m.text;
}

/* Every line that is printed, its last number with it: all its sides agree. Returns how many lines had two to compare. */
static int check_printed(const char *spec, const walk *w)
{
    int compared = 0;
    char *save = NULL;
    for (char *line = strtok_r(printed(w), "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        int known = chain_agrees(line);
        if (known < 0)
            fail_msg("%s: the sides of %s disagree", spec, line);
        compared += known > 1;
    }
    return compared;
}

static walk_request ask(int64_t position, int64_t dim)
{
    return (walk_request){ .position = { position }, .position_count = 1, .dim = dim, .heads = 8, .seed = 1 };
}

static void release_walk(void *w)
{
    walk_free(w);
}

static walk *walk_of(const char *spec, walk_request r)
{
    walk *w;
    if (walk_new(&w, spec, &r, &err))
        fail_msg("%s at %lld, dim %lld: %s", spec, (long long)r.position[0], (long long)r.dim, err.text);
    return keep(w, release_walk);
}

static tally walk_spec(const char *spec, walk_request r)
{
    tally t = { 0, 0 };
    const walk *w = walk_of(spec, r);
    check_walk(spec, w, &t);
    if (check_printed(spec, w) < t.checked)
        fail_msg("%s: of %d equations fewer are printed with both sides", spec, t.checked);
    return t;
}

/* ------------------------------------------------ claims */

TEST(the_checker_sees_a_wrong_side)
{
    static const struct {
        const char *chain;
        int known;
    } cases[] = { { "p = sin(5 · 10000^(-2/8)) = sin(5 · 0.1) = 0.4794", 3 },
                  { "p = sin(5 · 10000^(-2/8)) = sin(5 · 0.1) = 0.4796", -1 },
                  { "x = 0.3 · (-0.5) + 1.2 · 2 = 2.25", 2 },
                  { "x = 0.3 · (-0.5) + 1.2 · 2 = 2.26", -1 },
                  { "x = 5 - 2π · 1 = -1.2832", 2 },
                  { "x = |3 - 5|^2 / 4 = floor(6 / 2^1) mod 2 = 1", 3 },
                  { "x = table[3][0] = 0.1", 1 } };
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(chain_agrees(cases[i].chain), cases[i].known);
}

/* Examples are valid for 8 heads of 64; the row's name alone for any width that its pairs allow. */
TEST(every_row_walks_and_its_sides_agree)
{
    static const int64_t dims[] = { 2, 8, 64 }, positions[] = { 0, 1, 5, 6 };
    int lines = 0, checked = 0;
    for (int i = 0; i < pe_info_count(); i++)
        for (int d = 0; d < 3; d++)
            for (int p = 0; p < 4; p++) {
                const pe_info *row = pe_info_at(i);
                pe_encoding *e;
                pe_shape shape = { .heads = 8, .head_dim = dims[d], .model_dim = dims[d] };
                if (pe_encoding_new(&e, row->name, shape, NULL))
                    continue; /* a row that cannot be so narrow */
                pe_encoding_free(e);
                tally t = walk_spec(row->name, ask(positions[p], dims[d]));
                lines += t.lines;
                checked += t.checked;
            }
    assert_true(lines > 20000);
    assert_true(checked > lines * 9 / 10); /* the rest are rows of tables, by name */
}

/* "table[14][0]": an element of a tensor of the encoding; or the position t; or C_0 and S_0, which a line before it
 * tells. */
static bool is_named(const char *text, const pe_encoding *e)
{
    size_t length = strcspn(text, "[");
    if (!strcmp(text, "t") || !length || (strlen(text) > 2 && text[1] == '_' && (text[0] == 'C' || text[0] == 'S')))
        return true;
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (!strncmp(pe_encoding_tensor(e, i)->name, text, length) && !pe_encoding_tensor(e, i)->name[length])
            return true;
    return false;
}

/* A line's number follows from numbers in its text, or is an element of what training finds; so does that of a line
 * before it. What is drawn with the seed says so in its step. */
static void nothing_is_hidden(const char *spec, const walk_step *step, const pe_encoding *e)
{
    for (int n = 0; n < step->count; n++) {
        const walk_line *l = &step->line[n];
        if (l->count > 1 || (!l->count && !strstr(l->text, " = ")))
            continue;
        if (l->count && !l->text && step->note.en && strstr(step->note.en, "drawn with the seed"))
            continue;
        if (l->count && !l->text && !strcmp(l->name, "scale") && l->value[0] == 1)
            continue; /* a definition: the formula of the row has it */
        const char *text = l->text ? l->text : "nothing", *sum = NULL;
        for (const char *next; (next = strstr(text, " = ")); text = next + 3)
            sum = text;
        if (!l->count) /* "count = 0.2 + 0.3 = 0.5": the side before the number */
            text = sum;
        char side[20000];
        snprintf(side, sizeof side, "%s", text);
        if (!l->count && strstr(side, " = "))
            *strstr(side, " = ") = 0;
        if (!value_of(side).known && !is_named(side, e))
            fail_msg("%s: \"%s\": %s comes from nowhere: %s", spec, step->title.en, l->name ? l->name : l->text, side);
    }
}

TEST(no_number_comes_from_nowhere)
{
    for (int i = 0; i < pe_info_count(); i++) {
        const char *spec = pe_info_at(i)->name;
        const walk *w = walk_of(spec, ask(5, 8));
        pe_encoding *e = test_encoding(spec, (pe_shape){ 8, 8, 8, 8 });
        for (int n = 0; n < w->count; n++)
            nothing_is_hidden(spec, &w->step[n], e);
        pe_encoding_free(e);
    }
}

TEST(every_example_walks)
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int n = 0; n < pe_info_at(i)->example_count; n++) {
            walk *w;
            const char *spec = pe_info_at(i)->examples[n];
            walk_request r = ask(5, 64);
            tally t = { 0, 0 };
            pe_status s = walk_new(&w, spec, &r, &err);
            if (s == PE_ERR_SHAPE && strstr(err.text, "wide"))
                continue; /* a code wider than a walk shows */
            if (s)
                fail_msg("%s: %s", spec, err.text);
            check_walk(spec, w, &t);
            walk_free(w);
        }
}

static const walk_line *line_named(const walk *w, const char *name)
{
    for (int i = 0; i < w->count; i++)
        for (int n = 0; n < w->step[i].count; n++)
            if (w->step[i].line[n].name && !strcmp(w->step[i].line[n].name, name))
                return &w->step[i].line[n];
    return NULL;
}

TEST(the_code_is_the_librarys)
{
    double code[8];
    for (int i = 0; i < pe_info_count(); i++) {
        if (!(pe_info_at(i)->hooks & PE_HOOK_EMBED) || pe_info_at(i)->hooks & PE_HOOK_ROTATE)
            continue;
        const walk *w = walk_of(pe_info_at(i)->name, ask(5, 8));
        pe_encoding *e = test_encoding(pe_info_at(i)->name, (pe_shape){ 8, 8, 8, 8 });
        pe_params params = { .dtype = PE_F64, .count = pe_encoding_param_count(e) };
        params.data = params.count ? malloc((size_t)params.count * 8) : NULL;
        if (params.count)
            assert_int_equal(pe_encoding_init(e, params, 1, NULL), PE_OK);
        assert_int_equal(pe_embed(e, pe_view_of(code, PE_F64, 1, 1, 1, 8), (pe_view){ 0 }, pe_positions_of((int64_t[]){ 5 }, PE_I64, 1, 1, 1), &PE_MAKE(pe_run, .params = params), NULL), PE_OK);
        for (int c = 0; c < 8; c++) {
            char name[20];
            snprintf(name, sizeof name, "p_5[%d]", c);
            const walk_line *l = line_named(w, name);
            assert_non_null(l);
            assert_true(l->value[0] == code[c]);
        }
        free(params.data);
        pe_encoding_free(e);
    }
}

/* Not within the rounding of what is shown, but as printed: to the digits that both operands show. */
TEST(what_has_changed_is_true_as_printed)
{
    int lines = 0;
    for (int i = 0; i < pe_info_count(); i++)
        for (int64_t position = 0; position < 7; position++) {
            const walk *w = walk_of(pe_info_at(i)->name, ask(position, 8));
            for (char *at = printed(w); (at = strstr(at, "with - without")); at++) {
                char *end;
                double a = strtod(strchr(at, '=') + 1, &end), b = strtod(strstr(end, " - ") + 3, &end);
                double less = strtod(strchr(end, '=') + 1, &end), large = fmax(a, b);
                double digit = large >= 0.1 ? 1e-4 : pow(10, floor(log10(large)) - 3);
                if (fabs(a - b - less) > (fmin(a, b) >= 0.1 ? 1e-12 : 0.5001 * digit))
                    fail_msg("%s at %lld: %.*s", w->spec, (long long)position, (int)(end - at), at);
                lines++;
            }
        }
    assert_true(lines > 300);
}

static const walk_step *step_titled(const walk *w, const char *title)
{
    for (int i = 0; i < w->count; i++)
        if (!strcmp(say(w->step[i].title, ENGLISH), title))
            return &w->step[i];
    return NULL;
}

/* A row tells where the frequencies of all its pairs come from, or of none (its row has no tell_pair). */
static bool tells_frequencies(const walk_step *step)
{
    for (int k = 0; step && k < step->count; k++)
        if (step->line[k].count && !strncmp(step->line[k].name, "f_", 2) && step->line[k].text)
            return true;
    return false;
}

/* Every pair's frequency is evaluated from its own text, with every scaling. */
TEST(where_every_frequency_comes_from_is_told)
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int n = 0; n < pe_info_at(i)->example_count; n++) {
            if (!(pe_info_at(i)->hooks & PE_HOOK_ROTATE))
                continue;
            const walk *w = walk_of(pe_info_at(i)->examples[n], ask(5, 64));
            const walk_step *step = step_titled(w, "the frequency of each pair");
            int told = 0;
            bool tells = tells_frequencies(step);
            if (!tells) {
                printf("%s does not tell where its frequencies come from\n", w->spec);
                assert_true(strcmp(pe_info_at(i)->name, "rope") && strcmp(pe_info_at(i)->name, "xpos"));
            }
            for (int k = 0; step && k < step->count; k++) {
                const walk_line *l = &step->line[k];
                if (!l->count || strncmp(l->name, "f_", 2))
                    continue;
                if (l->text ? !value_of(l->text).known : tells)
                    fail_msg("%s: %s is not told: %s", w->spec, l->name, l->text ? l->text : "nothing");
                told++;
            }
            assert_true(told > 0);
        }
}

static const double *vector_of(const walk_step *step, const char *name, int count)
{
    for (int k = 0; step && k < step->count; k++)
        if (step->line[k].name && !strcmp(step->line[k].name, name) && step->line[k].count == count)
            return step->line[k].value;
    fail_msg("there is no %s", name);
    return NULL;
}

/* Two words change places: without an encoding nothing does, with one that is no constant the query gets something else,
 * of ALiBi what its slope of 1/2 says. */
TEST(an_exchange_of_words_is_seen_with_an_encoding_alone)
{
    enum { D = 8 };
    static const char *const specs[] = { "alibi", "rope", "sinusoidal", "t5", "cope", "forget", "shaw", "rope+alibi" };
    for (int i = 0; i < COUNT(specs); i++) {
        const walk_step *step = step_titled(walk_of(specs[i], ask(5, D)), "the other two words change places");
        const double *before = vector_of(step, "out, without, before", D);
        const double *after = vector_of(step, "out, without, after", D);
        const double *with = vector_of(step, "out, with, before", D), *moved = vector_of(step, "out, with, after", D);
        double apart = 0;
        for (int c = 0; c < D; c++) {
            assert_true(fabs(before[c] - after[c]) < 1e-12);
            apart = fmax(apart, fabs(with[c] - moved[c]));
        }
        if (apart < 1e-6)
            fail_msg("%s: the query gets the same", specs[i]);
    }
    const walk *w = walk_of("alibi", ask(5, D));
    const walk_step *plain = step_titled(w, "attention without the encoding"), *first = &w->step[0];
    const double *moved = vector_of(step_titled(w, "the other two words change places"), "out, with, after", D);
    const double *x[] = { vector_of(first, "x_3 (dog)", D), vector_of(first, "x_4 (bites)", D),
                          vector_of(first, "x_5 (man)", D) };
    const double weight[] = { exp(*vector_of(plain, "score(5, 3)", 1) - 0.5 * 1),
                              exp(*vector_of(plain, "score(5, 4)", 1) - 0.5 * 2),
                              exp(*vector_of(plain, "score(5, 5)", 1)) };
    for (int c = 0; c < D; c++) {
        double out = 0;
        for (int j = 0; j < 3; j++)
            out += weight[j] * x[j][c] / (weight[0] + weight[1] + weight[2]);
        assert_true(fabs(out - moved[c]) < 1e-9);
    }
}

/* Position alone: what the encoding divides by is the same on both sides. */
TEST(without_the_encoding_the_scale_is_the_same)
{
    static const char *const specs[] = { "t5", "deberta", "rope:softmax=1.5", "sinusoidal:join=concat", "alibi" };
    for (int i = 0; i < COUNT(specs); i++) {
        const walk *w = walk_of(specs[i], ask(5, 8));
        double scale[2] = { 0 };
        int found = 0;
        for (int n = 0; n < w->count; n++)
            for (int k = 0; k < w->step[n].count; k++)
                if (w->step[n].line[k].name && !strcmp(w->step[n].line[k].name, "scale") && found < 2)
                    scale[found++] = w->step[n].line[k].value[0];
        assert_int_equal(found, 2);
        assert_true(scale[0] == scale[1] && scale[0] > 0);
        assert_int_equal(step_titled(w, "attention without the encoding")->note.en != NULL, i < 4);
    }
}

/* Far positions and keys, every choice of a row, combinations, and words that are wider with their codes. */
TEST(specs_of_every_kind_walk_and_agree)
{
    enum { FAR = 1000003 };
    static const struct {
        int64_t position, key; /* key 0: the walk's own choice */
        const char *specs[26];
    } cases[] = {
        { FAR, 0, { "rope", "sinusoidal", "alibi", "binary", "none", "rope:precision=hf", "sandwich" } },
        { FAR, 7, { "rope", "sinusoidal", "alibi", "binary", "none", "rope:precision=hf", "sandwich" } },
        { 4000, 0, { "integer" } },
        { 4000, 7, { "integer" } },
        { 200, 0,
          { "hierarchical:rows=16", "kerple:form=power", "sandwich:width=8,first=1", "alibi:convention=falcon,products=bf16",
            "alibi:form=symmetric", "alibi:slopes=learned", "t5:direction=causal", "learned:rows=300/300",
            "learned:rows=300/300,merge=split", "sinusoidal:layout=halves,order=cos-sin,axes=2",
            "shaw:table=sinusoidal,on=values", "rope:scaling=yarn,factor=4,trained=4096",
            "rope:dims=4,temperature=0.1,floor=64",
            "rope:scaling=yarn,factor=4,trained=4096,truncate=no,mscale=0.7,mscale_all_dim=1,sign=negative",
            "rope:scaling=llama3,factor=8,trained=8192", "rope:scaling=llama3,factor=8,trained=8192,low=1,high=1",
            "rope:scaling=linear,factor=4", "rope:scaling=ntk,alpha=8",
            "rope:scaling=dynamic,factor=2,trained=2048,length=6000",
            "rope:scaling=yarn,factor=2,trained=64,temperature=0.1,floor=64",
            "rope:scaling=longrope,factor=8,trained=1024,length=5000,short=1/1/1/1,long=1/2/4/8",
            "rope:scaling=proportional,turning=0.5,factor=2", "rope:axes=2,split=axial,coords=normalised,extent=300/300",
            "deberta:terms=c2p", "xpos:centre=100,gamma=0.9" } },
        { 5, 0,
          { "sinusoidal+alibi", "rope+t5", "sinusoidal:join=concat", "shaw+learned+rope", "cope+alibi:convention=falcon",
            "rope:turn=qkvo", "inkling:floor=2,alpha=0.5,distances=4,width=2", "inkling:floor=9,distances=4",
            "rope:dims=0,temperature=0.1,floor=2,shift=1", "rope:dims=4,temperature=0.1,floor=2,shift=1", "xpos+window:window=9", "integer:join=concat,width=1+binary" } },
    };
    for (int i = 0; i < COUNT(cases); i++)
        for (const char *const *spec = cases[i].specs; *spec; spec++) {
            walk_request r = ask(cases[i].position, 8);
            r.other[0] = cases[i].key;
            r.other_count = cases[i].key != 0;
            walk_spec(*spec, r);
        }
}

static bool prints(const walk *w, const char *text)
{
    return strstr(printed(w), text);
}

/* Frequencies of each axis that are trained: the angle is their sum over the axes, and each head has its own. */
TEST(trained_axes_add_up_to_the_angle)
{
    walk_request r = ask(5, 4);
    const walk *w = walk_of("rope:axes=2,learned=heads,start=mixed", r);
    walk_spec("rope:axes=2,learned=heads,start=mixed", r);
    walk_spec("rope:axes=2,learned=shared", r);
    assert_true(prints(w, "= 5 · 0.9952 + 5 · 0.09802 = 5.466\n") && prints(w, "f_0[1]"));
    assert_true(!prints(w, "rounds its angles"));
    r.head = 3;
    const walk *other = walk_of("rope:axes=2,learned=heads,start=mixed", r);
    assert_true(*vector_of(step_titled(w, "the frequency of each pair"), "f_0[0]", 1) !=
                *vector_of(step_titled(other, "the frequency of each pair"), "f_0[0]", 1));
}

/* Pairs without a frequency whose sine is 1 have no angle. */
TEST(still_pairs_of_sine_one_have_no_angle)
{
    walk_request r = ask(5, 8);
    const walk *w = walk_of("fope:still=1,trained=64", r);
    walk_spec("fope:still=1,trained=64", r);
    assert_true(prints(w, "S_2 = 1\n") && prints(w, "= S_2 = 1\n"));
    assert_true(!prints(w, "angle_2"));
}

/* What multiplies a query where no pair rotates is told with its numbers, and nothing is called a rotation. */
TEST(a_factor_on_queries_is_told_where_nothing_rotates)
{
    static const struct {
        const char *spec, *text;
        double tau;
    } cases[] = {
        { "inkling:floor=2,alpha=0.5,distances=4,width=2", "1 + 0.5 · log(max((7 + 1) / 2, 1))", 1.693147180559945 },
        { "inkling:floor=9,distances=4", "1 + 0.1 · log(max((7 + 1) / 9, 1))", 1 },
        { "rope:dims=0,temperature=0.1,floor=2,shift=1", "1 + 0.1 · log(1 + max(floor((7 + 1) / 2), 0))",
          1.160943791243410 },
    };
    for (int i = 0; i < COUNT(cases); i++)
        for (int spoken = ENGLISH; spoken <= CHINESE; spoken++) {
            walk_request r = ask(7, 8);
            r.language = (language)spoken;
            const walk *w = walk_of(cases[i].spec, r);
            const walk_line *tau = line_named(w, "tau"), *first = line_named(w, "q'[0]");
            assert_non_null(step_titled(w, "the query is multiplied by tau"));
            assert_null(step_titled(w, "the query is rotated, pair by pair"));
            assert_null(step_titled(w, "the frequency of each pair"));
            assert_null(line_named(w, "k'[0]"));
            assert_non_null(tau);
            assert_string_equal(tau->text, cases[i].text);
            assert_true(fabs(tau->value[0] - cases[i].tau) < 1e-15);
            assert_true(first && strstr(first->text, "tau · q[0] = "));
        }
    assert_null(step_titled(walk_of("rope:dims=0", ask(7, 8)), "the frequency of each pair"));
}

/* The formula of a step is that of the spec, not that of the row. */
TEST(formulas_follow_the_keys)
{
    static const char code[] = "the code of a position", pairs[] = "the frequency of each pair";
    static const struct {
        const char *spec, *step, *formula;
    } cases[] = {
        { "sinusoidal", code, "p_t[2i] = sin(t theta^(-2i/d)), p_t[2i+1] = cos(t theta^(-2i/d))" },
        { "sinusoidal:periods=4/12/20/28", code,
          "p_t[2i] = sin(t f_i), p_t[2i+1] = cos(t f_i), f_i = 2π / periods[i]" },
        { "sinusoidal:frequencies=1/0.5/0.3/0.01", code,
          "p_t[2i] = sin(t f_i), p_t[2i+1] = cos(t f_i), f_i = frequencies[i]" },
        { "sinusoidal:min_timescale=2", code,
          "p_t[2i] = sin(t f_i), p_t[2i+1] = cos(t f_i), f_i = 2 (theta/2)^(-2i/d)" },
        { "sinusoidal:scale=0.5,steps=0.25,offset=-2", code,
          "p_t[2i] = 0.5 sin(0.25 (t - 2) f_i), p_t[2i+1] = 0.5 cos(0.25 (t - 2) f_i), f_i = theta^(-2i/d)" },
        { "sinusoidal:layout=halves,order=cos-sin,denominator=d-2", code,
          "p_t[i] = cos(t f_i), p_t[i + d/2] = sin(t f_i), f_i = theta^(-2i/(d-2))" },
        { "sinusoidal:axes=2,steps=1/0.25", code,
          "p_t[2i] = sin(steps[axis] t f_i), p_t[2i+1] = cos(steps[axis] t f_i), f_i = theta^(-2i/d)" },
        { "rope", pairs, "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t theta^(-2i/d)" },
        { "rope:frequencies=1/0.5/0.1/0.01", pairs,
          "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t f_i, f_i = frequencies[i]" },
        { "rope:steps=0.5,sign=negative", pairs,
          "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = -0.5 t f_i, f_i = theta^(-2i/d)" },
        { "rope:scaling=linear,factor=4,denominator=d-2", pairs,
          "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t f_i, f_i = theta^(-2i/(d-2)) / factor" },
        { "rope:scaling=yarn,factor=4,trained=64", pairs,
          "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t f_i, f_i = yarn(theta^(-2i/d))" },
        { "rope:scaling=ntk,alpha=8", pairs,
          "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = t f_i, f_i = (theta alpha^(d/(d-2)))^(-2i/d)" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const walk_step *step = step_titled(walk_of(cases[i].spec, ask(5, 8)), cases[i].step);
        assert_non_null(step);
        assert_string_equal(step->formula, cases[i].formula);
    }
}

TEST(a_number_that_stands_for_itself_is_printed_once)
{
    const walk *w = walk_of("rope:frequencies=1/0.5/0.1/0.01", ask(5, 8));
    assert_has(printed(w), "f_0  = 1\n", "f_1  = 0.5\n", NULL);
    assert_null(strstr(printed(w), "= 1 = 1"));
    const walk_line *l = line_named(walk_of("sinusoidal:frequencies=1/0.5/0.3/0.01", ask(5, 8)), "p_5[0]");
    assert_string_equal(l->text, "sin(5 · 1)");
    l = line_named(walk_of("sinusoidal:periods=4/12/20/28", ask(5, 8)), "p_5[0]");
    assert_string_equal(l->text, "sin(5 · 2π / 4) = sin(5 · 1.5708)");
}

TEST(both_languages_have_the_same_numbers)
{
    for (int i = 0; i < pe_info_count(); i++) {
        walk_request r = ask(5, 8);
        const walk *w[2] = { walk_of(pe_info_at(i)->name, r), NULL };
        r.language = CHINESE;
        w[1] = walk_of(pe_info_at(i)->name, r);
        assert_int_equal(w[0]->count, w[1]->count);
        for (int n = 0; n < w[0]->count; n++) {
            assert_int_equal(w[0]->step[n].count, w[1]->step[n].count);
            assert_string_not_equal(say(w[0]->step[n].title, ENGLISH), say(w[0]->step[n].title, CHINESE));
            for (int k = 0; k < w[0]->step[n].count; k++)
                if (w[0]->step[n].line[k].count)
                    assert_memory_equal(w[0]->step[n].line[k].value, w[1]->step[n].line[k].value, 8);
        }
    }
}

TEST(what_cannot_be_walked_says_why)
{
    static const struct {
        const char *spec;
        int64_t position, dim;
        int coordinates;
        int64_t head;
        pe_status status;
        const char *words;
    } cases[] = { { "rope", 5, 7, 1, 0, PE_ERR_SHAPE, "even" },
                  { "sinusoidal:axes=2", 5, 7, 1, 0, PE_ERR_SHAPE, "7" },
                  { "rop", 5, 8, 1, 0, PE_ERR_SPEC, "rope" },
                  { "learned", 600, 8, 1, 0, PE_ERR_POSITION, "512" },
                  { "learned", -3, 8, 1, 0, PE_ERR_POSITION, "row" },
                  { "rope", 5, 0, 1, 0, PE_ERR_RANGE, "dim is 0" },
                  { "rope", 5, 65, 1, 0, PE_ERR_RANGE, "64" },
                  { "sinusoidal:join=concat,width=4096", 5, 8, 1, 0, PE_ERR_SHAPE, "4104" },
                  { "learned:rows=2147483648", 5, 64, 1, 0, PE_ERR_SHAPE, "parameters" },
                  { "rope", 5, 8, 2, 0, PE_ERR_SHAPE, "2 coordinates" },
                  { "rope", 5, 8, 1, 8, PE_ERR_RANGE, "head is 8" } };
    for (int i = 0; i < COUNT(cases); i++) {
        walk_request r = ask(cases[i].position, cases[i].dim);
        walk *w = (walk *)&r;
        r.position_count = cases[i].coordinates;
        r.head = cases[i].head;
        assert_int_equal(walk_new(&w, cases[i].spec, &r, &err), cases[i].status);
        assert_null(w);
        assert_has(err.text, cases[i].words, NULL);
    }
}

static pe_status walk_and_free(const void *spec, pe_error *why)
{
    walk *w;
    walk_request r = ask(5, 4);
    pe_status s = walk_new(&w, spec, &r, why);
    assert_true(!s == !!w);
    walk_free(w);
    return s;
}

TEST(no_memory_is_said_and_nothing_is_left)
{
    static const char *const specs[] = { "rope", "sinusoidal", "shaw", "cope" };
    for (int i = 0; i < COUNT(specs); i++)
        each_allocation_fails(walk_and_free, specs[i], 17);
}
