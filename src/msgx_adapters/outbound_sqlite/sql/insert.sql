-- A message for upstream, not sent yet (IMP §7.2).
INSERT INTO {table} ({text}, {inserted}, {routing_id}) VALUES (:text, :at, :routing_id)
