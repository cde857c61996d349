/* SPDX-License-Identifier: MIT
 *
 * Calls whose arrays lie on a GPU: devices and plans, made when first used and kept. A plan is freed with its encoding
 * only: a CUDA graph may still use its tables. */
#include "core.h"

#include <stdlib.h>

static char compiler_path[1024]; /* "": where the library looks for it */

PyObject *set_cuda_compiler(PyObject *self, PyObject *path)
{
    const char *text = PyUnicode_Check(path) ? PyUnicode_AsUTF8AndSize(path, NULL) : NULL;
    (void)self;
    if (!text || PyOS_snprintf(compiler_path, sizeof compiler_path, "%s", text) >= (int)sizeof compiler_path) {
        *compiler_path = 0;
        return PyErr_Format(PyExc_TypeError, "path is %R; needs the text of one of at most 1023 bytes", path);
    }
    Py_RETURN_NONE;
}

#ifdef POSENC_CUDA
#include "posenc_cuda.h"

/* ---------------------------------------------------------------- devices */

#define DEVICES_MAX 64
static pe_cuda *devices[DEVICES_MAX]; /* of the process; freed with it */
static PyThread_type_lock devices_lock;

int gpu_init(void)
{
    devices_lock = PyThread_allocate_lock();
    return devices_lock ? 0 : (PyErr_NoMemory(), -1);
}

static pe_status find_device(pe_cuda **out, int number, pe_error *err)
{
    pe_status s = PE_OK;
    if (number >= DEVICES_MAX) {
        *err = (pe_error){ PE_ERR_DEVICE, "the arrays are on a CUDA device past the 64th, which posenc does not use" };
        return err->status;
    }
    PyThread_acquire_lock(devices_lock, WAIT_LOCK);
    if (!devices[number])
        s = pe_cuda_new(&devices[number],
                        &PE_MAKE(pe_cuda_options, .device = number, .compiler = *compiler_path ? compiler_path : NULL),
                        err);
    *out = devices[number];
    PyThread_release_lock(devices_lock);
    return s;
}

/* ---------------------------------------------------------------- plans */

struct gpu_plan {
    gpu_plan *next;
    pe_cuda_plan *plan;
    int device;
    int64_t behind, ahead;
};

void gpu_plans_drop(gpu_plan *p)
{
    while (p) {
        gpu_plan *next = p->next;
        pe_cuda_plan_free(p->plan);
        free(p);
        p = next;
    }
}

/* A power of two, so that growing lengths share a plan; 0 stays 0. */
static int64_t round_up(int64_t distance)
{
    int64_t size = distance > 0 ? 256 : 0;
    while (size < distance)
        size *= 2;
    return size;
}

static gpu_plan *make_plan(encoding_object *self, int device, gpu_reach reach, pe_error *err)
{
    pe_cuda *gpu;
    gpu_plan *p = calloc(1, sizeof *p);
    *err = (pe_error){ PE_ERR_NOMEM, "no memory for a plan" };
    if (!p || find_device(&gpu, device, err) ||
        pe_cuda_plan_new(&p->plan, gpu, self->e, reach.behind, reach.ahead, err)) {
        free(p);
        return NULL;
    }
    p->device = device;
    p->behind = reach.behind;
    p->ahead = reach.ahead;
    return p;
}

/* The plan of exactly these distances: what a call computes does not depend on the calls before it. */
static const pe_cuda_plan *find_plan(encoding_object *self, int device, gpu_reach reach, pe_error *err)
{
    reach.behind = round_up(reach.behind);
    reach.ahead = round_up(reach.ahead);
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    gpu_plan *p = self->gpu_plans;
    while (p && (p->device != device || p->behind != reach.behind || p->ahead != reach.ahead))
        p = p->next;
    if (!p && (p = make_plan(self, device, reach, err))) {
        p->next = self->gpu_plans;
        self->gpu_plans = p;
    }
    PyThread_release_lock(self->lock);
    return p ? p->plan : NULL;
}

/* ---------------------------------------------------------------- calls */

static const gpu_reach nowhere; /* a rotation has no distances */

pe_status gpu_rotate(encoding_object *self, int device, rotate_way way, pe_side side, pe_view y, pe_view x,
                     pe_positions at, void *stream, pe_error *err)
{
    const pe_cuda_plan *plan = find_plan(self, device, nowhere, err);
    if (!plan)
        return err->status;
    return way == ROTATE           ? pe_cuda_rotate(plan, side, y, x, at, NULL, stream, err)
           : way == ROTATE_INVERSE ? pe_cuda_unrotate(plan, side, y, x, at, NULL, stream, err)
                                   : pe_cuda_rotate_back(plan, side, y, x, at, NULL, stream, err);
}

pe_status gpu_rotate_qk(encoding_object *self, int device, bool back, const pe_rotation *r, void *stream, pe_error *err)
{
    const pe_cuda_plan *plan = find_plan(self, device, nowhere, err);
    if (!plan)
        return err->status;
    return back ? pe_cuda_rotate_qk_back(plan, r, NULL, stream, err) : pe_cuda_rotate_qk(plan, r, NULL, stream, err);
}

pe_status gpu_attention_work(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                             const pe_attention_grad *g, size_t *bytes, pe_error *err)
{
    const pe_cuda_plan *plan = find_plan(self, device, reach, err);
    if (!plan)
        return err->status;
    return g ? pe_cuda_attention_backward_work(plan, a, g, bytes, err) : pe_cuda_attention_work(plan, a, bytes, err);
}

pe_status gpu_attention(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                        const pe_attention_grad *g, const pe_run *run, void *stream, pe_error *err)
{
    const pe_cuda_plan *plan = find_plan(self, device, reach, err);
    if (!plan)
        return err->status;
    return g ? pe_cuda_attention_backward(plan, a, g, run, stream, err)
             : pe_cuda_attention_forward(plan, a, run, stream, err);
}

#else /* a build without the GPU library */

int gpu_init(void)
{
    return 0;
}

void gpu_plans_drop(gpu_plan *p)
{
    (void)p;
}

static pe_status no_library(pe_error *err)
{
    *err = (pe_error){ PE_ERR_UNSUITED, "the arrays are on a GPU and this posenc was built without its GPU library; "
                                        "needs arrays on the CPU, or a build with POSENC_CUDA=ON" };
    return err->status;
}

pe_status gpu_rotate(encoding_object *self, int device, rotate_way way, pe_side side, pe_view y, pe_view x,
                     pe_positions at, void *stream, pe_error *err)
{
    (void)self, (void)device, (void)way, (void)side, (void)y, (void)x, (void)at, (void)stream;
    return no_library(err);
}

pe_status gpu_rotate_qk(encoding_object *self, int device, bool back, const pe_rotation *r, void *stream, pe_error *err)
{
    (void)self, (void)device, (void)back, (void)r, (void)stream;
    return no_library(err);
}

pe_status gpu_attention_work(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                             const pe_attention_grad *g, size_t *bytes, pe_error *err)
{
    (void)self, (void)device, (void)reach, (void)a, (void)g, (void)bytes;
    return no_library(err);
}

pe_status gpu_attention(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                        const pe_attention_grad *g, const pe_run *run, void *stream, pe_error *err)
{
    (void)self, (void)device, (void)reach, (void)a, (void)g, (void)run, (void)stream;
    return no_library(err);
}
#endif
