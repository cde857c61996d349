/* SPDX-License-Identifier: MIT */
#ifndef POSENC_SHOW_TRY_H
#define POSENC_SHOW_TRY_H

/* What failed is the caller's status. */
#define SHOW_TRY(call)                                                                                                 \
    do {                                                                                                               \
        pe_status try_status = (call);                                                                                 \
        if (try_status)                                                                                                \
            return try_status;                                                                                         \
    } while (0)

#endif
