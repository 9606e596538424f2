"""Who runs trials: this process, processes on this machine, a cluster."""

# Set to 1 before numpy is loaded, so that workers do not fight for cores.
BLAS_THREADS = tuple(
    "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS BLIS_NUM_THREADS "
    "VECLIB_MAXIMUM_THREADS NUMEXPR_NUM_THREADS".split()
)
