{% autoescape off %}self.rota = {{ settings }};
importScripts({{ scripts }});
{% endautoescape %}
