"""One file or folder per outside system: translate, time out, nothing else."""
