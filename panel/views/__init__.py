"""Pages that several kinds of readers have, one file per family. Those of one kind: `panel/<reader>/views`."""
