/* SPDX-License-Identifier: MIT
 *
 * What a report's page has beside what every page has (draw/page_css.c). */
#include "lab/report_parts.h"

const char report_css[] =
    ".finding{font-size:1.2rem;line-height:1.5;border-left:4px solid var(--ink-4);padding:.2rem 0 .2rem 1rem;"
    "margin:1rem 0 1.2rem;max-width:50rem}\n"
    ".dot{position:relative;padding-left:1.7rem}\n"
    ".swatch{position:absolute;left:.6rem}\n"
    "table.plain th,table.plain td{text-align:left;white-space:normal;vertical-align:top}\n"
    "table.plain tbody th{white-space:nowrap;font-weight:400;color:var(--faint);width:1%}\n"
    "td.best{font-weight:700}\n"
    "sup{line-height:0}\n"
    "th wbr{display:none}\n"
    ".spread,.unit{color:var(--faint);font-size:.85em}\n"
    "ol.notes{padding-left:1.4rem;font-size:.9rem;color:var(--faint);max-width:50rem}\n"
    "@media (max-width:40rem){.finding{font-size:1.08rem}.wide th,.wide td{padding:.4rem .45rem}"
    ".wide tbody th{position:sticky;left:0;background:var(--paper);min-width:6.5rem;white-space:normal}"
    ".wide th wbr{display:inline}.wide .dot{padding-left:1.5rem}.wide .swatch{left:.3rem}}\n"
    "@media print{.wide{font-size:.54rem}.wide th,.wide td{padding:.15rem .2rem}"
    ".wide .dot{padding-left:.9rem}.wide .swatch{left:.1rem}}\n";
