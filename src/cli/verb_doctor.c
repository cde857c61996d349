/* SPDX-License-Identifier: MIT
 *
 * posenc doctor: what this build and this machine offer, why a path is off, and whether the numbers are right. */
#include "cli/doctor.h"

#include <stdlib.h>
#include <unistd.h>

static const cli_option options[] = { CLI_OPTION_JSON };
static const cli_example examples[] = {
    { "posenc doctor", "CPU, kernels, threads, memory, libraries, GPU; a self-test, exit code 1 if it fails" },
    { "posenc doctor --json", "the same as data" },
};

/* As setlocale would take it from the environment. */
static const char *locale_name(void)
{
    static const char *const names[] = { "LC_ALL", "LC_NUMERIC", "LANG" };
    for (int i = 0; i < CLI_COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return "C";
}

static void tool(doctor_report *r)
{
    const char *term = getenv("TERM");
    doctor_group(r, "posenc", "yes", "no");
    doctor_text(r, "version", "%s", pe_version());
    doctor_int(r, "encodings", pe_info_count(), "");
    doctor_text(r, "locale", "%s; numbers have a point in any", locale_name());
    doctor_text(r, "terminal", "%s%s%s", isatty(STDOUT_FILENO) ? "yes" : "no", term && *term ? ", TERM=" : "",
                term && *term ? term : "");
}

static cli_exit doctor_verb(const cli_args *a, result *out)
{
    (void)out;
    doctor_report r = { .well = true };
    tool(&r);
    doctor_cpu(&r);
    doctor_machine(&r);
    doctor_libraries(&r);
    doctor_gpu(&r);
    doctor_self_test(&r);
    if (cli_given(a, "json"))
        doctor_print_json(&r);
    else
        doctor_print(&r);
    return r.well ? CLI_OK : cli_fail(a, CLI_NO, "the self-test fails: do not trust this build");
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "what this build and machine offer, why a path is off; a self-test",
    .operands = "",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = doctor_verb,
};
