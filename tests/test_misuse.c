/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 14 s
 *
 * Every parameter of every public function gets NULL, zero, negative, huge, misaligned, overlapping: a status and a
 * sentence, never a crash, and after an error no buffer has changed. One table: a row is a function with a valid call
 * and its parameters; structs are walked field by field; each field is made wrong in every way its kind knows. What is
 * accepted nevertheless is listed in `legal`, with the reason. */
#include <fnmatch.h>

#include "misuse/legal.h"

/* ------------------------------------------------ wrong values */

typedef struct leaf {
    char path[80];
    kind kind;
    void *where;
} leaf;

static int collect(const field *f, int n, void *base, const char *prefix, leaf *out, int count)
{
    for (int i = 0; i < n; i++) {
        void *where = (char *)base + f[i].offset;
        leaf *l = &out[count];
        snprintf(l->path, sizeof l->path, "%s%s%s", prefix, *prefix ? "." : "", f[i].name);
        if (f[i].kind == STRUCT) {
            char path[80];
            memcpy(path, l->path, sizeof path);
            count = collect(f[i].sub, f[i].sub_count, where, path, out, count);
            continue;
        }
        l->kind = f[i].kind;
        l->where = where;
        count++;
    }
    return count;
}

/* The n-th of words that are separated by spaces. */
static bool word_at(const char *words, int n, char *out, size_t room)
{
    while (n-- && *words)
        words += strcspn(words, " "), words += *words == ' ';
    snprintf(out, room, "%.*s", (int)strcspn(words, " "), words);
    return *words;
}

/* Those of the members that a row names. */
static int collect_members(const char *names, args *a, leaf *out)
{
    int count = 0;
    char key[64];
    for (int n = 0; word_at(names, n, key, sizeof key); n++) {
        int known = count;
        for (int i = 0; i < COUNT(members); i++)
            if (!strcmp(key, members[i].key))
                count = collect(&members[i].field, 1, a, "", out, count);
        assert_true(count > known);
    }
    return count;
}

static bool is_buffer(kind k)
{
    return k >= BUFFER && k <= ROW_BUFFER;
}

static void *pointer_at(const leaf *l)
{
    void *p;
    memcpy(&p, l->where, sizeof p);
    return p;
}

static void set_pointer(const leaf *l, void *p)
{
    memcpy(l->where, &p, sizeof p);
}

#define NUMBERS (BIT(SIZE) | BIT(STRIDE) | BIT(START))
#define BIT(kind) (1u << (kind))

