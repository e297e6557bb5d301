-- Unsent events (IMP §8, D-28, D-29).

-- name: due_events
SELECT EVENT_ID, TARGET, FLID, STATE_VERSION, PAYLOAD, ATTEMPTS FROM msgx.DUE_EVENTS(:target, :now, :limit);

-- name: settle_events
SELECT msgx.SETTLE_EVENTS(:epoch, :events, :alerts, :now);
