"""A chart repository with a small stand-in of the GPU Operator's chart, in two versions."""