/* What a number may be that is wrong; `step`: by how much more than it is, `part`: which share of it. */
static const struct {
    unsigned kinds;
    const char *name;
    union {
        int64_t i;
        double d;
        const char *text;
    } value;
    int step, part;
} wrong_values[] = {
    { NUMBERS | BIT(BYTES), "0", { .i = 0 }, 0, 0 }, { NUMBERS, "-1", { .i = -1 }, 0, 0 },
    { NUMBERS, "INT64_MIN", { .i = INT64_MIN }, 0, 0 }, { NUMBERS, "INT64_MAX", { .i = INT64_MAX }, 0, 0 },
    { NUMBERS, "2^62", { .i = INT64_C(1) << 62 }, 0, 0 }, { NUMBERS | BIT(BYTES), "one more", { .i = 0 }, 1, 1 },
    { NUMBERS | BIT(BYTES), "one less", { .i = 0 }, -1, 1 }, { BIT(BYTES), "half", { .i = 0 }, 0, 2 },
    { BIT(BYTES) | BIT(OWN_SIZE), "SIZE_MAX", { .i = -1 }, 0, 0 },
    { BIT(START), "2^36+1", { .i = PE_POSITION_MAX + 1 }, 0, 0 },
    { BIT(START), "-2^36-1", { .i = -PE_POSITION_MAX - 1 }, 0, 0 }, { BIT(OWN_SIZE), "0", { .i = 0 }, 0, 0 },
    { BIT(OWN_SIZE), "1", { .i = 1 }, 0, 0 },
    { BIT(OWN_SIZE), "less than itself", { .i = sizeof(size_t) - 1 }, 0, 0 },
    { BIT(OWN_SIZE), "65537", { .i = (1 << 16) + 1 }, 0, 0 },
    { BIT(DTYPE) | BIT(ENUM) | BIT(INT), "-1", { .i = -1 }, 0, 0 },
    { BIT(DTYPE) | BIT(ENUM) | BIT(INT), "99", { .i = 99 }, 0, 0 },
    { BIT(DTYPE) | BIT(INT), "INT_MAX", { .i = INT32_MAX }, 0, 0 },
    { BIT(ENUM) | BIT(INT), "INT_MIN", { .i = INT32_MIN }, 0, 0 }, { BIT(ENUM), "0", { .i = 0 }, 0, 0 },
    { BIT(ENUM), "1", { .i = 1 }, 0, 0 }, { BIT(ENUM), "2", { .i = 2 }, 0, 0 }, { BIT(ENUM), "3", { .i = 3 }, 0, 0 },
    { BIT(DTYPE), "F32", { .i = PE_F32 }, 0, 0 }, { BIT(DTYPE), "F16", { .i = PE_F16 }, 0, 0 },
    { BIT(DTYPE), "BF16", { .i = PE_BF16 }, 0, 0 }, { BIT(DTYPE), "F64", { .i = PE_F64 }, 0, 0 },
    { BIT(DTYPE), "Q8_0", { .i = PE_Q8_0 }, 0, 0 }, { BIT(DTYPE), "Q4_0", { .i = PE_Q4_0 }, 0, 0 },
    { BIT(DTYPE), "I64", { .i = PE_I64 }, 0, 0 }, { BIT(DTYPE), "I32", { .i = PE_I32 }, 0, 0 },
    { BIT(DTYPE), "BOOL", { .i = PE_BOOL }, 0, 0 }, { BIT(DTYPE), "past the last", { .i = PE_BOOL + 1 }, 0, 0 },
    { BIT(REAL), "nan", { .d = NAN }, 0, 0 }, { BIT(REAL), "inf", { .d = INFINITY }, 0, 0 },
    { BIT(REAL), "-inf", { .d = -INFINITY }, 0, 0 }, { BIT(REAL), "-1", { .d = -1 }, 0, 0 },
    { BIT(REAL), "1e+308", { .d = 1e308 }, 0, 0 }, { BIT(REAL), "0", { .d = 0 }, 0, 0 },
    { BIT(TEXT), "text 0", { .text = NULL }, 0, 0 }, { BIT(TEXT), "text 1", { .text = "" }, 0, 0 },
    { BIT(TEXT), "text 2", { .text = "+" }, 0, 0 }, { BIT(TEXT), "text 3", { .text = "\xff\xfe" }, 0, 0 },
    { BIT(TEXT), "text 4", { .text = "%n%s" }, 0, 0 },
};

/* The m-th of the values that are wrong for this kind; false: there are fewer. */
static bool set_value(const leaf *l, int m, char *name)
{
    int n = 0;
    for (; n < COUNT(wrong_values); n++)
        if (wrong_values[n].kinds & BIT(l->kind) && m-- == 0)
            break;
    if (n == COUNT(wrong_values))
        return false;
    strcpy(name, wrong_values[n].name);
    if (l->kind == TEXT) {
        memcpy(l->where, &wrong_values[n].value.text, sizeof(char *));
    } else if (l->kind == DTYPE || l->kind == ENUM || l->kind == INT) {
        memcpy(l->where, &(int){ (int)wrong_values[n].value.i }, sizeof(int));
    } else if (l->kind == REAL) {
        memcpy(l->where, &wrong_values[n].value.d, sizeof(double));
    } else if (l->kind == BYTES || l->kind == OWN_SIZE) {
        size_t x;
        memcpy(&x, l->where, sizeof x);
        x = wrong_values[n].part ? x / (size_t)wrong_values[n].part + (size_t)wrong_values[n].step
                                 : (size_t)wrong_values[n].value.i;
        memcpy(l->where, &x, sizeof x);
    } else {
        int64_t x;
        memcpy(&x, l->where, sizeof x);
        x = wrong_values[n].part ? x / wrong_values[n].part + wrong_values[n].step : wrong_values[n].value.i;
        memcpy(l->where, &x, sizeof x);
    }
    return true;
}

