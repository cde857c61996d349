/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: inside
 *
 * Rows against the room that the reader of specs has for them: those of the registry fit, larger ones are refused. */
#include "core/spec.h"
#include "test.h"

static pe_key many[KEYS_MAX + 1];

static pe_status fits(int count, const char *choices)
{
    for (int i = 0; i < count; i++)
        many[i] = (pe_key){ .name = "key", .kind = choices ? PE_KEY_CHOICE : PE_KEY_INT, .fallback = "", .choices = choices };
    forget_error();
    pe_status s = spec_row_fits(&(row){ .info = { .name = "made", .key_count = count }, .keys = many }, &err);
    assert_true(!s == !*err.text);
    return s;
}

TEST(every_row_of_the_registry_fits)
{
    for (int i = 0; i < pe_row_count; i++) {
        assert_ok(spec_row_fits(pe_rows[i], &err));
    }
}

/* posenc list groups by it: a row that acts somewhere has one, and it is one of those that act there. */
TEST(every_row_has_an_idea_that_fits_its_hooks)
{
    for (int i = 0; i < pe_row_count; i++) {
        const pe_info *r = &pe_rows[i]->info;
        bool embeds = r->hooks & PE_HOOK_EMBED, rotates = r->hooks & PE_HOOK_ROTATE;
        bool turns = r->hooks & (PE_HOOK_ROTATE | PE_HOOK_CONTENT); /* content: in its own score, as pope */
        if ((r->idea == PE_IDEA_NONE) != !r->hooks || (r->idea == PE_IDEA_ABSOLUTE) != embeds ||
            (rotates && r->idea != PE_IDEA_ROTATION && r->idea != PE_IDEA_DATA) ||
            (!turns && r->idea == PE_IDEA_ROTATION))
            fail_msg("%s: .idea is %d (%s), which does not fit its hooks", r->name, (int)r->idea,
                     pe_idea_name(r->idea) ? pe_idea_name(r->idea) : "none of them");
    }
    for (int idea = -1; idea <= PE_IDEA_DATA + 1; idea++) {
        bool known = idea >= 0 && idea <= PE_IDEA_DATA;
        assert_true((pe_idea_name((pe_idea)idea) != NULL) == known);
        assert_true((pe_idea_advice((pe_idea)idea) != NULL) == known);
    }
}

/* What an idea's advice says of its rows holds for each of their examples. */
static bool has_no_parameters(const pe_encoding *e) { return pe_encoding_param_count(e) == 0; }
static bool keeps_the_kernel(const pe_encoding *e) { return !pe_encoding_replaces(e); }
static bool learns_or_keeps_the_kernel(const pe_encoding *e) { return !has_no_parameters(e) || keeps_the_kernel(e); }
static bool takes_nothing_of_tokens(const pe_encoding *e)
{
    return !pe_encoding_inputs(e).gates && !pe_encoding_inputs(e).relative;
}
static bool takes_something_of_tokens(const pe_encoding *e)
{
    return !takes_nothing_of_tokens(e) || pe_encoding_hooks(e) & PE_HOOK_CONTENT;
}

TEST(advice_is_true_of_every_row_of_its_idea)
{
    static const struct {
        const char *words;
        bool (*holds)(const pe_encoding *e);
    } promises[] = {
        { "no parameters", has_no_parameters },
        { "nothing to set", has_no_parameters },
        { "no change to the attention kernel", keeps_the_kernel },
        { "where nothing is learned the attention kernel stays as it is", learns_or_keeps_the_kernel },
        { "positions follow from the tokens", takes_nothing_of_tokens }, /* gates and vectors are no positions */
        { "what is added to a score is computed from the tokens", takes_something_of_tokens },
    };
    int checked = 0;
    for (int i = 0; i < pe_info_count(); i++)
        for (int n = 0; n < pe_info_at(i)->example_count; n++)
            for (int k = 0; k < COUNT(promises); k++) {
                if (!strstr(pe_idea_advice(pe_info_at(i)->idea), promises[k].words))
                    continue;
                pe_encoding *e;
                const char *spec = pe_info_at(i)->examples[n];
                if (pe_encoding_new(&e, spec, (pe_shape){ .heads = 8, .head_dim = 64, .model_dim = 64 }, NULL))
                    continue;
                if (!promises[k].holds(e))
                    fail_msg("%s: \"%s\" is not true of it", spec, promises[k].words);
                pe_encoding_free(e);
                checked++;
            }
    assert_true(checked > 10);
}

TEST(a_row_with_too_many_keys_is_refused)
{
    assert_int_equal(fits(0, NULL), PE_OK);
    assert_int_equal(fits(KEYS_MAX, NULL), PE_OK);
    assert_int_equal(fits(KEYS_MAX + 1, NULL), PE_ERR_SPEC);
}

TEST(a_key_with_too_many_choices_is_refused)
{
    char letters[301];
    memset(letters, 'a', sizeof letters);
    letters[300] = 0;
    assert_int_equal(fits(1, "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x"), PE_OK);
    assert_int_equal(fits(1, "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y"), PE_ERR_SPEC);
    assert_int_equal(fits(1, letters), PE_ERR_SPEC);
    assert_int_equal(fits(1, letters + 1), PE_OK);
}
