"""Networks from torch to ONNX files, and their weights back again."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.engine.errors import CardlabError, require
from cardlab.engine.game import Array
from cardlab.engine.whole_files import whole_file
from cardlab.networks.onnx import ABOUT, ATTENTION

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["export", "read_weights"]

FEW = 256  # weights of a tensor that is kept as it is


def export(
    model: nn.Module,
    example: Mapping[str, Tensor],
    path: Path,
    outputs: Sequence[str],
    about: Mapping[str, Any],
    *,
    attention: int = 0,
) -> None:
    """Write a network to a file; the first axis of every input is the batch.

    The attention of each of the first `attention` blocks becomes an output, too. It is computed for
    the values anyway, so it costs nothing unless it is requested.
    """
    require("to export a network", "train", "torch", "onnx", "onnxscript")
    import torch

    batch = torch.export.Dim("batch", min=1, max=1 << 20)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it misses torchvision, we do not
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own parts
        program = torch.onnx.export(
            model.eval().cpu(),
            kwargs={name: one.cpu() for name, one in example.items()},
            dynamo=True,
            dynamic_shapes={name: {0: batch} for name in example},
            input_names=list(example),
            output_names=list(outputs),
            verbose=False,
            optimize=False,  # onnxruntime does so as it loads; here weights would lose their names
        )
    assert program is not None
    made = program.model_proto
    sizes = [one.type.tensor_type.shape.dim[0] for one in made.graph.input]
    if not all(one.dim_param for one in sizes):
        raise CardlabError(
            f"{path.name} would take batches of one size alone; look in the network for what asks "
            "for len() of an input, and use its shape[0]"
        )
    _forget(made)
    _halve(made, {name for name, _ in model.named_parameters()})
    _name_attention(made, attention)
    entry = made.metadata_props.add()
    entry.key, entry.value = ABOUT, json.dumps(about)
    with whole_file(path) as rough:
        rough.write_bytes(made.SerializeToString())


def read_weights(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the weights of a file by the names that torch has for them, and what it is about."""
    require("to resume learning from an ONNX file", "train", "onnx")
    import numpy as np
    import onnx

    if not path.is_file():
        raise CardlabError(f"network {path} does not exist; name another file")
    made = onnx.load(path)
    about = {one.key: one.value for one in made.metadata_props}.get(ABOUT)
    if about is None:
        raise CardlabError(f"{path} is a network of another program; name one of cardlab's")
    held = {
        one.name.removesuffix(".half"): onnx.numpy_helper.to_array(one).astype(np.float32)
        for one in made.graph.initializer
        if one.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
    }
    return held, json.loads(about)


def _forget(made: Any) -> None:
    """Drop what the exporter notes of every step: its name and where its source lies."""
    del made.graph.value_info[:]
    for step in made.graph.node:
        del step.metadata_props[:]
        step.ClearField("name")


def _name_attention(made: Any, blocks: int) -> None:
    """Make outputs of the weights that softmax gives, one for each block."""
    from onnx import TensorProto, helper

    steps = [step for step in made.graph.node if step.op_type == "Softmax"]
    for number, step in enumerate(steps[:blocks], start=1):
        name, inner = f"{ATTENTION}{number}", step.output[0]
        for other in made.graph.node:
            other.input[:] = [name if one == inner else one for one in other.input]
        step.output[0] = name
        made.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))


def _halve(made: Any, learned: set[str]) -> None:
    """Keep what was learned in half precision; a cast before its first use makes it whole."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    casts = []
    for weights in made.graph.initializer:
        if weights.data_type != TensorProto.FLOAT:
            continue
        array = numpy_helper.to_array(weights)
        if array.size < FEW or weights.name not in learned:
            continue
        name = weights.name
        weights.CopyFrom(numpy_helper.from_array(array.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        made.graph.node.insert(0, cast)
