-- Unsent events (IMP §8, D-28, D-29).

-- A dead or discarded event lets the next one of its flight go; one that waits does not.
-- name: due_msg
SELECT E.EVENT_ID, E.TARGET, E.FLID, E.STATE_VERSION, E.PAYLOAD, E.ATTEMPTS
FROM msgx.MSG_EVENT E
WHERE E.TARGET = 'KAFKA:msg' AND E.STATUS = 'PENDING'
    AND (E.NEXT_ATTEMPT_AT IS NULL OR E.NEXT_ATTEMPT_AT <= :now)
    AND E.EVENT_ID = (
        SELECT MIN(O.EVENT_ID) FROM msgx.MSG_EVENT O
        WHERE O.TARGET = 'KAFKA:msg' AND O.STATUS = 'PENDING' AND O.FLID = E.FLID
    )
ORDER BY E.EVENT_ID LIMIT :limit;

-- name: due_schd
SELECT EVENT_ID, TARGET, FLID, STATE_VERSION, PAYLOAD, ATTEMPTS
FROM msgx.MSG_EVENT
WHERE TARGET = 'KAFKA:schd' AND STATUS = 'PENDING' AND (NEXT_ATTEMPT_AT IS NULL OR NEXT_ATTEMPT_AT <= :now)
ORDER BY EVENT_ID LIMIT :limit;

-- name: settle_events
SELECT msgx.SETTLE_EVENTS(:epoch, :events, :alerts, :now);
