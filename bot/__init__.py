"""The shell: does, decides nothing. Configuration, wiring, the loop, adapters, words, command line."""
