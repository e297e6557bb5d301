-- What people leave for the lease holder (D-34).

-- name: ask_job
SELECT * FROM msgx.ASK_JOB(:kind, :actor, :why, :now);

-- name: job
SELECT * FROM msgx.OPS_JOB WHERE JOB_ID = :job_id;

-- name: jobs
SELECT * FROM msgx.OPS_JOB WHERE :after::bigint IS NULL OR JOB_ID < :after ORDER BY JOB_ID DESC LIMIT :limit;

-- name: open_jobs
SELECT * FROM msgx.OPS_JOB WHERE STATE IN ('PENDING', 'RUNNING') ORDER BY JOB_ID;

-- name: start_job
SELECT * FROM msgx.START_JOB(:epoch, :job_id, :now);

-- name: note_job
SELECT msgx.NOTE_JOB(:epoch, :job_id, :detail, :counts, :now) AS DONE;

-- name: end_job
SELECT msgx.END_JOB(:epoch, :job_id, :state, :detail, :counts, :now) AS DONE;
