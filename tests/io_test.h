/* SPDX-License-Identifier: MIT
 *
 * A test of readers and writers: every call may fail (faults.h), in a folder of its own. */
#ifndef TESTS_IO_TEST_H
#define TESTS_IO_TEST_H

#include "io_case.h"
#include "test.h"

AROUND(before_all)
{
    make_folder();
}

AROUND(after_all)
{
    remove_folder();
}

AROUND(before_each)
{
    faults_reset();
}

#endif
