/* SPDX-License-Identifier: MIT
 *
 * The tool: one file per verb, one table of verbs (verbs.c). Help is printed from that table and nothing else.
 *
 * A verb fills a tree of results (result/result.h); cli_main writes it in the form that was asked for. Messages go to
 * stderr.
 */
#ifndef POSENC_CLI_H
#define POSENC_CLI_H

#include "io/words.h"
#include "posenc.h"
#include "result/result.h"

#include <stdio.h>

#define CLI_COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define CLI_OPTIONS_MAX 40
#define CLI_OPERANDS_MAX 256

typedef enum cli_exit {
    CLI_OK = 0,
    CLI_NO,      /* the answer is no */
    CLI_USAGE,   /* the command line, a spec */
    CLI_INPUT,   /* the content of a file */
    CLI_SYSTEM,  /* the system refused; out of memory */
    CLI_STOPPED, /* by Ctrl-C; finished work was saved */
    CLI_EXIT_COUNT
} cli_exit;

/* Of cli_main.c. Writes what is in the tree, and empties it: for a verb that fails but has a result, or
 * that continues afterwards. The verb may then free memory that the tree refers to. */
typedef struct cli_args cli_args;
cli_exit cli_write_now(const cli_args *a, result *out);

/* The tool: argv[0] is ignored. Returns the exit code; may be called again (cli_main.c). */
int cli_main(int argc, char **argv);

/* ---------------------------------------------------------------- the table */

typedef enum cli_kind {
    CLI_FLAG,
    CLI_INT,
    CLI_CHOICE,
    CLI_TEXT,
    CLI_FILE_IN,
    CLI_FILE_OUT,
    CLI_PATH,       /* a file or folder by name; - is not allowed */
    CLI_RESULT_FILE /* the file for the result; its ending selects the format */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without its dashes */
    char letter;      /* 'n' for -n; 0: none */
    cli_kind kind;
    const char *value;    /* "N", "FILE"; a choice's "f32|f16"; NULL: a flag */
    const char *fallback; /* as text; NULL: none */
    int64_t min, max;     /* of a CLI_INT */
    const char *help;
} cli_option;

typedef struct cli_example {
    const char *command, *what; /* every command is run by tests/test_cli.sh */
} cli_example;

typedef struct cli_verb {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* "SPEC", "[NAME]", "FILE", "a|b", ""; completion knows what to offer for them */
    int operands_min, operands_max;
    const char *notes;              /* paragraphs after the options, a line each; NULL: none */
    void (*add_notes)(result *out); /* more of them, from a table; NULL: none */
    const cli_option *options;
    int option_count;
    const cli_example *examples;
    int example_count;
    /* Why an option cannot have a value, and what to do instead; returns NULL where the list of choices says all. */
    const char *(*refused)(const char *option, const char *value);
    /* Fills out. What is in it is written where the code is CLI_OK, CLI_NO or CLI_STOPPED; cli_write_now writes it at
     * once. */
    cli_exit (*run)(const cli_args *a, result *out);
} cli_verb;

/* A verb's two lists, with their counts. */
#define CLI_TABLES(options_of, examples_of)                                                                            \
    .options = options_of, .option_count = CLI_COUNT(options_of), .examples = examples_of,                             \
    .example_count = CLI_COUNT(examples_of)

extern const cli_verb *const cli_verbs[];
extern const int cli_verb_count;

#define CLI_PAIRS "half|adjacent|adjacent-half" /* the choices of rope's key pairs, which an option cannot look up */
/* clang-format off */
#define CLI_OPTION_LANG \
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "English or Chinese; default: the locale's language" }
#define CLI_OPTION_JSON { "json", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the result as JSON" }
/* Of a verb whose -o is something else. */
#define CLI_OPTIONS_FORM \
    { "as", 0, CLI_CHOICE, "text|json|csv|md|html", NULL, 0, 0, \
      "print the result in this format; csv: its table, or a line path,value,unit for each value" }, \
    CLI_OPTION_LANG, \
    CLI_OPTION_JSON
/* Of a verb whose whole result is its tree. */
#define CLI_OPTIONS_RESULT                                                                                             \
    { "out",                                                                                                           \
      'o',                                                                                                             \
      CLI_RESULT_FILE,                                                                                                 \
      "FILE",                                                                                                          \
      NULL,                                                                                                            \
      0,                                                                                                               \
      0,                                                                                                               \
      "write the result to this file; its ending sets the format: .txt .json .csv .md .html" },                         \
        CLI_OPTIONS_FORM
#define CLI_OPTION_OUT \
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write the array to this .npy; without -o, print its first rows" }
#define CLI_OPTION_N { "count", 'n', CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "number of positions" }
#define CLI_OPTION_POS \
    { "pos", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, \
      "positions from this .npy: int64, int32 or whole floats, (n,) or (n, axes)" }
/* Of verbs whose formulas may hold between whole positions. */
#define CLI_OPTION_POS_REAL \
    { "pos", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, \
      "positions from this .npy, (n,) or (n, axes); fractions where the encoding is defined between positions" }
