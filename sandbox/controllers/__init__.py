"""Everything that lives inside a pretend cluster, as API clients: scheduler, kubelets, controllers, GPU Operator.

They know the cluster only through its API, so that they also run against a real kube-apiserver.
"""
