"""A cluster of the pretend world on a real etcd, kube-apiserver, controller manager and scheduler.

Whoever asks a pretend API server cannot tell whether it is this or the emulator in sandbox/kubernetes.
"""

PLANES = "control-plane"  # folder of the planes below a sandbox's directory
PATIENCE = 1.0  # seconds that its programs get to end: nothing of theirs is kept
