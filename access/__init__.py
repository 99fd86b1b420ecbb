"""Who may do what: roles and rights, log-in with its limits, second factor, sessions. Built on django-allauth."""
