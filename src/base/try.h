/* SPDX-License-Identifier: MIT */
#ifndef PE_TRY_H
#define PE_TRY_H

/* Returns from the function that calls it where the call fails, with the call's status. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        pe_status try_status = (call);                                                                                 \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

#endif
