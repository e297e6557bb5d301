-- What the roles may do. Run after each `msgx migrate` by the owner of the schema, who needs CREATEROLE the
-- first time (or a superuser makes both roles before); roles are per cluster.
-- {{app}}: the user of msgx itself, when it does not own the schema. {{reader}}: downstream services; SELECT only.
DO $$
BEGIN
    CREATE ROLE {{app}} NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
DO $$
BEGIN
    CREATE ROLE {{reader}} NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;

REVOKE ALL ON SCHEMA "{{schema}}" FROM PUBLIC;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA "{{schema}}" FROM PUBLIC;

GRANT USAGE ON SCHEMA "{{schema}}" TO {{app}}, {{reader}};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{{schema}}" TO {{app}};
-- The revision of the schema is the owner's to change.
REVOKE INSERT, UPDATE, DELETE ON "{{schema}}".alembic_version FROM {{app}};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA "{{schema}}" TO {{app}};
GRANT SELECT ON ALL TABLES IN SCHEMA "{{schema}}" TO {{reader}};
REVOKE ALL ON "{{schema}}".API_TOKEN FROM {{reader}};

-- Then, for example:
-- CREATE ROLE board LOGIN PASSWORD 'change-me' IN ROLE {{reader}};
-- ALTER ROLE board SET default_transaction_read_only = on;
