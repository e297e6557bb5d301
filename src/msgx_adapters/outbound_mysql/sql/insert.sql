-- A message for upstream, not sent yet, if the permit is not over (D-34); other columns keep the owner's defaults
-- (IMP §7.2).
INSERT INTO {table} ({text}, {inserted}, {routing_id})
SELECT %s, %s, %s FROM DUAL WHERE UTC_TIMESTAMP(6) < %s
