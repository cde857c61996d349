/* SPDX-License-Identifier: MIT */
#include "zoo/turns.h"

#include <math.h>

/* A pair this close to its trained frequency is as trained: what rounding leaves. */
#define AS_TRAINED 1e-9

static double wavelength(const pe_pair *p)
{
    return p->turns[0] == 0 ? (double)INFINITY : 1 / fabs(p->turns[0]);
}

void zoo_turns_measure(zoo_turns *p, const pe_pair *at, const pe_pair *born, int64_t trained, int64_t window)
{
    bool windowed = window > 0 && window <= trained;      /* distances stay what they were */
    double reach = (double)(windowed ? window : trained); /* distances seen in training are below it */
    *p = (zoo_turns){ .at = *at, .wavelength = wavelength(at), .trained = wavelength(born) };
    p->divisor = isfinite(p->trained) ? p->wavelength / p->trained : 1;
    if (fabs(p->divisor - 1) < AS_TRAINED)
        p->divisor = 1;
    p->turns = trained > 0 ? reach / p->trained : (double)NAN;
    bool all_seen = !isfinite(p->trained) || p->turns >= 1 || (windowed && p->divisor >= 1);
    p->leaves = all_seen ? (double)INFINITY : ceil(reach * p->divisor * (1 - AS_TRAINED));
    if (trained <= 0)
        p->leaves = (double)NAN;
}

bool zoo_turns_unturned(const zoo_turns *p)
{
    return isfinite(p->trained) && p->turns < 1;
}
