"""The lxml codec passes the codec contract: as a tree, as a stream, and beside a replaced default parser."""

from collections.abc import Iterator

import pytest
from lxml import etree

from msgx_adapters.codec_lxml import LxmlCodec, codec, parsing
from msgx_core.testing.codec_contract import CodecContract


class TestLxmlCodec(CodecContract):
    @pytest.fixture
    def codec(self) -> LxmlCodec:
        return LxmlCodec()


class TestEverythingAsAStream(CodecContract):
    @pytest.fixture
    def codec(self, monkeypatch: pytest.MonkeyPatch) -> LxmlCodec:
        """Small messages take the road of large ones, in chunks that end inside tags."""
        monkeypatch.setattr(codec, "STREAM_ABOVE_BYTES", 0)
        monkeypatch.setattr(parsing, "CHUNK_BYTES", 61)
        return LxmlCodec()


class TestBesideAnotherDefaultParser(CodecContract):
    @pytest.fixture
    def codec(self) -> Iterator[LxmlCodec]:
        """Another library lets its parser recover from anything and resolve entities."""
        etree.set_default_parser(etree.XMLParser(recover=True, resolve_entities=True, load_dtd=True))
        yield LxmlCodec()
        etree.set_default_parser(None)
