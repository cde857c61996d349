/* SPDX-License-Identifier: MIT
 *
 * The frame of a page. */
#include "draw/page.h"

#include "draw/list.h"
#include "io/io.h"

void page_begin(FILE *to, const page_head *head)
{
    fprintf(to, "<!DOCTYPE html>\n<html lang=\"%s\">\n", head->language == CHINESE ? "zh-CN" : "en");
    fputs("<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          to);
    draw_escape(to, head->title);
    fputs("</title>\n<style>\n", to);
    draw_css(to);
    fputs(page_css, to);
    fputs(head->css ? head->css : "", to);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", to);
    draw_escape(to, head->title);
    fputs("</h1>\n", to);
}

void page_end(FILE *to)
{
    fputs("</main>\n</body>\n</html>\n", to);
}

static pe_status put_size(FILE *to, page_draw *make, const void *with, page_size size, const char *name, pe_error *err)
{
    draw *d = NULL;
    pe_status s = make(&d, with, size, err);
    if (!s && d) {
        fprintf(to, "<div class=\"drawing-%s\">\n", name);
        s = draw_svg(to, d, DRAW_INSIDE, err);
        fputs("</div>\n", to);
    }
    draw_free(d);
    return s;
}

pe_status page_picture(FILE *to, page_draw *make, const void *with, page_size wide, page_size narrow, pe_error *err)
{
    pe_status s = put_size(to, make, with, wide, "wide", err);
    return s ? s : put_size(to, make, with, narrow, "narrow", err);
}

void page_table(FILE *to, const char *caption, const char *class_name)
{
    fputs("<p class=\"faint caption\">", to);
    draw_escape(to, caption);
    fputs("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    draw_escape(to, caption);
    fprintf(to, "\"><table class=\"%s\">\n", class_name);
}

void page_table_end(FILE *to)
{
    fputs("</table></div>\n", to);
}
