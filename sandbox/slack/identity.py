"""Who the pretend app and its workspace are: the ids and secrets that configurations and tests must know.

All of it is made up; a real id or a real token must never enter this file.
"""

TEAM_ID = "T0GPUMIGRAT"
TEAM_NAME = "GPU operations"
TEAM_DOMAIN = "gpu-operations"

APP_ID = "A0GPUMIGRAT"
BOT_ID = "B0GPUMIGRAT"
BOT_USER = "U0GPUMIGRAT"
BOT_NAME = "gpu-migrate"
#: Commands of the installed app: usage hint and description, as in its manifest.
COMMANDS = {
    "/gpu-migrate": (
        "help | clusters | plan | start | status | pause | resume | retry | abort | runs | report",
        "Start or steer a migration",
    ),
}

BOT_TOKEN = "xoxb-pretend-bot"
APP_TOKEN = "xapp-pretend-app"
SIGNING_SECRET = "pretend-signing-secret"
VERIFICATION_TOKEN = "pretend-verification"

HOME_CHANNEL = "C0MIGRATION"
OTHER_CHANNEL = "C0RANDOM001"
APPROVERS_GROUP = "S0APPROVERS"

#: Scopes granted at the beginning; the least set of the bot and what its optional features need.
SCOPES = (
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "pins:write",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
)
