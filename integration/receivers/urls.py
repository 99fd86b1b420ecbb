"""Every address below this prefix has the same answer unless it is the token of a link."""

from django.urls import path

from integration.receivers import views

app_name = "order_tracking"

urlpatterns = [path("<path:token>", views.Page.as_view(), name="page")]  # with a slash at the end or without
