-- What the tables of flights and reference data mean; columns by tag are described from the tag tables.

COMMENT ON TABLE msgx.FLIGHT_SCHD IS
    'One row per flight: scalars and single-value elements as sent, columns named by SIS tag; null: no '
    'value, empty: an empty value. Collections are in the detail tables.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.FLID IS 'Flight (AODB).';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.STATE IS 'ACTIVE or DELETED.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.STATE_VERSION IS 'Rises by one with each change; consumers compare it.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.OPERATION_DAY IS
    'Operation day; once set it never changes (D-10). Null: no SODT so far.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.SODT_AT IS 'SODT as an instant.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.LAST_MSG_ID IS 'Message that wrote it last.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.CREATED_AT IS 'When it was first written.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.UPDATED_AT IS 'Last change of its state.';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.EPOCH IS 'Epoch of the instance that wrote the row last (D-34).';
COMMENT ON COLUMN msgx.FLIGHT_SCHD.TAG_ORDER IS
    'Tags as they were set, where that is not the order of the columns; null as a rule.';

COMMENT ON VIEW msgx.FLIGHT_FULL IS 'Whole flights: state, all fields, code-share children.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.FLID IS 'Flight (AODB).';
COMMENT ON COLUMN msgx.FLIGHT_FULL.STATE IS 'ACTIVE or DELETED.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.STATE_VERSION IS 'Rises by one with each change; consumers compare it.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.OPERATION_DAY IS
    'Operation day; once set it never changes (D-10). Null: no SODT so far.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.SODT_AT IS 'SODT as an instant.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.LAST_MSG_ID IS 'Message that wrote it last.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.CREATED_AT IS 'When it was first written.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.UPDATED_AT IS 'Last change of its state.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.TAG_ORDER IS
    'Tags as they were set, where that is not the order of the columns; null as a rule.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.CONTENT IS 'All fields by SIS tag; a tag without a value is absent.';
COMMENT ON COLUMN msgx.FLIGHT_FULL.MAFL IS
    'Live code-share children as pairs of FLID and FLNO (D-21); null: none.';

COMMENT ON TABLE msgx.FLIGHT_RAW_SECTION IS 'SRVT and VIPF of the last complete record, as XML (D-39).';
COMMENT ON COLUMN msgx.FLIGHT_RAW_SECTION.FLID IS 'Flight.';
COMMENT ON COLUMN msgx.FLIGHT_RAW_SECTION.TAG IS 'SRVT or VIPF.';
COMMENT ON COLUMN msgx.FLIGHT_RAW_SECTION.XML IS 'The section as it was sent.';

COMMENT ON TABLE msgx.FLIGHT_VERSION_FLOOR IS
    'Last version of flights that were removed: who comes back starts above it (D-37).';
COMMENT ON COLUMN msgx.FLIGHT_VERSION_FLOOR.FLID IS 'Flight.';
COMMENT ON COLUMN msgx.FLIGHT_VERSION_FLOOR.STATE_VERSION IS 'Its last version.';
COMMENT ON COLUMN msgx.FLIGHT_VERSION_FLOOR.UPDATED_AT IS 'When it was removed.';

COMMENT ON TABLE msgx.SCHD_GEN IS 'Generation of each operation day that a schedule has covered (D-11).';
COMMENT ON COLUMN msgx.SCHD_GEN.OPERATION_DAY IS 'Day.';
COMMENT ON COLUMN msgx.SCHD_GEN.VERSION IS 'How many schedules have covered it.';
COMMENT ON COLUMN msgx.SCHD_GEN.LAST_MSG_ID IS 'The last of them.';
COMMENT ON COLUMN msgx.SCHD_GEN.LAST_RECV_AT IS 'When that was applied.';
COMMENT ON COLUMN msgx.SCHD_GEN.EPOCH IS 'Epoch of the instance that wrote the row last (D-34).';

COMMENT ON TABLE msgx.SCHD_GEN_FLID IS
    'Roster: the flights of each operation day; a flight is on one roster only.';
COMMENT ON COLUMN msgx.SCHD_GEN_FLID.OPERATION_DAY IS 'Day.';
COMMENT ON COLUMN msgx.SCHD_GEN_FLID.FLID IS 'Flight.';

COMMENT ON VIEW msgx.REF_MASTER IS
    'Reference data of all categories and resource status; (RTYPE, RKEY) is unique.';
COMMENT ON COLUMN msgx.REF_MASTER.RTYPE IS 'Category.';
COMMENT ON COLUMN msgx.REF_MASTER.RKEY IS 'Key within the category.';
COMMENT ON COLUMN msgx.REF_MASTER.PAYLOAD IS
    'The whole record as nested arrays of tag, text, attributes, children.';
COMMENT ON COLUMN msgx.REF_MASTER.ORDINAL IS 'Place in the list.';
COMMENT ON COLUMN msgx.REF_MASTER.MSG_ID IS 'Message that wrote it last.';
COMMENT ON COLUMN msgx.REF_MASTER.UPDATED_AT IS 'Last change.';

{{tag_comments}}
