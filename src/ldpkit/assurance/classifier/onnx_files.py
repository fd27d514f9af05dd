"""Dense networks with rectified units from ONNX files.

A file is read as data: the nodes on the way from the input to the scores must be sums and
products with constants, rectifiers, and what leaves the order of scores alone. Nothing of it
is run, and weights in other files are not followed.
"""

from __future__ import annotations

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
        If it is no ONNX file.
    InvalidInputError
        If it is no dense network with rectified units; the node that is not read is named.
    """
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError("onnx", "reading a network", "onnx") from None
    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # protobuf raises its own, and they differ by version
        raise FileFormatError(
            f"{str(path)!r} is no ONNX file: {str(error).splitlines()[0] if str(error) else error}"
        ) from None
    try:
        return _Layers(onnx, graph).network()
    except InvalidInputError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"{str(path)!r} is a damaged ONNX file: {error}") from None


class _Layers:
    """The layers on the way from the input to the scores."""

    def __init__(self, onnx: Any, graph: Any) -> None:
        self._onnx, self._graph = onnx, graph
        self._constants: dict[str, Any] = {}
        for each in graph.initializer:
            if each.external_data:
                raise InvalidInputError(f"the weights {each.name!r} are in another file, which is not read")
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
        current, weight, bias = inputs[0], None, None
        layers: list[tuple[Floats, Floats]] = []
        for _ in range(len(self._graph.node) + 1):
            following = users.get(current, [])
            if not following or any(node.op_type in _ENDS for node in following):
                break
            if len(following) > 1 and current not in outputs:
                raise InvalidInputError(
                    f"the value {current!r} goes to several nodes: only a chain of layers is read"
                )
            node = following[0]
            if node.op_type == "Relu":
                if weight is None or bias is None:
                    raise InvalidInputError("a rectifier stands before the first layer: it is not read")
                layers.append((weight, bias))
                weight = bias = None
            elif node.op_type not in _IGNORED:
                weight, bias = self._after(node, current, weight, bias, layers)
            current = node.output[0]
        if weight is None or bias is None:
            raise InvalidInputError("the scores of the network come from a rectifier: it is not read")
        layers.append((weight, bias))
        count = max(len(bias), 2)
        weights, biases = tuple(each[0] for each in layers), tuple(each[1] for each in layers)
        return Network(weights, biases, np.arange(count), unit=2.0**-24)

    def _after(
        self, node: Any, current: str, weight: Any, bias: Any, layers: list[tuple[Floats, Floats]]
    ) -> tuple[Floats, Floats]:
        """Return the linear layer in the making after one more node."""
        told = self._attributes(node)
        if node.op_type == "Scaler":
            scale = np.asarray(told["scale"], np.float64)
            return _elementwise(scale, -np.asarray(told["offset"], np.float64) * scale, weight, bias, layers)
        if node.op_type in ("Gemm", "MatMul"):
            if node.input[0] != current or told.get("transA", 0):
                raise InvalidInputError(
                    f"{node.op_type} {node.name!r} takes its input in a way that is not read"
                )
            matrix = self._constant(node, 1)
            if matrix.ndim != 2:
                raise InvalidInputError(f"{node.op_type} {node.name!r} has weights of shape {matrix.shape}")
            matrix = told.get("alpha", 1.0) * (matrix.T if told.get("transB", 0) else matrix)
            added = np.zeros(matrix.shape[1])
            if node.op_type == "Gemm" and len(node.input) > 2 and node.input[2]:
                added = told.get("beta", 1.0) * np.broadcast_to(self._constant(node, 2).ravel(), added.shape)
            made = matrix, added
        elif node.op_type in ("Add", "Sub", "Mul", "Div"):
            times, plus = self._with_constant(node, current, weight, layers)
            return _elementwise(times, plus, weight, bias, layers)
        else:
            raise InvalidInputError(
                f"the node {node.op_type!r} is not read: a dense network has {_READ} on the way to its scores"
            )
        if weight is None:
            expected = len(layers[-1][1]) if layers else len(made[0])
            if len(made[0]) != expected:
                raise InvalidInputError(f"a layer takes {len(made[0])} numbers, and {expected} come to it")
            return _finite(*made)
        return _finite(weight @ made[0], bias @ made[0] + made[1])

    def _with_constant(
        self, node: Any, current: str, weight: Any, layers: list[tuple[Floats, Floats]]
    ) -> tuple[Floats, Floats]:
        """Return a sum or product with a constant: what each number is multiplied by, and what is added."""
        second = node.input[0] == current
        constant = self._constant(node, 1 if second else 0).ravel()
        size = weight.shape[1] if weight is not None else len(layers[-1][1]) if layers else len(constant)
        constant = np.broadcast_to(constant, size)
        ones, zeros = np.ones(size), np.zeros(size)
        if node.op_type == "Add":
            return ones, constant
        if node.op_type == "Sub":
            return (ones, -constant) if second else (-ones, constant)
        if node.op_type == "Mul":
            return constant, zeros
        if not second:
            raise InvalidInputError("a division by the input is not read")
        with np.errstate(divide="ignore"):
            return 1.0 / constant, zeros

    def _constant(self, node: Any, place: int) -> Floats:
        held = self._constants.get(node.input[place])
        if held is None:
            raise InvalidInputError(f"{node.op_type} {node.name!r} combines two values: only a chain is read")
        return np.asarray(held, np.float64)


def _elementwise(
    times: Floats, plus: Floats, weight: Any, bias: Any, layers: list[tuple[Floats, Floats]]
) -> tuple[Floats, Floats]:
    """Return the linear layer in the making after each of its numbers is multiplied and added to."""
    if weight is not None:
        return _finite(weight * times, bias * times + plus)
    size = len(layers[-1][1]) if layers else len(times)
    if size > _MOST_INPUTS:
        raise InvalidInputError(f"a scaler of {size} inputs is not read: {_MOST_INPUTS} at most")
    return _finite(np.diag(np.broadcast_to(times, size)), np.broadcast_to(plus, size).astype(np.float64))


def _finite(weight: Floats, bias: Floats) -> tuple[Floats, Floats]:
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InvalidInputError("a weight of the network is not a finite number")
    return weight, bias
