/* SPDX-License-Identifier: MIT
 *
 * The parts of DLPack 1.3 that array.c uses: how array libraries describe their memory to each other. The layouts are
 * those of its specification (dmlc.github.io/dlpack). */
#ifndef POSENC_PYTHON_DLPACK_H
#define POSENC_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };
#define DL_READ_ONLY UINT64_C(1)

typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    dl_type type;
    int64_t *shape, *strides; /* strides in elements; NULL before 1.2: contiguous */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed { /* capsule "dltensor" */
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_versioned { /* capsule "dltensor_versioned" */
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* What a type's __dlpack_c_exchange_api__ points to: capsule "dlpack_exchange_api". */
typedef struct exchange {
    uint32_t major, minor;
    struct exchange *older;
    int (*allocate)(dl_tensor *like, dl_versioned **out, void *context,
                    void (*set_error)(void *context, const char *kind, const char *message));
    int (*manage)(void *object, dl_versioned **out);
    int (*to_object)(dl_versioned *tensor, void **object);
    int (*describe)(void *object, dl_tensor *out); /* valid while the object is; may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} exchange;

#endif
