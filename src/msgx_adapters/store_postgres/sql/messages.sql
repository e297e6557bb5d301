-- Intake, head, identity and fate of messages.

-- name: unknown
SELECT MSG_ID FROM msgx.UNKNOWN(:ids) AS U (MSG_ID);

-- name: enqueue
SELECT msgx.ENQUEUE(:epoch, :ids, :received, :now) AS N;

-- name: head
SELECT MSG_ID, STATE, ATTEMPTS, ENQUEUED_AT, RECEIVED_AT, NEXT_ATTEMPT_AT, IDENTITY_KEY, TYPE, STYP,
    ERROR_CODE, REASON, DETAIL, APPLIED_AT, COVERAGE, TRYING
FROM msgx.HEAD();

-- name: heads
SELECT MSG_ID, STATE, ATTEMPTS, ENQUEUED_AT, RECEIVED_AT, NEXT_ATTEMPT_AT, IDENTITY_KEY, TYPE, STYP,
    ERROR_CODE, REASON, DETAIL, APPLIED_AT, COVERAGE, TRYING
FROM msgx.HEADS(:limit);

-- name: identity_holder
SELECT MSG_ID, RAW_DIGEST FROM msgx.PROC_STATE WHERE IDENTITY_KEY = :identity_key;

-- name: bind
SELECT * FROM msgx.BIND(:epoch, :msg_id, :identity_key, :sndr, :type, :styp, :seqn, :dttm, :raw_digest, :as_head,
    :now);

-- name: close_unapplied
SELECT msgx.CLOSE_UNAPPLIED(:epoch, :msg_id, :state, :code, :reason, :detail, :alerts, :now, :sndr, :type,
    :styp, :seqn, :dttm, :raw_digest) AS DONE;

-- name: fail
SELECT msgx.FAIL(:epoch, :msg_id, :code, :reason, :detail, :next_attempt_at, :now);

-- name: set_trying
SELECT msgx.SET_TRYING(:epoch, :msg_id, :trying);

-- name: count_interrupted
SELECT MSG_ID, STATE, ATTEMPTS, ENQUEUED_AT, RECEIVED_AT, NEXT_ATTEMPT_AT, IDENTITY_KEY, TYPE, STYP,
    ERROR_CODE, REASON, DETAIL, APPLIED_AT, COVERAGE, TRYING
FROM msgx.COUNT_INTERRUPTED(:epoch, :now) ORDER BY MSG_ID;

-- name: insert_alert
SELECT msgx.INSERT_ALERTS(:alerts, :now);

-- name: raise_alert
WITH L AS MATERIALIZED (
    SELECT msgx.FENCE(:epoch)::text AS OK
)
SELECT msgx.INSERT_ALERTS(:alerts, :now) FROM L;
