/* SPDX-License-Identifier: MIT
 *
 * The tables that facts.c looks through. */
#ifndef POSENC_ZOO_FACTS_TABLE_H
#define POSENC_ZOO_FACTS_TABLE_H

#include "zoo/facts.h"

extern const zoo_fact zoo_facts_rope[], zoo_facts_other[], zoo_facts_remote[], zoo_facts_parts[];
extern const size_t zoo_facts_rope_count, zoo_facts_other_count, zoo_facts_remote_count, zoo_facts_parts_count;

#endif
