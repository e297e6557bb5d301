-- The number that outbound messages bear (D-32).
INSERT INTO COUNTERS (NAME, VALUE) VALUES ('outbound_seqn', 0);
