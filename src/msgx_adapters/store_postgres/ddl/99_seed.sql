-- The rows that are always there.

INSERT INTO msgx.PIPELINE_LOCK (ID, EPOCH) VALUES (1, 0);
INSERT INTO msgx.LEASE (ID, HOLDER, EPOCH, EXPIRES_AT) VALUES (1, NULL, 0, now());
INSERT INTO msgx.COUNTERS (NAME, VALUE) VALUES ('event_msg', 0), ('event_schd', 0), ('apply_no', 0),
    ('outbound_seqn', 0);
INSERT INTO msgx.STORE_INFO (NAME, VALUE) VALUES ('id', replace(gen_random_uuid()::text, '-', ''));