/* What stands in the buffer is wrong: the third element of positions, rows or the carry, the second of lengths, offsets
 * and pages. */
static bool set_content(const leaf *l, int m, char *name)
{
    static const int64_t far[] = { PE_POSITION_MAX + 1, -PE_POSITION_MAX - 1, INT64_MIN, INT64_MAX };
    static const int64_t length[] = { -1, INT64_MIN, INT64_MAX, 6 }, offset[] = { -1, INT64_MIN, INT64_MAX, 10 };
    static const int32_t page[] = { -1, INT32_MIN, INT32_MAX, 2 * PAGE_COUNT };
    static const double sum[] = { NAN, -INFINITY, -1e300, -1e-300, 1e300, INFINITY };
    const struct {
        kind kind;
        const void *wrong;
        int count;
        size_t size, at;
    } kinds[] = { { POSITION_BUFFER, far, 4, 8, 16 }, { ROW_BUFFER, far, 4, 8, 16 },  { LENGTH_BUFFER, length, 4, 8, 8 },
                  { OFFSET_BUFFER, offset, 4, 8, 8 }, { PAGE_BUFFER, page, 4, 4, 4 }, { CARRY_BUFFER, sum, 6, 8, 16 } };
    for (int i = 0; i < COUNT(kinds); i++)
        if (kinds[i].kind == l->kind && m < kinds[i].count && pointer_at(l)) {
            memcpy((char *)pointer_at(l) + kinds[i].at, (const char *)kinds[i].wrong + (size_t)m * kinds[i].size, kinds[i].size);
            snprintf(name, 64, "content %d", m);
            return true;
        }
    return false;
}

static bool is_input(const char *p)
{
    for (int i = 0; i < OUTPUTS; i++)
        if ((const char *)slot[i] == p)
            return false;
    return p != NULL && p != (const char *)fused_work;
}

static bool set_buffer(const leaf *all, int count, const leaf *l, int m, char *name)
{
    char *old = pointer_at(l);
    if (m == 0) {
        strcpy(name, "NULL");
        set_pointer(l, NULL);
        return true;
    }
    if (m == 1) {
        strcpy(name, "misaligned");
        set_pointer(l, old && l->kind != BYTE_BUFFER ? old + 1 : old);
        return true;
    }
    m -= 2;
    if (!old)
        return false;
    if (m >= 2 * count)
        return set_content(l, m - 2 * count, name);
    const leaf *other = &all[m / 2];
    char *p = is_buffer(other->kind) && other != l ? pointer_at(other) : NULL;
    if (!p || p == old || (m % 2 && sizeof(void *) == 4 && !strcmp(other->path, "plan_out"))) /* past 4 bytes */
        return true;
    snprintf(name, 96, "on %s%s%s", is_input(old) && is_input(p) ? "input " : "", other->path, m % 2 ? "+4" : "");
    set_pointer(l, p + m % 2 * 4);
    return true;
}

/* Makes leaf l wrong in its m-th way; false: there is no m-th way. */
static bool make_wrong(const leaf *all, int count, const leaf *l, int m, char *name)
{
    if (l->kind != HANDLE && l->kind != ERROR)
        return is_buffer(l->kind) ? set_buffer(all, count, l, m, name) : set_value(l, m, name);
    if (m > 1)
        return false;
    strcpy(name, m ? "misaligned" : "NULL");
    set_pointer(l, m ? (char *)pointer_at(l) + 1 : NULL);
    return true;
}

/* ------------------------------------------------ judging */

static long calls, refused;

static bool matches(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

/* The leaf beside this one in the same struct: x.batch of x.batch_stride. */
static const leaf *beside(const leaf *all, int count, const char *path, const char *name)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, "%.*s%s", (int)(strrchr(path, '.') - path) + 1, path, name);
    for (int i = 0; i < count; i++)
        if (!strcmp(all[i].path, wanted))
            return &all[i];
    return NULL;
}

