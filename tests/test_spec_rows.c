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
