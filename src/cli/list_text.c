/* SPDX-License-Identifier: MIT
 *
 * The registry for people, within 100 columns. */
#include "cli/array.h"
#include "cli/list.h"
#include "cli/page.h"

#include <math.h>
#include <string.h>

void list_bits(char *out, size_t cap, unsigned bits, const char *(*name)(unsigned), const char *separator)
{
    size_t used = 0;
    snprintf(out, cap, "-");
    for (int i = 0; i < 32; i++) {
        const char *word = bits & 1u << i ? name(1u << i) : NULL;
        if (word && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? separator : "", word);
    }
}

/* A letter per claim, the first of its name that no claim before it has: like the modes of ls -l. */
static void claim_letters(char out[CLAIM_COUNT + 1])
{
    memset(out, 0, CLAIM_COUNT + 1);
    for (int i = 0; i < CLAIM_COUNT; i++) {
        const char *c = pe_claim_name(1u << i);
        while (c[1] && memchr(out, *c, (size_t)i))
            c++;
        out[i] = *c;
    }
}

static const char *arxiv_prefix(const pe_info *r)
{
    return *r->arxiv ? ", arXiv:" : "";
}

/* A remark behind the authors is left out where the line would be too long. */
static void print_source(const pe_info *r, size_t width)
{
    size_t n = strlen(r->paper);
    if (n + strlen(arxiv_prefix(r)) + strlen(r->arxiv) > width)
        n = strcspn(r->paper, "(;");
    while (n && r->paper[n - 1] == ' ')
        n--;
    printf("%.*s%s%s\n", (int)n, r->paper, arxiv_prefix(r), r->arxiv);
}

static void print_legend(const char *letters)
{
    fputs("\nclaims:", stdout);
    for (int i = 0; i < CLAIM_COUNT; i++)
        printf("%s %c %s", i == 6 ? "\n       " : i ? " " : "", letters[i], pe_claim_name(1u << i));
    puts("\nposenc list NAME shows one in full: its keys, ranges, defaults, formula.");
}

void list_words(char *out, size_t cap, const char *words)
{
    char item[128];
    size_t used = 0;
    snprintf(out, cap, "-");
    for (int i = 0; *words && used < cap && cli_item(words, i, item, sizeof item); i++)
        used += (size_t)snprintf(out + used, cap - used, "%s%s", i ? ", " : "", item);
}

/* Of the column of names: 16, or two more than the longest. */
static int name_width(void)
{
    int width = 16;
    for (int i = 0; i < pe_info_count(); i++) {
        int n = (int)strlen(pe_info_at(i)->name) + 2;
        width = n > width ? n : width;
    }
    return width;
}

void list_rows(void)
{
    char letters[CLAIM_COUNT + 1], flags[CLAIM_COUNT + 1], hooks[64];
    int width = name_width();
    claim_letters(letters);
    printf("%-*s%-16s%-14s%s\n", width, "NAME", "HOOKS", "CLAIMS", "PAPER");
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *r = pe_info_at(i);
        list_bits(hooks, sizeof hooks, r->hooks, pe_hook_name, " ");
        for (int c = 0; c < CLAIM_COUNT; c++)
            flags[c] = r->claims & 1u << c ? letters[c] : '-';
        flags[CLAIM_COUNT] = 0;
        printf("%-*s%-16s%-14s", width, r->name, hooks, flags);
        print_source(r, (size_t)(70 - width));
        printf("  %s\n", r->summary);
    }
    print_legend(letters);
}

/* Whole numbers in full, others to three digits: bounds are to be read here, not to be copied. */
static void print_bound(char out[40], double x)
{
    if (fabs(x) < 1e12 && x == floor(x))
        io_print_real(out, 40, x);
    else
        snprintf(out, 40, "%.3g", x);
}

static void print_range(const pe_key *k, int indent)
{
    static const char *const kind[] = { "a whole number,", "a number,", "", "a list a/b/c, each" };
    char low[40], high[40], text[600];
    print_bound(low, k->min);
    print_bound(high, k->max);
    if (k->kind == PE_KEY_CHOICE)
        snprintf(text, sizeof text, "%s", k->choices);
    else
        snprintf(text, sizeof text, "%s %s to %s", kind[k->kind], low, high);
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "%s%s%s%s",
             k->required    ? "; required"
             : *k->fallback ? "; default "
                            : "",
             k->fallback, k->when ? "; with " : "", k->when ? k->when : "");
    page_wrapped(text, indent);
}

static void print_keys(const pe_info *r)
{
    if (r->key_count)
        puts("\nKeys");
    for (int i = 0; i < r->key_count; i++) {
        printf("  %-16s  ", pe_info_key(r, i)->name);
        print_range(pe_info_key(r, i), 20);
        printf("%*s", 20, "");
        page_wrapped(pe_info_key(r, i)->help, 20);
    }
}

static void print_field(const char *label, const char *text)
{
    printf("  %-10s", label);
    page_wrapped(*text ? text : "-", 12);
}

/* The softmax scale, and on which side of it the row adds to the score. */
static void print_score(const pe_encoding *e)
{
    char scale[40], text[160];
    io_print_real(scale, sizeof scale, pe_encoding_scale(e));
    snprintf(text, sizeof text, "%s at head_dim 64%s", scale,
             pe_encoding_hooks_at(e, PE_BEFORE_SCALE)  ? "; its term is added before the scale"
             : pe_encoding_hooks_at(e, PE_AFTER_SCALE) ? "; its term is added after the scale"
                                                       : "");
    print_field("scale", text);
}

static void print_tensor(const pe_tensor *t)
{
    char shape[160], text[400];
    io_array a = { .rank = t->rank };
    for (int i = 0; i < t->rank; i++)
        a.shape[i] = t->shape[i];
    array_shape(shape, &a);
    snprintf(text, sizeof text, "%s %s%s%s", t->name, shape, t->about ? ": " : "", t->about ? t->about : "");
    print_field("", text);
}

static void print_tensors(const pe_encoding *e)
{
    if (pe_encoding_tensor_count(e))
        print_field("tensors", "learned; with 8 heads of 64, in the order of the block:");
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        print_tensor(pe_encoding_tensor(e, i));
}

static void print_example(const pe_info *r)
{
    pe_encoding *e = list_example(r);
    if (!e)
        return;
    print_score(e);
    print_tensors(e);
    pe_encoding_free(e);
}

void list_row(const pe_info *r)
{
    char bits[256];
    printf("%s: ", r->name);
    page_wrapped(r->summary, (int)strlen(r->name) + 2);
    print_field("formula", r->formula);
    list_bits(bits, sizeof bits, r->hooks, pe_hook_name, ", ");
    print_field("hooks", bits);
    print_example(r);
    list_bits(bits, sizeof bits, r->claims, pe_claim_name, ", ");
    print_field("claims", bits);
    printf("  %-10s", "paper");
    print_source(r, 200);
    char models[400];
    list_words(models, sizeof models, r->models);
    print_field("models", models);
    print_keys(r);
    puts("\nExamples");
    for (int i = 0; i < r->example_count; i++)
        printf("  %s\n", r->examples[i]);
}
