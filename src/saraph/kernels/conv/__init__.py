"""Convolution in machine code.

product.py   convolution, the gradient of its input (also the transposed convolution)
weight.py    the gradient of its weight
winograd.py, winograd_weight.py   all three for 3 x 3 windows of float32, with fewer products
tile.py      the product in registers that the first two are made of      parts.py, moving.py   strips of the input, transposes
geometry.py  which part of the input an output is made of
"""
