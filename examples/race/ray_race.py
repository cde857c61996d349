# SPDX-License-Identifier: MIT
"""One race as tasks of Ray, in a folder that all its machines share. Ray starts a task again whose machine is gone.

python examples/race/ray_race.py FOLDER [SHARES]
"""

import sys
from typing import Any

import posenc
import ray

FOLDER, SHARES = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4
RACE: dict[str, Any] = {"steps": 400, "seeds": 3}


@ray.remote(num_cpus=1, max_retries=-1)
def share(i: int) -> None:
    posenc.race("none,rope,alibi", folder=FOLDER, shard=f"{i}/{SHARES}", threads=1, progress=False, **RACE)


ray.get([share.remote(i) for i in range(1, SHARES + 1)])
print(posenc.race(resume=FOLDER, progress=False))
