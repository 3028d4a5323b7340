#!/usr/bin/env python3
"""Writes counts.json: how many parameters transformers gives each model of configs.json.

    ~/.cache/sluice/python-torch-2.11.0/bin/python tests/sim/specs/model/families/count_parameters.py

Models are built on the meta device, which needs no memory for them. A model of images and text is
counted without what sees images. Correction biases of routers are counted, although they are
buffers: checkpoints hold them. With --saved FOLDER, each config is also written there as
transformers saves it, with every key; those files have the same counts.
"""
import argparse
import json
import pathlib
import warnings

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = pathlib.Path(__file__).parent
BESIDE_THE_DECODER = ("visual", "vision", "projector")
# DeepSeek's code, under a name that AutoConfig does not have.
SAME_CODE = {"kimi_k2": "deepseek_v3"}


def config_of(given):
    model_type = SAME_CODE.get(given["model_type"], given["model_type"])
    rest = {key: value for key, value in given.items() if key != "model_type"}
    if "text_config" in rest:
        inner = rest["text_config"]
        inner = {**inner, "model_type": SAME_CODE.get(inner["model_type"], inner["model_type"])}
        rest["text_config"] = inner
    return CONFIG_MAPPING[model_type].from_dict(rest)


def model_of(config):
    outer = hasattr(config, "text_config")
    kind = transformers.AutoModelForImageTextToText if outer else transformers.AutoModelForCausalLM
    with torch.device("meta"):
        return kind.from_config(config)


def count(model):
    parameters = {
        name: tensor.numel() for name, tensor in model.named_parameters()
        if not any(part in name for part in BESIDE_THE_DECODER)
    }
    biases = {
        name: tensor.numel() for name, tensor in model.named_buffers()
        if "e_score_correction_bias" in name
    }
    return sum(parameters.values()) + sum(biases.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saved", type=pathlib.Path, help="folder for configs as they are saved")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    counts = {}
    for entry in json.loads((HERE / "configs.json").read_text()):
        config = config_of(entry["config"])
        counts[entry["name"]] = count(model_of(config))
        if arguments.saved:
            arguments.saved.mkdir(parents=True, exist_ok=True)
            file = arguments.saved / (entry["name"].replace(" ", "-") + ".json")
            file.write_text(config.to_json_string(use_diff=False))
    table = {"transformers": transformers.__version__, "parameters": counts}
    (HERE / "counts.json").write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
