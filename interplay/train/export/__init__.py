"""Trained networks for use without this package: as ONNX, and as plain NumPy.

What JAX has traced (`trace`) becomes a `program` of some fifty operations on arrays, which `plain` runs in NumPy and `onnx_file` writes as ONNX.
So whatever network can be trained can be exported, one's own too, as long as it does nothing else; what it does besides is named and refused.
"""
