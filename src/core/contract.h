/* SPDX-License-Identifier: MIT
 *
 * The contracts of core/row.h. */
#ifndef PE_CONTRACT_H
#define PE_CONTRACT_H

#include "core/row.h"

pe_status part_contract(const part *p, pe_error *err); /* after init: all of them hold */
const char *contract_at(int index);                    /* what one says; NULL past the end */

#endif
