/* SPDX-License-Identifier: MIT
 *
 * The parts of what is seen: screen.c decides when and where, screen_frame.c what. */
#ifndef POSENC_LAB_SCREEN_H
#define POSENC_LAB_SCREEN_H

#include "draw/draw.h"
#include "lab/race.h"

/* "rope, seed 1 (1 of 3), step 120 of 400, 2:31 left, 3.333 bits, 12300 tokens/s" */
void frame_line(FILE *to, const race *r, const screen_now *n);
/* A bar, that line, the table so far and the losses of this seed's trainings, as the place has room. */
void frame_all(FILE *to, const race *r, const screen_now *n, const draw_screen *place);

#endif
