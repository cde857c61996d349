/* SPDX-License-Identifier: MIT
 *
 * Jobs over the caller's pool; NULL: one after another. */
#ifndef PE_POOL_H
#define PE_POOL_H

#include "posenc.h"

pe_status check_pool(const pe_pool *pool, pe_error *err);
int pool_workers(const pe_pool *pool);
void pool_run(const pe_pool *pool, pe_job job, void *arg, int64_t count);

#endif
