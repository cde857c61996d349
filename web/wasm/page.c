/* SPDX-License-Identifier: MIT
 *
 * The door from the page: the tool as a function of WebAssembly, with malloc and free for its arguments. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define EXPORT(name) __attribute__((export_name(name)))

static char buffer[1 << 16]; /* of stdout: libc's holds 1 KiB, and a picture is 400 calls of the page then */

/* argv (argc) and its texts are the caller's. Nothing is left in a buffer: the next call starts clean. */
EXPORT("page_run") int page_run(int argc, char **argv)
{
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    clearerr(stdin);
    clearerr(stdout);
    int code = cli_main(argc, argv);
    fflush(NULL);
    return code;
}

EXPORT("page_malloc") void *page_malloc(size_t size)
{
    return malloc(size);
}

EXPORT("page_free") void page_free(void *p)
{
    free(p);
}

/* WASI has no modes of files, and this one nothing to write to. */
int fchmod(int fd, mode_t mode)
{
    (void)fd;
    (void)mode;
    errno = ENOSYS;
    return -1;
}
