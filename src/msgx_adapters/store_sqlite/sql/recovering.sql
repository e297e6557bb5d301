-- Recovery (D-31). When a floor was set stays what it was.

-- name: raise_counters
UPDATE COUNTERS SET VALUE = VALUE + :by WHERE NAME IN ('event_msg', 'event_schd', 'outbound_seqn');

-- name: raise_flights
UPDATE FLIGHT_SCHD SET STATE_VERSION = STATE_VERSION + :by, EPOCH = :epoch;

-- name: raise_floors
UPDATE FLIGHT_VERSION_FLOOR SET STATE_VERSION = STATE_VERSION + :by;

-- name: last_apply_no
SELECT VALUE FROM COUNTERS WHERE NAME = 'apply_no';

-- name: count_republished
UPDATE COUNTERS SET VALUE = VALUE + CASE NAME WHEN 'event_msg' THEN :event_msg ELSE :event_schd END
WHERE NAME IN ('event_msg', 'event_schd')
RETURNING NAME, VALUE;
