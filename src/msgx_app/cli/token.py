"""`msgx token`: who may use the HTTP interface, and for what."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from msgx_app.answers.tokens import any_token, end_token, make_token, token_rows
from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.options import Actor, Common, Reason, audit, command, lists
from msgx_app.cli.parts import with_store
from msgx_app.refusals import BadValue
from msgx_core.ports import ApiRole

app = new_app()

_OPEN = (
    "warning: there is no token any more: everybody on this machine may do everything on a loopback address,"
    " elsewhere only health is answered; `msgx token create` makes one"
)
COLUMNS = "NAME ROLE KEPT_IN CREATED_AT REVOKED_AT".split()


class Role(enum.StrEnum):
    """What a token is good for."""

    READER = "reader"
    SENDER = "sender"
    OPERATOR = "operator"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Who has it: the actor in the audit.")]


@app.callback(invoke_without_command=True)
@command("msgx token", 'msgx token create board --role reader --reason "the board in the hall"')
def token(context: typer.Context, common: Common) -> None:
    """Tokens for the HTTP interface, as `msgx token list` shows them; or make or revoke one.

    Without any, only a loopback address is served, and there everybody may do everything.
    """
    if lists(context):
        _list(common)


@app.command("create")
@command('msgx token create board --role reader --reason "the board in the hall"')
def create(
    name: Name,
    common: Common,
    *,
    role: Annotated[Role, typer.Option(help="What it is good for; an operator also reads.")],
    reason: Reason,
    actor: Actor = None,
) -> None:
    """Make a token and print it, this once: only its digest is kept. It works within two seconds."""
    who = audit(actor, reason)
    with with_store(common) as at:
        try:
            made = make_token(at, name, ApiRole(role.value), who)
        except BadValue as error:
            raise typer.BadParameter(str(error), param_hint="NAME") from error
    if common.as_json:
        output.print_json({"NAME": name, "ROLE": role, "TOKEN": made})
    else:
        print(made)
        output.note("keep it: it cannot be shown again; use it as `Authorization: Bearer TOKEN`")


@app.command("list")
@command("msgx token list", "msgx token list --json")
def list_tokens(common: Common) -> None:
    """All tokens, those of the configuration and revoked ones too."""
    _list(common)


@app.command("revoke")
@command('msgx token revoke board --reason "it was seen on a photo"')
def revoke(name: Name, common: Common, *, reason: Reason, actor: Actor = None) -> None:
    """End a token for good, within two seconds. Its name may be used again.

    After the last one everybody on this machine may do everything on a loopback address; it warns of that.
    """
    who = audit(actor, reason)
    with with_store(common) as at:
        end_token(at, name, who)
        guarded = any_token(at)
    if common.as_json:
        output.print_json({"NAME": name, "DONE": True})
    else:
        print(f"{name} is revoked")
    if not guarded:
        output.note(_OPEN)


def _list(common: Common) -> None:
    with with_store(common) as at:
        rows = token_rows(at)
    if common.as_json:
        output.print_json_array(rows)
    else:
        output.print_rows(rows, COLUMNS, empty="no tokens: only a loopback address is served, to anybody")
