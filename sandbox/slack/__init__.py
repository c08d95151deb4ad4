"""The pretend Slack workspace: Web API, Socket Mode, and a page where people type commands and press buttons."""
