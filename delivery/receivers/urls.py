"""Every address below this prefix has the same answer unless it begins with the token of a link."""

from django.urls import path

from delivery.receivers import views

app_name = "tracking"

urlpatterns = [
    path("<str:token>/map/<str:version>.pmtiles", views.MapFile.as_view(), name="map_file"),
    path("<path:token>", views.Page.as_view(), name="page"),  # with a slash at the end or without
]
