"""What "Training Neural Machines with Partial Traces" reports, so that ours can stand beside it."""

# Figure 12: the mean error on the test set in %, by kind.
NRAM = {
    "list_k": {"none": 95.08, "single_hint": 93.61, "corners": 94.47, "single_timestep": 36.91, "full": 12.77,
               "registers": 93.22, "modules": 93.70},
    "swap": {"none": 91.52, "single_hint": 2.41, "corners": 99.09, "single_timestep": 1.75, "full": 11.01,
             "registers": 93.44, "modules": 95.57},
    "permute": {"none": 99.97, "single_hint": 57.55, "corners": 16.40, "single_timestep": 47.79, "full": 7.83,
                "registers": 99.97, "modules": 86.48},
    "increment": {"none": 99.91, "single_hint": 14.86, "corners": 2.14, "single_timestep": 13.77, "full": 9.89,
                  "registers": 90.36, "modules": 40.87},
    "merge": {"none": 99.96, "single_hint": 100.0, "corners": 100.0, "single_timestep": 100.0, "full": 78.44},
    "permute_noise": {"none": 99.99, "single_hint": 56.90, "corners": 20.79, "single_timestep": 33.60, "full": 23.57},
}  # fmt: skip
