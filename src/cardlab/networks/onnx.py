"""Networks as ONNX files: made from torch once, run by onnxruntime wherever agents play.

A file keeps its weights in half precision and computes in single precision, so that it is small
and still runs on every processor. What it is for - game, rules version, encoding, how it was
trained - lies in its own header as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.engine.errors import CardlabError, require
from cardlab.engine.game import Array

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Network", "export", "read_weights"]

ABOUT = "cardlab"
ATTENTION = "attention_"  # with the number of a block: the name of an output
FEW = 256  # weights of a tensor that is kept as it is


class Network:
    """A network that answers arrays with arrays, one thread, without torch."""

    def __init__(self, path: Path, **wanted: Any) -> None:
        import onnxruntime

        self.path = path
        if not path.is_file():
            raise CardlabError(f"there is no network at {path}; name another file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception:  # onnxruntime has a class of its own for every way a file can be bad
            raise CardlabError(f"{path} is no whole network; copy or export it again") from None
        found = self._session.get_modelmeta().custom_metadata_map.get(ABOUT)
        if found is None:
            raise CardlabError(f"{path} is a network of another program; name one of cardlab's")
        self.about: dict[str, Any] = json.loads(found)
        self.outputs = [one.name for one in self._session.get_outputs()]
        for name, value in wanted.items():
            if self.about.get(name) != value:
                raise CardlabError(
                    f"{path} is for {name} {self.about.get(name)!r}, not {value!r}; "
                    "name a network that fits, or train it again"
                )

    @property
    def attention(self) -> list[str]:
        """The outputs that tell who attends to whom, block by block; empty: none were named."""
        return [name for name in self.outputs if name.startswith(ATTENTION)]

    def run(self, *wanted: str, **inputs: Array) -> dict[str, Array]:
        """Return the outputs wanted for a batch of inputs, or all but those of attention."""
        names = wanted or [name for name in self.outputs if not name.startswith(ATTENTION)]
        return dict(zip(names, self._session.run(list(names), inputs), strict=True))


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

    What each of the first `attention` blocks attends to can be asked for too. It is computed on the
    way to the values anyway: a name makes it an output, and costs nothing while nobody asks.
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
    rough = path.with_name(path.name + ".new")
    rough.write_bytes(made.SerializeToString())
    os.replace(rough, path)


def read_weights(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the weights of a file by the names that torch has for them, and what it is about."""
    require("to go on learning from an ONNX file", "train", "onnx")
    import numpy as np
    import onnx

    if not path.is_file():
        raise CardlabError(f"there is no network at {path}; name another file")
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
