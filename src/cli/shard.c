/* SPDX-License-Identifier: MIT
 *
 * Which share of a job is this process's: said on the command line, or by whoever started it. */
#include "cli/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs that start many processes, and how they number them; the first that is set counts. */
static const struct {
    const char *index;
    const char *first, *step; /* variables: its least value; the distance of two; NULL: 0; 1 */
    const char *count;        /* how many there are; NULL: not said */
} started_by[] = {
    { "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT" },
    { "OMPI_COMM_WORLD_RANK", NULL, NULL, "OMPI_COMM_WORLD_SIZE" },
    { "PMI_RANK", NULL, NULL, "PMI_SIZE" },
    { "JOB_COMPLETION_INDEX", NULL, NULL, NULL },
};

/* A whole number of a variable; `otherwise` where there is none. */
static int64_t variable(const char *name, int64_t otherwise)
{
    const char *text = name ? getenv(name) : NULL;
    int64_t value;
    return text && cli_read_int(text, &value) && value >= 0 && value <= INT32_MAX ? value : otherwise;
}

/* An array of tasks may begin anywhere and have gaps: two may begin at the same place, which costs nothing. */
static cli_exit shard_of_variables(int *shard, int *shards, const cli_args *a)
{
    for (int i = 0; i < CLI_COUNT(started_by); i++) {
        const char *text = getenv(started_by[i].index);
        if (!text)
            continue;
        int64_t index = variable(started_by[i].index, -1), step = variable(started_by[i].step, 1);
        if (index < 0)
            return cli_fail(a, CLI_USAGE, "--shard auto: %s is %.40s; needs a whole number from 0 on",
                            started_by[i].index, text);
        index -= variable(started_by[i].first, 0);
        *shard = (int)((index > 0 ? index : 0) / (step > 0 ? step : 1));
        *shards = (int)variable(started_by[i].count, 0);
        if (*shards)
            *shard %= *shards;
        if (!cli_given(a, "quiet"))
            cli_note(a, "share %d by %s=%s", *shard + 1, started_by[i].index, text);
        return CLI_OK;
    }
    return cli_fail(a, CLI_USAGE,
                    "--shard auto: none of %s, %s, %s and %s is set; needs one of them, or --shard I/N",
                    started_by[0].index, started_by[1].index, started_by[2].index, started_by[3].index);
}

cli_exit cli_read_shard(int *shard, int *shards, const cli_args *a)
{
    const char *text = cli_text(a, "shard");
    int end = 0;
    if (!strcmp(text, "auto"))
        return shard_of_variables(shard, shards, a);
    if (strspn(text, "0123456789/") != strlen(text) || sscanf(text, "%9d/%9d%n", shard, shards, &end) != 2 ||
        text[end] || *shard < 1 || *shard > *shards)
        return cli_fail(a, CLI_USAGE, "--shard is %.40s; needs I/N with I from 1 to N, or auto", text);
    --*shard;
    return CLI_OK;
}
