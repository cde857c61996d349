/* SPDX-License-Identifier: MIT */
#include "core.h"

int method_open(method_call *m, PyObject *self, arguments *table, PyObject *const *args, Py_ssize_t count,
                PyObject *names)
{
    m->self = (encoding_object *)self;
    m->table = table;
    m->order = LAYOUT_BTHD;
    m->run = PE_MAKE(pe_run, .params = encoding_params(m->self));
    m->failed = PE_OK;
    m->result[0] = m->result[1] = NULL;
    m->count = 0;
    return arguments_read(table, m->v, args, count, names);
}

array *method_hold(method_call *m, const char *name)
{
    array *a = &m->held[m->count];
    *a = (array){ 0 };
    m->all[m->count++] = (named_array){ a, name };
    return a;
}

array *method_array(method_call *m, int at)
{
    array *a = method_hold(m, m->table->names[at]);
    return array_get(a, m->v[at], m->table->names[at]) ? NULL : a;
}

array *method_view(method_call *m, pe_view *out, int at)
{
    array *a = method_array(m, at);
    return a && !view_of(out, a, m->order, m->table->names[at]) ? a : NULL;
}

array *method_out(method_call *m, int at, const array *like, pe_dtype dtype, int ndim, const int64_t *shape)
{
    const char *name = m->table->names[at];
    array *a = method_hold(m, name);
    return (m->v[at] ? array_get_out(a, m->v[at], name) : array_new(a, like, dtype, ndim, shape)) ? NULL : a;
}

int method_params(method_call *m, pe_params *out, int at)
{
    const char *name = m->table->names[at];
    return params_of(out, method_hold(m, name), m->v[at], name);
}

int method_dparams(method_call *m, pe_params *out, int at)
{
    const char *name = m->table->names[at];
    array *a = method_hold(m, name);
    return params_of(out, a, m->v[at], name) || array_writes(a, name);
}

int method_positions(method_call *m, pe_positions *out, PyObject *positions, PyObject *start, const char *name,
                     int64_t batch, int64_t tokens)
{
    return positions_of(out, method_hold(m, name), positions, start, name, batch, tokens, pe_encoding_axes(m->self->e),
                        0);
}

PyObject *method_close(method_call *m)
{
    PyObject *out = m->failed      ? raise_error(&m->err)
                    : m->result[1] ? PyTuple_Pack(2, m->result[0], m->result[1])
                                   : Py_XNewRef(m->result[0]);
    for (int i = 0; i < m->count; i++)
        array_free(&m->held[i]);
    return out;
}
