/* SPDX-License-Identifier: MIT
 *
 * Functions that cannot fail: whatever they get, they return. */
#ifndef TESTS_MISUSE_ALONE_H
#define TESTS_MISUSE_ALONE_H

#include "misuse/args.h"

static void try_getters(void)
{
    pe_shape none = pe_encoding_shape(NULL);
    pe_encoding_free(NULL);
    pe_pool_free(NULL);
    pe_plan_free(NULL);
    assert_null(pe_plan_lowered(NULL));
    assert_true(!pe_encoding_inputs(NULL).gates && pe_encoding_inputs(NULL).relative == 0);
    assert_string_equal(pe_encoding_spec(NULL), "");
    assert_string_equal(pe_encoding_kernels(NULL), "");
    assert_true(*pe_encoding_kernels(some));
    assert_int_equal(pe_encoding_fingerprint(NULL), 0);
    assert_true(none.heads == 0 && none.kv_heads == 0 && none.head_dim == 0 && none.model_dim == 0);
    assert_int_equal(pe_encoding_axes(NULL), 0);
    assert_true(pe_encoding_scale(NULL) == 0 && pe_encoding_magnitude(NULL) == 1);
    assert_int_equal(pe_encoding_pair_count(NULL), 0);
    assert_int_equal(pe_encoding_param_count(NULL), 0);
    assert_int_equal(pe_encoding_tensor_count(NULL), 0);
    assert_null(pe_encoding_tensor(NULL, 0));
    static const int wrong[] = { -1, INT32_MIN, INT32_MAX };
    for (int i = 0; i < COUNT(wrong); i++)
        assert_null(pe_encoding_tensor(some, wrong[i]));
    assert_null(pe_encoding_tensor(some, pe_encoding_tensor_count(some)));
    assert_int_equal(pe_encoding_hooks(NULL), 0);
    assert_int_equal(pe_encoding_claims(NULL), 0);
    assert_false(pe_encoding_carries(NULL));
    assert_false(pe_encoding_replaces(NULL));
    assert_int_equal(pe_encoding_hooks_at(NULL, PE_BEFORE_SCALE), 0);
    pe_formula one = { .count = -1 };
    assert_int_equal(pe_encoding_formulas(NULL, &one, 1), 0);
    assert_int_equal(pe_encoding_formulas(some, &one, INT32_MIN), 2);
    assert_int_equal(one.count, -1);
    assert_int_equal(pe_encoding_formulas(some, NULL, 99), 2);
    assert_int_equal(pe_encoding_formulas(some, &one, 1), 2);
    assert_int_equal(one.count, 8);
    assert_true(pe_encoding_gain(NULL, PE_QUERY, 0) == 1);
    for (int64_t at = INT64_MIN, n = 0; n < 3; n++, at = n == 1 ? INT64_MAX : 0)
        assert_true(isfinite(pe_encoding_gain(some, (pe_side)99, at)));
    assert_int_equal(pe_encoding_hooks_at(some, (pe_stage)99), 0);
}

static void try_embed_width(void)
{
    assert_int_equal(pe_embed_width(NULL, 5), 5);
    assert_int_equal(pe_embed_width(some, -1), -1);
    assert_int_equal(pe_embed_width(some, INT64_MIN), -1);
    assert_int_equal(pe_embed_width(some, INT64_MAX), -1);
    assert_int_equal(pe_embed_width(some, INT64_MAX - 8), INT64_MAX);
    assert_int_equal(pe_embed_width(some, 0), 8);
}

static void try_names(void)
{
    for (int i = -1; i < 100; i++) /* a block has no size of an element */
        assert_true((pe_dtype_size((pe_dtype)i) != 0) == (i >= 0 && i <= PE_BOOL && i != PE_Q8_0 && i != PE_Q4_0));
    for (int i = -2; i < 1000; i++)
        assert_true(pe_status_name((pe_status)i) && *pe_status_name((pe_status)i));
    for (unsigned i = 0; i < 5000; i++) {
        bool one = i && !(i & (i - 1));
        assert_true((pe_claim_name(i) != NULL) == (one && i < 1u << CLAIM_COUNT));
        assert_true((pe_hook_name(i) != NULL) == (one && i <= PE_HOOK_VALUE));
    }
    for (int i = -2; i < 1000; i++)
        assert_true(!pe_idea_name((pe_idea)i) == !pe_idea_advice((pe_idea)i));
    assert_null(pe_claim_name(~0u));
    assert_null(pe_hook_name(~0u));
    assert_true(*pe_version());
    assert_true(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR));
    assert_false(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR - 1));
    assert_false(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR + 1));
    assert_false(pe_agrees(PE_VERSION_MAJOR + 1, PE_VERSION_MINOR));
    assert_false(pe_agrees(-1, INT32_MIN));
}

static void try_info(void)
{
    static const int wrong[] = { -1, INT32_MIN, INT32_MAX };
    for (int i = 0; i < 3; i++) {
        assert_null(pe_info_at(wrong[i]));
        assert_null(pe_info_key(pe_info_at(0), wrong[i]));
        assert_null(pe_info_key(NULL, wrong[i]));
    }
    assert_null(pe_info_key(NULL, 0));
    assert_null(pe_info_key(&(pe_info){ .name = "rope", .key_count = 9 }, 0)); /* none of the registry */
    for (int i = 0; i < pe_info_count(); i++) {
        int count = pe_info_at(i)->key_count;
        assert_null(pe_info_key(pe_info_at(i), count));
        assert_true(!count || pe_info_key(pe_info_at(i), count - 1));
    }
    assert_null(pe_info_at(pe_info_count()));
    for (int i = 0; i < 3; i++)
        assert_null(pe_kernels_name(wrong[i]));
    assert_non_null(pe_kernels_name(0));
    assert_non_null(pe_info_at(pe_info_count() - 1));
}

static void try_views(void)
{
    static int64_t memory[1];
    pe_view v = pe_view_of(NULL, (pe_dtype)99, 1, INT64_MIN, -1, INT64_MAX);
    assert_true(!v.data && (int)v.dtype == 99 && v.batch == 1 && v.tokens == INT64_MIN && v.heads == -1 && v.dim == INT64_MAX);
    v = pe_view_of(memory, PE_F16, 2, 3, 4, 5);
    assert_true(v.data == memory && v.batch_stride == 60 && v.token_stride == 20 && v.head_stride == 5);
    v = pe_view_of(NULL, PE_F32, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX); /* products that do not fit: for the door to refuse */
    assert_true(v.batch_stride > 0 && v.token_stride > 0);
    pe_positions p = pe_positions_of(NULL, (pe_dtype)99, INT64_MIN, -1, INT64_MAX);
    assert_true(!p.data && (int)p.dtype == 99 && p.batch == INT64_MIN && p.tokens == -1 && p.axes == INT64_MAX && !p.start && !p.step);
    p = pe_positions_of(memory, PE_I32, 2, 3, 4);
    assert_true(p.data == memory && p.batch_stride == 12 && p.token_stride == 4 && p.axis_stride == 1);
    p = pe_positions_run(INT64_MIN, INT64_MAX, INT64_MIN);
    assert_true(!p.data && p.batch == INT64_MIN && p.tokens == INT64_MAX && p.start == INT64_MIN && p.step == 1);
}

#endif
