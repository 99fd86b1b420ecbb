"""Every address below this prefix has the same answer unless it begins with the token of a link."""

from django.urls import path

from tracking import views

app_name = "tracking"

urlpatterns = [
    path("<str:token>/map/<str:version>/<int:z>/<int:x>/<int:y>.mvt", views.Tile.as_view(), name="tile"),
    path("<path:token>", views.Page.as_view(), name="page"),  # with a slash at the end or without
]
