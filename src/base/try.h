/* SPDX-License-Identifier: MIT */
#ifndef PE_TRY_H
#define PE_TRY_H

/* Returns the status of a call that failed. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        pe_status try_status = (call);                                                                                 \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

#endif
