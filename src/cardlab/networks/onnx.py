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

from cardlab.errors import CardlabError, require
from cardlab.game import Array

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Network", "export"]

ABOUT = "cardlab"
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

    def run(self, **inputs: Array) -> dict[str, Array]:
        """Return every output for a batch of inputs."""
        return dict(zip(self.outputs, self._session.run(None, inputs), strict=True))


def export(
    model: nn.Module,
    example: Mapping[str, Tensor],
    path: Path,
    outputs: Sequence[str],
    about: Mapping[str, Any],
) -> None:
    """Write a network to a file; the first axis of every input is the batch."""
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
        )
    assert program is not None
    made = program.model_proto
    _halve(made)
    entry = made.metadata_props.add()
    entry.key, entry.value = ABOUT, json.dumps(about)
    rough = path.with_name(path.name + ".new")
    rough.write_bytes(made.SerializeToString())
    os.replace(rough, path)


def _halve(made: Any) -> None:
    """Keep large weights in half precision; a cast before their first use makes them whole."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    casts = []
    for weights in made.graph.initializer:
        if weights.data_type != TensorProto.FLOAT:
            continue
        array = numpy_helper.to_array(weights)
        if array.size < FEW:
            continue
        name = weights.name
        weights.CopyFrom(numpy_helper.from_array(array.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        made.graph.node.insert(0, cast)
