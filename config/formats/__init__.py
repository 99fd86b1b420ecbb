"""Notation of dates and times, which Django reads from here (`FORMAT_MODULE_PATH`): one for all pages."""
