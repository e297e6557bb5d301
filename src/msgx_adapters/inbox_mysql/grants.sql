-- Everything that msgx may do in the mailbox database. Put in your own user, host, password, database and, where
-- they differ, the names of tables and columns (msgx.mailbox.table.*, msgx.mailbox.column.*).
CREATE USER 'msgx'@'%' IDENTIFIED BY 'change-me';

GRANT SELECT ON mailbox.CMINMSGS TO 'msgx'@'%';
GRANT UPDATE (CMINMSGS_DATE_PROCESSED) ON mailbox.CMINMSGS TO 'msgx'@'%';
GRANT SELECT, INSERT ON mailbox.COUTMSGS TO 'msgx'@'%';

-- To be made by the owner of the table, once: without it every scan reads the whole table.
CREATE INDEX CMINMSGS_UNPROCESSED ON mailbox.CMINMSGS (CMINMSGS_DATE_PROCESSED, CMINMSGS_ID);
