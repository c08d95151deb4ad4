"""A pretend Kubernetes API server that answers as kube-apiserver v1.36 was recorded to answer."""
