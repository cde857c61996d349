// SPDX-License-Identifier: MIT
//
// The encoding at hand as a C program: complete, and doing what the encoding does (a code, a turn, or attention).

import type { State } from "./app";

function text(spec: string): string {
  return `"${spec.replace(/[\\"]/g, "\\$&").replace(/[^\x20-\x7e]/g, "?")}"`;
}

const embed = (s: Readonly<State>): string => `    int64_t width = pe_encoding_embed_width(e, ${s.model});
    float *y = calloc((size_t)(n * width), sizeof *y); /* (n, width): the codes alone, x being 0 */
    pe_view code = pe_view_packed(y, PE_F32, n, 1, width), x = pe_view_packed(NULL, PE_F32, n, 1, ${s.model});
    if (pe_encoding_embed(e, params, code, x, where, &err))
        return fail(&err);
    for (int64_t c = width > ${s.model} ? ${s.model} : 0, end = c + 4; c < end && c < width; c++)
        printf("y[%d][%d] = %.9g\\n", (int)(n - 1), (int)c, (double)y[(n - 1) * width + c]);
`;

const rotate = (s: Readonly<State>): string => `    float *q = malloc(sizeof *q * (size_t)(n * ${s.heads} * ${s.dim})); /* (n, heads, head_dim), of ones */
    for (int64_t i = 0; i < n * ${s.heads} * ${s.dim}; i++)
        q[i] = 1;
    pe_view view = pe_view_packed(q, PE_F32, n, ${s.heads}, ${s.dim});
    if (pe_encoding_rotate(e, PE_QUERY, view, view, where, &err))
        return fail(&err);
    for (int c = 0; c < 4 && c < ${s.dim}; c++)
        printf("q[%d][0][%d] = %.9g\\n", (int)(n - 1), c, (double)q[(n - 1) * ${s.heads} * ${s.dim} + c]);
`;

const attend = (s: Readonly<State>): string => `    float *q = malloc(sizeof *q * (size_t)(n * ${s.heads} * ${s.dim})), *out = calloc((size_t)(n * ${s.heads} * ${s.dim}), sizeof *out);
    for (int64_t i = 0; i < n * ${s.heads} * ${s.dim}; i++)
        q[i] = (float)(i % 7) / 7; /* queries, keys and values at once */
    pe_view view = pe_view_packed(q, PE_F32, n, ${s.heads}, ${s.dim});
    pe_attention a = { .q = view, .k = view, .v = view, .q_at = where, .k_at = where, .mask = { .causal = true } };
    a.out = pe_view_packed(out, PE_F32, n, ${s.heads}, ${s.dim});
    size_t bytes;
    if (pe_attention_work(e, &a, &bytes, &err) || pe_attention_forward(e, params, &a, malloc(bytes), bytes, &err))
        return fail(&err);
    for (int c = 0; c < 4 && c < ${s.dim}; c++)
        printf("out[%d][0][%d] = %.9g\\n", (int)(n - 1), c, (double)out[(n - 1) * ${s.heads} * ${s.dim} + c]);
`;

export function cProgram(s: Readonly<State>, spec: string, hooks: readonly string[], n: number): string {
  const does = hooks.includes("embed") ? embed : hooks.includes("rotate") ? rotate : attend;
  return `/* cc try.c $(pkg-config --cflags --libs posenc) && ./a.out */
#include <posenc.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const pe_error *err)
{
    fprintf(stderr, "%s\\n", err->text);
    return 1;
}

int main(void)
{
    pe_encoding *e;
    pe_error err;
    pe_shape shape = { .heads = ${s.heads}, .head_dim = ${s.dim}, .model_dim = ${s.model} };
    if (pe_encoding_new(&e, ${text(spec)}, shape, &err))
        return fail(&err);
    int64_t n = ${n}, axes = pe_encoding_axes(e), *at = calloc((size_t)(n * axes), sizeof *at);
    for (int64_t t = 0; t < n; t++)
        at[t * axes] = ${s.start} + t;
    pe_positions where = { .at = at, .tokens = n, .axes = axes };
    pe_params params = { .dtype = PE_F32, .count = pe_encoding_param_count(e) };
    params.data = params.count ? malloc(sizeof(float) * (size_t)params.count) : NULL;
    if (params.count && pe_encoding_init(e, params, 0, &err))
        return fail(&err);
${does(s)}    return 0; /* the system takes the memory back */
}
`;
}
