"""Shape and dtype rules of larger families of primitives, one file a family."""
