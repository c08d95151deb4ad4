"""Names of everything in Redis. One hash tag, so that one script may touch all of it, on a cluster too.

No other file spells a key.
"""

PREFIX = "{gpu-migrate}:"

REPLICAS = PREFIX + "replicas"  # zset: replica name -> end of its lease, ms of Redis TIME
EPOCHS = PREFIX + "epochs"  # hash: replica name -> epoch of the process that owns the name now
EPOCH = PREFIX + "epoch"  # the highest epoch ever given
LEADER = PREFIX + "leader"  # who does the fleet's chores
OWNERS = PREFIX + "owners"  # hash: run id -> "<epoch> <replica name>"
CLUSTERS = PREFIX + "clusters"  # hash: cluster name and IKS id -> its active run
ACTIVE = PREFIX + "active"  # set: runs that are not ended
RUNS = PREFIX + "runs"  # zset: all runs by creation, ms
ENDED = PREFIX + "ended"  # zset: ended runs by their end, ms
DUE = PREFIX + "due"  # zset: run id -> when it is due, ms of Redis TIME; 0 = now, its inbox is not empty
BELL = PREFIX + "bell"  # stream: run ids that somebody spoke to just now; a hint, never the truth
BRAKE = PREFIX + "brake"  # hash: who stopped the fleet, why and when
FAILURES = PREFIX + "failures"  # zset: "<run id> <cluster> <note key>" of failed steps by time, ms
FLEET_LOG = PREFIX + "fleet-log"  # stream: what happened to the fleet as a whole
REHEARSAL = PREFIX + "rehearsal"  # made and deleted at each start: whether we may do what the scripts do


def run(run_id: str) -> str:
    """Hash: the run as it is now."""
    return f"{PREFIX}run:{run_id}"


def log(run_id: str) -> str:
    """Stream: one entry per transition, id `<version>-1`."""
    return f"{PREFIX}log:{run_id}"


def inbox(run_id: str) -> str:
    """Stream: events of people that no transition has taken yet."""
    return f"{PREFIX}inbox:{run_id}"


def seen(run_id: str) -> str:
    """Zset: ids of events that were recorded, by time."""
    return f"{PREFIX}seen:{run_id}"


def messages(run_id: str) -> str:
    """Hash: message key -> where it stands."""
    return f"{PREFIX}messages:{run_id}"


def start(event_id: str) -> str:
    """The run that a start made, so that the same signal makes one."""
    return f"{PREFIX}start:{event_id}"
