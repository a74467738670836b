"""The builder's library: one Markdown rendering becomes a website, a PDF and an EPUB."""

__version__ = "0.1.0"
