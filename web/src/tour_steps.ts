// SPDX-License-Identifier: MIT
//
// The tour, all of it, in order.

import type { Step } from "./tour_step";
import { codes } from "./tour_steps_codes";
import { order } from "./tour_steps_order";
import { rotation } from "./tour_steps_rotary";
import { terms } from "./tour_steps_terms";
import { waves } from "./tour_steps_waves";

export const steps: readonly Step[] = [...order, ...codes, ...waves, ...terms, ...rotation];
