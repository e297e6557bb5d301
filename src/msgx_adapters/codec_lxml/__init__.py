"""XML codec on lxml: mailbox text to `DecodedMessage` (port `Codec`)."""

from msgx_adapters.codec_lxml.codec import LxmlCodec

__all__ = ["LxmlCodec"]
