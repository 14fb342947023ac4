"""Work that several processes share: tasks, a ledger of their results, claims, worker processes."""
