"""Where each reason and rule comes from: the closed list of reasons with its sources (D-25)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REASONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "duplicate-of": ("a taken identity is passed over, whatever the body says", "IMP §4.2, D-24"),
        "unsupported": (
            "a kind, or a FLOP sub-type, that is not let in is passed over",
            "IMP §2, D-18, D-22",
        ),
        "unmatched-response": ("a schedule answer needs an open request", "G-RESP-GUARD, D-22, D-32"),
        "no-open-request": ("an error answer needs an open request", "IMP §7.2, D-32"),
        "ambiguous-error": ("an error answer must tell which request it means", "IMP §7.2, D-32"),
        "already-gone": ("deleting what is gone is a success without effect", "FST §6.2, D-06"),
        "flight-deleted": ("late news does not bring a deleted flight back", "D-07"),
        "flight-archived": ("late news does not bring an archived flight back", "D-07, D-37"),
        "missing-flight": ("msgx.flop.missing-flight = skip", "D-08"),
        "raw-missing": ("a message without a text is dead; the archive decides nothing", "IMP §5.2, D-36"),
        "not-well-formed": ("the text must be well-formed XML", "IMP §2, D-44"),
        "doctype-not-allowed": ("no DOCTYPE is let in", "IMP §2"),
        "too-large": ("msgx.sis.max-message-bytes", "IMP §2"),
        "bad-encoding": ("the bytes must be text in their encoding", "D-44"),
        "control-character": ("no control characters", "D-44"),
        "wrong-root": ("the root element is MSG", "IMP §2"),
        "meta-missing": ("META has five mandatory values", "IMP §2"),
        "meta-invalid": ("the values of META are legal", "IMP §2"),
        "payload-missing": ("the body that the kind needs is there", "IMP §12.2, D-18"),
        "payload-empty": ("this tag may not be empty in a FLOP", "IMP §12.2, D-18"),
        "bad-time": ("times are DDMMMYYHHMM", "IMP §11.3, D-12, D-14"),
        "bad-number": ("numbers are numbers", "IMP §11.3, D-14"),
        "flid-invalid": ("a FLID has 1 to 12 digits and is not 0", "FST §3.1, D-12"),
        "recs-missing": ("RECS is there", "D-12"),
        "recs-range": ("RECS is a number from 0 to 9999", "D-12"),
        "recs-mismatch": ("RECS equals the records", "D-12, D-40"),
        "duplicate-flid": ("no flight is twice in a package", "D-12"),
        "sodt-missing": ("where days are covered each record has a SODT", "D-12"),
        "out-of-scope": ("with coverage each record lies in it", "D-11"),
        "adft-records": ("an ADFT has exactly one record", "D-17"),
        "collection-overflow": ("collections have limits", "D-19"),
        "collection-mixed": ("a collection is empty or has elements, not both", "D-12"),
        "SAME_FLID_ACROSS_OPERATION_DAYS": ("a flight never changes its day", "FST §5.3, D-10"),
        "roster-day-mismatch": ("a roster holds flights of its day", "FST §5.5, D-11"),
        "key-missing": ("a reference record has its key", "IMP §13.3, D-40"),
        "duplicate-key": ("no key is twice in a full list", "D-40"),
        "empty-full-list": ("a full list has records, unless msgx.ref.allow-empty", "D-40"),
        "rsta-invalid": ("the values of RSTA parse", "IMP §13.4, D-40"),
        "rsta-records": ("an RSTA download has one record at most", "IMP §13.4, D-40"),
        "value-too-long": ("values have a limit", "D-25"),
        "codec-exception": ("a fault of our codec is tried again", "H-06, D-25"),
        "handler-exception": ("a fault of our rules is tried again", "H-06, D-25"),
        "raw-unreadable": ("a row that cannot be read is tried again", "D-04"),
        "store-rejected": ("a write that the store refuses is tried again", "D-04"),
        "cache-rejected": ("a write that the cache refuses is tried again", "D-04"),
        "attempts-exhausted": ("attempts are limited", "R-072, D-25"),
    }
)
"""What a reason means and its source, by the reason up to its colon."""


def source_of(reason: str | None) -> tuple[str, str]:
    """The rule behind a reason, and where it comes from.

    >>> source_of("recs-mismatch:3!=2")
    ('RECS equals the records', 'D-12, D-40')
    """
    return REASONS.get((reason or "").split(":")[0], (reason or "", "D-25"))
