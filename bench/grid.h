/* SPDX-License-Identifier: MIT
 *
 * A table's cells in lines and columns. */
#ifndef POSENC_BENCH_GRID_H
#define POSENC_BENCH_GRID_H

#include "bench.h"

#define FIELD_MAX 64
#define LINES_MAX 256
#define COLUMNS_MAX 24

typedef struct grid {
    const bench *b;
    const table *t;
    const cell *line[LINES_MAX]; /* the first cell of each */
    const cell *column[COLUMNS_MAX];
    int lines, columns;
    const char *unit; /* that most columns have */
} grid;

grid grid_of(const bench *b, const table *t);
void grid_field(const grid *g, int line, int column, char out[FIELD_MAX]);
int grid_best_of(const grid *g); /* the least number of turns that any cell is the best of; 0: nothing was timed */

#endif
