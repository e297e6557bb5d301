-- How long a statement waits for a row's lock and for a table that is being changed.
SET SESSION innodb_lock_wait_timeout = {lock_wait_s}, SESSION lock_wait_timeout = {lock_wait_s}
