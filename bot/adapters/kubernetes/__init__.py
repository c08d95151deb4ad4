"""The API server of one cluster: raw JSON over one shared connection, projected at once to the core's values.

`cluster.KubernetesCluster` is the way in. No judgement about a migration and no sentence for humans belongs here.
"""
