"""Colours as people with each kind of colour vision see them: Machado, Oliveira and Fernandes (2009), severity 1.0."""

from __future__ import annotations

import numpy as np

from interplay.view import palette

# On linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear_seen(colours: np.ndarray, sight: str) -> np.ndarray:
    """Linear RGB (..., 3) of sRGB colours (..., 3), both 0..1."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.clip(linear @ np.asarray(SIGHTS[sight]).T, 0, 1)


def seen(colours: np.ndarray, sight: str) -> np.ndarray:
    """sRGB (..., 3) of sRGB colours (..., 3), both 0..1."""
    linear = linear_seen(colours, sight)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, sight: str) -> np.ndarray:
    """CIE Lab (D65) of a colour as seen with that sight."""
    share = np.array(palette.rgb(colour)) / 255
    xyz = XYZ @ linear_seen(share, sight) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str, sight: str) -> float:
    """Distance of two colours in Lab with that sight; about 2 is just noticeable."""
    return float(np.linalg.norm(lab(a, sight) - lab(b, sight)))


def contrast(a: str, b: str) -> float:
    """Ratio of luminances (WCAG 2): 1 for equal ones, 21 for black on white."""
    light = [
        float(linear_seen(np.array(palette.rgb(colour)) / 255, "normal") @ XYZ[1]) + 0.05 for colour in (a, b)
    ]
    return max(light) / min(light)
