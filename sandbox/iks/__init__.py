"""A pretend IBM Cloud Kubernetes Service with its IAM: REST API, worker lifecycles and control-plane updates."""
