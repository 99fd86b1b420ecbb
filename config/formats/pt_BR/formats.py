"""Brazilian Portuguese: Django's short forms instead of its long ones."""

DATE_FORMAT = SHORT_DATE_FORMAT = "d/m/Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "d/m/Y H:i"
