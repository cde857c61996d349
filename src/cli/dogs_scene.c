/* SPDX-License-Identifier: MIT */
#include "cli/dogs.h"

#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>

/* The n-th number of a stream, -1 to 1 (SplitMix64). */
static double draw(uint64_t stream, uint64_t n)
{
    uint64_t z = (stream + 1) * 0x9e3779b97f4a7c15u + n * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

static uint64_t hash(const char *word)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 0x100000001b3u;
    return h;
}

static void place_words(scene *s, sentence words)
{
    int64_t axes = pe_encoding_axes(s->job.e);
    for (int64_t t = 0; t < TOKENS; t++) {
        for (int64_t a = 0; a < axes; a++)
            s->at[t * axes + a] = a == axes - 1 ? t : 0;
        for (int64_t c = 0; c < WIDTH; c++)
            s->x[t * WIDTH + c] = draw(hash(words[t]), (uint64_t)c);
    }
    s->job.at = pe_positions_of(s->at, PE_I64, 1, TOKENS, axes);
}

/* q, k, v: the embedded words times three fixed random matrices (width, C). */
static void project(scene *s, int64_t width)
{
    for (uint64_t m = 0; m < 3; m++)
        for (int64_t t = 0; t < TOKENS; t++)
            for (int64_t c = 0; c < WIDTH; c++) {
                double sum = 0;
                for (int64_t i = 0; i < width; i++)
                    sum += s->embedded[t * width + i] * draw(m, (uint64_t)(i * WIDTH + c));
                s->qkv[m][t * WIDTH + c] = sum / sqrt((double)width);
            }
}

static cli_exit embed(scene *s, int64_t width)
{
    pe_error err;
    void *memory;
    CLI_TRY(array_memory(s->job.args, &memory, "the sentence", TOKENS * width, sizeof(double)));
    s->embedded = memory;
    if (pe_embed(s->job.e, pe_view_of(memory, PE_F64, 1, TOKENS, 1, width),
                 pe_view_of(s->x, PE_F64, 1, TOKENS, 1, WIDTH), s->job.at, &PE_MAKE(pe_run, .params = s->job.params),
                 &err))
        return job_fail(&s->job, &err);
    return CLI_OK;
}

static cli_exit attend(scene *s)
{
    pe_error err;
    pe_view v = pe_view_of(s->out, PE_F64, 1, TOKENS, HEADS, HEAD_DIM);
    pe_attention a = PE_MAKE(pe_attention, .out = v, .q = v, .k = v, .v = v, .q_at = s->job.at, .k_at = s->job.at);
    a.q.data = s->qkv[0];
    a.k.data = s->qkv[1];
    a.v.data = s->qkv[2];
    pe_status status = zoo_look(s->job.e, a, s->job.params, &err);
    s->out_of_reach = status == PE_ERR_POSITION;
    return status && !s->out_of_reach ? job_fail(&s->job, &err) : CLI_OK;
}

static cli_exit play(scene *s, const char *spec, sentence words)
{
    pe_error err;
    if (pe_encoding_new(&s->job.e, spec, (pe_shape){ .heads = HEADS, .head_dim = HEAD_DIM }, &err))
        return cli_fail_from(s->job.args, CLI_USAGE, NULL, &err);
    place_words(s, words);
    int64_t width = pe_embed_width(s->job.e, WIDTH);
    CLI_TRY(job_params(&s->job));
    CLI_TRY(embed(s, width));
    project(s, width);
    return attend(s);
}

cli_exit dogs_play(scene *s, const cli_args *a, const char *spec, sentence words)
{
    *s = (scene){ .job.args = a };
    cli_exit code = play(s, spec, words);
    pe_encoding_free(s->job.e);
    free(s->job.params.data);
    free(s->embedded);
    return code;
}
