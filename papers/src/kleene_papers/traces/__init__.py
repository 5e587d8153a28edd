"""The studies of "Training Neural Machines with Partial Traces": hints for NTMs, NRAMs and recurrent networks."""
