"""Exports trained networks for use without this package: as ONNX, and as plain NumPy.

`trace` turns a jaxpr into a `program` of some fifty array operations, which `plain` runs in NumPy and `onnx_file` writes as ONNX.
Networks with other operations, user-defined ones included, are refused by the name of the operation.
"""
