-- The account by which the server judges what we may do.
SELECT CURRENT_USER()
