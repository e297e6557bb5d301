"""What SQL stores share: named statements, JSON documents, rows to values, expected answers."""
