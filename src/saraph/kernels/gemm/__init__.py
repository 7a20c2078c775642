"""Matrix products of our own: a register-blocked inner product (micro.py) and what packs, blocks and shares out the work around it."""
