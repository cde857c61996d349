/* SPDX-License-Identifier: MIT
 *
 * A sentence as words on positions. Chinese is written without spaces: there a character is a word, unless the writer has parted
 * words by spaces: 狗 追 另一只 狗. */
#include "show/views.h"

#include "io/checked.h"
#include "io/io.h"
#include "io/json_out.h"

#include <stdlib.h>
#include <string.h>

#define TWO_DOGS                                                                                                       \
    (words)                                                                                                            \
    {                                                                                                                  \
        "the dog chased the other dog", "狗 追 另一只 狗"                                                        \
    }

static bool code_is_han(unsigned code)
{
    return (code >= 0x3400 && code <= 0x9fff) || (code >= 0x20000 && code <= 0x3ffff);
}

static bool code_is_space(unsigned code)
{
    return code <= ' ' || code == 0x3000 || out_is_order(code); /* nothing that is an order to a terminal is a word */
}

/* Has the text spaces, and no letter of ASCII, around which spaces are usual? */
static bool text_is_parted(const char *text)
{
    unsigned code;
    bool parted = false;
    for (int step; *text && (step = out_character(text, &code)) > 0; text += step) {
        if (code > ' ' && code < 0x80)
            return false;
        parted = parted || code_is_space(code);
    }
    return parted;
}

/* Returns the bytes of the word at text; 0: it is a space. parted: spaces alone part words. */
static size_t word_length(const char *text, bool parted)
{
    unsigned code;
    size_t n = 0;
    for (int step; text[n] && (step = out_character(text + n, &code)) > 0; n += (size_t)step) {
        if (code_is_space(code))
            break;
        if (code_is_han(code) && !parted)
            return n ? n : (size_t)step;
    }
    return n;
}

static size_t space_length(const char *text)
{
    unsigned code;
    int step = out_character(text, &code);
    return step > 0 ? (size_t)step : 1; /* what is no UTF-8 parts words too */
}

static pe_status sentence_cut(show_sentence *s, const char *from, pe_error *err)
{
    char *to = s->text;
    bool parted = text_is_parted(from);
    while (*from) {
        size_t n = word_length(from, parted);
        if (!n) {
            from += space_length(from);
            continue;
        }
        if (s->count == SHOW_WORDS_MAX)
            return io_fail(err, PE_ERR_RANGE, "the sentence has more than %d words; needs fewer", SHOW_WORDS_MAX);
        s->word[s->count++] = to;
        memcpy(to, from, n);
        to[n] = 0;
        to += n + 1;
        from += n;
    }
    return s->count ? PE_OK : io_fail(err, PE_ERR_RANGE, "the sentence has no words; needs one at least");
}

pe_status sentence_new(show_sentence *out, const show_subject *s, const show_request *r, pe_error *err)
{
    const char *text = r->sentence ? r->sentence : say(TWO_DOGS, r->language);
    show_request all = *r;
    *out = (show_sentence){ 0 };
    TRY(show_head(s, r, err));
    out->text = show_scratch(s, (int64_t)strlen(text) + 1, 2); /* a 0 after each word */
    if (!out->text)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the sentence");
    TRY(sentence_cut(out, text, err));
    all.length = r->sentence ? out->count : 0; /* of the sentence that nobody asked for, as much as there is room for */
    TRY(path_new(&out->path, s, &all, out->count, SHOW_WORDS_MAX, err));
    out->count = (int)out->path.where.tokens;
    return show_is_causal(&out->causal, s, r, err);
}
