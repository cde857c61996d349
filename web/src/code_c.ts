// SPDX-License-Identifier: MIT
//
// The encoding at hand as a C program: complete, and doing all that the encoding does, hook by hook. It prints the same
// numbers as the commands beside it.

import type { State } from "./app";
import type { Subject } from "./views";

function text(spec: string): string {
  return `"${spec.replace(/[\\"]/g, "\\$&").replace(/[^\x20-\x7e]/g, "?")}"`;
}

const embed = (s: Readonly<State>): string => `
    /* What is added to x, or joined to it: x being 0, the code alone. */
    int64_t own = pe_embed_width(e, 0), x = own > 0 ? 0 : ${s.model}, width = pe_embed_width(e, x);
    float *y = calloc((size_t)(n * width), sizeof *y); /* (n, width) */
    if (pe_embed(e, pe_view_of(y, PE_F32, 1, n, 1, width), pe_view_of(NULL, PE_F32, 1, n, 1, x), where, &PE_MAKE(pe_run, .params = params), &err))
        return fail(&err);
    show("code", y + width, width);
`;

const rotate = (s: Readonly<State>): string => `
    /* The angles of the pairs, then queries rotated by them. */
    int64_t pairs = pe_encoding_pair_count(e), heads = 1; /* trained angles may have a table for each head */
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (pe_encoding_tensor(e, i)->hooks & PE_HOOK_ROTATE)
            heads = pe_encoding_tensor(e, i)->shape[0];
    size_t bytes = sizeof(float) * (size_t)(n * heads * pairs);
    float *cosine = malloc(bytes), *sine = malloc(bytes);
    pe_run run = PE_MAKE(pe_run, .params = params);
    if (pe_rotate_table(e, PE_QUERY, pe_view_of(cosine, PE_F32, 1, n, heads, pairs), pe_view_of(sine, PE_F32, 1, n, heads, pairs), where, &run, &err))
        return fail(&err);
    show("cos", cosine + heads * pairs, pairs);
    float *q = calloc((size_t)(n * ${s.heads} * ${s.dim}), sizeof *q); /* (n, heads, head_dim): yours */
    pe_view rotated = pe_view_of(q, PE_F32, 1, n, ${s.heads}, ${s.dim});
    if (pe_rotate(e, PE_QUERY, rotated, rotated, where, &run, &err))
        return fail(&err);
`;

/** What an encoding takes of each token: a model computes it from the token. "a" takes vectors, too. */
const inputs = (to: string, s: Readonly<State>): string => `    pe_inputs in = pe_encoding_inputs(e); /* what the encoding takes of tokens: a model computes it */
    double gate[n * ${s.heads}];
    for (int64_t i = 0; i < n * ${s.heads}; i++)
        gate[i] = -(double)at[i / ${s.heads} * axes] / (2 << i % ${s.heads} % 8);
    if (in.gates)
        ${to}.q_gates = ${to}.k_gates = pe_view_of(gate, PE_F64, 1, n, ${s.heads}, 1);
${to === "a" ? `    if (in.relative)
        a.relative = pe_view_of(calloc((size_t)(n * ${s.heads} * in.relative), sizeof(float)), PE_F32, 1, n, ${s.heads}, in.relative);
` : ""}`;

const bias = (s: Readonly<State>): string => `
    /* What is added to the scores, on this side of their scale. */
    pe_stage stage = pe_encoding_hooks_at(e, PE_BEFORE_SCALE) & PE_HOOK_BIAS ? PE_BEFORE_SCALE : PE_AFTER_SCALE;
    float *score = calloc((size_t)(n * ${s.heads} * n), sizeof *score); /* (queries, heads, keys) */
    pe_tile tile = PE_MAKE(pe_tile, .score = pe_view_of(score, PE_F32, 1, n, ${s.heads}, n), .q_at = where, .k_at = where);
${inputs("tile", s)}    if (pe_encoding_bias(e, stage, params, &tile, &err))
        return fail(&err);
    show("bias", score + ${s.heads} * n, n);
`;

const attend = (s: Readonly<State>): string => `
    /* It looks at queries and keys: attention of these made-up ones (queries, keys and values at once). */
    float *q = malloc(sizeof *q * (size_t)(n * ${s.heads} * ${s.dim})), *out = calloc((size_t)(n * ${s.heads} * ${s.dim}), sizeof *out);
    for (int64_t i = 0; i < n * ${s.heads} * ${s.dim}; i++)
        q[i] = (float)(i % 7) / 7;
    pe_view view = pe_view_of(q, PE_F32, 1, n, ${s.heads}, ${s.dim});
    pe_attention a = PE_MAKE(pe_attention, .q = view, .k = view, .v = view, .q_at = where, .k_at = where, .mask.causal = true);
    a.out = pe_view_of(out, PE_F32, 1, n, ${s.heads}, ${s.dim});
${inputs("a", s)}    pe_run run = PE_MAKE(pe_run, .params = params);
    if (pe_attention_work(e, &a, &run, &run.work_bytes, &err))
        return fail(&err);
    run.work = malloc(run.work_bytes);
    if (pe_attention_forward(e, &a, &run, &err))
        return fail(&err);
    show("attended", out + ${s.heads} * ${s.dim}, ${s.dim});
`;

const blocks = { embed, rotate, bias, content: attend } as Record<string, (s: Readonly<State>) => string>;

/** A block for every hook; of an encoding that looks at content, or does nothing, attention itself. */
function does({ hooks }: Subject, s: Readonly<State>): string {
  const known = hooks.filter((hook) => blocks[hook]);
  return (known.length ? known : ["content"]).map((hook) => `    {${blocks[hook]?.(s).replace(/^(?=.)/gm, "    ") ?? ""}    }\n`).join("");
}

export function cProgram(s: Readonly<State>, subject: Subject): string {
  return `/* cc try.c $(pkg-config --cflags --libs posenc) && ./a.out */
#include <posenc.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const pe_error *err)
{
    fprintf(stderr, "%s\\n", err->text);
    return 1;
}

/* The first four numbers. */
static void show(const char *what, const float *x, int64_t count)
{
    printf("%s", what);
    for (int64_t i = 0; i < 4 && i < count; i++)
        printf(" %.6g", (double)x[i]);
    printf("\\n");
}

int main(void)
{
    pe_encoding *e;
    pe_error err;
    pe_shape shape = { .heads = ${s.heads}, .head_dim = ${s.dim}, .model_dim = ${s.model} };
    if (pe_encoding_new(&e, ${text(subject.spec)}, shape, &err))
        return fail(&err);
    enum { n = 2, axes = ${subject.axes} }; /* two positions; what is shown is the second's */
    int64_t at[n * axes] = { 0 };
    for (int64_t t = 0; t < n; t++)
        at[t * axes + ${Math.min(s.axis, subject.axes - 1)}] = ${s.start} + t;
    pe_positions where = pe_positions_of(at, PE_I64, 1, n, axes);
    pe_params params = { .dtype = PE_F32, .count = pe_encoding_param_count(e) };
    params.data = params.count ? malloc(sizeof(float) * (size_t)params.count) : NULL;
    if (params.count && pe_encoding_init(e, params, 0, &err))
        return fail(&err);
${does(subject, s)}    return 0; /* the system takes the memory back */
}
`;
}
