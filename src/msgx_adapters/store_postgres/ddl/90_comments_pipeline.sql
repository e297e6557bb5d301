-- What tables and columns mean, for who reads the database.

COMMENT ON TABLE msgx.alembic_version IS 'One row: the revision of this schema.';
COMMENT ON COLUMN msgx.alembic_version.version_num IS 'Four digits; a later one is a later revision.';

COMMENT ON TABLE msgx.STORE_INFO IS
    'Facts about the store: its id, choices made at first use.';
COMMENT ON COLUMN msgx.STORE_INFO.NAME IS 'id, or pin.<setting>.';
COMMENT ON COLUMN msgx.STORE_INFO.VALUE IS 'Its value as text.';

COMMENT ON TABLE msgx.PIPELINE_LOCK IS
    'One row: serializes what changes state. Writers lock it first; only the active instance knows its epoch.';
COMMENT ON COLUMN msgx.PIPELINE_LOCK.ID IS 'Always 1.';
COMMENT ON COLUMN msgx.PIPELINE_LOCK.EPOCH IS 'Rises by one with each takeover of the lease.';

COMMENT ON TABLE msgx.LEASE IS 'One row: which instance is active (D-34). Times are of the database.';
COMMENT ON COLUMN msgx.LEASE.ID IS 'Always 1.';
COMMENT ON COLUMN msgx.LEASE.HOLDER IS 'Name of the active instance; null when the lease was given up.';
COMMENT ON COLUMN msgx.LEASE.EPOCH IS 'Epoch that came with the lease.';
COMMENT ON COLUMN msgx.LEASE.EXPIRES_AT IS 'From then on another instance may take over.';

COMMENT ON TABLE msgx.COUNTERS IS 'Numbers that are allocated in commit order without gaps (D-27).';
COMMENT ON COLUMN msgx.COUNTERS.NAME IS 'event_msg, event_schd, apply_no or outbound_seqn.';
COMMENT ON COLUMN msgx.COUNTERS.VALUE IS 'The last number given out.';

COMMENT ON TABLE msgx.PROC_STATE IS
    'One row per mailbox message: where it stands, its identity, its attempts, its write-back.';
COMMENT ON COLUMN msgx.PROC_STATE.MSG_ID IS 'Id of the message in the mailbox.';
COMMENT ON COLUMN msgx.PROC_STATE.STATE IS
    'PENDING and FAILED are unfinished; SUCCEEDED, SKIPPED and DEAD are final.';
COMMENT ON COLUMN msgx.PROC_STATE.IDENTITY_KEY IS
    'SNDR|TYPE|STYP|SEQN, with the day behind where so set; unique (D-23).';
COMMENT ON COLUMN msgx.PROC_STATE.SNDR IS 'Sender, from META.';
COMMENT ON COLUMN msgx.PROC_STATE.TYPE IS 'Type, from META.';
COMMENT ON COLUMN msgx.PROC_STATE.STYP IS 'Sub-type, from META.';
COMMENT ON COLUMN msgx.PROC_STATE.SEQN IS 'Sequence number, from META, as text.';
COMMENT ON COLUMN msgx.PROC_STATE.DTTM IS 'Time of sending, from META, as text.';
COMMENT ON COLUMN msgx.PROC_STATE.RAW_DIGEST IS 'Digest of the raw text (D-24).';
COMMENT ON COLUMN msgx.PROC_STATE.ATTEMPTS IS 'How many tries have failed.';
COMMENT ON COLUMN msgx.PROC_STATE.NEXT_ATTEMPT_AT IS 'When a failed message is tried again.';
COMMENT ON COLUMN msgx.PROC_STATE.ERROR_CODE IS 'Kind of error of a FAILED or DEAD message (D-25).';
COMMENT ON COLUMN msgx.PROC_STATE.REASON IS 'Why it is in this state, of the closed list (D-25).';
COMMENT ON COLUMN msgx.PROC_STATE.DETAIL IS 'The place in the message.';
COMMENT ON COLUMN msgx.PROC_STATE.RECEIVED_AT IS 'When the mailbox received it; for reconciliation only.';
COMMENT ON COLUMN msgx.PROC_STATE.ENQUEUED_AT IS 'When it was taken in; what is overdue counts from here.';
COMMENT ON COLUMN msgx.PROC_STATE.APPLIED_AT IS 'When its effects were written (step 1); null: not yet.';
COMMENT ON COLUMN msgx.PROC_STATE.APPLY_NO IS 'Order in which effects were written.';
COMMENT ON COLUMN msgx.PROC_STATE.COVERAGE IS 'What a schedule was complete for (D-11).';
COMMENT ON COLUMN msgx.PROC_STATE.OUTCOME_REASON IS 'Reason decided with the effects; becomes REASON at the end.';
COMMENT ON COLUMN msgx.PROC_STATE.OUTCOME_DETAIL IS 'Detail decided with the effects.';
COMMENT ON COLUMN msgx.PROC_STATE.TOUCHED IS 'FLIDs of the flights that it wrote.';
COMMENT ON COLUMN msgx.PROC_STATE.TRYING IS 'A suspect try has begun and not ended (D-05).';
COMMENT ON COLUMN msgx.PROC_STATE.FINISHED_AT IS 'When it became final.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_AT IS 'When the mark in the mailbox was confirmed; null: not yet.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_NEXT_AT IS 'When the mark is due.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_ATTEMPTS IS 'How many tries to mark have failed.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_ABANDONED_AT IS 'When automatic marking stopped.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_ABANDONED_REASON IS 'Why it stopped.';
COMMENT ON COLUMN msgx.PROC_STATE.BACKFILL_CLAIM_UNTIL IS 'Until then one try owns the mark.';
COMMENT ON COLUMN msgx.PROC_STATE.EPOCH IS 'Epoch of the instance that wrote the row last (D-34).';
COMMENT ON COLUMN msgx.PROC_STATE.UPDATED_AT IS 'Last change.';

