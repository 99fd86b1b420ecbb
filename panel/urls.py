"""The panel's map."""

from django.urls import path

from panel.views import home

app_name = "panel"
urlpatterns = [
    path("", home.Home.as_view(), name="home"),
]
