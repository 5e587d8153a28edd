"""What a sweep or a folder of results holds, as tables: filtered, merged, pivoted and drawn."""
