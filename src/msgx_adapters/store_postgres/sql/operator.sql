-- What people may change (D-34).

-- name: replay
SELECT * FROM msgx.REPLAY(:ids, :whitelist, :actor, :why, :now);

-- name: readmit
SELECT msgx.READMIT(:msg_id, :actor, :why, :now) AS REFUSED;

-- name: resume_writebacks
SELECT * FROM msgx.RESUME_WRITEBACKS(:ids, :actor, :why, :now);

-- name: revive_events
SELECT * FROM msgx.REVIVE_EVENTS(:ids, :status, :target, :actor, :why, :now);

-- name: acknowledge
SELECT * FROM msgx.ACKNOWLEDGE(:ids, :actor, :why, :now);

-- name: create_request
SELECT msgx.CREATE_REQUEST(:slot, :seqn, :rtype, :first_day, :last_day, :created_at, :actor, :why, :now)
    AS REQUEST_ID;

-- name: open_request
SELECT * FROM msgx.REQ_TRACK WHERE SLOT = :slot AND STATE IN ('PENDING', 'SENT');
