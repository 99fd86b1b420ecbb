{% autoescape off %}self.rota = {{ settings }};
importScripts("{{ worker }}");
{% endautoescape %}
