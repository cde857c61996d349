/* SPDX-License-Identifier: MIT
 *
 * A folder that survives crashes: lock, log, checkpoints. Whenever and however a process ends, the run can be resumed
 * and gives the same bits.
 *
 *     lab_folder_new / lab_folder_lock       the race's folder; a lock whose owner is dead is taken over and reported
 *     checkpoint_save / checkpoint_newest    temp file, checksum, fsync, rename, folder fsync; the newest good one, and
 *                                            which were passed over and why
 *     lab_log_open / lab_log_sync            JSON lines; on resume cut back to where the checkpoint stood
 */
#ifndef POSENC_LAB_RUN_H
#define POSENC_LAB_RUN_H

#include "io/io.h"
#include "model/model.h"

#include <stdio.h>

/* ---------------------------------------------------------------- the lock */

typedef struct lab_lock {
    int fd;
    char path[1100];
} lab_lock;
/* Makes the folder, and those above it, where they are not there. */
pe_status lab_folder_new(const char *path, pe_error *err);
/* PE_ERR_IO if the folder has a file of this name: it may not be ours to replace. */
pe_status lab_folder_lacks(const char *folder, const char *name, pe_error *err);
/* FOLDER/lock, held by the system's lock on that file, so that it goes with its owner however that ends. PE_ERR_IO and
 * the owner's process, host and time where someone holds it; PE_ERR_IO too where a file of that name is no lock, which
 * stays as it is. *recovered: the last owner did not come to release it; temporary files of dead processes are removed
 * then. A child made by fork holds it too. */
pe_status lab_lock_take(lab_lock *out, const char *folder, bool *recovered, pe_error *err);
void lab_lock_release(lab_lock *l); /* zeroed or released before: fine */

/* ---------------------------------------------------------------- checkpoints (checkpoint.c) */

/* All a run needs to go on: weights and moments come from model and adam. */
typedef struct checkpoint_state {
    int64_t step; /* steps done */
    uint64_t seed;
    double seconds;    /* of training so far */
    int64_t log_size;  /* bytes of the log that belong to it */
    double loss_sum;   /* of the steps since the last line of the log, */
    int64_t losses;    /* and how many those are */
    char trained[400]; /* spec */
    uint64_t config;   /* fingerprint of all that must agree: model, data, schedule, seed */
} checkpoint_state;

/* step-00000400.safetensors in folder: weights by their names, "adam.first.NAME", "adam.second.NAME". Keeps the last
 * `keep` up to this step. After a failure older ones are as they were. The folder is locked by the caller, and one
 * thread at a time saves in it. a NULL: weights alone. The log up to s->log_size is to be synced before. */
pe_status checkpoint_save(const char *folder, model *m, const adam *a, const checkpoint_state *s, int keep,
                          pe_error *err);
/* What a checkpoint has to be, to be taken. */
typedef struct checkpoint_wanted {
    uint64_t config;
    int64_t steps;   /* of the whole run: it has done no more than these; 0: any */
    const char *log; /* that it goes with: has the bytes it was made at; NULL: not looked at */
} checkpoint_wanted;
/* The newest that is whole and what is wanted, into m, a (NULL: weights alone) and *s; *found false: there is
 * none, and they are as they were. skipped (cap bytes): in words, which newer ones were passed over and why; "". */
pe_status checkpoint_newest(const char *folder, model *m, adam *a, checkpoint_state *s, const checkpoint_wanted *want,
                            bool *found, char *skipped, size_t cap, pe_error *err);
/* One file's bytes, which it takes over; all or nothing goes into m, a and *s. */
pe_status checkpoint_parse(io_bytes *file, model *m, adam *a, checkpoint_state *s, uint64_t config, pe_error *err);

/* ---------------------------------------------------------------- the log (log.c) */

typedef struct lab_log {
    FILE *to;
    char path[1100];
} lab_log;
/* Whether it has `size` bytes, the last of which ends a line: PE_ERR_FORMAT where it is another checkpoint's. */
pe_status lab_log_check(const char *path, int64_t size, pe_error *err);
/* Cut to `size` bytes, then appended to; size -1: kept whole, but for a last line without its end. A log of fewer
 * bytes, or whose line does not end there, is not the checkpoint's: PE_ERR_FORMAT. A symbolic link is refused. */
pe_status lab_log_open(lab_log *out, const char *path, int64_t size, pe_error *err);
/* Flush, fsync, and the size: an error where the disk is full. */
pe_status lab_log_sync(lab_log *l, int64_t *size, pe_error *err);
void lab_log_close(lab_log *l); /* zeroed or closed before: fine */

#endif