/* A stride that makes elements of an output repeat, walk backwards or overlap. */
static bool written_twice(const leaf *all, int count, const char *path, const char *change)
{
    static const char *const strides[][2] = { { "batch_stride", "batch" }, { "token_stride", "tokens" }, { "head_stride", "heads" } };
    const char *name = strrchr(path, '.');
    const leaf *data = name ? beside(all, count, path, "data") : NULL;
    for (int i = 0; data && i < COUNT(strides); i++) {
        const leaf *size = beside(all, count, path, strides[i][1]);
        int64_t n = 0;
        if (strcmp(name + 1, strides[i][0]) || !size)
            continue;
        memcpy(&n, size->where, sizeof n);
        return n > 1 && pointer_at(data) && !is_input(pointer_at(data)) &&
               (!strcmp(change, "0") || !strcmp(change, "-1") || !strcmp(change, "one less"));
    }
    return false;
}

static unsigned legal_used[COUNT(legal)]; /* a bit per pattern of fields */

static bool is_legal(const leaf *all, int count, const char *function, const char *path, const char *change)
{
    bool found = false, twice = written_twice(all, count, path, change);
    char pattern[200];
    for (int i = 0; i < COUNT(legal); i++)
        for (int n = 0; word_at(legal[i].fields, n, pattern, sizeof pattern); n++)
            if (matches(pattern, path) && matches(legal[i].function, function) && matches(legal[i].change, change) &&
                !(legal[i].unless & hooks_of_some()) && !(twice && !strcmp(pattern, "*_stride"))) {
                legal_used[i] |= 1u << n;
                found = true;
            }
    return found;
}

static void judge(const row *r, args *a, const leaf *all, int count, const char *path, const char *change)
{
    const char *spec = pe_encoding_spec(some);
    bool own = a->err == NULL || (uintptr_t)a->err % 4; /* err itself is under test */
    bool moved = !strncmp(change, "on ", 3) || matches("*_out.data", path); /* in place: an input is written */
    if (!own)
        a->err = &err;
    copy_slots(before, slot);
    forget_error();
    pe_status s = r->call(a);
    calls++;
    refused += s != PE_OK;
    if (s && !own && (!strcmp(pe_status_name(s), pe_status_name((pe_status)999)) || err.status != s || strlen(err.text) < 10))
        fail_msg("%s(%s: %s) of %s: status %d with '%s'", r->names, path, change, spec, s, err.text);
    if (!s && *path && !is_legal(all, count, r->names, path, change))
        fail_msg("%s(%s: %s) of %s was accepted", r->names, path, change, spec);
    for (int i = s && !r->outputs_undefined ? 0 : OUTPUTS; i < SLOTS && (s || !moved); i++)
        if (memcmp(before[i], slot[i], SLOT))
            fail_msg("%s(%s: %s) of %s: %s, but memory %d has changed", r->names, path, change, spec, pe_status_name(s), i);
    copy_slots(slot, before);
    a->err = NULL;
    if (r->call(a) != s)
        fail_msg("%s(%s: %s) of %s: another status without err", r->names, path, change, spec);
}

/* A valid call of the encoding under test, in memory as it was at the beginning. */
static void build_call(args *a, void (*build)(args *a))
{
    copy_slots(slot, pristine);
    memset(a, 0, sizeof *a);
    a->e = some;
    a->err = &err;
    build(a);
}

/* Gradients of parameters that do not exist are not looked at, and neither is a view that is not given. */
static bool absent(const leaf *all, int count, const leaf *l)
{
    const leaf *data = strrchr(l->path, '.') ? beside(all, count, l->path, "data") : NULL;
    bool optional = matches("*.scores.*", l->path) || matches("*.probabilities.*", l->path) || matches("*.mask.*.*", l->path);
    if (!pe_encoding_param_count(some) && (matches("dw.*", l->path) || matches("*dparams.*", l->path)))
        return true;
    if (matches("*.pages.columns", l->path))
        return !pointer_at(beside(all, count, l->path, "table"));
    if (matches("*.sequences", l->path))
        return !pointer_at(beside(all, count, l->path, "offset"));
    return optional && data && !pointer_at(data);
}

