"""Pages of sellers and of their depots: orders, invoices, manifests, scanning."""
