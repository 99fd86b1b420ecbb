"""Log-in of people: throttling, known devices, second factor and its enrolment. Built on django-allauth."""