/* All bytes, padding too, which nobody wrote: MemorySanitizer is told not to look. */
#ifdef __clang__
__attribute__((no_sanitize("memory")))
#endif
static bool
same_bytes(const args *a, const args *b)
{
    const volatile unsigned char *x = (const void *)a, *y = (const void *)b;
    size_t i = 0;
    while (i < sizeof *a && x[i] == y[i])
        i++;
    return i == sizeof *a;
}

static void try_row(const row *r)
{
    static leaf all[200];
    static args a, valid;
    build_call(&a, r->build);
    judge(r, &a, all, 0, "", "valid");
    int count = collect_members(r->members, &a, all);
    assert_true(count < COUNT(all));
    bool fresh = false;
    for (int i = 0; i < count; i++)
        for (int m = 0;; m++) {
            char change[96] = "";
            if (!fresh)
                build_call(&a, r->build);
            fresh = true;
            valid = a;
            if (absent(all, count, &all[i]) || !make_wrong(all, count, &all[i], m, change))
                break;
            if (same_bytes(&valid, &a) && strncmp(change, "content", 7))
                continue;
            judge(r, &a, all, count, all[i].path, change);
            fresh = false;
        }
}

static const char *const specs[] = {
    "none", "rope", "rope:turn=qkvo,pairs=adjacent-half,magnitude=0.5", "rope:sections=1/1/2", "rope:learned=heads",
    "xpos", "learned:rows=16", "learned:rows=8/8,merge=split", "sinusoidal:join=concat,width=8",
    "shaw:left=2,right=2", "transformer-xl:back=4,ahead=4", "deberta:buckets=4,max=8", "cope:positions=4",
    "t5:buckets=8,max=16", "alibi", "alibi:convention=falcon", "fire:hidden=4", "kerple", "window:window=4/4",
    "sinusoidal+rope+t5:scale=sqrt",
};

TEST(every_wrong_argument_gets_a_status)
{
    for (int n = 0; n < COUNT(specs); n++) {
        some = encoding_of(specs[n], shape);
        copy_slots(slot, pristine);
        assert_ok(pe_plan_new(&some_plan, some, 3, 3, &PE_MAKE(pe_run, .params = params(some, W)), &err));
        for (int i = 0; i < COUNT(table); i++)
            if (table[i].call && (!table[i].few || n % 4 == 1 || pe_encoding_carries(some)))
                try_row(&table[i]);
        pe_plan_free(some_plan);
    }
    char pattern[200];
    for (int i = 0; i < COUNT(legal); i++)
        for (int m = 0; word_at(legal[i].fields, m, pattern, sizeof pattern); m++)
            if (!(legal_used[i] >> m & 1))
                fail_msg("legal[%d] is of no use: %s(%s: %s)", i, legal[i].function, pattern, legal[i].change);
    printf("%ld calls, %ld of them refused\n", calls, refused);
}

TEST(functions_that_cannot_fail_take_anything)
{
    some = encoding_of("sinusoidal:join=concat,width=8", shape);
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].alone)
            table[i].alone();
}

/* ------------------------------------------------ two changes at once */

/* An additive mask without data has no gradient, whatever sizes it states. */
TEST(a_gradient_of_no_mask_is_refused)
{
    static args a;
    some = encoding_of("none", shape);
    build_call(&a, build_backward);
    a.attention_value.mask.additive = pe_view_of(NULL, PE_F32, 1, 1, 1, 1);
    a.attention_grad_value.dadditive = pe_view_of(slot[Y4], PE_F32, 1, 1, 1, 1);
    assert_int_equal(call_backward(&a), PE_ERR_NULL);
}

