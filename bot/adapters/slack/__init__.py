"""Slack: messages out (chat), signals in (socket mode). No library type and no library error leaves this folder."""
