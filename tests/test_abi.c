/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * The layout of what callers compile into their programs, written down: a change here is a change of the SONAME. Structs
 * that begin with their size may grow at their end; those passed whole may not. */
#include "posenc_cuda.h"
#include "test.h"

#if INTPTR_MAX == INT64_MAX
#define AT(type, field, where) _Static_assert(offsetof(type, field) == (where), #type "." #field)
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)

/* Passed whole. */
SIZE(pe_view, 72);
AT(pe_view, dtype, 8);
AT(pe_view, batch, 16);
AT(pe_view, dim, 40);
AT(pe_view, batch_stride, 48);
AT(pe_view, head_stride, 64);
SIZE(pe_positions, 80);
AT(pe_positions, dtype, 8);
AT(pe_positions, batch, 16);
AT(pe_positions, axes, 32);
AT(pe_positions, batch_stride, 40);
AT(pe_positions, start, 64);
SIZE(pe_params, 24);
SIZE(pe_shape, 32);
SIZE(pe_error, 304);
SIZE(pe_pool, 24);
SIZE(pe_table, 152);
SIZE(pe_partial, 32);
SIZE(pe_pages, 16);
SIZE(pe_lengths, 32);
SIZE(pe_mask, 184);
SIZE(pe_pair, 88);
AT(pe_pair, frequency, 40);
AT(pe_pair, decay, 80);
SIZE(pe_inputs, 16);
SIZE(pe_formula, 32);

/* With their size in front: what is there stays where it is. */
AT(pe_cuda_options, device, 8);
AT(pe_cuda_options, cache, 16);
AT(pe_cuda_options, compiler, 24);
AT(pe_cuda_options, driver, 32);
AT(pe_cuda_facts, device, 8);
AT(pe_cuda_facts, capability, 108);
AT(pe_cuda_facts, driver, 112);
AT(pe_cuda_facts, memory, 120);
AT(pe_cuda_facts, built_in, 132);
AT(pe_cuda_facts, cache, 136);
AT(pe_cuda_facts, missing, 436);
AT(pe_run, params, 8);
AT(pe_run, plan, 32);
AT(pe_run, pool, 40);
AT(pe_run, work, 48);
AT(pe_run, work_bytes, 56);
AT(pe_rotation, q, 8);
AT(pe_rotation, at, 296);
AT(pe_rotation, k_table, 528);
AT(pe_attention, out, 8);
AT(pe_attention, q, 152);
AT(pe_attention, q_at, 368);
AT(pe_attention, q_lengths, 528);
AT(pe_attention, pages, 592);
AT(pe_attention, mask, 608);
AT(pe_attention, sinks, 792);
AT(pe_attention, scores, 840);
AT(pe_attention, probabilities, 912);
AT(pe_attention_grad, dout, 8);
AT(pe_attention_grad, dparams, 368);
AT(pe_attention_grad, accumulate, 416);
AT(pe_attention_grad, carry, 424);
AT(pe_attention_grad, dq_gates, 440);
AT(pe_attention, q_gates, 984);
AT(pe_attention, relative, 1128);
AT(pe_tile, score, 8);
AT(pe_tile, q_at, 224);
AT(pe_tile, seen, 384);
AT(pe_tile, q_gates, 408);
AT(pe_tile_grad, dscore, 8);
AT(pe_tile_grad, dparams, 224);
AT(pe_tile_grad, dq_gates, 248);
AT(pe_question, q_at, 32);

/* Made by the library and read through pointers: what is there stays where it is. */
AT(pe_distances, low, 64);
AT(pe_distances, first, 80);
SIZE(pe_distances, 96);
SIZE(pe_segment, 32);
AT(pe_lowered_bias, by, 8);
AT(pe_lowered_bias, segments, 16);
AT(pe_lowered_bias, segment, 32);
AT(pe_lowered_bias, shares, 88);
AT(pe_lowered_bias, device, 112);
AT(pe_lowered_level, level, 8);
AT(pe_lowered_lookup, by, 16);
AT(pe_lowered_lookup, column, 24);
AT(pe_lowered_lookup, rows, 64);
AT(pe_lowered_count, table, 40);
AT(pe_lowered, pairs, 40);
AT(pe_lowered, pair, 64);
AT(pe_lowered, magnitude, 80);
AT(pe_lowered, bias, 112);
AT(pe_lowered, count, 136);
AT(pe_lowered, inputs, 144);
#endif

/* Numbers that files and bindings may keep. */
TEST(enumerators_keep_their_numbers)
{
    static const int is[] = { PE_OK,       PE_ERR_NULL, PE_ERR_SPEC,  PE_ERR_SHAPE, PE_ERR_RANGE,    PE_ERR_DTYPE,
                              PE_ERR_POSITION, PE_ERR_OVERFLOW, PE_ERR_ALIGN, PE_ERR_ALIAS, PE_ERR_NOMEM,
                              PE_ERR_UNSUITED, PE_ERR_IO, PE_ERR_FORMAT, PE_ERR_DEVICE, PE_ERR_PEER };
    for (int i = 0; i < COUNT(is); i++)
        assert_int_equal(is[i], i);
    static const int types[] = { PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0, PE_Q4_0, PE_I64, PE_I32, PE_BOOL };
    for (int i = 0; i < COUNT(types); i++)
        assert_int_equal(types[i], i);
    assert_int_equal(PE_QUERY, 0);
    assert_int_equal(PE_KEY, 1);
    assert_int_equal(PE_VALUE, 2);
    assert_int_equal(PE_OUTPUT, 3);
    static const int ideas[] = { PE_IDEA_NONE, PE_IDEA_ABSOLUTE, PE_IDEA_ROTATION, PE_IDEA_BIAS, PE_IDEA_CONTENT,
                                 PE_IDEA_DATA };
    for (int i = 0; i < COUNT(ideas); i++)
        assert_int_equal(ideas[i], i);
    assert_int_equal(PE_ALIGN_END, 0);
    assert_int_equal(PE_ALIGN_START, 1);
    assert_int_equal(PE_ALIGN_POSITION, 2);
}

TEST(header_and_library_agree)
{
    assert_true(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR));
    assert_false(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR + 1));
    assert_false(pe_agrees(PE_VERSION_MAJOR + 1, 0));
}

/* A program of an older header gives a shorter struct, one of a newer header a longer one. */
TEST(structs_of_other_headers_are_read_as_far_as_they_are_known)
{
    float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    pe_encoding *rope;
    pe_view v = pe_view_of(x, PE_F32, 1, 1, 1, 8);
    struct {
        pe_run run;
        char more[64];
    } newer = { .run = { .size = sizeof newer } };
    pe_run older = { .size = offsetof(pe_run, pool) }, none = { 0 };
    older.pool = (const pe_pool *)(const void *)x; /* not part of it */
    assert_ok(pe_encoding_new(&rope, "rope", (pe_shape){ .heads = 1, .head_dim = 8 }, &err));
    assert_ok(pe_rotate(rope, PE_KEY, v, v, pe_positions_run(1, 1, 0), &newer.run, &err));
    assert_ok(pe_rotate(rope, PE_KEY, v, v, pe_positions_run(1, 1, 0), &older, &err));
    assert_int_equal(pe_rotate(rope, PE_KEY, v, v, pe_positions_run(1, 1, 0), &none, &err), PE_ERR_SHAPE);
    newer.more[63] = 1; /* a field that this library does not know, and that is asked for */
    assert_int_equal(pe_rotate(rope, PE_KEY, v, v, pe_positions_run(1, 1, 0), &newer.run, &err), PE_ERR_UNSUITED);
    pe_encoding_free(rope);
}