/* A carry is where q meets a table: no number, less than nothing or more than all keys would be outside it. */
TEST(a_carry_that_no_keys_can_make_is_refused)
{
    enum { AFTER = 3 };
    static args a;
    static const double wrong[] = { NAN, -INFINITY, -1e300, -1e-300, AFTER + 1.5, 1e300, INFINITY }, right[] = { 0, 0.5, AFTER };
    some = encoding_of("cope:positions=4", shape);
    for (int n = 0; n < COUNT(wrong) + COUNT(right) + 1; n++) {
        bool ok = n >= COUNT(wrong) && n < COUNT(wrong) + COUNT(right);
        build_call(&a, build_partial);
        a.attention_value.mask.keys_after = AFTER;
        size_fused(&a, false);
        if (n == COUNT(wrong) + COUNT(right))
            a.piece.carry = NULL;
        else
            a.piece.carry[TQ * H - 1] = ok ? right[n - COUNT(wrong)] : wrong[n];
        memcpy(before[Y], slot[Y], SLOT);
        assert_int_equal(call_partial(&a), ok ? PE_OK : a.piece.carry ? PE_ERR_RANGE : PE_ERR_NULL);
        if (!ok)
            assert_memory_equal(before[Y], slot[Y], SLOT);
        if (n == COUNT(wrong) + COUNT(right))
            continue;
        build_call(&a, build_fused_backward_piece); /* the gradient of a piece has it again */
        a.attention_value.mask.keys_after = AFTER;
        size_fused(&a, true);
        ((double *)memory(PIECE_CARRY))[TQ * H - 1] = ok ? right[n - COUNT(wrong)] : wrong[n];
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_RANGE);
    }
}

/* In float32 they would be infinite or 0. */
TEST(numbers_that_float32_has_not_are_refused_by_fused_attention)
{
    static args a;
    static const struct {
        double cap, scale;
        bool ok;
    } rows[] = { { 0x1p60, 0x1p60, true }, { 0x1p-60, -0x1p-60, true }, { 0, -0x1p60, true }, { 1e39, 1, false }, { 1e-46, 1, false },
                 { 0x1.8p60, 1, false }, { 0, 1e39, false }, { 0, -1e39, false }, { 0, 1e-46, false }, { 0, -0x1p-61, false } };
    some = encoding_of("cope:positions=4", shape);
    for (int n = 0; n < COUNT(rows); n++)
        for (int backward = 0; backward < 2; backward++) {
            build_call(&a, backward ? build_fused_backward : build_fused);
            a.attention_value.soft_cap = rows[n].cap;
            a.attention_value.scale = rows[n].scale;
            pe_status want = rows[n].ok ? PE_OK : PE_ERR_RANGE;
            assert_int_equal((backward ? call_fused_backward_work : call_fused_work)(&a), want);
            forget_error();
            assert_int_equal((backward ? call_fused_backward : call_fused_forward)(&a), want);
            assert_true(rows[n].ok || strstr(err.text, rows[n].scale == 1 ? "soft_cap is " : "scale is "));
            assert_int_equal(pe_reference_work(some, a.attention, &a.run_value.work_bytes, &err), PE_OK);
        }
}

/* Weights are exp(score - lse): three digits of it are none of them. */
TEST(a_log_sum_exp_of_few_digits_has_no_gradient)
{
    static args a;
    some = encoding_of("rope", shape);
    for (int type = 0; type < FLOAT_COUNT; type++) {
        bool ok = type == PE_F32 || type == PE_F64;
        build_call(&a, build_fused_backward);
        a.attention_value.lse.dtype = (pe_dtype)type;
        forget_error();
        assert_int_equal(call_fused_backward(&a), ok ? PE_OK : PE_ERR_DTYPE);
        assert_true(ok || strstr(err.text, "lse is "));
        build_call(&a, build_fused);
        a.attention_value.lse.dtype = (pe_dtype)type;
        assert_int_equal(call_fused_forward(&a), PE_OK);
    }
}

/* A header that is older ends its structs sooner: what lies beyond is not looked at. One that is newer has fields that
 * must be 0: a wish that this library does not know cannot be met. */
