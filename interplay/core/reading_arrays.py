"""Archives of arrays (``.npz``) from outside, through the strict reader: no pickle, and no member larger than its header."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from interplay.core.errors import UserError, one_line
from interplay.core.files import os_errors_as_user_errors
from interplay.core.reading import MIB, read_bytes

UNPACKED = 1024 * MIB  # bytes of all arrays of an archive together
_ODD = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


def read_npz(path: Path | str, links: bool = True) -> dict[str, np.ndarray]:
    """The arrays of an archive by their names."""
    with os_errors_as_user_errors("reading", Path(path)):
        data = read_bytes(path, UNPACKED, links)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > UNPACKED:
                raise ValueError(f"it unpacks to more than {UNPACKED:,} bytes")
            if _covered(data, members) != archive.start_dir:
                raise ValueError("its list of members leaves some out")
            return {m.filename.removesuffix(".npy"): _array(archive.read(m), m.filename) for m in members}
    except _ODD as error:
        message = one_line(error) or type(error).__name__
        raise UserError(f"{path} is no archive of arrays ({message[:200]}); remove the file") from None


def _covered(data: bytes, members: list[zipfile.ZipInfo]) -> int:
    """Where the members end that follow each other from the archive's beginning."""
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset != end:
            break
        name, extra = struct.unpack_from("<HH", data, end + 26)
        end += 30 + name + extra + member.compress_size
    return end


def _array(data: bytes, name: str) -> np.ndarray:
    """One member: the header, then exactly as many bytes as it declares."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"{name} is of the format {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=4096)
    if dtype.kind not in "biufcSU" or dtype.itemsize == 0:
        raise ValueError(f"{name} holds {dtype}, not numbers")
    count = math.prod(shape)
    left = len(data) - file.tell()
    if left != count * dtype.itemsize or any(side < 0 for side in shape):
        raise ValueError(f"{name} has {left:,} bytes, its shape needs {count * dtype.itemsize:,}")
    if dtype.kind == "b" and any(byte > 1 for byte in set(data[file.tell() :])):
        raise ValueError(f"{name} holds what is neither true nor false")
    array = np.frombuffer(data, dtype, count, file.tell()).reshape(shape, order="F" if fortran else "C")
    return array.copy(order="K")