#define CLI_OPTION_START \
    { "start", 0, CLI_INT, "N", "0", -PE_POSITION_MAX, PE_POSITION_MAX, "first position, if --pos is not given" }
#define CLI_OPTION_DTYPE \
    { "dtype", 0, CLI_CHOICE, "f32|f16|bf16|f64", "f32", 0, 0, "element type; bf16 is written as uint16" }
#define CLI_OPTIONS_SHAPE \
    { "heads", 0, CLI_INT, "N", "8", 1, 65536, "number of query heads" }, \
    { "kv-heads", 0, CLI_INT, "N", NULL, 1, 65536, "number of key and value heads; default: heads" }, \
    { "head-dim", 0, CLI_INT, "N", "64", 1, PE_HEAD_DIM_MAX, "head dimension" }, \
    { "model-dim", 0, CLI_INT, "N", NULL, 1, INT64_C(1) << 30, "embedding dimension; default: heads * head-dim" }
#define CLI_OPTION_PARAMS \
    { "params", 0, CLI_FILE_IN, "FILE", NULL, 0, 0, "learned parameters from this .npy: all tensors, in order" }
#define CLI_OPTIONS_PARAMS \
    { "seed", 0, CLI_INT, "N", "0", 0, INT64_MAX, "seed of the initial values of learned parameters" }, \
    CLI_OPTION_PARAMS
/* clang-format on */

/* ---------------------------------------------------------------- arguments (args.c) */

struct cli_args {
    const cli_verb *verb;
    bool help;
    const char *operand[CLI_OPERANDS_MAX];
    int operands;
    const char *text[CLI_OPTIONS_MAX]; /* the fallback where not given; NULL: none */
    int64_t number[CLI_OPTIONS_MAX];
    bool given[CLI_OPTIONS_MAX];
};

/* argv holds what comes after the verb. */
cli_exit cli_parse(cli_args *out, const cli_verb *verb, int argc, char **argv);
/* By the option's name; an option this verb does not have counts as not given. */
bool cli_given(const cli_args *a, const char *name);
const char *cli_text(const cli_args *a, const char *name); /* NULL: no value */
int64_t cli_int(const cli_args *a, const char *name);      /* 0: no value */
int cli_choice(const cli_args *a, const char *name);       /* index; -1: no value */

/* What --lang says, or the locale; English where the verb has no --lang. */
language cli_language(const cli_args *a);

/* A word as it would be typed, quoted where the shell asks for it, after `used` characters of out; returns the
 * length then, as snprintf does: cap or more if it was cut. */
size_t cli_put_word(char *out, size_t cap, size_t used, const char *word);
void cli_command(char *out, size_t cap, const cli_args *a); /* the whole command line */
/* The option's list, such as 512,4k or 1x,2x of the trained length, each length once; trained 0: not known. */
cli_exit cli_read_lengths(int64_t *out, int *count, int most, int64_t least, int64_t trained, const cli_args *a,
                          const char *option);
/* --shard (shard.c): which share this is, from 0; of how many, 0: not said. */
cli_exit cli_read_shard(int *shard, int *shards, const cli_args *a);

/* ---------------------------------------------------------------- messages and results (cli_main.c) */

/* Notes and failures hold no control characters, whatever file their words came from. */
PRINTF(2, 3) void cli_note(const cli_args *a, const char *format, ...);
/* Prints and returns code. */
PRINTF(3, 4) cli_exit cli_fail(const cli_args *a, cli_exit code, const char *format, ...);
/* Prints err's sentence, after "file: " unless file is NULL. Returns code, or CLI_SYSTEM where the status says so. */
cli_exit cli_fail_from(const cli_args *a, cli_exit code, const char *file, const pe_error *err);
/* The spec has none of the hooks that this verb needs: names a verb that fits (job.c). */
cli_exit cli_fail_unsuited(const cli_args *a, const pe_encoding *e, const char *wanted);

/* ---------------------------------------------------------------- words and numbers (args.c) */

const char *cli_nearest(const char *word, const char *const *list, int count); /* NULL: nothing close */
/* " did you mean X?" for a message; "" where nothing is close. */
const char *cli_did_you_mean(char out[80], const char *dashes, const char *word, const char *const *list, int count);
/* Item index of "a|b|c": false past the end. */
bool cli_item(const char *list, int index, char *out, size_t cap);
/* The item at *list of "a,b,c", and the list behind it; false at its end. */
bool cli_next_item(char *out, size_t cap, const char **list);
/* Whole numbers with units: 32k is 32768, 1M is 1048576, 1G is 2^30. */
bool cli_read_int(const char *text, int64_t *out);
bool cli_read_real(const char *text, double *out); /* as specs write numbers, whatever the locale */

/* ---------------------------------------------------------------- help (help.c) */

cli_exit cli_print_help(FILE *to, const cli_verb *v, language l); /* v NULL: of the tool */
extern const cli_option cli_option_help;                          /* which every verb has */
const cli_verb *cli_find_verb(const char *name);                  /* NULL: none */
cli_exit cli_unknown_verb(const char *name);                      /* says so, and what may be meant */

#endif
