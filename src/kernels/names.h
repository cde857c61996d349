/* SPDX-License-Identifier: MIT
 *
 * Files of the library share functions; a program that links it must not see their short names. The packaging test
 * fails on a global name that is missing here. */
#ifndef PE_NAMES_H
#define PE_NAMES_H

#define array_region pei_array_region
#define check_block pei_check_block
#define check_grads pei_check_grads
#define check_memory pei_check_memory
#define check_params pei_check_params
#define check_pointer pei_check_pointer
#define check_positions pei_check_positions
#define check_reach pei_check_reach
#define check_view pei_check_view
#define checked_add pei_checked_add
#define checked_mul pei_checked_mul
#define theta_power pei_theta_power
#define exact_arithmetic pei_exact_arithmetic
#define num_from_f16 pei_num_from_f16
#define num_to_16 pei_num_to_16
#define params_region pei_params_region
#define part_alloc pei_part_alloc
#define part_entry pei_part_entry
#define part_entry_grad pei_part_entry_grad
#define part_fail pei_part_fail
#define part_tensor pei_part_tensor
#define positions_region pei_positions_region
#define problem_open pei_problem_open
#define problem_outputs pei_problem_outputs
#define problem_reach pei_problem_reach
#define problem_regions pei_problem_regions
#define problem_size pei_problem_size
#define query_at pei_query_at
#define query_probabilities pei_query_probabilities
#define query_seen pei_query_seen
#define query_shift pei_query_shift
#define query_tile pei_query_tile
#define query_turn_keys pei_query_turn_keys
#define rope_check_scaling pei_rope_check_scaling
#define rope_frequency pei_rope_frequency
#define rope_magnitude pei_rope_magnitude
#define rope_angle_ggml pei_rope_angle_ggml
#define rope_angle_hf pei_rope_angle_hf
#define rope_prepare_ggml pei_rope_prepare_ggml
#define rope_prepare_hf pei_rope_prepare_hf
#define rope_denominator pei_rope_denominator
#define rope_turns pei_rope_turns
#define rope_is_long pei_rope_is_long
#define rotate_f32_c pei_rotate_f32_c
#define rotate_f64_c pei_rotate_f64_c
#define rotate_view pei_rotate_view
#define score_bias pei_score_bias
#define score_bias_back pei_score_bias_back
#define score_content pei_score_content
#define score_content_back pei_score_content_back
#define spec_free pei_spec_free
#define spec_print pei_spec_print
#define spec_read pei_spec_read
#define spectrum pei_spectrum
#define text_nearest pei_text_nearest
#define text_number pei_text_number
#define text_print pei_text_print
#define text_show pei_text_show
#define text_unit pei_text_unit
#define turn_cos_sin pei_turn_cos_sin
#define turn_per_radian pei_turn_per_radian
#define value_add pei_value_add
#define value_back pei_value_back
#define view_region pei_view_region
#define wide_add pei_wide_add
#define wide_clamp pei_wide_clamp
#define wide_div pei_wide_div
#define wide_exp pei_wide_exp
#define wide_floor pei_wide_floor
#define wide_from pei_wide_from
#define wide_log pei_wide_log
#define wide_mul pei_wide_mul
#define wide_pow pei_wide_pow
#define wide_scale pei_wide_scale
#define wide_sub pei_wide_sub
#define wide_two_pi pei_wide_two_pi
#define xl_fill pei_xl_fill
#define xl_init pei_xl_init
#define xl_reaches pei_xl_reaches

#endif
