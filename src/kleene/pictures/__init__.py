"""Pictures of programs, machines, traces and measurements. Nothing here needs jax."""
