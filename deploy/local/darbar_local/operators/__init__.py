"""Commands for those who run Darbar, beside the `darbar up` or the cluster that runs."""
