-- Step 1: all effects of one message in one transaction (D-01), and step 3.

-- name: mark_applied
UPDATE PROC_STATE SET APPLIED_AT = :now, COVERAGE = :coverage, REASON = :reason, DETAIL = :detail,
    ERROR_CODE = NULL, OUTCOME_REASON = :reason, OUTCOME_DETAIL = :detail, APPLY_NO = :apply_no,
    UPDATED_AT = :now, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND APPLIED_AT IS NULL AND STATE IN ('PENDING', 'FAILED');

-- name: count_up
UPDATE COUNTERS SET VALUE = VALUE + CASE NAME
    WHEN 'event_msg' THEN :event_msg WHEN 'event_schd' THEN :event_schd WHEN 'apply_no' THEN 1 ELSE 0 END
WHERE NAME IN ('event_msg', 'event_schd', 'apply_no')
RETURNING NAME, VALUE;

-- name: insert_flight
INSERT INTO FLIGHT_SCHD (FLID, STATE, STATE_VERSION, OPERATION_DAY, SODT_AT, MAID, FLNO, CONTENT, LAST_MSG_ID,
    CREATED_AT, UPDATED_AT, EPOCH)
VALUES (:flid, :state, :version, :day, :sodt_at, :maid, :flno, :content, :last_msg_id,
    :created_at, :updated_at, :epoch)
ON CONFLICT (FLID) DO NOTHING;

-- name: update_flight
UPDATE FLIGHT_SCHD SET STATE = :state, STATE_VERSION = :version, OPERATION_DAY = :day, SODT_AT = :sodt_at,
    MAID = :maid, FLNO = :flno, CONTENT = :content, LAST_MSG_ID = :last_msg_id, CREATED_AT = :created_at,
    UPDATED_AT = :updated_at, EPOCH = :epoch
WHERE FLID = :flid AND STATE_VERSION = :read_version;

-- name: touch_flight
UPDATE FLIGHT_SCHD SET LAST_MSG_ID = :last_msg_id, EPOCH = :epoch
WHERE FLID = :flid AND STATE_VERSION = :read_version;

-- name: clear_raw_sections
DELETE FROM FLIGHT_RAW_SECTION WHERE FLID IN (SELECT value FROM json_each(:flids));

-- name: insert_raw_section
INSERT INTO FLIGHT_RAW_SECTION (FLID, TAG, XML) VALUES (:flid, :tag, :xml);

-- name: insert_notice
INSERT INTO MSG_EVENT (TARGET, EVENT_ID, FLID, STATE_VERSION, MSG_ID, PAYLOAD, STATUS, CREATED_AT, UPDATED_AT,
    EPOCH)
VALUES ('KAFKA:msg', :event_id, :flid, :version, :msg_id, :payload, 'PENDING', :now, :now, :epoch);

-- name: put_document
INSERT INTO MSG_EVENT (TARGET, EVENT_ID, FLID, STATE_VERSION, MSG_ID, PAYLOAD, STATUS, CREATED_AT, UPDATED_AT,
    EPOCH)
VALUES ('KAFKA:schd', :event_id, :flid, :version, :msg_id, :payload, 'PENDING', :now, :now, :epoch)
ON CONFLICT (FLID) WHERE TARGET = 'KAFKA:schd' DO UPDATE SET EVENT_ID = excluded.EVENT_ID,
    STATE_VERSION = excluded.STATE_VERSION, MSG_ID = excluded.MSG_ID, PAYLOAD = excluded.PAYLOAD,
    STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
    CREATED_AT = excluded.CREATED_AT, UPDATED_AT = excluded.UPDATED_AT, EPOCH = excluded.EPOCH;

-- name: drop_documents
DELETE FROM MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID IN (SELECT value FROM json_each(:flids));

-- name: first_generation
INSERT INTO SCHD_GEN (OPERATION_DAY, VERSION, LAST_MSG_ID, LAST_RECV_AT, EPOCH)
VALUES (:day, 1, :msg_id, :now, :epoch)
ON CONFLICT (OPERATION_DAY) DO UPDATE SET VERSION = 1, LAST_MSG_ID = excluded.LAST_MSG_ID,
    LAST_RECV_AT = excluded.LAST_RECV_AT, EPOCH = excluded.EPOCH
WHERE VERSION = 0;

-- name: next_generation
UPDATE SCHD_GEN SET VERSION = VERSION + 1, LAST_MSG_ID = :msg_id, LAST_RECV_AT = :now, EPOCH = :epoch
WHERE OPERATION_DAY = :day AND VERSION = :read_version;

