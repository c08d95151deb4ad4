"""Numbers for /metrics, in a registry of their own, so that two of them can live in one test process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest


class Metrics:
    """Counters and gauges of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.transitions = Counter(
            "gpu_migrate_transitions_total", "Transitions stored", ["event"], registry=self.registry
        )
        self.orders = Counter(
            "gpu_migrate_orders_total", "Calls made, by order and outcome", ["order", "outcome"], registry=self.registry
        )
        self.journal_errors = Counter(
            "gpu_migrate_journal_errors_total", "Failed calls to the journal", registry=self.registry
        )
        self.runs = Gauge("gpu_migrate_runs_owned", "Runs kept by this replica", registry=self.registry)
        self.handed_over = Counter(
            "gpu_migrate_runs_handed_over_total", "Runs left to a replica that had fewer", registry=self.registry
        )
        self.unreadable = Gauge(
            "gpu_migrate_runs_unreadable", "Runs left to others: only newer code can read them", registry=self.registry
        )
        self.tick_age = Gauge("gpu_migrate_tick_age_seconds", "Seconds since the last tick", registry=self.registry)
        self.slack_connected = Gauge("gpu_migrate_slack_connected", "1 while the socket is up", registry=self.registry)
        self.brake = Gauge("gpu_migrate_brake", "1 while every run of the fleet is stopped", registry=self.registry)

    def text(self) -> bytes:
        return generate_latest(self.registry)
