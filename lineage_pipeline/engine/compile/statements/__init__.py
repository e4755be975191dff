"""Statement compilers: what each kind of statement defines, writes, reads, alters and drops."""
