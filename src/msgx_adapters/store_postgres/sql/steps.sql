-- The three steps: what a decision reads, steps 1 and 3, the logs beside them.

-- name: read
SELECT * FROM msgx.READ(:flids, :maids, :roster_days, :days, :first, :last, :sndr);

-- name: apply
SELECT msgx.APPLY(:epoch, :expiry_s, :msg_id, :at, :coverage, :reason, :detail, :touched,
    :new, :new_tags, :old, :old_tags, :same, :same_versions, :same_last,
    :notice_flids, :notice_versions, :notices, :document_flids, :document_versions, :documents, :gone,
    :rest) AS APPLY_NO;

-- name: apply_one
SELECT msgx.APPLY_ONE(:epoch, :expiry_s, :msg_id, :at, :coverage, :reason, :detail, :flid, :read, :version,
    :flight, :tags, :notice, :document, :sndr, :seqn, :dttm, :schedule_dttm, :dnld_recs, :resp_recs) AS APPLY_NO;

-- name: finish
SELECT msgx.FINISH(:epoch, :msg_id, :now) AS DONE;

-- name: touched_by
SELECT F.* FROM msgx.PROC_STATE P CROSS JOIN LATERAL unnest(P.TOUCHED) AS T (FLID)
JOIN msgx.FLIGHT_FULL F ON F.FLID = T.FLID
WHERE P.MSG_ID = :msg_id AND F.LAST_MSG_ID = :msg_id ORDER BY F.FLID;

-- name: live_flights
SELECT * FROM msgx.FLIGHT_FULL WHERE STATE = 'ACTIVE' AND FLID > :after ORDER BY FLID LIMIT :limit;

-- name: open_requests
SELECT * FROM msgx.REQ_TRACK
WHERE SLOT = :slot AND (
    STATE IN ('PENDING', 'SENT')
    OR (STATE = 'EXPIRED' AND RESP_MSG_ID IS NULL AND CLOSED_AT >= :expired_since)
)
ORDER BY REQUEST_ID DESC;

-- name: log_snapshots
WITH L AS MATERIALIZED (
    SELECT msgx.FENCE(:epoch)::text AS OK
)
INSERT INTO msgx.SCHD_SNAP_LOG (MSG_ID, RECV_AT, RESULT, OPERATION_DAY, SCOPE_START, SCOPE_END, RECS,
    OLD_VERSION, NEW_VERSION, DELETED_COUNT, FLAGS, OLD_FLID_DIGEST, NEW_FLID_DIGEST, ARCHIVE_KEY, DURATION_MS)
SELECT R.msg_id, R.recv_at, R.result, R.operation_day, R.scope_start, R.scope_end, R.recs, R.old_version,
    R.new_version, R.deleted_count, R.flags, R.old_flid_digest, R.new_flid_digest, R.archive_key, R.duration_ms
FROM L CROSS JOIN jsonb_to_recordset(:rows::jsonb) AS R (n integer, msg_id bigint, recv_at timestamptz, result text,
    operation_day date, scope_start timestamptz, scope_end timestamptz, recs integer, old_version bigint,
    new_version bigint, deleted_count integer, flags jsonb, old_flid_digest text, new_flid_digest text,
    archive_key text, duration_ms integer)
ORDER BY R.n;
