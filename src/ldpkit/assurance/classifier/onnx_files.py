"""Dense networks with rectified units from ONNX files.

A file is read as data: the nodes on the way from the input to the scores must be sums and
products with constants, rectifiers, and what leaves the order of scores alone. Nothing of it
is run, and weights in other files are not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.networks import Network
from ldpkit.core.errors import FileFormatError, InvalidInputError, MissingDependencyError
from ldpkit.core.typing import Floats

__all__ = ["read_onnx"]

_IGNORED = ("Identity", "Cast", "Flatten", "Reshape", "Dropout", "Squeeze")
_ENDS = ("Softmax", "LogSoftmax", "Sigmoid", "ArgMax", "Normalizer", "ZipMap")
_MOST_INPUTS = 4096  # that a sum or product stands before the first layer for
_READ = "Gemm, MatMul, Add, Sub, Mul, Div, Relu and Scaler"


def read_onnx(path: str | Path) -> Network:
    """Return the network of an ONNX file, its labels 0, 1, ...

    Raises
    ------
    FileFormatError
        If it is not an ONNX file.
    InvalidInputError
        If it is no dense network with rectified units; the node that is in the way is named.
    """
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError("onnx", "reading a network", "onnx") from None
    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # protobuf raises its own, and they differ by version
        raise FileFormatError(
            f"{str(path)!r} is not an ONNX file: {str(error).splitlines()[0] if str(error) else error}"
        ) from None
    try:
        return _Layers(onnx, graph).network()
    except InvalidInputError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"{str(path)!r} is a damaged ONNX file: {error}") from None


@dataclass(frozen=True, eq=False)
class _Linear:
    """A linear layer in the making: h -> h weight + bias, and how large the sums behind the bias were."""

    weight: Floats
    bias: Floats
    size: Floats

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight).all() and np.isfinite(self.bias).all()):
            raise InvalidInputError("a weight of the network is not a finite number")

    def then(self, matrix: Floats, added: Floats) -> _Linear:
        """Return this layer and one more after it."""
        size = self.size @ np.abs(matrix) + np.abs(added)
        return _Linear(self.weight @ matrix, self.bias @ matrix + added, size)

    def each(self, times: Floats, plus: Floats) -> _Linear:
        """Return this layer with each of its numbers multiplied and added to."""
        size = self.size * np.abs(times) + np.abs(plus)
        return _Linear(self.weight * times, self.bias * times + plus, size)


class _Layers:
    """The layers on the way from the input to the scores."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self._onnx, self._graph = onnx, graph
        self._done: list[_Linear] = []
        self._open: _Linear | None = None
        self._constants: dict[str, Any] = {}
        for each in graph.initializer:
            if each.external_data:
                raise InvalidInputError(
                    f"the weights {each.name!r} are in a file of their own, which ldpkit does not open: "
                    "save the model as a single file (onnx.save_model with save_as_external_data=False)"
                )
            self._constants[each.name] = onnx.numpy_helper.to_array(each)
        for node in graph.node:
            if node.op_type == "Constant":
                self._constants[node.output[0]] = self._attributes(node).get("value")

    def _attributes(self, node: Any) -> dict[str, Any]:
        found = {}
        for each in node.attribute:
            value = self._onnx.helper.get_attribute_value(each)
            is_tensor = isinstance(value, self._onnx.TensorProto)
            found[each.name] = self._onnx.numpy_helper.to_array(value) if is_tensor else value
        return found

    def network(self) -> Network:
        """Return the layers as a network, or refuse the first node that is none of them."""
        inputs = [each.name for each in self._graph.input if each.name not in self._constants]
        if len(inputs) != 1:
            raise InvalidInputError(f"a network has one input, and this one has {len(inputs)}")
        users: dict[str, list[Any]] = {}
        for node in self._graph.node:
            for name in node.input:
                users.setdefault(name, []).append(node)
        outputs = {each.name for each in self._graph.output}
        current = inputs[0]
        for _ in range(len(self._graph.node) + 1):
            following = users.get(current, [])
            if not following or any(node.op_type in _ENDS for node in following):
                break
            if len(following) > 1 and current not in outputs:
                raise InvalidInputError(
                    f"the value {current!r} goes to {len(following)} nodes, and ldpkit supports a chain "
                    "of layers only: export a network without branches"
                )
            self._take(following[0], current)
            current = following[0].output[0]
        if self._open is None:
            if not self._done:
                raise InvalidInputError("the network has no layer between its input and its scores")
            raise InvalidInputError(
                "the network ends with a Relu, which makes all negative scores equal: export it without the "
                "Relu after its last layer"
            )
        layers = [*self._done, self._open]
        return Network(
            tuple(each.weight for each in layers),
            tuple(each.bias for each in layers),
            np.arange(max(len(self._open.bias), 2)),
            unit=2.0**-24,
            shifted=layers[0].size,
        )

    def _take(self, node: Any, current: str) -> None:
        """Take one more node into the layers."""
        if node.op_type in _IGNORED:
            return
        if node.op_type == "Relu":
            if self._open is None:
                raise InvalidInputError(
                    "there is a Relu before the first layer, which ldpkit does not support: apply it to "
                    "the data, and export the network without it"
                )
            self._done.append(self._open)
            self._open = None
        elif node.op_type in ("Gemm", "MatMul"):
            self._multiply(node, current)
        elif node.op_type in ("Add", "Sub", "Mul", "Div", "Scaler"):
            self._scale(*self._with_constant(node, current))
        else:
            raise InvalidInputError(
                f"the network has a node {node.op_type!r}, which ldpkit does not support: between its "
                f"input and its scores it may have {_READ}"
            )

    def _multiply(self, node: Any, current: str) -> None:
        told = self._attributes(node)
        if node.input[0] != current or told.get("transA", 0):
            raise InvalidInputError(
                f"{node.op_type} {node.name!r} transposes its input, or has it on the right of its "
                "weights, which ldpkit does not support: export the layer as input times weights"
            )
        matrix = self._constant(node, 1)
        if matrix.ndim != 2:
            raise InvalidInputError(f"{node.op_type} {node.name!r} has weights of shape {matrix.shape}")
        matrix = told.get("alpha", 1.0) * (matrix.T if told.get("transB", 0) else matrix)
        added = np.zeros(matrix.shape[1])
        if node.op_type == "Gemm" and len(node.input) > 2 and node.input[2]:
            added = told.get("beta", 1.0) * np.broadcast_to(self._constant(node, 2).ravel(), added.shape)
        if self._open is not None:
            self._open = self._open.then(matrix, added)
            return
        expected = len(self._done[-1].bias) if self._done else len(matrix)
        if len(matrix) != expected:
            raise InvalidInputError(f"a layer takes {len(matrix)} numbers, and {expected} come to it")
        self._open = _Linear(matrix, added, np.abs(added))

    def _with_constant(self, node: Any, current: str) -> tuple[Floats, Floats]:
        """Return what each number is multiplied by, and what is added."""
        if node.op_type == "Scaler":
            told = self._attributes(node)
            scale = np.asarray(told["scale"], np.float64)
            return scale, -np.asarray(told["offset"], np.float64) * scale
        second = node.input[0] == current
        constant = self._constant(node, 1 if second else 0).ravel()
        ones, zeros = np.ones(len(constant)), np.zeros(len(constant))
        if node.op_type == "Add":
            return ones, constant
        if node.op_type == "Sub":
            return (ones, -constant) if second else (-ones, constant)
        if node.op_type == "Mul":
            return constant, zeros
        if not second:
            raise InvalidInputError(
                f"Div {node.name!r} divides by the input, which ldpkit does not support: a network may "
                "divide by constants only"
            )
        with np.errstate(divide="ignore"):
            return 1.0 / constant, zeros

    def _scale(self, times: Floats, plus: Floats) -> None:
        if self._open is not None:
            self._open = self._open.each(times, plus)
            return
        size = len(self._done[-1].bias) if self._done else len(times)
        if size > _MOST_INPUTS:
            raise InvalidInputError(
                f"the network scales {size} inputs, and ldpkit supports {_MOST_INPUTS} at most: scale "
                "the data before, and export the network without the scaler"
            )
        added = np.broadcast_to(plus, size).astype(np.float64)
        self._open = _Linear(np.diag(np.broadcast_to(times, size)), added, np.abs(added))

    def _constant(self, node: Any, place: int) -> Floats:
        held = self._constants.get(node.input[place])
        if held is None:
            raise InvalidInputError(
                f"{node.op_type} {node.name!r} combines two computed values, and ldpkit supports a chain of "
                "layers only: export a network without branches"
            )
        return np.asarray(held, np.float64)
