"""Everything that PostgreSQL's catalogues say about a schema, to be compared: one text for each object."""

from __future__ import annotations

import psycopg

from services.postgres import connect, schema_of, server_of

# Where columns stand is left out: a column that was added is the last one. Each gives a name and a text.
# `pg_attver` is no option of PostgreSQL's and nobody set it: some builds of the server put it, with another
# number each time, on every column of a new table. Only this one entry is left out of a column's options.
_QUERIES = {
    "schema": "SELECT '', obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE oid = {own}",
    "relation": """
        SELECT relname, concat_ws(' | ', relkind, relpersistence, relrowsecurity, relforcerowsecurity,
            relreplident, reloptions, obj_description(oid, 'pg_class'),
            CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid) END)
        FROM pg_class WHERE relnamespace = {own}""",
    "column": """
        SELECT relname || '.' || attname, concat_ws(' | ', format_type(atttypid, atttypmod), attnotnull,
            attidentity, attgenerated, attstorage, attcompression, attstattarget,
            ARRAY(SELECT o FROM unnest(attoptions) o WHERE o NOT LIKE 'pg_attver=%'),
            CASE WHEN attcollation <> 0 THEN attcollation::regcollation::text END,
            pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = {own} AND relkind IN ('r', 'v', 'm', 'p', 'c') AND attnum > 0
            AND NOT attisdropped""",
    "constraint": """
        SELECT concat_ws('.', conrelid::regclass, conname), concat_ws(' | ', contype,
            pg_get_constraintdef(oid), convalidated, condeferrable, condeferred,
            obj_description(oid, 'pg_constraint'))
        FROM pg_constraint WHERE connamespace = {own}""",
    "index": """
        SELECT indexrelid::regclass::text, concat_ws(' | ', pg_get_indexdef(indexrelid), indisvalid,
            indisunique, indisprimary, indisclustered, indisreplident)
        FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE relnamespace = {own}""",
    "function": """
        SELECT oid::regprocedure::text, concat_ws(' | ', pg_get_functiondef(oid),
            obj_description(oid, 'pg_proc'))
        FROM pg_proc WHERE pronamespace = {own} AND prokind <> 'a'""",
    "trigger": """
        SELECT concat_ws('.', tgrelid::regclass, tgname),
            concat_ws(' | ', pg_get_triggerdef(t.oid), tgenabled)
        FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
        WHERE relnamespace = {own} AND NOT tgisinternal""",
    "rule": """
        SELECT concat_ws('.', ev_class::regclass, rulename), pg_get_ruledef(r.oid)
        FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE relnamespace = {own}""",
    "type": """
        SELECT typname, concat_ws(' | ', typtype, typcategory, typbasetype::regtype,
            (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum
                WHERE enumtypid = pg_type.oid))
        FROM pg_type WHERE typnamespace = {own}""",
    "sequence": """
        SELECT seqrelid::regclass::text, concat_ws(' | ', seqtypid::regtype, seqstart, seqincrement, seqmax,
            seqmin, seqcache, seqcycle, (SELECT concat_ws('.', refobjid::regclass, deptype) FROM pg_depend
                WHERE objid = seqrelid AND deptype IN ('a', 'i')))
        FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE relnamespace = {own}""",
    "statistics": """
        SELECT stxname, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxnamespace = {own}""",
    "policy": """
        SELECT concat_ws('.', polrelid::regclass, polname), concat_ws(' | ', polcmd, polpermissive,
            pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
        FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = {own}""",
}
# The rows that are there from the start, but for the store's id and the time.
_ROWS = {
    "alembic_version": "SELECT version_num FROM {schema}.alembic_version",
    "store_info": "SELECT NAME, length(VALUE) FROM {schema}.STORE_INFO",
    "pipeline_lock": "SELECT * FROM {schema}.PIPELINE_LOCK",
    "lease": "SELECT ID, HOLDER, EPOCH, EXPIRES_AT <= now() FROM {schema}.LEASE",
    "counters": "SELECT * FROM {schema}.COUNTERS ORDER BY NAME",
}


def catalogue(url: str) -> dict[str, str]:
    """What there is in the schema of a URL, by kind and name; the name of the schema itself is left out."""
    schema = schema_of(url)
    own = f"'{schema}'::regnamespace"
    found: dict[str, str] = {}
    with connect(server_of(url)) as asked:
        # So that every name is written with its schema.
        asked.execute("SET search_path = pg_catalog")
        for kind, query in _QUERIES.items():
            for name, text in asked.execute(query.replace("{own}", own).encode()).fetchall():
                found[f"{kind} {name}".replace(f"{schema}.", "")] = str(text).replace(schema, "SCHEMA")
        for name, query in _ROWS.items():
            found[f"rows {name}"] = _rows(asked, query.format(schema=schema))
    return found


def _rows(asked: psycopg.Connection[tuple[object, ...]], query: str) -> str:
    return str(asked.execute(query.encode()).fetchall())


def differences(one: dict[str, str], other: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """What is in one and not, or otherwise, in the other."""
    return {
        name: (one.get(name), other.get(name))
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    }
