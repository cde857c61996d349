/* SPDX-License-Identifier: MIT
 *
 * A folder that survives crashes: lock, log, checkpoints. Whenever and however a process ends, the run can be resumed
 * and gives the same bits.
 *
 *     lab_folder_new / lab_lock_take         a folder that one process works in; the lock of one that is dead is free
 *     checkpoint_save / checkpoint_newest    temp file, checksum, fsync, rename, folder fsync; the newest good one, and
 *                                            which were passed over and why
 *     lab_log_open / lab_log_sync            JSON lines; on resume cut back to where the checkpoint stood, in a new file
 */
#ifndef POSENC_LAB_RUN_H
#define POSENC_LAB_RUN_H

#include "io/io.h"
#include "model/model.h"

#include <stdio.h>

/* ---------------------------------------------------------------- the folder */

/* Makes the folder, and those above it, where they are not there. */
pe_status lab_folder_new(const char *path, pe_error *err);
/* PE_ERR_IO if the folder has a file of this name: it may not be ours to replace. */
pe_status lab_folder_lacks(const char *folder, const char *name, pe_error *err);
/* Removes temporary files of processes that are not alive on this machine and that are at least as old as age, in
 * seconds of the disk's clock. age 0 is for who alone may write in the folder, but for reports of others on this machine. */
void lab_folder_tidy(const char *folder, double age);

/* ---------------------------------------------------------------- the lock */

#define LAB_SILENCE 60. /* seconds without a sign of life after which a process on another machine is taken for dead */
#define LAB_SILENCE_MAX 86400.
#define LAB_LOCK_TEXT 512
#define LAB_LOCK_PATH 1300

typedef struct lab_lock {
    int fd, number; /* 0: not taken */
    char folder[LAB_LOCK_PATH - 20], path[LAB_LOCK_PATH];
    struct lab_beat *beat;
} lab_lock;

typedef enum lab_lock_state {
    LAB_LOCK_FREE,
    LAB_LOCK_HELD,   /* by a process that lives */
    LAB_LOCK_UNSURE, /* look again: its process is on another machine, and gave no sign of life yet */
    LAB_LOCK_TAKEN   /* by the caller */
} lab_lock_state;

/* What was seen of a folder's lock. Zeroed: nothing yet. */
typedef struct lab_watch {
    lab_lock_state state;
    bool left;       /* free, because its owner is dead */
    char owner[360]; /* "process 12 on a since 2026-11-18T21:12:05Z"; "": none yet */
    int number;      /* of its newest file; 0: none */
    bool beaten;     /* its text has changed */
    double since;    /* of the clock: how long it is the same */
    char text[LAB_LOCK_TEXT];
} lab_watch;

/* PE_ERR_IO where a file of its name is no lock; it stays as it is. */
pe_status lab_lock_look(lab_watch *w, const char *folder, pe_error *err);
/* Looks, and takes it where it is free: w->state says what came of it. w->left: the last owner did not come to release
 * it; temporary files of dead processes are removed. silence: seconds, of this process. A child made by fork holds the
 * lock too. */
pe_status lab_lock_take(lab_lock *out, lab_watch *w, const char *folder, double silence, pe_error *err);
/* PE_ERR_IO: who holds it, and what to do. */
pe_status lab_lock_refuse(const lab_watch *w, const char *folder, pe_error *err);
/* Whether it is still ours: a process that stood still for its silence is taken for dead, and another one goes on. To
 * be asked before anything is written that others read. */
bool lab_lock_held(const lab_lock *l);
void lab_lock_release(lab_lock *l); /* zeroed or released before: fine */
/* All its files; what is no lock stays. Nobody needs the lock any more: whoever takes it again finds all done. */
void lab_lock_remove(const char *folder);

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
/* Its first `size` bytes, appended to; size -1: all, but for a last line without its end. It is a new file in place of
 * the old: what a process that lost its lock still writes is in no file. Whether the lock is held is to be asked after
 * this. A log of fewer bytes, or whose line does not end there, is not the checkpoint's: PE_ERR_FORMAT. A symbolic link
 * is refused. */
pe_status lab_log_open(lab_log *out, const char *path, int64_t size, pe_error *err);
/* Flush, fsync, and the size: an error where the disk is full. */
pe_status lab_log_sync(lab_log *l, int64_t *size, pe_error *err);
void lab_log_close(lab_log *l); /* zeroed or closed before: fine */

#endif
