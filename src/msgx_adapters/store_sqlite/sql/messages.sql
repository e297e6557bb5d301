-- Intake, head, identity and fate of messages.

-- name: unknown
SELECT value AS MSG_ID FROM json_each(:ids)
WHERE NOT EXISTS (SELECT 1 FROM PROC_STATE P WHERE P.MSG_ID = value)
ORDER BY key;

-- name: enqueue
INSERT INTO PROC_STATE (MSG_ID, STATE, RECEIVED_AT, ENQUEUED_AT, UPDATED_AT, EPOCH)
VALUES (:msg_id, 'PENDING', :received_at, :now, :now, :epoch)
ON CONFLICT (MSG_ID) DO NOTHING;

-- name: head
SELECT MSG_ID, STATE, ATTEMPTS, ENQUEUED_AT, RECEIVED_AT, NEXT_ATTEMPT_AT, IDENTITY_KEY, TYPE, STYP,
    ERROR_CODE, REASON, DETAIL, APPLIED_AT, COVERAGE, TRYING
FROM PROC_STATE WHERE STATE IN ('PENDING', 'FAILED') ORDER BY MSG_ID LIMIT 1;

-- name: identity_holders
SELECT MSG_ID, IDENTITY_KEY, RAW_DIGEST FROM PROC_STATE
WHERE MSG_ID = :msg_id OR IDENTITY_KEY = :identity_key;

-- name: bind
UPDATE PROC_STATE SET IDENTITY_KEY = :identity_key, SNDR = :sndr, TYPE = :type, STYP = :styp, SEQN = :seqn,
    DTTM = :dttm, RAW_DIGEST = :raw_digest, UPDATED_AT = :now, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND IDENTITY_KEY IS NULL;

-- name: describe
UPDATE PROC_STATE SET SNDR = :sndr, TYPE = :type, STYP = :styp, SEQN = :seqn, DTTM = :dttm,
    RAW_DIGEST = :raw_digest
WHERE MSG_ID = :msg_id AND IDENTITY_KEY IS NULL;

-- name: close_unapplied
UPDATE PROC_STATE SET STATE = :state, ERROR_CODE = :code, REASON = :reason, DETAIL = :detail,
    NEXT_ATTEMPT_AT = NULL, TRYING = 0, FINISHED_AT = :now,
    BACKFILL_NEXT_AT = CASE WHEN BACKFILL_AT IS NULL THEN :now END, UPDATED_AT = :now, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND STATE IN ('PENDING', 'FAILED') AND (APPLIED_AT IS NULL OR :code = 'EXHAUSTED');

-- name: unbind_request
UPDATE REQ_TRACK SET RESP_MSG_ID = NULL, UPDATED_AT = :now, EPOCH = :epoch
WHERE RESP_MSG_ID = :msg_id AND STATE IN ('PENDING', 'SENT');

-- name: fail
UPDATE PROC_STATE SET STATE = 'FAILED', ATTEMPTS = ATTEMPTS + 1, ERROR_CODE = :code, REASON = :reason,
    DETAIL = :detail, NEXT_ATTEMPT_AT = :next_attempt_at, TRYING = 0, UPDATED_AT = :now, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND STATE IN ('PENDING', 'FAILED');

-- name: set_trying
UPDATE PROC_STATE SET TRYING = :trying, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND STATE IN ('PENDING', 'FAILED');

-- name: count_interrupted
UPDATE PROC_STATE SET TRYING = 0, ATTEMPTS = ATTEMPTS + 1, UPDATED_AT = :now, EPOCH = :epoch
WHERE TRYING = 1
RETURNING MSG_ID, STATE, ATTEMPTS, ENQUEUED_AT, RECEIVED_AT, NEXT_ATTEMPT_AT, IDENTITY_KEY, TYPE, STYP,
    ERROR_CODE, REASON, DETAIL, APPLIED_AT, COVERAGE, TRYING;

-- name: insert_alert
INSERT INTO OPS_ALERT (CODE, MSG_ID, FLID, DETAIL, CREATED_AT) VALUES (:code, :msg_id, :flid, :detail, :now);
