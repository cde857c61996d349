// SPDX-License-Identifier: MIT
//
// The story, all of it, in order.

import { codes } from "./scenes_codes";
import { order } from "./scenes_order";
import { rotation } from "./scenes_rotary";
import { tables } from "./scenes_tables";
import { terms } from "./scenes_terms";
import { trained } from "./scenes_trained";
import { waves } from "./scenes_waves";
import type { Scene } from "./story_scene";

export const scenes: readonly Scene[] = [...order, ...codes, ...waves, ...tables, ...terms, ...rotation, ...trained];
