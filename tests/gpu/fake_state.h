/* SPDX-License-Identifier: MIT
 *
 * What the fake driver and the fake compiler have alike, each its own: the state that a test sees and sets (fake_cuda.h),
 * and calls that fail when told. */
#ifndef TESTS_GPU_FAKE_STATE_H
#define TESTS_GPU_FAKE_STATE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/fake_cuda.h"

#define API __attribute__((visibility("default")))

static fake f = { .lock = PTHREAD_MUTEX_INITIALIZER };

API fake *fake_state(void);
fake *fake_state(void)
{
    return &f;
}

/* The code that the call returns at once; else 0. */
static int begin(const char *name)
{
    int code = 0;
    pthread_mutex_lock(&f.lock);
    if (!strcmp(f.fail, name) && (++f.failing == f.fail_at || !f.fail_at)) {
        f.failed++;
        code = f.code;
    }
    pthread_mutex_unlock(&f.lock);
    return code;
}

static void add(int *to, int n)
{
    pthread_mutex_lock(&f.lock);
    *to += n;
    pthread_mutex_unlock(&f.lock);
}

#define BEGIN(check)                                                                                                   \
    do {                                                                                                               \
        int begin_code = check(__func__);                                                                              \
        if (begin_code)                                                                                                \
            return begin_code;                                                                                         \
    } while (0)

#endif
