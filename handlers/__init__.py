"""The edge: one outside signal becomes one event. Acknowledge, parse, authorise, submit: ≤ 15 lines a listener."""
