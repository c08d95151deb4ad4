"""The core: decides and remembers. Pure but for the store: no clock, no I/O, no environment, no logging."""
