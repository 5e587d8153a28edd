"""What the commands of the command line do, for every kind of program and network: one module a kind."""