COMMENT ON TABLE msgx.MSG_EVENT IS
    'Outbox: events for the bus, written in the transaction of the change they tell of.';
COMMENT ON COLUMN msgx.MSG_EVENT.EVENT_ID IS 'Consecutive per topic, in commit order (D-27).';
COMMENT ON COLUMN msgx.MSG_EVENT.TARGET IS
    'KAFKA:msg: change notices. KAFKA:schd: the whole state, one row per flight.';
COMMENT ON COLUMN msgx.MSG_EVENT.FLID IS 'Flight.';
COMMENT ON COLUMN msgx.MSG_EVENT.STATE_VERSION IS 'Version of the flight that it tells of.';
COMMENT ON COLUMN msgx.MSG_EVENT.MSG_ID IS 'Message that caused it.';
COMMENT ON COLUMN msgx.MSG_EVENT.STATUS IS
    'PENDING, SENT, DEAD (a person must look), DISCARDED (a person has looked).';
COMMENT ON COLUMN msgx.MSG_EVENT.ATTEMPTS IS 'Failed deliveries.';
COMMENT ON COLUMN msgx.MSG_EVENT.NEXT_ATTEMPT_AT IS 'When delivery is tried again.';
COMMENT ON COLUMN msgx.MSG_EVENT.LAST_CODE IS 'Why the last delivery failed.';
COMMENT ON COLUMN msgx.MSG_EVENT.SENT_AT IS 'When delivery was confirmed; retention counts from here.';
COMMENT ON COLUMN msgx.MSG_EVENT.CREATED_AT IS 'When it was written.';
COMMENT ON COLUMN msgx.MSG_EVENT.UPDATED_AT IS 'Last change.';
COMMENT ON COLUMN msgx.MSG_EVENT.EPOCH IS 'Epoch of the instance that wrote the row last (D-34).';
COMMENT ON COLUMN msgx.MSG_EVENT.PAYLOAD IS 'The value for the bus without EVENT_ID, exactly as it was decided.';

COMMENT ON TABLE msgx.REQ_TRACK IS 'Requests to upstream and what became of them.';
COMMENT ON COLUMN msgx.REQ_TRACK.REQUEST_ID IS 'Number of the request.';
COMMENT ON COLUMN msgx.REQ_TRACK.SLOT IS 'RQRD (reference data) or RQFD (flight data): one open request each.';
COMMENT ON COLUMN msgx.REQ_TRACK.STATE IS 'PENDING, SENT, DONE, EXPIRED or FAILED.';
COMMENT ON COLUMN msgx.REQ_TRACK.SEQN IS 'Our sequence number.';
COMMENT ON COLUMN msgx.REQ_TRACK.RTYPE IS 'Category asked for (RQRD).';
COMMENT ON COLUMN msgx.REQ_TRACK.FIRST_DAY IS 'First operation day asked for (RQFD).';
COMMENT ON COLUMN msgx.REQ_TRACK.LAST_DAY IS 'Last operation day asked for (RQFD).';
COMMENT ON COLUMN msgx.REQ_TRACK.SEND_STARTED_AT IS 'When sending began (D-32).';
COMMENT ON COLUMN msgx.REQ_TRACK.SENT_AT IS 'When it was in the outbound mailbox.';
COMMENT ON COLUMN msgx.REQ_TRACK.CLOSED_AT IS 'When it ceased to be open.';
COMMENT ON COLUMN msgx.REQ_TRACK.REASON IS 'Why it expired or failed.';
COMMENT ON COLUMN msgx.REQ_TRACK.RESP_MSG_ID IS 'Message that answers it.';
COMMENT ON COLUMN msgx.REQ_TRACK.CREATED_AT IS 'When it was asked for.';
COMMENT ON COLUMN msgx.REQ_TRACK.UPDATED_AT IS 'Last change.';
COMMENT ON COLUMN msgx.REQ_TRACK.EPOCH IS 'Epoch of the instance that wrote the row last (D-34).';

