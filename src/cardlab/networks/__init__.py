"""Networks: torch modules for training, their weights, and ONNX files that play without torch.

Only this package and `learning` import torch, and nothing here does at import but the modules that
define a network: `onnx.Network`, which agents play through, needs the base install alone.
"""
