"""The studies of ALTA by name, and the functions that its pages use."""

from kleene_papers.alta import (
    hinted_transformers,
    minimal_programs,
    parity_end_to_end,
    scan_end_to_end,
    simplicity,
    trace_supervision,
)
from kleene_papers.study import Study

STUDIES = (
    Study(
        "alta-section-4",
        "rules of minimal programs, and whether these generalise: parity, addition, SCAN's splits (ALTA, section 4)",
        minimal_programs.tables,
        minimal_programs.draw,
        minimal_programs.minimal_programs,
        quick="49 s",
        full="213 s on 2 cores",
        formerly="minimal-programs",
    ),
    Study(
        "alta-table-2",
        "parity by trace supervision, on longer words and more ones than in training (ALTA, Table 2 and figure 4)",
        trace_supervision.table_2,
        trace_supervision.draw,
        trace_supervision.trace_supervision,
        takes=("iterations",),
        quick="139 s",
        full="182 s for up to 50,000 updates",
        formerly="parity-trace-supervision",
    ),
    Study(
        "alta-table-3",
        "Transformers taught parity from its answers alone, by layers, sharing and positions (ALTA, Table 3)",
        parity_end_to_end.table_3,
        parity_end_to_end.draw,
        parity_end_to_end.parity_end_to_end,
        takes=("iterations",),
        quick="215 s",
        full="1,761 s for five of eight rows, one of them with 8,000 of 50,000 updates, beside two cells of SCAN",
        formerly="parity-end-to-end",
    ),
    Study(
        "alta-table-6",
        "Transformers taught SCAN from its actions alone, by number of layers (ALTA, Table 6 and figure 18)",
        scan_end_to_end.table_6,
        scan_end_to_end.draw,
        scan_end_to_end.scan_end_to_end,
        takes=("iterations",),
        quick="262 s",
        full="1,055 s for two of 96 cells, 48,000 and 34,000 of 100,000 updates, beside parity",
        formerly="scan-end-to-end",
    ),
    Study(
        "ours-simplicity-bias",
        "rules against layers of the library's programs, and which of the two networks follow (ALTA, section 4.1)",
        simplicity.tables,
        simplicity.draw,
        simplicity.simplicity_bias,
        quick="11 s",
        full="29 s on 2 cores",
        formerly="simplicity-bias",
    ),
    Study(
        "ours-hints-for-transformers",
        "test words longer than any in training that are right, in %, by the share of the trace that was given (ours)",
        hinted_transformers.table,
        hinted_transformers.draw,
        hinted_transformers.hinted_transformers,
        takes=("iterations", "piece", "minutes"),
        full="242 s",
        formerly="hints-for-transformers",
    ),
    Study(
        "ours-transformers-taught",
        "Transformers taught parity at every position, seeds that generalise by kind and density of hints (ours)",
        hinted_transformers.asked_everywhere,
    ),
)
WORDS = (simplicity.follow_fewest_rules,)