COMMENT ON TABLE msgx.SENDER_MARK IS 'The last message applied of each sender (D-16).';
COMMENT ON COLUMN msgx.SENDER_MARK.SNDR IS 'Sender.';
COMMENT ON COLUMN msgx.SENDER_MARK.SEQN IS 'Its sequence number.';
COMMENT ON COLUMN msgx.SENDER_MARK.DTTM IS 'Its time of sending.';
COMMENT ON COLUMN msgx.SENDER_MARK.SCHEDULE_DTTM IS 'Time of sending of its last schedule.';
COMMENT ON COLUMN msgx.SENDER_MARK.DNLD_RECS IS 'Records of its last DNLD.';
COMMENT ON COLUMN msgx.SENDER_MARK.RESP_RECS IS 'Records of its last RESP.';
COMMENT ON COLUMN msgx.SENDER_MARK.UPDATED_AT IS 'Last change.';

COMMENT ON TABLE msgx.OPS_ALERT IS 'What a person must look at, until it is acknowledged (D-41).';
COMMENT ON COLUMN msgx.OPS_ALERT.ALERT_ID IS 'Number of the alert.';
COMMENT ON COLUMN msgx.OPS_ALERT.CODE IS 'Kind, of the closed list.';
COMMENT ON COLUMN msgx.OPS_ALERT.MSG_ID IS 'Message it is about.';
COMMENT ON COLUMN msgx.OPS_ALERT.FLID IS 'Flight it is about.';
COMMENT ON COLUMN msgx.OPS_ALERT.DETAIL IS 'More in words.';
COMMENT ON COLUMN msgx.OPS_ALERT.CREATED_AT IS 'When it was raised.';
COMMENT ON COLUMN msgx.OPS_ALERT.ACKED_AT IS 'When it was acknowledged; null: open.';
COMMENT ON COLUMN msgx.OPS_ALERT.ENDED_AT IS 'When an outage was over (OUTAGE only).';

COMMENT ON TABLE msgx.OPS_AUDIT IS 'What people did, and why.';
COMMENT ON COLUMN msgx.OPS_AUDIT.AUDIT_ID IS 'Number.';
COMMENT ON COLUMN msgx.OPS_AUDIT.ACTION IS 'What was done.';
COMMENT ON COLUMN msgx.OPS_AUDIT.TARGET IS 'Id of the message, event, alert, request or job.';
COMMENT ON COLUMN msgx.OPS_AUDIT.ACTOR IS 'Who did it.';
COMMENT ON COLUMN msgx.OPS_AUDIT.REASON IS 'Why, in their words.';
COMMENT ON COLUMN msgx.OPS_AUDIT.DETAIL IS 'What it was like before.';
COMMENT ON COLUMN msgx.OPS_AUDIT.CREATED_AT IS 'When.';

COMMENT ON TABLE msgx.SCHD_SNAP_LOG IS
    'Trace of schedules: one row per attempt and day; no decision reads it (D-16).';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.LOG_ID IS 'Number.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.MSG_ID IS 'The schedule.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.RECV_AT IS 'When it was taken in.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.RESULT IS 'COMMITTED, REPLAY_SKIPPED or ROLLED_BACK.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.OPERATION_DAY IS 'Covered day; null where none is covered.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.SCOPE_START IS 'First instant of its scope.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.SCOPE_END IS 'Last instant of its scope.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.RECS IS 'Records in it.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.OLD_VERSION IS 'Generation of the day before.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.NEW_VERSION IS 'Generation of the day after.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.DELETED_COUNT IS 'Flights deleted by absence.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.FLAGS IS
    'Array of names: EMPTY, RECS_DROP, OUT_OF_ORDER, SEQN_REGRESSION, DAY_MISMATCH.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.OLD_FLID_DIGEST IS 'Digest of the roster before.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.NEW_FLID_DIGEST IS 'Digest of the roster after.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.ARCHIVE_KEY IS 'Key of the raw text in the archive.';
COMMENT ON COLUMN msgx.SCHD_SNAP_LOG.DURATION_MS IS 'How long it took.';
