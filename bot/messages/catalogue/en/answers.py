"""Answers to one person, in English."""

from state.reasons import Code

ANSWERS = {
    Code.RECORDED: "Recorded. The run's thread shows what comes of it.",
    Code.ABORT_WAITS: "Recorded: the run in {cluster} is aborted and orders nothing more of its plan. "
    "What it has set (cordons, labels) stays for now, since all runs are stopped. After `/gpu-migrate resume-all` it is "
    "given back, and the removal of a temporary pool is offered.",
    Code.NOT_RECORDED: "Not recorded: the bot's memory does not answer in time. Nothing was done; "
    "please try again in a moment.",
    Code.ALREADY_DECIDED: "Already {decision:decision}[ by {by:user}][ at {at:when}]. Your click changed nothing.",
    Code.STALE_CARD: "This card is out of date: things changed since it was posted. Nothing was done; "
    "answer the newest card in the thread.",
    Code.UNKNOWN_CARD: "This button belongs to no question that is open here. Nothing was done; "
    "`/gpu-migrate runs` shows what is going on.",
    Code.NOT_APPROVER: "Only approvers may answer this question, and {user:user} is not one of them. Nothing was done; "
    "ask one of them, or have the configuration changed.",
    Code.NOT_OPERATOR: "Only operators may steer migrations of this cluster, and {user:user} is not one of them. "
    "Nothing was done; `status`, `plan` and `report` are free for everybody.",
    Code.WRONG_TEAM: "This bot answers members of its own workspace only. Nothing was done.",
    Code.UNKNOWN_CLUSTER: "No cluster {cluster} is configured. Known: {known}. "
    "Add a line for it under `clusters:` in the configuration, or check the spelling.",
    Code.UNKNOWN_COMMAND: "I do not know {word}.[ Did you mean {suggestion}?] Type `/gpu-migrate help`.",
    Code.MISSING_CLUSTER: "Which one? Type `/gpu-migrate {command:raw} CLUSTER`. Known: {known}.",
    Code.NO_RUN: "Nothing is going on in {cluster}. `/gpu-migrate plan {cluster:raw}` shows what would be done, "
    "`/gpu-migrate start {cluster:raw}` begins.",
    Code.NO_SUCH_RUN: "There is no run {run} here. `/gpu-migrate runs` lists them.",
    Code.RUN_ENDED: "Run {run}[ of {cluster}] has ended[: {phase:phase}]. Nothing was done; "
    "`/gpu-migrate report {run:raw}` tells its story[, `/gpu-migrate start {cluster:raw}` begins a new run].",
    Code.RUN_EXISTS: "{cluster} has a run already: {run}[, {phase:phase}]. "
    "`/gpu-migrate status {cluster:raw}` shows it; one cluster has one run at a time.",
    Code.NOT_IN_CHANNEL: "I am not a member of {channel:channel}, so nobody would see my questions. "
    "Type `/invite @gpu-migrate` there, then try again.",
    Code.NOTHING_TO_DO: "There is nothing to {command:command} now[: the run is {phase:phase}].",
    Code.STARTED_LOOKING: "Looking at {cluster}. The plan appears in the channel in a moment; nothing is changed "
    "before somebody presses the button on it.",
    Code.LOOKING: "Looking at {cluster}. What a run would do appears here in a moment, for you alone; "
    "nothing is changed and nothing is stored.",
    Code.BRAKE_SET: "Stopped: nothing is ordered in any cluster from now on[, by order of {by:user}]. Calls already made "
    "run to their end. `/gpu-migrate resume-all` lets all runs go on.",
    Code.BRAKE_LIFTED: "All runs go on[, by order of {by:user}]. Runs that were paused one by one stay paused.",
    Code.EXTRA_WORDS: "I do not know what {words} means after `{command:raw}`. Nothing was done; "
    "type the command without it, or `/gpu-migrate help`.",
    Code.STOPPED_ALL: "Pause asked for in {clusters}[; not yours to pause: {refused}]. Calls already made run to their "
    "end, new ones wait for `/gpu-migrate resume`.",
    Code.NOTHING_RUNS: "No migration is going on.",
}
