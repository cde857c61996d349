/* SPDX-License-Identifier: MIT
 *
 * Figures to a stream, by format. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <string.h>
#include <strings.h>

static const char *const names[FIGURE_FORMAT_COUNT] = { "terminal", "svg", "png", "html", "csv", "json", "parts" };

const char *figure_format_name(figure_format f)
{
    return f < FIGURE_FORMAT_COUNT ? names[f] : "none";
}

bool figure_format_speaks(figure_format f, language l)
{
    return f != FIGURE_PNG || l == ENGLISH;
}

figure_format figure_format_of(const char *file)
{
    const char *end = strrchr(file, '.');
    for (int i = FIGURE_SVG; end && i <= FIGURE_JSON; i++)
        if (!strcasecmp(end + 1, names[i]))
            return (figure_format)i;
    return FIGURE_FORMAT_COUNT;
}

static pe_status write_list(FILE *to, const draw *d, const figure_how *how, pe_error *err)
{
    draw_screen screen = how->screen;
    screen.columns = (int)(d->width / CELL_WIDTH + 0.5);
    screen.rows = (int)(d->height / CELL_HEIGHT + 0.5);
    switch (how->format) {
    case FIGURE_TERMINAL: return draw_terminal(to, d, &screen, err);
    case FIGURE_PNG: return draw_png(to, d, how->dark, how->scale, err);
    default: return draw_svg(to, d, DRAW_ALONE, err);
    }
}

static pe_status write_sheet(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    draw *d;
    pe_status s = figures_sheet(&d, f, count, how, err);
    s = s ? s : write_list(to, d, how, err);
    draw_free(d);
    return s;
}

pe_status figures_write(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < count && !s; i++)
        s = figure_status(f[i], err);
    if (s)
        return s;
    switch (how->format) {
    case FIGURE_TERMINAL:
    case FIGURE_PNG:
    case FIGURE_SVG: s = write_sheet(to, f, count, how, err); break;
    case FIGURE_PARTS: s = figures_parts(to, f, count, how, err); break;
    case FIGURE_HTML: s = figures_html(to, f, count, how, err); break;
    case FIGURE_CSV: s = figures_csv(to, f, count, err); break;
    case FIGURE_JSON: s = figures_json(to, f, count, err); break;
    default:
        return io_fail(err, PE_ERR_RANGE, "figures in format %d; needs 0 to %d", (int)how->format,
                       FIGURE_FORMAT_COUNT - 1);
    }
    if (!s && ferror(to))
        s = io_fail(err, PE_ERR_IO, "the figures could not be written");
    return s;
}
