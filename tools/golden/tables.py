# SPDX-License-Identifier: MIT
"""The census of tables: the learned tables of positions of each model type that does not rotate.

A model of each type that has a row in src/zoo/facts_other.c is made with the defaults of its config, on torch's meta
device. A case has the name of the model type; tables has the rows and the width of each trained table whose name says
that it is one of positions. Tables of distances and of words are none of them; nor is one that is filled with sines and
not trained. left_out in the index says why a type has no case."""
import re

import torch

from census import ABOUT_POSITIONS, LeftOut, config_types, default_config
from layers import ABOUT_LAYERS, models_of

A_TABLE = re.compile(
    r"(^|\.)(pos_embed|wpe|(char_|abs_|col|column_|row_)?position(al|s)?_embed(s|ding|dings|der|s_layer)?|embed_positions|"
    r"positions_embed|positional_embedding|(row|column)_embedder|pos_embedding)(\.weight)?$"
)
SINES = {"fsmt": "its table is filled with sines, though it is a parameter"}
ABOUT_TABLES = re.compile(
    r"position|heads?$|layers?$|d_model|embed|dim$|image|img|patch|pad_token_id|frames|tubelet|length|seq_len|max_|stride|"
    r"mel|ctx|cls_tokens|native|block_size|sinusoidal"
)


def tables_of(model):
    found = set()
    for name, value in model.named_parameters():
        while value.dim() > 2 and value.shape[0] == 1:
            value = value[0]
        if A_TABLE.search(name) and value.requires_grad and value.dim() == 2:
            found.add(tuple(value.shape))
    return sorted(found)


def case_of(model_type):
    config = default_config(model_type)
    found = next((found for model in models_of(config) if (found := tables_of(model))), None)
    if model_type in SINES or not found:
        raise LeftOut(SINES.get(model_type, "no trained table of positions"))
    whole = config.to_dict()
    about = [key for key in whole if any(r.search(key) for r in (ABOUT_POSITIONS, ABOUT_LAYERS, ABOUT_TABLES))]
    keys = {key: whole[key] for key in about if isinstance(whole[key], (bool, int, float, str, list)) or whole[key] is None}
    meta = {"model_type": model_type, "config": keys | {"model_type": model_type}}
    return {"meta": meta, "tensors": {"tables": torch.tensor(found)}}


def build(rows):
    """rows: those of facts.read_rows."""
    cases, left_out = {}, {}
    here = set(config_types())
    for model_type, (_, _, path) in sorted(rows.items()):
        if not path.endswith("facts_other.c") or model_type not in here:
            continue
        try:
            cases[model_type] = case_of(model_type)
        except LeftOut as why:
            left_out[model_type] = str(why)
    return cases, left_out
