-- A message for upstream, not sent yet; other columns keep the owner's defaults (IMP §7.2).
INSERT INTO {table} ({text}, {inserted}, {routing_id}) VALUES (%s, %s, %s)
