"""Networks in ONNX files, run by onnxruntime wherever agents play; `onnx_export` writes them.

A file keeps its weights in half precision and computes in single precision, so that it is small
and still runs on every processor. What it is for - game, rules version, encoding, how it was
trained - lies in its own header as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array

__all__ = ["ABOUT", "ATTENTION", "Network"]

ABOUT = "cardlab"
ATTENTION = "attention_"  # with the number of a block: the name of an output


class Network:
    """A network that answers arrays with arrays, one thread, without torch."""

    def __init__(self, path: Path, **wanted: Any) -> None:
        import onnxruntime

        self.path = path
        if not path.is_file():
            raise CardlabError(f"network {path} does not exist; name another file")
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
        """The outputs that say who attends to whom, block by block; empty: none were named."""
        return [name for name in self.outputs if name.startswith(ATTENTION)]

    def run(self, *wanted: str, **inputs: Array) -> dict[str, Array]:
        """Return the outputs wanted for a batch of inputs, or all but those of attention."""
        names = wanted or [name for name in self.outputs if not name.startswith(ATTENTION)]
        return dict(zip(names, self._session.run(list(names), inputs), strict=True))
