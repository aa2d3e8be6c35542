"""What every room uses: parameters, compiled kernels, the cache, one thread of linear algebra, temporary names."""
