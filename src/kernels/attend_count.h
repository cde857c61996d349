/* SPDX-License-Identifier: MIT
 *
 * Keys counted from right to left. The carry stays a double, of whole steps; within a vector gates are summed in float, on top of the
 * fraction of the carry, so that a place keeps its digits however far it is. */

/* s + line at carry + after; carry is less than last. */
INLINE vf count_some(vf s, vf after, double carry, const float *line, int64_t last)
{
    int64_t whole = (int64_t)carry;
    vf end = vf_set((float)(last - whole));
    vf place = vf_min(vf_set((float)(carry - (double)whole)) + after, end); /* a NaN counts as the end */
    vf at = vf_min(vf_floor(place), end - vf_set(1));
    vf here, next;
    vf_pairs(&here, &next, line + whole, at);
    return s + (here + (place - at) * (next - here));
}

static double count_v(float *s, const float *gate, int64_t n, double carry, const float *line, int64_t last)
{
    const vf beyond = vf_set(line[last - 1] + (line[last] - line[last - 1]));
    while (n > 0) {
        int64_t left = n < VW ? n : VW;
        n -= left;
        vf g = vf_get(gate + n, left), after = vf_sum_after(g), y = vf_get(s + n, left);
        if (carry < (double)last)
            y = count_some(y, after, carry, line, last);
        else
            y += beyond;
        vf_put(s + n, y, left);
        carry += count_step((double)vf_first(after));
    }
    return carry;
}
