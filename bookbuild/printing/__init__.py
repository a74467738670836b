"""What stands around the chapters in print: fonts, cover, imprint, contents, and the call of WeasyPrint."""
