/* SPDX-License-Identifier: MIT
 *
 * A compiler whose code is a text that says what it was made of (fake_cuda.h). */
#define _DEFAULT_SOURCE /* usleep */
#include "gpu/fake_state.h"

#include <unistd.h>

typedef struct fake_program {
    char code[400];
    char *text;
} fake_program;

API int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
    BEGIN(begin);
    *major = f.version_major;
    *minor = f.version_minor;
    return 0;
}

API const char *nvrtcGetErrorString(int code);
const char *nvrtcGetErrorString(int code)
{
    (void)code;
    return "NVRTC_ERROR_FAKE";
}

API int nvrtcCreateProgram(void **out, const char *text, const char *name, int headers, const char *const *texts,
                           const char *const *names);
int nvrtcCreateProgram(void **out, const char *text, const char *name, int headers, const char *const *texts,
                       const char *const *names)
{
    BEGIN(begin);
    (void)name;
    for (int i = 0; i < headers; i++)
        if (!strlen(names[i]) || !strlen(texts[i]))
            return 1;
    fake_program *p = calloc(1, sizeof *p);
    p->text = calloc(1, strlen(text) + 1);
    memcpy(p->text, text, strlen(text));
    add(&f.programs, 1);
    *out = p;
    return 0;
}

API int nvrtcDestroyProgram(void **program);
int nvrtcDestroyProgram(void **program)
{
    fake_program *p = *program;
    free(p->text);
    free(p);
    *program = NULL;
    add(&f.programs, -1);
    BEGIN(begin);
    return 0;
}

API int nvrtcCompileProgram(void *program, int count, const char *const *options);
int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    fake_program *p = program;
    BEGIN(begin);
    usleep((useconds_t)f.delay);
    pthread_mutex_lock(&f.lock);
    f.options[0] = 0;
    for (int i = 0; i < count; i++) {
        size_t n = strlen(f.options);
        snprintf(f.options + n, sizeof f.options - n, " %s", options[i]);
    }
    snprintf(f.text, sizeof f.text, "%s", p->text);
    f.compiles++;
    pthread_mutex_unlock(&f.lock);
    snprintf(p->code, sizeof p->code, "cubin of %d.%d for%s", f.version_major, f.version_minor, f.options);
    return 0;
}

API int nvrtcGetCUBINSize(void *program, size_t *out);
int nvrtcGetCUBINSize(void *program, size_t *out)
{
    BEGIN(begin);
    *out = sizeof((fake_program *)program)->code;
    return 0;
}

API int nvrtcGetCUBIN(void *program, char *out);
int nvrtcGetCUBIN(void *program, char *out)
{
    fake_program *p = program;
    BEGIN(begin);
    memcpy(out, p->code, sizeof p->code);
    return 0;
}

API int nvrtcGetProgramLogSize(void *program, size_t *out);
int nvrtcGetProgramLogSize(void *program, size_t *out)
{
    (void)program;
    BEGIN(begin);
    *out = f.log ? strlen(f.log) + 1 : 0;
    return 0;
}

API int nvrtcGetProgramLog(void *program, char *out);
int nvrtcGetProgramLog(void *program, char *out)
{
    (void)program;
    BEGIN(begin);
    memcpy(out, f.log, strlen(f.log) + 1);
    return 0;
}
