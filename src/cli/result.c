/* SPDX-License-Identifier: MIT
 *
 * The end of a job: a file, a picture for people, or JSON. */
#include "cli/job.h"

#include <inttypes.h>
#include <string.h>

static void encoding_json(json_out *j, const pe_encoding *e)
{
    pe_shape s = pe_encoding_shape(e);
    out_open(j, "encoding", '{');
    out_int(j, "heads", s.heads);
    out_int(j, "kv_heads", s.kv_heads);
    out_int(j, "head_dim", s.head_dim);
    out_int(j, "model_dim", s.model_dim);
    out_int(j, "axes", pe_encoding_axes(e));
    out_real(j, "scale", pe_encoding_scale(e));
    out_int(j, "parameters", pe_encoding_param_count(e));
    out_close(j, '}');
}

static void print_json(const cli_job *job, const char *file, void (*fields)(json_out *, const cli_job *))
{
    char fingerprint[24];
    json_out j = out_start(stdout);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, pe_encoding_fingerprint(job->e));
    out_open(&j, NULL, '{');
    out_text(&j, "verb", job->args->verb->name);
    out_text(&j, "spec", job->args->operand[0]);
    out_text(&j, "canonical", pe_encoding_spec(job->e));
    out_text(&j, "fingerprint", fingerprint);
    encoding_json(&j, job->e);
    out_text(&j, "hook", pe_hook_name(job->hook));
    fields(&j, job);
    out_ints(&j, "shape", job->out.shape, job->out.rank);
    out_text(&j, "dtype", array_type_name(job->dtype));
    out_text(&j, "out", file);
    if (!file)
        array_json(&j, "data", &job->out, job->dtype);
    out_close(&j, '}');
}

/* A write that fails is told by main, which looks at stdout last. */
static cli_exit write_stdout(const cli_job *j)
{
    pe_error err;
    char header[IO_NPY_HEADER_MAX];
    size_t size, each = io_type_size(j->out.type), count = (size_t)j->out.count;
    if (io_npy_header(header, &size, &j->out, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    bool done = fwrite(header, 1, size, stdout) == size && fwrite(j->out.data, each, count, stdout) == count;
    return done && !fflush(stdout) ? CLI_OK : CLI_SYSTEM;
}

static cli_exit write_file(const cli_job *j, const char *file)
{
    pe_error err;
    if (!strcmp(file, "-"))
        return write_stdout(j);
    return io_npy_save(file, &j->out, &err) ? cli_fail_from(j->args, CLI_SYSTEM, NULL, &err) : CLI_OK;
}

/* With the rows that were not computed. */
static void whole_shape(char out[160], const cli_job *j)
{
    io_array whole = j->out;
    if (whole.rank > 1)
        whole.shape[whole.rank - 2] += j->rest;
    array_shape(out, &whole);
}

cli_exit job_finish(cli_job *j, void (*fields)(json_out *, const cli_job *), void (*preview)(const cli_job *))
{
    char shape[160];
    const char *file = cli_text(j->args, "out");
    bool json = cli_given(j->args, "json");
    whole_shape(shape, j);
    if (file)
        CLI_TRY(write_file(j, file));
    if (json)
        print_json(j, file, fields);
    else if (file)
        cli_note(j->args, "wrote %s: %s %s", strcmp(file, "-") ? file : "stdout", shape, array_type_name(j->dtype));
    else {
        printf("%s: %s %s\n", pe_encoding_spec(j->e), shape, array_type_name(j->dtype));
        preview(j);
    }
    return CLI_OK;
}
