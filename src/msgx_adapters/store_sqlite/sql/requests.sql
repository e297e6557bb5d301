-- Requests on their way out (D-32). Each update is conditional on the state that the request is in then.

-- name: ask_request
INSERT INTO REQ_TRACK (SLOT, STATE, RTYPE, FIRST_DAY, LAST_DAY, CREATED_AT, UPDATED_AT, EPOCH)
VALUES (:slot, 'PENDING', :rtype, :first_day, :last_day, :created_at, :now, :epoch)
ON CONFLICT (SLOT) WHERE STATE IN ('PENDING', 'SENT') DO NOTHING
RETURNING *;

-- name: pending_requests
SELECT * FROM REQ_TRACK WHERE STATE = 'PENDING' ORDER BY REQUEST_ID;

-- name: may_begin_send
SELECT 1 FROM REQ_TRACK WHERE REQUEST_ID = :request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NULL;

-- name: next_outbound_seqn
UPDATE COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'outbound_seqn' RETURNING VALUE;

-- name: begin_send
UPDATE REQ_TRACK SET SEND_STARTED_AT = :now, SEQN = :seqn, UPDATED_AT = :now, EPOCH = :epoch
WHERE REQUEST_ID = :request_id
RETURNING *;

-- name: confirm_sent
UPDATE REQ_TRACK SET STATE = 'SENT', SENT_AT = :now, UPDATED_AT = :now, EPOCH = :epoch
WHERE REQUEST_ID = :request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NOT NULL;

-- name: lose_send
UPDATE REQ_TRACK SET STATE = 'FAILED', REASON = 'send-lost', CLOSED_AT = :now, UPDATED_AT = :now, EPOCH = :epoch
WHERE REQUEST_ID = :request_id AND STATE = 'PENDING' AND SEND_STARTED_AT IS NOT NULL;

-- name: expire_requests
UPDATE REQ_TRACK SET STATE = 'EXPIRED', REASON = 'timeout', CLOSED_AT = :now, UPDATED_AT = :now, EPOCH = :epoch
WHERE STATE = 'SENT' AND RESP_MSG_ID IS NULL AND SENT_AT <= :sent_before
RETURNING REQUEST_ID;
