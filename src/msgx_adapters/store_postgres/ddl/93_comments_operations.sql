-- What the tables of outages and jobs mean.

COMMENT ON TABLE msgx.OPS_OUTAGE IS
    'One row per service that was ever out of use for msgx: the outage that is on, or its last one (D-04).';
COMMENT ON COLUMN msgx.OPS_OUTAGE.SERVICE IS 'store, mailbox, cache, bus, history or archive.';
COMMENT ON COLUMN msgx.OPS_OUTAGE.SINCE IS 'When it was met first.';
COMMENT ON COLUMN msgx.OPS_OUTAGE.DETAIL IS 'What the service said.';
COMMENT ON COLUMN msgx.OPS_OUTAGE.ENDED_AT IS 'When it was over; null: it was not, when it was met last.';
COMMENT ON COLUMN msgx.OPS_OUTAGE.ALERT_ID IS 'Its alert.';
COMMENT ON COLUMN msgx.OPS_OUTAGE.EPOCH IS
    'Epoch of the instance that met it last; only that of the present lease tells of now.';

COMMENT ON TABLE msgx.OPS_JOB IS 'What people leave for the active instance to do (D-34).';
COMMENT ON COLUMN msgx.OPS_JOB.JOB_ID IS 'Number of the job.';
COMMENT ON COLUMN msgx.OPS_JOB.KIND IS 'cache-rebuild or sweep.';
COMMENT ON COLUMN msgx.OPS_JOB.STATE IS
    'PENDING, RUNNING (begun again by the next instance when its own is gone), DONE or FAILED.';
COMMENT ON COLUMN msgx.OPS_JOB.DETAIL IS 'How it ended, or what it waits for.';
COMMENT ON COLUMN msgx.OPS_JOB.COUNTS IS 'Its numbers by name, so far or at the end.';
COMMENT ON COLUMN msgx.OPS_JOB.STARTED_AT IS 'When it was begun for the first time.';
COMMENT ON COLUMN msgx.OPS_JOB.ENDED_AT IS 'When it ended.';
COMMENT ON COLUMN msgx.OPS_JOB.CREATED_AT IS 'When it was asked for; who and why is in OPS_AUDIT.';
COMMENT ON COLUMN msgx.OPS_JOB.UPDATED_AT IS 'Last change.';
COMMENT ON COLUMN msgx.OPS_JOB.EPOCH IS 'Epoch of the instance that has it, or had it last (D-34).';
