"""Pictures of programs, machines and what they cost. Nothing here needs jax."""