TEST(structs_may_be_those_of_an_older_or_newer_header)
{
    enum { MORE = 32 }; /* bytes of fields that this library does not know */
    static _Alignas(16) unsigned char attention[sizeof(pe_attention) + MORE], grad[sizeof(pe_attention_grad) + MORE],
        run[sizeof(pe_run) + MORE];
    static args a;
    static const struct {
        unsigned char *base;
        size_t whole, older;
    } structs[] = { { attention, sizeof attention, offsetof(pe_attention, scores) },
                    { grad, sizeof grad, offsetof(pe_attention_grad, accumulate) },
                    { run, sizeof run, offsetof(pe_run, work_bytes) + sizeof(size_t) } };
    enum { OLDER, NEWER, NEWER_AND_USED, WAYS };
    some = encoding_of("rope", shape);
    for (int n = 0; n < COUNT(structs) * WAYS; n++) {
        unsigned char wanted[SLOT], *base = structs[n / WAYS].base;
        size_t whole = structs[n / WAYS].whole, older = structs[n / WAYS].older;
        int way = n % WAYS;
        build_call(&a, build_fused_backward);
        assert_ok(call_fused_backward(&a));
        memcpy(wanted, slot[Y], SLOT);
        copy_slots(slot, pristine);
        for (int i = 0; i < COUNT(structs); i++)
            memset(structs[i].base, 0, structs[i].whole);
        memcpy(attention, &a.attention_value, sizeof a.attention_value);
        memcpy(grad, &a.attention_grad_value, sizeof a.attention_grad_value);
        memcpy(run, &a.run_value, sizeof a.run_value);
        if (way == OLDER)
            memset(base + older, 0x5b, whole - older);
        if (way == NEWER_AND_USED)
            base[whole - 1] = 1;
        memcpy(base, way == OLDER ? &older : &whole, sizeof whole); /* a struct begins with its size */
        a.attention = (void *)attention, a.attention_grad = (void *)grad, a.run = (void *)run;
        forget_error();
        assert_int_equal(call_fused_backward(&a), way == NEWER_AND_USED ? PE_ERR_UNSUITED : PE_OK);
        if (way == NEWER_AND_USED)
            assert_non_null(strstr(err.text, "does not know"));
        else
            assert_memory_equal(slot[Y], wanted, SLOT);
    }
}

/* Rows without the table they are of would be forgotten silently. */
TEST(rows_of_no_table_are_refused)
{
    static args a;
    static const struct {
        bool q, k; /* have lost their tables */
        const char *said;
    } rows[] = { { true, false, "q_table: it has rows" }, { false, true, "k_table: it has rows" }, { true, true, "q_table: it has rows" } };
    some = encoding_of("rope", shape);
    for (int n = 0; n < COUNT(rows); n++) {
        build_call(&a, build_rotate_qk);
        if (rows[n].q)
            a.rotation_value.q_table.cosine.data = a.rotation_value.q_table.sine.data = NULL;
        if (rows[n].k)
            a.rotation_value.k_table.cosine.data = a.rotation_value.k_table.sine.data = NULL;
        assert_refused(call_rotate_qk(&a), PE_ERR_NULL, rows[n].said);
    }
}

/* Reads the header, so that a new function cannot be forgotten here. */
TEST(every_function_of_the_header_is_in_the_table)
{
    static char text[100000];
    int found = 0;
    FILE *f = fopen("include/posenc.h", "rb");
    if (!f)
        fail_msg("include/posenc.h cannot be opened; run the tests in the project's root");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    for (char *p = text; (p = strstr(p, "\nPE_API ")); p++) {
        char name[64], word[64], *end = strchr(p, '('), *start = end;
        assert_non_null(end);
        while (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z') || (start[-1] >= '0' && start[-1] <= '9'))
            start--;
        snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
        bool known = false;
        for (int i = 0; i < COUNT(table); i++)
            for (int n = 0; !known && word_at(table[i].names, n, word, sizeof word); n++)
                known = !strcmp(word, name);
        if (!known)
            fail_msg("%s is in the header, but not in this test's table", name);
        found++;
    }
    assert_true(found > 40);
}

