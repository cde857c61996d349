/* SPDX-License-Identifier: MIT
 * Prints the bits of rotated values, embeddings and attention for every example of every row: two builds of the
 * library that agree print the same text. */
#include <posenc.h>

#include <stdio.h>
#include <stdlib.h>

enum { T = 24, H = 8, D = 64, AXES = PE_AXES_MAX };

static uint64_t hash(const float *x, size_t count)
{
    const unsigned char *bytes = (const unsigned char *)x;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < count * sizeof *x; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h;
}

static void fill(float *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

static void show(const char *what, const char *spec, pe_status status, const float *x, size_t count)
{
    if (status == PE_OK)
        printf("%016llx %s %s\n", (unsigned long long)hash(x, count), what, spec);
    else
        printf("%s %s %s\n", pe_status_name(status), what, spec);
}

static int try_spec(const char *spec)
{
    static float x[T * H * D], y[2 * T * H * D], q[T * H * D], k[T * H * D], v[T * H * D];
    static int64_t at[T * AXES];
    const size_t count = T * H * D;
    pe_error err;
    pe_encoding *e = NULL;
    pe_shape shape = { .heads = H, .head_dim = D };
    if (pe_encoding_new(&e, spec, shape, &err) != PE_OK) {
        printf("%s: %s\n", spec, err.text);
        return 1;
    }
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, pe_encoding_axes(e));
    for (int64_t i = 0; i < T * where.axes; i++)
        at[i] = i / where.axes + i % where.axes;
    int64_t learned = pe_encoding_param_count(e);
    float *memory = calloc((size_t)learned + 1, sizeof *memory);
    pe_params params = { .data = learned ? memory : NULL, .dtype = PE_F32, .count = learned };
    pe_status ready = memory ? pe_encoding_init(e, params, 7, &err) : PE_ERR_NOMEM;
    fill(x, count, 1), fill(q, count, 2), fill(k, count, 3), fill(v, count, 4);

    pe_view in = pe_view_of(x, PE_F32, 1, T, H, D);
    show("rotate", spec, pe_rotate(e, PE_QUERY, pe_view_of(y, PE_F32, 1, T, H, D), in, where, &PE_MAKE(pe_run, .params = params), &err), y, count);
    int64_t width = pe_embed_width(e, H * D);
    if (ready == PE_OK && width > 0 && width <= 2 * H * D)
        show("embed", spec,
             pe_embed(e, pe_view_of(y, PE_F32, 1, T, 1, width), pe_view_of(x, PE_F32, 1, T, 1, H * D), where, &PE_MAKE(pe_run, .params = params), &err),
             y, (size_t)(T * width));

    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(y, PE_F32, 1, T, H, D), .q = pe_view_of(q, PE_F32, 1, T, H, D),
                       .k = pe_view_of(k, PE_F32, 1, T, H, D), .v = pe_view_of(v, PE_F32, 1, T, H, D),
                       .q_at = where, .k_at = where, .mask = { .causal = true } };
    if (pe_encoding_inputs(e).gates)
        a.q_gates = a.k_gates = pe_view_of(x, PE_F32, 1, T, H, 1);
    if (pe_encoding_inputs(e).relative)
        a.relative = pe_view_of(x, PE_F32, 1, T, H, pe_encoding_inputs(e).relative);
    size_t bytes = 0;
    void *work = pe_reference_work(e, &a, &bytes, &err) == PE_OK ? malloc(bytes + 1) : NULL;
    if (ready == PE_OK && work)
        show("attend", spec, pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = params, .work = work, .work_bytes = bytes), &err), y, count);
    free(work);
    free(memory);
    pe_encoding_free(e);
    return ready != PE_OK;
}

int main(void)
{
    int failed = 0;
    for (int i = 0; i < pe_info_count(); i++)
        for (int j = 0; j < pe_info_at(i)->example_count; j++)
            failed |= try_spec(pe_info_at(i)->examples[j]);
    return failed;
}
