/* SPDX-License-Identifier: MIT */
#include "core.h"

static PyObject *words_of(const char *const *list, int count)
{
    PyObject *words = PyList_New(0);
    for (int i = 0; words && i < count; i++)
        list_add(&words, PyUnicode_FromString(list[i]));
    return words;
}

/* The registry: one dictionary per encoding. */
static PyObject *encodings(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)unused;
    for (int i = 0; list && i < pe_info_count(); i++) {
        const pe_info *info = pe_info_at(i);
        PyObject *row = Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:s,s:N}", "name", info->name, "summary", info->summary,
                                      "formula", info->formula, "paper", info->paper, "arxiv", info->arxiv, "models",
                                      info->models, "examples", words_of(info->examples, info->example_count));
        list_add(&list, row);
    }
    return list;
}

static PyMethodDef functions[] = {
    { "encodings", encodings, METH_NOARGS, "Every encoding: name, summary, formula, paper, models, examples." },
    { "set_threads", set_threads, METH_O, "How many threads calls may use; 0: one per CPU." },
    { "get_threads", get_threads, METH_NOARGS, "What set_threads set; 0: one per CPU." },
    { "set_cuda_compiler", set_cuda_compiler, METH_O,
      "The path of CUDA's run-time compiler, libnvrtc, for devices that are used from now on." },
    { 0 },
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "posenc._core", "posenc.h for Python.", -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    error_type = PyErr_NewExceptionWithDoc(
        "posenc.Error", "A call that posenc refused: status (\"PE_ERR_SHAPE\") and sentence say why.", PyExc_ValueError,
        NULL);
    if (!pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR))
        PyErr_SetString(PyExc_ImportError, "the loaded libposenc is not of this version");
    else if (error_type && !PyModule_AddObjectRef(module, "Error", error_type) && !arrays_init() &&
             !encoding_init_type(module) && !rotate_init() && !embed_init() && !attention_init() && !gpu_init() &&
             !PyModule_AddStringConstant(module, "__version__", pe_version()))
        return module;
    Py_DECREF(module);
    return NULL;
}
