"""Lets torchvision from PyPI be imported beside a PyTorch without CUDA.

The wheel's operators are in a library that needs CUDA's libraries, so PyTorch does not load it, and `import
torchvision` fails when it registers fake implementations of its operators nms and qnms. This module defines nms and
qnms, without CUDA.
"""

from __future__ import annotations

import importlib.util

import torch


def define() -> None:
    """Defines `torchvision::nms` and `torchvision::qnms` where torchvision is installed and PyTorch is made without CUDA."""
    if torch.version.cuda is not None or importlib.util.find_spec("torchvision") is None:
        return
    torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    torch.library.define("torchvision::qnms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    torch.library.impl("torchvision::nms", "cpu")(_nms)


def _nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    left_top, right_bottom = dets[:, :2], dets[:, 2:]
    areas = (right_bottom - left_top).prod(1)
    overlap = (
        (torch.minimum(right_bottom[:, None], right_bottom) - torch.maximum(left_top[:, None], left_top))
        .clamp(min=0)
        .prod(2)
    )
    suppresses = overlap / (areas[:, None] + areas - overlap) > iou_threshold
    kept: list[int] = []
    for index in scores.argsort(descending=True, stable=True).tolist():
        if not suppresses[kept, index].any():
            kept.append(index)
    return torch.tensor(kept, dtype=torch.int64)
