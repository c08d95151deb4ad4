"""IBM Cloud Kubernetes Service over its REST API: tokens, calls, projections.

What must never enter: decisions (the core makes them), retries of mutating calls, anything that prints a key or a
token. Field names and codes: IBM's public Go SDK and documentation; nothing here has met the real service yet, so the
replies of mutating calls are logged.
"""
