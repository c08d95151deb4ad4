"""Black-box checks against any Kubernetes API server, and what a real one answered to them."""