-- name: clear_roster
DELETE FROM SCHD_GEN_FLID WHERE OPERATION_DAY = :day;

-- name: roster_remove
DELETE FROM SCHD_GEN_FLID WHERE FLID IN (SELECT value FROM json_each(:flids));

-- A flight on the roster of another day breaks UNIQUE (FLID): rosters are disjoint.
-- name: roster_add
INSERT INTO SCHD_GEN_FLID (OPERATION_DAY, FLID) VALUES (:day, :flid)
ON CONFLICT (OPERATION_DAY, FLID) DO NOTHING;

-- name: clear_category
DELETE FROM REF_RECORD WHERE RTYPE = :rtype;

-- name: next_ordinal
SELECT COALESCE(MAX(ORDINAL), 0) + 1 FROM REF_RECORD WHERE RTYPE = :rtype;

-- name: put_record
INSERT INTO REF_RECORD (RTYPE, RKEY, PAYLOAD, ORDINAL, MSG_ID, UPDATED_AT)
VALUES (:rtype, :rkey, :payload, :ordinal, :msg_id, :updated_at)
ON CONFLICT (RTYPE, RKEY) DO UPDATE SET PAYLOAD = excluded.PAYLOAD, MSG_ID = excluded.MSG_ID,
    UPDATED_AT = excluded.UPDATED_AT;

-- name: remove_record
DELETE FROM REF_RECORD WHERE RTYPE = :rtype AND RKEY = :rkey;

-- name: bind_request
UPDATE REQ_TRACK SET RESP_MSG_ID = :msg_id, STATE = 'SENT', SENT_AT = COALESCE(SENT_AT, :now),
    UPDATED_AT = :now, EPOCH = :epoch
WHERE REQUEST_ID = :request_id AND STATE IN ('PENDING', 'SENT') AND RESP_MSG_ID IS NULL;

-- name: fail_request
UPDATE REQ_TRACK SET STATE = 'FAILED', REASON = :reason, CLOSED_AT = :now, UPDATED_AT = :now, EPOCH = :epoch
WHERE REQUEST_ID = :request_id AND STATE IN ('PENDING', 'SENT');

-- name: put_sender
INSERT INTO SENDER_MARK (SNDR, SEQN, DTTM, SCHEDULE_DTTM, DNLD_RECS, RESP_RECS, UPDATED_AT)
VALUES (:sndr, :seqn, :dttm, :schedule_dttm, :dnld_recs, :resp_recs, :now)
ON CONFLICT (SNDR) DO UPDATE SET SEQN = excluded.SEQN, DTTM = excluded.DTTM,
    SCHEDULE_DTTM = excluded.SCHEDULE_DTTM, DNLD_RECS = excluded.DNLD_RECS, RESP_RECS = excluded.RESP_RECS,
    UPDATED_AT = excluded.UPDATED_AT;

-- name: finish
UPDATE PROC_STATE SET STATE = 'SUCCEEDED', ERROR_CODE = NULL, REASON = OUTCOME_REASON, DETAIL = OUTCOME_DETAIL,
    NEXT_ATTEMPT_AT = NULL, TRYING = 0, FINISHED_AT = :now,
    BACKFILL_NEXT_AT = CASE WHEN BACKFILL_AT IS NULL THEN :now END, UPDATED_AT = :now, EPOCH = :epoch
WHERE MSG_ID = :msg_id AND STATE IN ('PENDING', 'FAILED') AND APPLIED_AT IS NOT NULL;

-- name: close_request
UPDATE REQ_TRACK SET STATE = 'DONE', CLOSED_AT = :now, UPDATED_AT = :now, EPOCH = :epoch
WHERE RESP_MSG_ID = :msg_id AND STATE IN ('PENDING', 'SENT');

-- name: log_snapshot
INSERT INTO SCHD_SNAP_LOG (MSG_ID, RECV_AT, RESULT, OPERATION_DAY, SCOPE_START, SCOPE_END, RECS, OLD_VERSION,
    NEW_VERSION, DELETED_COUNT, FLAGS, OLD_FLID_DIGEST, NEW_FLID_DIGEST, ARCHIVE_KEY, DURATION_MS)
VALUES (:msg_id, :recv_at, :result, :operation_day, :scope_start, :scope_end, :recs, :old_version,
    :new_version, :deleted_count, :flags, :old_flid_digest, :new_flid_digest, :archive_key, :duration_ms);
