/* SPDX-License-Identifier: MIT
 *
 * The frame of an HTML document and its CSS for screens, phones and paper. Its colours are those of draw_css. */
#include "draw/html_frame.h"

#include "io/io.h"

static const char frame_css[] =
    "*{box-sizing:border-box}\n"
    "html{color-scheme:light dark;-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--text);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",sans-serif}\n"
    "main{max-width:76rem;margin:0 auto;padding:2rem 1.25rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .75rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.2rem;line-height:1.3;margin:3rem 0 .4rem}\n"
    "p,h1,li{overflow-wrap:anywhere}\n"
    "p{max-width:44rem;margin:.4rem 0 .9rem}\n"
    ".faint,.faint td{color:var(--faint)}\n"
    ".caption{font-size:.9rem;margin:.8rem 0 0}\n"
    "figure{margin:.8rem 0 0;max-width:64rem}\n"
    "figure svg{display:block;width:100%;height:auto;overflow:visible}\n"
    ".pair{max-width:64rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem}\n"
    ".scroll{overflow-x:auto;margin:.8rem 0;"
    "background:linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/3rem 100% no-repeat local,"
    "linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/3rem 100% no-repeat local,"
    "linear-gradient(90deg,var(--grid),transparent) 0 0/1rem 100% no-repeat scroll,"
    "linear-gradient(270deg,var(--grid),transparent) 100% 0/1rem 100% no-repeat scroll}\n"
    ".scroll:focus-visible{outline:2px solid var(--ink-4);outline-offset:2px}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.4rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}\n"
    "thead th{font-weight:600;color:var(--faint);vertical-align:bottom}\n"
    "tbody th{text-align:left;font-weight:600}\n"
    "tbody tr:hover{background:color-mix(in srgb,var(--ink-4) 7%,transparent)}\n"
    "code,pre{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,\"Liberation Mono\",monospace}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:color-mix(in srgb,var(--text) 5%,transparent);"
    "padding:.8rem 1rem;border-radius:6px;margin:.6rem 0}\n"
    "td code{overflow-wrap:anywhere}\n"
    "a{color:inherit}\n"
    "details>summary{cursor:pointer;margin:.8rem 0}\n"
    "figcaption{font-size:.9rem;color:var(--faint);max-width:44rem;margin:.4rem 0 0}\n"
    ".sheet{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem 2rem}\n"
    ".single figure{max-width:45rem}.sheet figure{max-width:35rem;width:100%}\n"
    ".many{grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr))}\n"
    "@media (min-width:75rem){.three .at-1{grid-column:1}.three .at-2{grid-column:2}.three .at-3{grid-column:3}"
    ".three{grid-auto-flow:column}}\n"
    "@media (max-width:40rem){main{padding:1.2rem 1rem 3rem}h1{font-size:1.35rem}}\n"
    "@media print{main{max-width:none;padding:0}.scroll,figure{overflow:visible;background:none;break-inside:avoid}"
    "table{font-size:.7rem}th,td{padding:.2rem .3rem}h2,h2+p{break-after:avoid}}\n";

void html_frame_begin(FILE *to, const html_frame_head *head)
{
    fprintf(to, "<!DOCTYPE html>\n<html lang=\"%s\">\n", head->language == CHINESE ? "zh-CN" : "en");
    fputs("<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          to);
    draw_escape(to, head->title);
    fputs("</title>\n<style>\n", to);
    draw_css(to);
    fputs(frame_css, to);
    fputs(head->css ? head->css : "", to);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", to);
    draw_escape(to, head->title);
    fputs("</h1>\n", to);
}

void html_frame_end(FILE *to)
{
    fputs("</main>\n</body>\n</html>\n", to);
}

static pe_status html_put_size(FILE *to, html_frame_draw *make, const void *with, html_frame_size size,
                               const char *name, pe_error *err)
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

pe_status html_frame_picture(FILE *to, html_frame_draw *make, const void *with, html_frame_size wide,
                             html_frame_size narrow, pe_error *err)
{
    pe_status s = html_put_size(to, make, with, wide, "wide", err);
    return s ? s : html_put_size(to, make, with, narrow, "narrow", err);
}

void html_frame_table(FILE *to, const char *caption, const char *class_name)
{
    fputs("<p class=\"faint caption\">", to);
    draw_escape(to, caption);
    fputs("</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    draw_escape(to, caption);
    fprintf(to, "\"><table class=\"%s\">\n", class_name);
}

void html_frame_table_end(FILE *to)
{
    fputs("</table></div>\n", to);
}
